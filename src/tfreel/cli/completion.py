"""``tfreel completion``: the Tab key, taught."""

from __future__ import annotations

import click

from tfreel.cli.help import Command


@click.command(
    cls=Command,
    examples=(
        'eval "$(tfreel completion bash)"      # in ~/.bashrc',
        'eval "$(tfreel completion zsh)"       # in ~/.zshrc',
        "tfreel completion fish > ~/.config/fish/completions/tfreel.fish",
    ),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print the completion script for a shell."""
    from click.shell_completion import get_completion_class

    from tfreel.cli.program import program

    complete = get_completion_class(shell)
    if complete is None:
        raise click.UsageError(f"this version of click knows no completion for {shell}.")
    click.echo(complete(program, {}, "tfreel", "_TFREEL_COMPLETE").source())
    return 0

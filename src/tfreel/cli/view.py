"""``tfreel view``: records in the browser."""

from __future__ import annotations

from typing import Any

import click

from tfreel.cli.help import Command
from tfreel.cli.options import paths_argument


@click.command(
    cls=Command,
    examples=(
        "tfreel view records/",
        "tfreel view 'train-*.tfrecord' --no-browser --port 8080",
    ),
)
@paths_argument
@click.option(
    "--port",
    type=click.IntRange(0, 0xFFFF),
    default=0,
    metavar="N",
    help="Port to listen on; a free one by default.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on. With any other than the default, others on the network who have the"
    " link can reach it.",
)
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser.")
@click.option(
    "--lang", type=click.Choice(["en", "zh"]), help="Language of the page; the browser's by default."
)
def command(paths: list[str], port: int, host: str, browser: bool, lang: Any) -> int:
    """Show records in the browser: pictures, boxes, masks, text, numbers.

    Serves a page on this machine until you press Ctrl-C (exit code 0), and prints a link to it, which works
    once. It shows damaged files too. It needs starlette and uvicorn: pip install "tfreel[view]".
    """
    from tfreel.cli.failures import tell
    from tfreel.cli.output import print_text
    from tfreel.cli.signals import Terminated, find_interrupt
    from tfreel.viewer.server import LOOPBACK, Viewer

    try:
        with Viewer(paths, host=host, port=port, lang=lang) as viewer:
            if host not in LOOPBACK:
                tell(f"listening at {host}: whoever can reach this machine and has the link sees the data")
            print_text(viewer.url)
            if browser and not viewer.open_browser():
                tell("no browser was found; open the link yourself")
            tell("press Ctrl-C to end")
            viewer.wait()
    except KeyboardInterrupt as error:
        if isinstance(find_interrupt(error), Terminated):
            raise
    return 0

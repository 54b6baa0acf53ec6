"""Writes the table "what passes through what" on the page about datasets, as the stages themselves say.

python docs/site/stages.py            writes it
python docs/site/stages.py --check    fails if it is not up to date
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import tfreel
from tfreel.dataset.plan import Stage

ROOT = Path(__file__).parents[2]
PAGES = {
    "docs/dataset.md": "| | length, `ds[i]` | order | ranks | state of another rank | of another number |",
    "docs/zh/dataset.md": "| | 长度、`ds[i]` | 顺序 | rank | 另一个 rank 的状态 | 另一种 rank 数的状态 |",
}
BEGIN, END = "<!-- stages: made by docs/site/stages.py -->", "<!-- stages: end -->"

Verb = Callable[[tfreel.Dataset], tfreel.Dataset]


def same(element: object) -> object:
    """What a map() does here."""
    return element


VERBS: dict[str, Verb] = {
    "`take(n)`, `skip(n)`, `ds[a:b]`, `split()`": lambda ds: ds[1:],
    "`shuffle()`, `shuffle(window=)`": lambda ds: ds.shuffle(),
    "`shuffle(buffer=)`": lambda ds: ds.shuffle(buffer=3),
    "`repeat()`": lambda ds: ds.repeat(2),
    "`batch()`": lambda ds: ds.batch(2),
    "`unbatch()`": lambda ds: ds.batch(2).map(same).unbatch(),
    '`map()`, `map(on_error="replace")`': lambda ds: ds.map(same),
    "`map(ordered=False)`": lambda ds: ds.map(same, workers=1, ordered=False),
    '`map(on_error="skip")`': lambda ds: ds.map(same, on_error="skip"),
    "`filter()`": lambda ds: ds.filter(bool),
    "`enumerate()`": lambda ds: ds.enumerate(),
    "`cache()`": lambda ds: ds.cache(),
    "`prefetch()`": lambda ds: ds.prefetch(1),
    "`concat()`": lambda ds: ds.map(same).concat(ds.map(same)),
    "`mix()`": lambda ds: tfreel.Dataset.mix([ds.map(same), ds.map(same)]),
    "`zip()`": lambda ds: ds.zip(ds),
}


def table(ds: tfreel.Dataset) -> Iterator[str]:
    """A row for each verb: whether something passes through it."""
    for name, verb in VERBS.items():
        node = verb(ds)._node
        indexed = node.unindexable_reason is None
        moved = node.push_order(lambda order: order, Stage(""), still=False)
        cells = (
            indexed,
            indexed and (node.passes_order or moved is not None),
            node.shards_below or not node.children,
            moves(lambda rank, world, verb=verb: verb(ds.shard(rank, world, uneven="drop")), (1, 2)),
            moves(lambda rank, world, verb=verb: verb(ds.shard(rank, world, uneven="drop")), (2, 3)),
        )
        yield f"| {name} | {' | '.join('✓' if cell else '—' for cell in cells)} |"


def moves(plan: Callable[[int, int], tfreel.Dataset], rank: tuple[int, int]) -> bool:
    """Whether the state of rank 0 of 2 is good for another one."""
    run = iter(plan(0, 2))
    for _ in islice(run, 2):
        pass
    try:
        iter(plan(*rank)).load_state_dict(run.state_dict())
    except tfreel.StateError:
        return False
    return True


def main() -> int:
    """Writes or checks the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers.tfrecord"
        tfreel.save(path, {"n": range(40)})
        rows = list(table(tfreel.Dataset(path)))
    stale = []
    for name, head in PAGES.items():
        page = ROOT / name
        text = page.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        _, _, after = rest.partition(END)
        lines = [head, "|---|---|---|---|---|---|", *rows]
        new = f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}"
        if new != text:
            stale.append(name)
            if not check:
                page.write_text(new, encoding="utf-8")
    if check and stale:
        print("not up to date, make reference writes them:", *stale)
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())

"""`_core.outline`: what records hold, without their values. The decoder is the oracle."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tfreel
from tfreel import _core

NAMES = {"int64": 3, "float32": 2, "bytes": 1}

kinds = (
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5).map(lambda one: np.array(one, np.int64)),
    st.lists(st.floats(width=32), min_size=1, max_size=5),
    st.lists(st.binary(max_size=5), min_size=1, max_size=5),
)
rows = st.dictionaries(st.text(max_size=3), st.one_of(*kinds), max_size=6)
steps_of_one_kind = st.one_of(*(st.lists(st.none() | kind, max_size=4) for kind in kinds))
lists = st.dictionaries(st.text(max_size=3), steps_of_one_kind, max_size=3)


def kind_of(value: object) -> int:
    if value is None:
        return 0
    return 1 if isinstance(value, list) else NAMES[value.dtype.name]  # type: ignore[attr-defined]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(rows, lists), max_size=5))
def test_an_outline_has_what_the_decoder_finds(
    given: list[tuple[dict[str, object], dict[str, object]]],
) -> None:
    records = [tfreel.encode_sequence(*one) for one in given]
    features, found_lists, unlisted, bad = _core.outline(records, [], [], sequences=True)
    assert (unlisted, bad) == (0, [])
    seen = {
        (name, int(row)): (int(k), int(c))
        for name, rs, ks, cs, _ in features
        for row, k, c in zip(rs, ks, cs, strict=True)
    }
    wanted, wanted_steps = {}, {}
    for i, record in enumerate(records):
        context, steps = tfreel.decode_sequence(record, tensors=False)
        for name, value in context.items():
            wanted[name, i] = kind_of(value), 0 if value is None else len(value)
        for name, each in steps.items():
            wanted_steps[name, i] = [(kind_of(one), 0 if one is None else len(one)) for one in each]
    assert seen == wanted
    seen_steps = {}
    for name, rs, ks, cs, counts in found_lists:
        ends = np.cumsum(counts)
        for row, end, count in zip(rs, ends, counts, strict=True):
            part = slice(int(end) - int(count), int(end))
            seen_steps[name, int(row)] = list(zip(ks[part].tolist(), cs[part].tolist(), strict=True))
    assert seen_steps == wanted_steps


def test_an_outline_of_some_records_counts_from_the_first_of_them() -> None:
    records = [tfreel.encode({"x": np.full(i, i)}) for i in range(5)]
    ((name, rows, _, counts, _),), _, _, _ = _core.outline(records, [], [], order=np.array([4, 2], np.uint64))
    assert (name, rows.tolist(), counts.tolist()) == ("x", [0, 1], [4, 2])


def test_records_that_are_no_messages_are_listed() -> None:
    _, _, _, bad = _core.outline([tfreel.encode({"x": 1}), b"\xff\xff"], [], [])
    assert [row for row, _, _ in bad] == [1]

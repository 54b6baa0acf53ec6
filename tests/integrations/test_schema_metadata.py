"""Schemas as text, read and written by protobuf and the messages of tensorflow_metadata."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from test_schema import TAXI
from tfreel.inference.content import IMAGES
from tfreel.profile import FeatureRules, Schema

schema_pb2 = pytest.importorskip("tensorflow_metadata.proto.v0.schema_pb2")

SCHEMA = Schema(
    {
        'a "name"\n': FeatureRules(kind="int64", presence=1.0, shape=(), range=(0, 9)),
        "b": FeatureRules(kind="float32", presence=0.5, count=(2, 2), range=(None, 0.5), nan=False),
        "c": FeatureRules(kind="bytes", allowed=("ä", "b'\\"), allowed_share=0.5, drift=0.25),
        "d": FeatureRules(kind="bytes", contents=tuple(sorted(IMAGES)), min_present=3),
        "e": FeatureRules(kind="int64", presence=1.0, shape=(2, 3), divergence=0.5),
        "f": FeatureRules(kind="bytes", contents=("text",), width=(1, 3)),
    },
    {"t": FeatureRules(kind="int64", steps=(1, None), count=(2, 2))},
    "refuse",
    3,
    9,
)


def test_protobuf_reads_what_we_write() -> None:
    message = text_format.Parse(SCHEMA.to_pbtxt(), schema_pb2.Schema())
    assert [feature.name for feature in message.feature] == [*SCHEMA.rules, "##SEQUENCE##"]
    assert message.feature[0].int_domain.max == 9
    assert list(message.feature[2].string_domain.value) == ["ä", "b'\\"]
    assert message.feature[6].struct_domain.feature[0].value_counts.value_count[1].max == 2
    assert message.dataset_constraints.min_examples_count == 3


@pytest.mark.parametrize("as_one_line", [False, True])
@pytest.mark.parametrize("as_utf8", [False, True])
@pytest.mark.parametrize("pointy", [False, True])
def test_we_read_what_protobuf_writes(as_one_line: bool, as_utf8: bool, pointy: bool) -> None:
    for text in (SCHEMA.to_pbtxt(), TAXI):
        message = text_format.Parse(text, schema_pb2.Schema())
        written = text_format.MessageToString(
            message, as_one_line=as_one_line, as_utf8=as_utf8, pointy_brackets=pointy
        )
        assert Schema.from_pbtxt(written).rules == Schema.from_pbtxt(text).rules
        assert Schema.from_pbtxt(written).sequence_rules == Schema.from_pbtxt(text).sequence_rules

"""The answer to a case of a module that is TensorFlow, or shaped like it, in the form of `parsing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.parsing import Case, build_feature, dense_form


def form(tf: Any, value: Any) -> dict[str, Any]:
    """A tensor as plain data."""
    if isinstance(value, tf.SparseTensor):
        return {
            "indices": value.indices.numpy().tolist(),
            "values": dense_form(value.values.numpy()),
            "shape": value.dense_shape.numpy().tolist(),
        }
    if isinstance(value, tf.RaggedTensor):
        return {
            "splits": [dense_form(splits.numpy()) for splits in value.nested_row_splits],
            "values": dense_form(value.flat_values.numpy()),
        }
    return dense_form(value.numpy())


def features_of(tf: Any, features: dict[str, Any]) -> dict[str, Any]:
    """The features of a case, made by the module."""

    def dtype(name: str) -> Any:
        return tf.as_dtype("string" if name == "bytes" else name)

    return {name: build_feature(spec, tf.io, dtype) for name, spec in features.items()}


def read_with(tf: Any, case: Case, records: list[bytes]) -> dict[str, Any]:
    """What the module makes of all records together."""

    def read() -> dict[str, Any]:
        serialized = tf.constant(records, tf.string, shape=[len(records)])
        if case.sequence_features is None:
            found = tf.io.parse_example(serialized, features_of(tf, case.features))
            return {"columns": _forms(tf, found)}
        context, sequences, lengths = tf.io.parse_sequence_example(
            serialized,
            features_of(tf, case.features) or None,
            features_of(tf, case.sequence_features) or None,
        )
        counted = {name: value.numpy().tolist() for name, value in lengths.items()}
        return {"columns": _forms(tf, context | sequences), "lengths": counted}

    return _answer(tf, read)


def read_one_with(tf: Any, case: Case, record: bytes) -> dict[str, Any]:
    """What the module makes of one record alone."""

    def read() -> dict[str, Any]:
        if case.sequence_features is None:
            found = tf.io.parse_single_example(record, features_of(tf, case.features))
            return {"columns": _forms(tf, found)}
        context, sequences = tf.io.parse_single_sequence_example(
            record,
            features_of(tf, case.features) or None,
            features_of(tf, case.sequence_features) or None,
        )
        return {"columns": _forms(tf, context | sequences)}

    return _answer(tf, read)


def _forms(tf: Any, found: dict[str, Any]) -> dict[str, Any]:
    return {name: form(tf, value) for name, value in found.items()}


def _answer(tf: Any, read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return read()
    except (tf.errors.InvalidArgumentError, UnicodeDecodeError) as error:
        return {"error": "data", "class": type(error).__name__}
    except (ValueError, TypeError) as error:
        return {"error": "features", "class": type(error).__name__}

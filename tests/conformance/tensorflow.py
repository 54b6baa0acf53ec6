"""TensorFlow's answer to a case, in the form of `parsing`. The only file here that needs TensorFlow."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from conformance.parsing import Case, build_feature, dense_form


def _dtype(name: str) -> tf.DType:
    return tf.as_dtype("string" if name == "bytes" else name)


def _form(value: Any) -> dict[str, Any]:
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


def read_with_tensorflow(case: Case, records: list[bytes]) -> dict[str, Any]:
    def build(features: dict[str, Any]) -> dict[str, Any]:
        return {name: build_feature(spec, tf.io, _dtype) for name, spec in features.items()}

    try:
        serialized = tf.constant(records, tf.string, shape=[len(records)])
        if case.sequence_features is None:
            found = tf.io.parse_example(serialized, build(case.features))
            return {"columns": {name: _form(value) for name, value in found.items()}}
        context, sequences, lengths = tf.io.parse_sequence_example(
            serialized, build(case.features) or None, build(case.sequence_features) or None
        )
    except (tf.errors.InvalidArgumentError, UnicodeDecodeError) as error:
        return {"error": "data", "class": type(error).__name__}
    except (ValueError, TypeError) as error:
        return {"error": "features", "class": type(error).__name__}
    return {
        "columns": {name: _form(value) for name, value in (context | sequences).items()},
        "lengths": {
            name: value.numpy().tolist()
            for name, value in lengths.items()
            if case.sequence_features[name]["class"] == "FixedLenSequenceFeature"
        },
    }

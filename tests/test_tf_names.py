"""The names of `tfreel.tf`: all of them lead somewhere, and the page tells what is there and what is not."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tfreel import tf
from tfreel.tf import compatibility, names

ROOT = Path(__file__).parent.parent

PROMISED = """
tf.train.Example tf.train.Features tf.train.Feature tf.train.BytesList tf.train.FloatList tf.train.Int64List
tf.train.SequenceExample tf.train.FeatureList tf.train.FeatureLists
tf.io.TFRecordWriter tf.io.TFRecordOptions tf.io.FixedLenFeature tf.io.VarLenFeature tf.io.RaggedFeature
tf.io.SparseFeature tf.io.FixedLenSequenceFeature tf.io.parse_example tf.io.parse_single_example
tf.io.parse_sequence_example tf.io.parse_single_sequence_example tf.io.decode_raw tf.io.decode_jpeg tf.io.decode_png
tf.io.decode_image tf.io.read_file tf.io.write_file tf.io.serialize_tensor tf.io.parse_tensor tf.io.encode_jpeg
tf.io.encode_png tf.io.gfile.exists
tf.data.TFRecordDataset tf.data.Dataset tf.data.AUTOTUNE tf.data.experimental.AUTOTUNE
tf.image.decode_jpeg tf.image.decode_png tf.image.decode_gif tf.image.decode_bmp tf.image.decode_image tf.image.resize
tf.cast tf.stack tf.reshape tf.constant tf.convert_to_tensor tf.py_function tf.squeeze tf.expand_dims tf.one_hot
tf.concat tf.shape tf.argmax tf.float32 tf.int64 tf.string tf.bool tf.errors.OutOfRangeError tf.errors.DataLossError
tf.sparse.to_dense tf.SparseTensor tf.RaggedTensor
tf.python_io.TFRecordWriter tf.python_io.tf_record_iterator tf.FixedLenFeature tf.parse_single_example tf.read_file
tf.gfile.Exists tf.gfile.MakeDirs tf.gfile.FastGFile tf.gfile.GFile tf.gfile.Glob
tf.TFRecordReader.read tf.TFRecordReader.num_records_produced tf.TFRecordReader.num_work_units_completed
tf.TFRecordReader.reset tf.TFRecordReader.serialize_state tf.TFRecordReader.restore_state
tf.TFRecordReader.supports_serialize
tf.train.string_input_producer tf.train.batch tf.train.shuffle_batch tf.train.Coordinator
tf.train.start_queue_runners tf.Session tf.data.Dataset.make_one_shot_iterator tf.data.make_one_shot_iterator
tf.compat.v1.Session tf.compat.v1.data.make_one_shot_iterator tf.compat.v1.train.batch
""".split()


def found(name: str) -> Any:
    """What a name leads to, beginning with ``tf.``."""
    value: Any = tf
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("namespace", sorted(names.TABLE))
def test_every_name_in_the_table_leads_to_something(namespace: str) -> None:
    module = importlib.import_module(f"tfreel.{namespace}")
    assert dir(module) == module.__all__ == names.names_of(namespace)
    for name in module.__all__:
        assert getattr(module, name) is not None or name == "newaxis"


@pytest.mark.parametrize("name", PROMISED)
def test_what_was_promised_is_there(name: str) -> None:
    found(name)


def test_what_is_said_to_differ_is_there() -> None:
    for difference in compatibility.DIFFERENCES:
        for name in difference.names:
            assert found(name) is not None
        assert difference.text.endswith((".", ".)"))


@pytest.mark.parametrize("name", sorted(compatibility.ABSENT))
def test_what_is_said_to_be_absent_is_absent_and_says_what_to_do(name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        found(name)
    if not name.startswith(("tf.data.Dataset.", "tf.data.experimental.")):
        assert compatibility.ABSENT[name] in str(caught.value)
        assert compatibility.PAGE in str(caught.value)


def test_a_name_that_is_nearly_right_is_told() -> None:
    with pytest.raises(AttributeError, match="did you mean tf.io.parse_single_example"):
        tf.io.parse_singel_example  # noqa: B018
    with pytest.raises(AttributeError, match=r"tf\.keras is not in tfreel: use keras itself"):
        tf.keras  # noqa: B018
    assert not hasattr(tf, "qwertz")


def test_the_page_is_the_table() -> None:
    page = (ROOT / compatibility.PAGE).read_text(encoding="utf-8")
    assert page == compatibility.page(), "python -m tfreel.tf.compatibility > docs/tensorflow.md"


def test_importing_the_leaf_imports_no_framework_and_starts_no_thread() -> None:
    program = """
import json, sys, threading
from tfreel import tf
tf.data.Dataset.range(3), tf.io.FixedLenFeature([], tf.int64)
print(json.dumps({"modules": sorted({name.partition(".")[0] for name in sys.modules}), "threads": threading.active_count()}))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    heavy = {
        "tensorflow",
        "torch",
        "jax",
        "keras",
        "google",
        "PIL",
        "simplejpeg",
        "pyarrow",
        "click",
        "rich",
        "isal",
    }
    assert not heavy & set(told["modules"])
    assert told["threads"] == 1

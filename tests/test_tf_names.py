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

PROMISED = {
    "tf.train": (
        "Example Features Feature BytesList FloatList Int64List SequenceExample FeatureList FeatureLists"
        " string_input_producer batch shuffle_batch Coordinator start_queue_runners"
    ),
    "tf.io": (
        "TFRecordWriter TFRecordOptions FixedLenFeature VarLenFeature RaggedFeature SparseFeature"
        " FixedLenSequenceFeature parse_example parse_single_example parse_sequence_example"
        " parse_single_sequence_example decode_raw decode_jpeg decode_png decode_image read_file"
        " write_file serialize_tensor parse_tensor encode_jpeg encode_png"
    ),
    "tf.io.gfile": "exists",
    "tf.data": "TFRecordDataset Dataset AUTOTUNE make_one_shot_iterator",
    "tf.data.experimental": "AUTOTUNE",
    "tf.image": "decode_jpeg decode_png decode_gif decode_bmp decode_image resize",
    "tf": (
        "cast stack reshape constant convert_to_tensor py_function squeeze expand_dims one_hot concat"
        " shape argmax float32 int64 string bool SparseTensor RaggedTensor FixedLenFeature"
        " parse_single_example read_file Session"
    ),
    "tf.errors": "OutOfRangeError DataLossError",
    "tf.sparse": "to_dense",
    "tf.python_io": "TFRecordWriter tf_record_iterator",
    "tf.gfile": "Exists MakeDirs FastGFile GFile Glob",
    "tf.TFRecordReader": (
        "read num_records_produced num_work_units_completed reset serialize_state restore_state"
        " supports_serialize"
    ),
    "tf.data.Dataset": "make_one_shot_iterator",
    "tf.compat.v1": "Session",
    "tf.compat.v1.data": "make_one_shot_iterator",
    "tf.compat.v1.train": "batch",
}


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


@pytest.mark.parametrize("namespace", PROMISED)
def test_what_was_promised_is_there(namespace: str) -> None:
    for name in PROMISED[namespace].split():
        found(f"{namespace}.{name}")


def test_what_is_said_to_differ_is_there() -> None:
    for difference in compatibility.DIFFERENCES:
        for name in difference.names:
            assert found(name) is not None
        assert difference.text.endswith((".", ".)"))


@pytest.mark.parametrize("name", sorted(compatibility.ABSENT))
def test_what_is_said_to_be_absent_is_absent_and_says_what_to_do(name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        found(name)
    assert compatibility.ABSENT[name] in str(caught.value)
    assert compatibility.PAGE in str(caught.value)


def test_a_name_that_is_nearly_right_is_told() -> None:
    with pytest.raises(AttributeError, match=r"did you mean tf\.io\.parse_single_example"):
        tf.io.parse_singel_example  # noqa: B018
    with pytest.raises(AttributeError, match=r"tf\.keras is not in tfreel: use keras itself"):
        tf.keras  # noqa: B018
    assert not hasattr(tf, "qwertz")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("tf.compat.v1.app", "argparse"),
        ("tf.compat.v1.flags", "argparse"),
        ("tf.train.Checkpoint", "state_dict"),
        ("tf.data.Dataset.sparse_batch", "nothing here does what it does"),
        ("tf.image.sample_distorted_bounding_box", "nothing here does what it does"),
        ("tf.sysconfig", "it is not about records"),
    ],
)
def test_a_name_that_is_not_there_says_why(name: str, wanted: str) -> None:
    with pytest.raises(AttributeError, match=wanted):
        found(name)


def test_the_page_is_the_table() -> None:
    page = (ROOT / compatibility.PAGE).read_text(encoding="utf-8")
    assert page == compatibility.page(), "python -m tfreel.tf.compatibility > docs/tensorflow.md"


def test_importing_the_leaf_imports_no_framework_and_starts_no_thread() -> None:
    program = """
import json, sys, threading
from tfreel import tf
tf.data.Dataset.range(3), tf.io.FixedLenFeature([], tf.int64)
modules = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps({"modules": modules, "threads": threading.active_count()}))
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

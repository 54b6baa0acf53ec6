"""What of TensorFlow is here, what differs, what is not: for error messages, and a page of the docs."""

from __future__ import annotations

from dataclasses import dataclass

from tfreel.tf.names import TABLE, names_of

PAGE = "docs/tensorflow.md"


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that works otherwise here.

    Attributes:
        names: Whom it concerns.
        text: What is different, and why.
    """

    names: tuple[str, ...]
    text: str


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        ("tf.data.Dataset.map", "tf.data.Dataset.filter"),
        "A function that looks at the values of its tensors (`if`, `for`, NumPy, `.numpy()`) is called for"
        " every element, with real values. TensorFlow rewrites such functions, or refuses them. What Python"
        " does on the side (`print`, `random`) then happens for every element, not once.",
    ),
    Difference(
        ("tf.data.Dataset.map", "tf.data.Dataset.interleave", "tf.data.Dataset.prefetch"),
        "`num_parallel_calls`, `deterministic` and options are taken and ignored: all processors are used,"
        " and the order is always the same.",
    ),
    Difference(
        ("tf.data.Dataset.interleave",),
        "Without `cycle_length`, TensorFlow takes a number that depends on the machine in other ways than"
        " ours.",
    ),
    Difference(
        ("tf.data.TFRecordDataset",),
        "The compression is found out by looking into the file when none is given, names may be patterns,"
        " and an unknown `compression_type` is a ValueError. A file cut inside of a header, garbage behind a"
        " compressed stream, or a missing end of one is a DataLossError; TensorFlow ends without a word.",
    ),
    Difference(
        ("tf.data.Dataset.skip",),
        "Records that are skipped are checked too.",
    ),
    Difference(
        ("tf.data.Dataset.cache",),
        "A cache file is a TFRecord file with `.tfrecord` behind its name. It appears when a pass has gone"
        " through to the end, and holds no sparse or ragged tensors.",
    ),
    Difference(
        ("tf.data.Dataset.list_files",),
        "The order without `shuffle=False` is TensorFlow's for a seed; a pattern is looked up when the"
        " dataset is made.",
    ),
    Difference(
        ("tf.io.parse_example", "tf.io.parse_single_example", "tf.io.parse_sequence_example"),
        "Records are read by protobuf's rules where TensorFlow's own parser drops or refuses what is legal:"
        " [differences.md](differences.md). Partitions of a RaggedFeature are always checked, and a missing"
        " one has no rows. A SparseFeature with more positions than values is an InvalidArgumentError.",
    ),
    Difference(
        ("tf.RaggedTensor",),
        "That all rows are of one length is not kept: `uniform_row_length` is None, and the static shape has"
        " None there. Reductions are over all values or over each row; `concat`, `gather` and `tile` take"
        " dense tensors only.",
    ),
    Difference(
        ("tf.data.Dataset.element_spec", "tf.data.get_output_shapes", "tf.Tensor.shape"),
        "Static shapes may be weaker: what `map_fn` gives has no known rank, and sizes that"
        " TensorFlow derives from values may be None. Of a function that is called for every element, and of"
        " what comes behind it, the first element tells dtypes and ranks, and all sizes are None. Shuffles do"
        " not count that as a pass; an empty dataset is a ValueError then.",
    ),
    Difference(
        ("tf.cast",),
        "Floats beyond a whole dtype wrap. TensorFlow's answer for these depends on their place in the"
        " tensor: where it casts several at once, they become the greatest or least that fits.",
    ),
    Difference(
        ("tf.image.central_crop",),
        "Of a function that is called for every element all sizes are known, so that the fraction is not"
        " rounded to a float32, as it is where they are not: some sides are two pixels shorter then.",
    ),
    Difference(
        ("tf.version.VERSION",),
        "Names the TensorFlow whose behaviour is followed and compared with in the tests, for code that"
        " prints or compares it; `tf.__version__` is the same. The version of tfreel is"
        " `tfreel.__version__`.",
    ),
    Difference(
        ("tf.io.TFRecordWriter",),
        "The file has its name when it is closed, whole; an old one stays until then. A writer that is"
        " dropped without `close()` leaves nothing behind but a warning, one whose `with` block ends with an"
        " error leaves nothing. Without a level, compression is faster and a few percent weaker. Folders that"
        " are missing are not made, as in TensorFlow.",
    ),
    Difference(
        ("tf.train.Example", "tf.train.SequenceExample"),
        "`True` and `False`, and tensors of them, are taken in an Int64List, as TensorFlow did with older"
        " versions of protobuf and NumPy.",
    ),
    Difference(
        (
            "tf.data.Dataset.sample_from_datasets",
            "tf.random.uniform",
            "tf.random.stateless_uniform",
            "tf.random.normal",
            "tf.random.shuffle",
            "tf.image.random_flip_left_right",
            "tf.image.stateless_random_crop",
        ),
        "Random numbers are the same for a seed on every machine, but not those of TensorFlow. (The order"
        " of a seeded `Dataset.shuffle` and the numbers of `Dataset.random` are.)",
    ),
    Difference(
        ("tf.image.decode_jpeg", "tf.image.decode_image"),
        "Pixels are TensorFlow's own, bit for bit, where simplejpeg is installed (`pip install"
        ' tfreel[jpeg]`); else they are those of Pillow, as with `dct_method="INTEGER_ACCURATE"`.',
    ),
    Difference(
        ("tf.image.decode_jpeg", "tf.image.decode_png", "tf.image.decode_image", "tf.image.decode_gif"),
        "Images of more than 89 million pixels, and frames of more than half a gigabyte together, are an"
        " InvalidArgumentError. What TensorFlow does silently is done with a warning: a PNG given to"
        " `decode_jpeg`, the colours of a palette that may have been class ids, frames that a cut GIF has"
        " lost.",
    ),
    Difference(
        ("tf.image.decode_and_crop_jpeg",),
        "Gives exactly what cropping the decoded image gives. TensorFlow's pixels at the edges of the window"
        " differ from that by a few steps where colours are stored with less detail; and a JPEG that ends"
        " behind the window is an error here.",
    ),
    Difference(
        (
            "tf.image.resize",
            "tf.image.adjust_hue",
            "tf.image.adjust_contrast",
            "tf.image.per_image_standardization",
            "tf.exp",
            "tf.nn.softmax",
        ),
        "Sums and transcendental functions may be rounded otherwise: by some units of the last place of a"
        " float32; with the methods `bicubic`, `area`, `lanczos3`, `lanczos5`, `gaussian` and"
        " `mitchellcubic`, and with `antialias=True`, by up to 0.0002 of 255. (`bilinear` and `nearest` are"
        " TensorFlow's, bit for bit.)",
    ),
    Difference(
        ("tf.io.encode_png",),
        "The pixels are the same, the compressed bytes are not. (Those of `encode_jpeg` are.)",
    ),
    Difference(
        ("tf.strings.regex_replace", "tf.strings.regex_full_match"),
        "Patterns are those of Python, not of RE2. Nearly all are the same; `[[:alpha:]]`, `\\pN` and `\\z`"
        " are not known. A byte that is not UTF-8 is matched by `.` and by `[^a]`; in RE2 by nothing.",
    ),
    Difference(
        ("tf.cond", "tf.case", "tf.while_loop", "tf.map_fn"),
        "With values they are Python's branches and loops. In a graph only the branch that is meant is run. A"
        " function for `Dataset.map` with a `while_loop` in it is called for every element; sessions do not"
        " run loops.",
    ),
    Difference(
        ("tf.control_dependencies", "tf.debugging.assert_equal", "tf.print"),
        "Dependencies are not kept: checks and prints happen at once, for every element, or when a session"
        " runs what they give.",
    ),
    Difference(
        ("tf.io.parse_tensor",),
        "Bytes that claim more than a gigabyte of values without holding them are an InvalidArgumentError.",
    ),
    Difference(
        ("tf.saturate_cast",),
        "Floats beyond int64 become the greatest one that fits; in TensorFlow they wrap to the least.",
    ),
    Difference(
        ("tf.constant", "tf.convert_to_tensor"),
        "A list of tensors is taken by both; TensorFlow's `constant` refuses it.",
    ),
    Difference(
        ("tf.compat.v1.TFRecordReader",),
        "`serialize_state` and `restore_state` work, and `supports_serialize` is true. TensorFlow never"
        " implemented them. The place in the queue is part of the state, if a producer such as"
        " `string_input_producer` is the queue. `read_up_to` gives the records before a damaged one.",
    ),
    Difference(
        (
            "tf.compat.v1.train.batch",
            "tf.compat.v1.train.shuffle_batch",
            "tf.compat.v1.train.string_input_producer",
        ),
        "There are no threads behind the queues: what is asked for is made when it is asked for. Nothing"
        " hangs without `start_queue_runners`, and what goes wrong is raised by the run that needs it, not by"
        " `Coordinator.join`. With a seed, producers have TensorFlow's order; that of `shuffle_batch` is the"
        " same every time, which in TensorFlow it is not. Rows need no static shape.",
    ),
    Difference(
        ("tf.compat.v1.Session",),
        "Tensors have values at once wherever that is possible; only readers, queues, iterators and"
        " placeholders, and what is computed from them, wait for `run`. Both ways of writing programs can be"
        " mixed.",
    ),
    Difference(
        ("tf.io.gfile.GFile", "tf.io.gfile.copy", "tf.gfile.FastGFile"),
        "Mode `r+` writes in place, and a copy of a file onto itself leaves it; TensorFlow empties both."
        " Names are sorted in `glob`. Only local files are reached.",
    ),
    Difference(
        ("tf.function",),
        "Gives the function back as it is.",
    ),
    Difference(
        ("tf.errors.OpError",),
        "The classes are TensorFlow's, the texts are not: they name the file, the record and what to do."
        " `op` and `node_def` are None.",
    ),
)

_MODELS = (
    "models are outside of the record world: use Keras, PyTorch or JAX, and feed them with tfreel.adapters"
)
_NUMBERS = "use NumPy on tensor.numpy(), or the framework that you train with"
_STATES = "iterators of tfreel.Dataset have exact states: state_dict() and load_state_dict()"
_CLUSTER = "every process opens its own part: dataset.shard(world, rank), or tfreel.adapters"

# What is not here, and what to do instead; a name stands for all that is below it.
ABSENT: dict[str, str] = {
    "tf.keras": "use keras itself, and tfreel.adapters.keras for the data",
    "tf.layers": _MODELS,
    "tf.losses": _MODELS,
    "tf.metrics": _MODELS,
    "tf.optimizers": _MODELS,
    "tf.initializers": _MODELS,
    "tf.estimator": _MODELS,
    "tf.contrib": "it is gone from TensorFlow as well",
    "tf.Module": _MODELS,
    "tf.Variable": _MODELS,
    "tf.get_variable": _MODELS,
    "tf.GradientTape": _MODELS,
    "tf.gradients": _MODELS,
    "tf.saved_model": _MODELS,
    "tf.lite": _MODELS,
    "tf.feature_column": "make columns of features with Dataset.map",
    "tf.distribute": _CLUSTER,
    "tf.data.experimental.service": _CLUSTER,
    "tf.data.experimental.make_csv_dataset": "tfreel.pack makes TFRecords of a CSV file",
    "tf.data.TextLineDataset": "use Dataset.from_generator with an open file",
    "tf.data.FixedLengthRecordDataset": "use numpy.fromfile and Dataset.from_tensor_slices",
    "tf.data.Dataset.save": "write TFRecords: tf.io.TFRecordWriter, tfreel.Writer",
    "tf.data.Dataset.load": "tfreel.load",
    "tf.data.Dataset.snapshot": "Dataset.cache keeps elements in a file",
    "tf.data.Dataset.rejection_resample": "Dataset.sample_from_datasets draws with weights",
    "tf.io.decode_csv": "tfreel.pack makes TFRecords of a CSV file",
    "tf.io.decode_json_example": "json and tf.train.Example",
    "tf.io.decode_proto": "the protobuf package",
    "tf.io.decode_compressed": "zlib and gzip of Python, in tf.py_function",
    "tf.audio": "decode in tf.py_function",
    "tf.signal": _NUMBERS,
    "tf.linalg": _NUMBERS,
    "tf.fft": _NUMBERS,
    "tf.einsum": _NUMBERS,
    "tf.summary": "the tensorboard package",
    "tf.profiler": "py-spy and perf",
    "tf.config": "there are no devices here; TFREEL_NUM_THREADS sets the number of threads",
    "tf.flags": "argparse or click",
    "tf.app": "argparse or click",
    "tf.test": "pytest",
    "tf.raw_ops": "the functions that they are behind",
    "tf.autograph": "functions are called as they are",
    "tf.xla": _MODELS,
    "tf.tpu": _MODELS,
    "tf.queue": "tf.compat.v1.train.batch and its like, or tf.data",
    "tf.train.Checkpoint": _STATES,
    "tf.train.CheckpointManager": _STATES,
    "tf.image.non_max_suppression": _NUMBERS,
    "tf.image.ssim": _NUMBERS,
}


_ALIKE = 0.8  # of a name that is meant; less is another word
_OF_PIPELINES = (
    *("tf.data", "tf.image", "tf.io", "tf.lookup", "tf.ragged", "tf.random", "tf.sparse", "tf.strings"),
)


def explained(namespace: str, name: str) -> AttributeError:
    """The error for a name that is not in a namespace: why, what to do, and what may have been meant."""
    full = f"{namespace}.{name}"
    if name.startswith("_"):
        return AttributeError(full)
    advice = ABSENT.get(full.replace("tf.compat.v1.", "tf."))
    if advice is not None:
        return AttributeError(f"{full} is not in tfreel: {advice}; {PAGE} lists what is", name=name)
    from difflib import get_close_matches

    known = names_of(namespace) if namespace in TABLE else _others()[namespace]
    near = get_close_matches(name, known, 1, _ALIKE)
    of_pipelines = namespace.replace("tf.compat.v1", "tf").startswith(_OF_PIPELINES)
    why = "nothing here does what it does" if of_pipelines else "it is not about records"
    meant = f"did you mean {namespace}.{near[0]}?" if near else why
    return AttributeError(f"{full} is not in tfreel: {meant}; {PAGE} lists what is", name=name)


def page() -> str:
    """The page of the docs that tells all this."""
    parts = [_HEAD, "## What works otherwise\n"]
    for each in DIFFERENCES:
        names = ", ".join(f"`{name}`" for name in each.names)
        parts.append(f"- {names}: {each.text}")
    parts.append("\n## What is not here\n")
    parts.append("Such a name is an `AttributeError` that says what this table says.\n")
    parts.append("| name | instead |\n|---|---|")
    parts.extend(f"| `{name}` | {advice} |" for name, advice in sorted(ABSENT.items()))
    parts.append("\n## What is here\n")
    parts.extend(f"**`{namespace}`**: {_listed(namespace)}\n" for namespace in sorted(TABLE))
    for other, found in _others().items():
        parts.append(f"**`{other}`**: {', '.join(f'`{name}`' for name in found)}\n")
    return "\n".join(parts).rstrip() + "\n"


def _listed(namespace: str) -> str:
    """The names in a namespace; of that of the first generation, only those that `tf` has not."""
    names = names_of(namespace)
    first = namespace.startswith("tf.compat.v1")
    if first:
        known = names_of(namespace.replace("tf.compat.v1", "tf"))
        names = [name for name in names if name not in known]
    listed = ", ".join(f"`{name}`" for name in names)
    if not first:
        return listed
    return f"all that `{namespace.replace('tf.compat.v1', 'tf')}` has" + (f", and {listed}" if listed else "")


def _others() -> dict[str, list[str]]:
    """What is no namespace of the table: modules and a class that are themselves what users see."""
    from tfreel.tf import errors
    from tfreel.tf.data import experimental
    from tfreel.tf.data.dataset import Dataset

    return {
        "tf.data.Dataset": sorted(name for name in vars(Dataset) if not name.startswith("_")),
        "tf.data.experimental": sorted(experimental.__all__),
        "tf.errors": sorted(
            name for name in vars(errors) if name.endswith("Error") and hasattr(vars(errors)[name], "code")
        ),
    }


_HEAD = """\
# Coming from TensorFlow: change one import

<!-- Made by `python -m tfreel.tf.compatibility`: edit that file, not this one. -->

[中文](zh/tensorflow.md)

```python
from tfreel import tf  # was: import tensorflow as tf
```

Code that writes, reads, parses and feeds TFRecords, for TensorFlow 2 or 1, runs unchanged then: without
TensorFlow, usually faster, with the same parsed values and pixels to the last bit. A few hundred scripts are
run with both and compared in the tests.

```python
from tfreel import tf

with tf.io.TFRecordWriter("numbers.tfrecord") as writer:
    for i in range(1000):
        feature = {
            "x": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
            "half": tf.train.Feature(float_list=tf.train.FloatList(value=[i / 2])),
        }
        example = tf.train.Example(features=tf.train.Features(feature=feature))
        writer.write(example.SerializeToString())


def parse(record):
    features = {"x": tf.io.FixedLenFeature([], tf.int64), "half": tf.io.FixedLenFeature([], tf.float32)}
    example = tf.io.parse_single_example(record, features)
    return example["half"] * 2, tf.one_hot(example["x"] % 3, 3)


dataset = tf.data.TFRecordDataset("numbers.tfrecord").map(parse).shuffle(100, seed=7).batch(32).prefetch(1)
for x, y in dataset:
    assert x.shape[0] == y.shape[0] <= 32
```

## Why it is fast

The function given to `map` is called once, with tensors that have no value yet. The operations that it uses
(parsing, decoding, resizing, casting, arithmetic, slicing, …) are then run for whole blocks of records, in
all threads, by the same native code that `tfreel.Dataset` uses. A function that looks at values itself is
called for each element, as slowly as Python is; `logging.getLogger("tfreel.tf")` says so at level DEBUG. Both
ways give the same results.

Seeded shuffles have the very order of TensorFlow's. What `tf` cannot do (random access, splits, exact
resumption, repair) is in `tfreel` itself: [dataset.md](dataset.md).
"""


def main() -> None:
    """Prints the page."""
    import sys

    sys.stdout.write(page())


if __name__ == "__main__":
    main()

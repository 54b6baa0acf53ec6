"""`tf.data.experimental`: older names, most of them for what datasets can do themselves by now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from tfreel.tf.data.arguments import whole
from tfreel.tf.data.chunks import INFINITE as INFINITE_CARDINALITY
from tfreel.tf.data.chunks import UNKNOWN as UNKNOWN_CARDINALITY
from tfreel.tf.data.dataset import AUTOTUNE, Dataset
from tfreel.tf.data.options import (
    AutoShardPolicy,
    AutotuneOptions,
    DistributeOptions,
    OptimizationOptions,
    ThreadingOptions,
)
from tfreel.tf.data.ordering import Counted
from tfreel.tf.data.records import TFRecordDataset
from tfreel.tf.names import absent
from tfreel.tf.ops import records
from tfreel.tf.ops.parsing import parse_example
from tfreel.tf.values.dtypes import int64, string
from tfreel.tf.values.shapes import TensorSpec

Transformation = Callable[[Dataset], Dataset]

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneOptions",
    "Counter",
    "DistributeOptions",
    "OptimizationOptions",
    "TFRecordWriter",
    "ThreadingOptions",
    "assert_cardinality",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "dense_to_ragged_batch",
    "enumerate_dataset",
    "get_single_element",
    "group_by_window",
    "ignore_errors",
    "make_batched_features_dataset",
    "map_and_batch",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "take_while",
    "unbatch",
    "unique",
]


class TFRecordWriter:
    """Writes the records of a dataset to a file.

    Args:
        filename: Where to write.
        compression_type: ``"GZIP"``, ``"ZLIB"`` or nothing.
    """

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        self._filename = filename
        self._compression_type = compression_type

    def write(self, dataset: Dataset) -> None:
        """Writes all elements of a dataset, which are records.

        Raises:
            TypeError: It is no dataset, or its elements are no strings.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError(f"expected a tf.data.Dataset, not {type(dataset).__name__}")
        if dataset.element_spec != TensorSpec([], string):
            raise TypeError(f"expected a dataset of scalar strings, not of {dataset.element_spec}")
        with records.TFRecordWriter(self._filename, self._compression_type) as writer:
            for record in dataset.as_numpy_iterator():
                writer.write(record)


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """Says how many elements there are, as for `len`; to find more or less of them is an error."""
    count = whole(expected_cardinality, "expected_cardinality")
    return lambda dataset: Dataset(Counted(dataset.stage, count))


def cardinality(dataset: Dataset) -> Any:
    """How many elements a dataset has."""
    return dataset.cardinality()


def Counter(start: int = 0, step: int = 1, dtype: Any = int64) -> Dataset:  # noqa: N802 - TensorFlow's name
    """Numbers without an end."""
    return Dataset.counter(start, step, dtype)


def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = False) -> Dataset:
    """Elements of several datasets; which gives the next one, a dataset of numbers tells."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def dense_to_ragged_batch(
    batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = int64
) -> Transformation:
    """`Dataset.ragged_batch`, to be applied."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def enumerate_dataset(start: int = 0) -> Transformation:
    """`Dataset.enumerate`, to be applied."""
    return lambda dataset: dataset.enumerate(start)


def bucket_by_sequence_length(*args: Any, **options: Any) -> Transformation:
    """`Dataset.bucket_by_sequence_length`, to be applied."""
    return lambda dataset: dataset.bucket_by_sequence_length(*args, **options)


def group_by_window(*args: Any, **options: Any) -> Transformation:
    """`Dataset.group_by_window`, to be applied."""
    return lambda dataset: dataset.group_by_window(*args, **options)


def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: int | None = None, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Elements of several datasets by chance."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def get_single_element(dataset: Dataset) -> Any:
    """The only element of a dataset."""
    return dataset.get_single_element()


def ignore_errors(log_warning: bool = False) -> Transformation:
    """`Dataset.ignore_errors`, to be applied."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    reader: Callable[..., Any] = TFRecordDataset,
    label_key: str | None = None,
    reader_args: list[Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of parsed examples of files, with their label if one of the features is that."""
    files = Dataset.list_files(file_pattern, shuffle, shuffle_seed)
    rows = files.interleave(lambda name: reader(name, *(reader_args or ())), reader_num_threads or 1)
    if shuffle:
        rows = rows.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        rows = rows.repeat(num_epochs)
    batches = rows.batch(batch_size, drop_final_batch or num_epochs is None)
    parsed: Dataset = batches.apply(parse_example_dataset(features))
    if label_key is None:
        return parsed
    if label_key not in features:
        raise ValueError(f"the label {label_key!r} is none of the features: {sorted(features)}")
    return parsed.map(lambda row: ({key: row[key] for key in row if key != label_key}, row[label_key]))


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """`Dataset.map` and `Dataset.batch`, to be applied."""
    return lambda dataset: dataset.map(map_func).batch(batch_size, drop_remainder)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool | None = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """`Dataset.interleave`, to be applied."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def parse_example_dataset(
    features: dict[str, Any], num_parallel_calls: Any = 1, deterministic: bool | None = None
) -> Transformation:
    """`tf.io.parse_example` of batches of records, to be applied."""
    return lambda dataset: dataset.map(lambda rows: parse_example(rows, features))


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """`Dataset.prefetch`, to be applied: there are no devices here."""
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """`Dataset.scan`, to be applied."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """`Dataset.shuffle` and `Dataset.repeat`, to be applied."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """`Dataset.take_while`, to be applied."""
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Transformation:
    """`Dataset.unbatch`, to be applied."""
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """`Dataset.unique`, to be applied."""
    return lambda dataset: dataset.unique()


def __getattr__(name: str) -> NoReturn:
    raise absent("tf.data.experimental", name)

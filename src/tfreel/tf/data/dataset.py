"""`tf.data.Dataset`: elements that come one after the other, made by stages put behind each other."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from tfreel.ahead import ReadAhead
from tfreel.tf.data import batching, grouping, interleaving, mapping, ordering, sources
from tfreel.tf.data.arguments import batch_size_of, range_of, signature_of, tensor_of, tensors_of, whole
from tfreel.tf.data.chunks import INFINITE, UNKNOWN, Fault, Item, Stage
from tfreel.tf.data.fed import Fed, fed_single, fed_slices, is_fed
from tfreel.tf.data.padding import Padding
from tfreel.tf.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    end_of_sequence,
)
from tfreel.tf.names import absent
from tfreel.tf.ops.chance import op_seeds
from tfreel.tf.ops.sparse_parts import to_dense
from tfreel.tf.values import nest
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype, int64
from tfreel.tf.values.handles import wrap
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.sparse import SparseTensor

AUTOTUNE = -1


class _Described(type):
    """Lets the class say of a name that it has not what to use instead."""

    def __getattr__(cls, name: str) -> NoReturn:
        raise absent("tf.data.Dataset", name)


class Dataset(metaclass=_Described):
    """Elements that come one after the other. Every method gives a new dataset and leaves this one as it is.

    Example:
        >>> ds = tf.data.Dataset.range(5).map(lambda x: x * x).batch(2)
        >>> [batch.numpy().tolist() for batch in ds]
        [[0, 1], [4, 9], [16]]
    """

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def __getattr__(self, name: str) -> NoReturn:
        raise absent("tf.data.Dataset", name)

    # Where elements come from.

    @staticmethod
    def range(*args: Any, output_type: Any = int64, name: str | None = None) -> Dataset:
        """Numbers, as Python's range gives them."""
        if any(map(is_fed, args)):
            spec = TensorSpec([], output_type)
            return Dataset(Fed(spec, lambda: sources.Range(*range_of(args), output_type)))
        return Dataset(sources.Range(*range_of(args), output_type))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The rows of tensors: the first rows of all of them, then the second ones."""
        structure, values = tensors_of(tensors)
        if any(map(is_fed, values)):
            return Dataset(fed_slices(structure, values))
        return Dataset(sources.Slices(structure, values))

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """Tensors, as the only element."""
        structure, values = tensors_of(tensors)
        if any(map(is_fed, values)):
            return Dataset(fed_single(structure, values))
        return Dataset(sources.Single(structure, values))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """What a generator gives, which is made anew for each pass."""
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable, which returns something to iterate over")
        specs = output_signature
        if specs is None:
            if output_types is None:
                raise TypeError("Either `output_signature` or `output_types` must be given")
            specs = signature_of(output_types, output_shapes)
        given = tuple(array(each)[()] for each in args or ())
        return Dataset(sources.Generated(generator, given, nest.tuples(specs)))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: int | None = None, name: str | None = None
    ) -> Dataset:
        """The names of all files that match a pattern; in random order unless `shuffle` is false."""
        from tfreel.tf.ops.files import matching_names

        names = matching_names(file_pattern)
        if not names:
            raise InvalidArgumentError(f"No files matched pattern: {file_pattern}")
        found = Dataset.from_tensor_slices(np.array(names, object))
        return found if shuffle is False else found.shuffle(len(names), seed=seed)

    @staticmethod
    def random(
        seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """Random numbers without an end; TensorFlow's own for a seed."""
        return Dataset(sources.RandomNumbers(op_seeds(seed)))

    @staticmethod
    def counter(start: int = 0, step: int = 1, dtype: Any = int64, name: str | None = None) -> Dataset:
        """Numbers without an end."""
        stop = np.iinfo(as_dtype(dtype).numpy).max if step > 0 else np.iinfo(as_dtype(dtype).numpy).min
        return Dataset(sources.Range(start, int(stop), step, dtype))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """The elements of several datasets side by side, until one of them ends."""
        if datasets is None:
            datasets = args[0] if len(args) == 1 else args
        if isinstance(datasets, Dataset):
            return datasets
        if isinstance(datasets, list):
            raise TypeError("datasets to zip must be a tuple, a dict, or given one by one; not a list")
        stages = [mapping.stage_of(each) for each in nest.flatten(datasets)]
        return Dataset(ordering.Zipped(datasets, stages))

    @staticmethod
    def choose_from_datasets(
        datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Elements of several datasets; which gives the next one, a dataset of numbers tells."""
        stages = [mapping.stage_of(each) for each in datasets]
        choices = mapping.stage_of(choice_dataset)
        return Dataset(interleaving.Chosen(stages, choices, stop_on_empty=stop_on_empty_dataset))

    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Elements of several datasets by chance, with weights; the draws are not TensorFlow's."""
        stages = [mapping.stage_of(each) for each in datasets]
        chances = np.ones(len(stages)) if weights is None else array(weights).astype(np.float64)
        if len(chances) != len(stages) or any(chances < 0) or (stages and not any(chances > 0)):
            raise ValueError(
                f"expected a weight for each of the {len(stages)} datasets, none of them negative"
            )
        stop = stop_on_empty_dataset
        return Dataset(interleaving.Sampled(stages, chances, op_seeds(seed), stop_on_empty=stop))

    # What is done with each.

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """What a function gives for each element.

        The function is called once, to see which operations it uses; these are then run for many elements at
        a time,
        in all threads. If it looks at values (an ``if``, NumPy), it is called for each element instead.
        """
        return Dataset(mapping.Mapped(self.stage, map_func))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which a function is true."""
        return Dataset(mapping.Filtered(self.stage, predicate))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first for which a function is false."""
        return Dataset(mapping.TakenWhile(self.stage, predicate))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the datasets that a function gives for each element."""
        return Dataset(interleaving.FlatMapped(self.stage, map_func, dataset=Dataset))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of the datasets that a function gives, by turns."""
        slots = AUTOTUNE if cycle_length is None else whole(cycle_length, "cycle_length")
        block = 1 if block_length is None else whole(block_length, "block_length")
        if slots == AUTOTUNE:
            slots = max(
                1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
            )
        if slots < 1 or block < 1:
            raise InvalidArgumentError("cycle_length and block_length must be greater than 0")
        return Dataset(
            interleaving.Interleaved(self.stage, map_func, slots=slots, block_length=block, dataset=Dataset)
        )

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """What a function gives for each element and a state, which it gives anew for the next."""
        return Dataset(mapping.Scanned(self.stage, nest.mapped(tensor_of, initial_state), scan_func))

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """The last state of a function that is given the state before and each element."""
        return mapping.reduced(self.stage, initial_state, reduce_func)

    def apply(self, transformation_func: Callable[[Dataset], Any]) -> Any:
        """What a function makes of this dataset."""
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"`transformation_func` must return a Dataset, not {type(made).__name__}")
        return made

    # Which, and in what order.

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first elements; all if the count is negative."""
        return Dataset(ordering.Taken(self.stage, whole(count, "count")))

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """The elements behind the first ones."""
        return Dataset(ordering.Skipped(self.stage, whole(count, "count")))

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, from that of the number `index` on."""
        shards, number = whole(num_shards, "num_shards"), whole(index, "index")
        if shards < 0:
            raise FailedPreconditionError(f"num_shards must not be negative: {shards}")
        if not 0 <= number < shards:
            raise InvalidArgumentError(f"index must be from 0 to num_shards - 1, not {number} of {shards}")
        return Dataset(ordering.Sharded(self.stage, shards, number))

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """The elements again and again: without an end, or so many times."""
        return Dataset(ordering.Repeated(self.stage, -1 if count is None else whole(count, "count")))

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset:
        """The elements in random order, through a buffer; for a seed, in the very order of TensorFlow."""
        size = whole(buffer_size, "buffer_size")
        if size < 1 and size != UNKNOWN:
            raise InvalidArgumentError(f"`buffer_size` must be greater than zero, not {size}")
        seeds = op_seeds(None if seed is None else whole(seed, "seed"))
        anew = reshuffle_each_iteration is not False
        return Dataset(ordering.Shuffled(self.stage, None if size == UNKNOWN else size, seeds, anew=anew))

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this dataset, and then those of another."""
        return Dataset(ordering.Concatenated(self.stage, mapping.stage_of(dataset)))

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pairs of a number and an element."""
        return Dataset(ordering.Numbered(self.stage, whole(start, "start")))

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset:
        """The elements, kept by the first whole pass: in memory, or in a file."""
        if filename is None or (isinstance(filename, (str, bytes)) and not filename):
            return Dataset(ordering.Cached(self.stage))
        from tfreel.tf.data.kept import KeptInFile

        return Dataset(KeptInFile(self.stage, os.fsdecode(filename)))

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The elements, made ahead by a thread of their own."""
        size = whole(buffer_size, "buffer_size")
        if size < -1:
            raise InvalidArgumentError(f"buffer_size must be >= 0 or tf.data.AUTOTUNE, not {size}")
        return Dataset(Prefetched(self.stage, size)) if size else self

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """The elements without those that could not be made."""
        return Dataset(ordering.Tolerant(self.stage, log_warning=log_warning))

    def unique(self, name: str | None = None) -> Dataset:
        """The elements without those that came before."""
        from tfreel.tf.data.unique import Unique

        return Dataset(Unique(self.stage))

    # Batches.

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements stacked in batches."""
        return Dataset(
            batching.batch(self.stage, batch_size_of(batch_size), drop_remainder=bool(drop_remainder))
        )

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Elements of different sizes in batches, made as large as the largest of each."""
        padding = Padding.of(self.stage.specs, padded_shapes, padding_values)
        size = batch_size_of(batch_size)
        return Dataset(batching.batch(self.stage, size, padding, drop_remainder=bool(drop_remainder)))

    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        row_splits_dtype: Any = int64,
        name: str | None = None,
    ) -> Dataset:
        """Elements of different sizes in batches of rows of different lengths."""
        size = batch_size_of(batch_size)
        return Dataset(
            batching.ragged_batch(self.stage, size, row_splits_dtype, drop_remainder=bool(drop_remainder))
        )

    def unbatch(self, name: str | None = None) -> Dataset:
        """The elements of batches."""
        return Dataset(batching.Unbatched(self.stage))

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Dataset:
        """The elements of batches in batches of another size."""
        return self.unbatch().batch(batch_size, drop_remainder)

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Datasets of some elements each."""
        count = whole(size, "size")
        step = count if shift is None else whole(shift, "shift")
        stride = whole(stride, "stride")
        if count < 1 or step < 1 or stride < 1:
            raise InvalidArgumentError("size, shift and stride must be greater than zero")
        return Dataset(
            batching.Windows(self.stage, count, step, stride, drop_remainder=drop_remainder, dataset=Dataset)
        )

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[[Any, Any], Any],
        window_size: Any = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """What a function makes of the datasets of elements with one key, so many at a time."""
        size = grouping.window_size(window_size, window_size_func)
        return Dataset(grouping.Grouped(self.stage, key_func, reduce_func, size, Dataset))

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Any,
        bucket_batch_sizes: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Padded batches of elements of about one length."""
        sizes = [whole(size, "bucket_batch_sizes") for size in bucket_batch_sizes]
        ends = [whole(end, "bucket_boundaries") for end in bucket_boundaries]
        bucket, size_of = grouping.buckets(ends, sizes, element_length_func)
        padding = None if no_padding else Padding.of(self.stage.specs, padded_shapes, padding_values)

        def batch(key: Any, window: Dataset) -> Dataset:
            number, suited = int(key), padding
            if padding is not None and pad_to_bucket_boundary:
                suited = padding.up_to(grouping.longest(ends, number), window.element_spec)
            return Dataset(
                batching.batch(window.stage, size_of(number), suited, drop_remainder=bool(drop_remainder))
            )

        made = grouping.Grouped(self.stage, bucket, batch, size_of, Dataset)
        made.specs = batching.batch(self.stage, 1, padding, drop_remainder=False).specs
        return Dataset(made)

    # Looking at it.

    @property
    def element_spec(self) -> Any:
        """The structure of the elements, with a spec for each tensor."""
        specs = self.stage.specs
        return mapping.specs_of_first(self.stage) if specs is None else specs

    def cardinality(self, name: str | None = None) -> Any:
        """How many elements there are; INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
        return wrap(np.array(self.stage.cardinality(), np.int64))

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The elements with arrays for tensors."""
        return (nest.mapped(_as_numpy, element) for element in self)

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element.

        Raises:
            InvalidArgumentError: There is none, or more than one.
        """
        found = list(self.take(2))
        if len(found) != 1:
            raise InvalidArgumentError(
                "Dataset had more than one element." if found else "Dataset was empty."
            )
        return found[0]

    def with_options(self, options: Any, name: str | None = None) -> Dataset:
        """The dataset itself: there is nothing here that options could change."""
        return self

    def options(self) -> Any:
        """What could be set with `with_options`."""
        from tfreel.tf.data.options import Options

        return Options()

    def make_one_shot_iterator(self) -> Any:
        """An iterator as first-generation code has it."""
        from tfreel.tf.first.iterators import make_one_shot_iterator

        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """An iterator as first-generation code has it, that begins when its initializer is run."""
        from tfreel.tf.first.iterators import make_initializable_iterator

        return make_initializable_iterator(self)

    @property
    def output_types(self) -> Any:
        """The dtypes of an element, as first-generation code asks for them."""
        return nest.mapped(lambda spec: spec.dtype, self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of an element, as first-generation code asks for them."""
        return nest.mapped(lambda spec: spec.shape, self.element_spec)

    def __iter__(self) -> DatasetIterator:
        return DatasetIterator(self)

    def __len__(self) -> int:
        count = self.stage.cardinality()
        if count == INFINITE:
            raise TypeError("The dataset is infinite.")
        if count == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return count

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<_{type(self.stage).__name__}Dataset element_spec={self.stage.specs!r}>"


class DatasetIterator:
    """One pass through a dataset."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._items = dataset.stage.chunks(None)
        self._chunk: Any = None
        self._next = 0
        self._given = 0

    @property
    def element_spec(self) -> Any:
        """The structure of the elements."""
        return self._dataset.element_spec

    def __iter__(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        while self._chunk is None or self._next == self._chunk.count:
            item = next(self._items)
            if isinstance(item, Fault):
                raise item.error
            self._chunk, self._next = item, 0
        self._next += 1
        self._given += 1
        return self._chunk.element(self._next - 1)

    @staticmethod
    def from_structure(*args: Any, **options: Any) -> Any:
        """An iterator as first-generation code has it, for any dataset of a structure."""
        from tfreel.tf.first.iterators import Iterator as FirstIterator

        return FirstIterator.from_structure(*args, **options)

    @staticmethod
    def from_string_handle(*args: Any, **options: Any) -> Any:
        """An iterator as first-generation code has it, that is another one in every run."""
        from tfreel.tf.first.iterators import Iterator as FirstIterator

        return FirstIterator.from_string_handle(*args, **options)

    def get_next(self, name: str | None = None) -> Any:
        """The next element.

        Raises:
            OutOfRangeError: There is none.
        """
        try:
            return next(self)
        except StopIteration:
            raise end_of_sequence(self._given) from None

    def get_next_as_optional(self) -> Optional:
        """The next element, or a word that there is none."""
        return Optional(list(itertools.islice(self, 1)))


class Optional:
    """An element, or none."""

    def __init__(self, found: list[Any]) -> None:
        self._found = found

    def has_value(self, name: str | None = None) -> Any:
        """Whether there is one."""
        return wrap(np.array(bool(self._found)))

    def get_value(self, name: str | None = None) -> Any:
        """The element.

        Raises:
            InvalidArgumentError: There is none.
        """
        if not self._found:
            raise InvalidArgumentError("The given optional does not have a value.")
        return self._found[0]


class Prefetched:
    """The elements, made ahead by a thread of their own."""

    def __init__(self, source: Stage, depth: int) -> None:
        self._source = source
        self._depth = depth
        self.specs = source.specs

    def chunks(self, most: int | None) -> Iterator[Item]:
        ahead = ReadAhead(self._source.chunks(most), 2 if self._depth < 0 else min(self._depth, 4))
        try:
            yield from ahead
        finally:
            ahead.close()

    def cardinality(self) -> int:
        return self._source.cardinality()


def _as_numpy(leaf: Any) -> Any:
    if isinstance(leaf, Dataset):
        return leaf.as_numpy_iterator()
    if isinstance(leaf, SparseTensor):
        return to_dense(leaf).numpy()
    return leaf.numpy() if hasattr(leaf, "numpy") else leaf

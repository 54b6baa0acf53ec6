"""`tfreel.Dataset`: files as a lazy, immutable plan of what comes after what."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tfreel import _core, markup
from tfreel.columns.arrow_stream import arrow_reader
from tfreel.columns.batch import Batch
from tfreel.columns.parse import Features
from tfreel.dataset.arguments import (
    no_seed_in_order,
    options_by_name,
    plain,
    require_callable,
    seed_in,
    whole,
    whole_or_none,
)
from tfreel.dataset.batch import batches, unbatched
from tfreel.dataset.cache import Cache, store_for
from tfreel.dataset.collate import Pad, gather, rows_of
from tfreel.dataset.concat import concatenated
from tfreel.dataset.example_source import ExampleSource
from tfreel.dataset.group_by import groups_of, numbers_of, rows_with
from tfreel.dataset.iterator import DatasetIterator, Epochs
from tfreel.dataset.map import Map
from tfreel.dataset.mix import mixed_nodes
from tfreel.dataset.node import Node, Reorder, reordered
from tfreel.dataset.on_error import ON_ERROR, ByHalves, OnError, RowByRow
from tfreel.dataset.order import Chosen, Frozen, Natural, Part
from tfreel.dataset.plan import Stage, digest
from tfreel.dataset.repeat import repeated
from tfreel.dataset.resolve_features import asked_of, is_pipe, told
from tfreel.dataset.rows import Rows
from tfreel.dataset.sample import WeightedOrder, balanced
from tfreel.dataset.shard import ShardSpec, Uneven, shard_elements
from tfreel.dataset.shuffle import Laned, Shuffled, Windowed
from tfreel.dataset.shuffle_buffer import BufferShuffle
from tfreel.dataset.split import SplitOptions, check_fractions, in_turn, positions_in, split_orders
from tfreel.dataset.stream import STREAM, Stream, StreamSource
from tfreel.dataset.take import Enumerate, Filter, Limit, Prefetch, Zip
from tfreel.dataset.to_arrow import capsule_of_elements, field_of_elements
from tfreel.errors import TfreelError
from tfreel.index.access import Records
from tfreel.records.read import OnCorrupt
from tfreel.storage.names import PathLike, Paths, folder_at
from tfreel.threads import thread_count


class Dataset:
    """The examples of some files, with a length, an order and a state. Every method gives a new dataset.

    An element is a dict of arrays; after `batch`, a `Batch` of columns. Nothing is read before elements are
    asked for, but the index of the files. Methods refuse at once what makes no sense, with a
    `TypeError` or a `ValueError`; whole numbers may be NumPy's.

    Args:
        paths: As in `tfreel.read`; or the folder of a data set, made by `tfreel.pack` or TensorFlow Datasets.
        features: What to read, as in `tfreel.parse`. If not given, what the folder says; else it is inferred
            from a sample, once.
        split: Of such a folder, this split alone, as in ``"train"``.
        sequence_features: What to read of the feature lists of SequenceExamples; `features` are of their
            context then.
        columns: Of the features, only these: the others are not decoded.
        raw: Elements are the records as `bytes`.
        stream: Read from the front, without an index: no length, no positions, but nothing is looked at
            twice. Pipes are always read like that.
        verify: As in `tfreel.read`, for streams. What is read by position is always checked.
        on_corrupt: ``"raise"``; or leave out damaged records (``"skip"``), or what a crash cut off
            (``"tail"``), which takes a scan of the files.
        threads: How many to read and parse with; all processors by default.

    Example:
        >>> tfreel.save("numbers.tfrecord", {"x": range(10), "y": [0.5] * 10})
        >>> ds = tfreel.Dataset("numbers.tfrecord")
        >>> len(ds), ds[-1]
        (10, {'x': np.int64(9), 'y': np.float32(0.5)})
        >>> train, test = ds.split(0.8, 0.2)
        >>> [batch["x"].tolist() for batch in train.shuffle().batch(3)]
        [[0, 1, 4], [3, 2, 6], [5, 9]]
    """

    __slots__ = ("_epoch", "_node")

    def __init__(
        self,
        paths: Paths,
        features: Features | None = None,
        *,
        split: str | None = None,
        sequence_features: Features | None = None,
        columns: Sequence[str] | None = None,
        raw: bool = False,
        stream: bool = False,
        verify: bool = True,
        on_corrupt: OnCorrupt = "raise",
        threads: int | None = None,
    ) -> None:
        self._epoch = 0
        self._node: Node
        if raw and not (features is None and sequence_features is None and columns is None):
            raise ValueError(
                "raw=True gives records as they are: there are no features and columns to choose"
            )
        threads = whole_or_none("threads", threads)
        count = thread_count(threads)
        folder = folder_at(paths, split)
        if folder is not None:
            paths = folder.files(split)
            if features is None and sequence_features is None and folder.features:
                features = told(folder, paths, on_corrupt)
        given = None
        if features is not None or sequence_features is not None:
            given = features or {}, sequence_features or {}
        if stream or is_pipe(paths):
            if given is None and not raw and is_pipe(paths):
                raise ValueError("a pipe cannot be looked at twice: give the features, or raw=True")
            asked = asked_of(paths, given, columns, on_corrupt, raw=raw)
            self._node = Stream(StreamSource(paths, *asked, verify, on_corrupt, count, once=is_pipe(paths)))
            return
        records = Records(paths, threads=threads, on_corrupt=on_corrupt)
        if folder is not None and on_corrupt == "raise":
            folder.check_count(len(records), split)
        asked = asked_of(paths, given, columns, on_corrupt, raw=raw)
        elements = ExampleSource(records, *asked, count, inferred=given is None)
        splits = [] if folder is None or split is not None else [*folder.splits]
        joined = (Stage(f"all splits together: {', '.join(splits)}"),) if len(splits) > 1 else ()
        self._node = Rows(elements, Natural(len(records)), joined)

    def _of(self, node: Node) -> Self:
        dataset = self.__class__.__new__(self.__class__)
        dataset._node = node
        dataset._epoch = self._epoch
        return dataset

    @property
    def features(self) -> Features | None:
        """What is read of each record; None where records are given as bytes, or come from many datasets."""
        return self._node.features

    def __len__(self) -> int:
        if self._node.size is None:
            why = self._node.unindexable_reason or "repeat() without an end"
            raise TypeError(f"the dataset has no length, because of {why}")
        return self._node.size

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._cut(*key.indices(len(self)))
        if isinstance(key, (list, tuple)) or getattr(key, "ndim", 0) > 0:
            picks = positions_in(len(self), key)
            stage = Stage(f"{len(picks):,} of them", ["choose", digest(picks)])
            return self._reordered(lambda order: Chosen(order, picks), stage)
        return self._get([operator.index(key)])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Several elements at once: what PyTorch's fetcher asks for."""
        return self._get(indices)

    def _get(self, indices: Sequence[int]) -> list[Any]:
        self._require_positions("to ask for elements by position")
        return self._node.get(positions_in(len(self), indices), self._epoch)

    def _require_positions(self, what: str) -> None:
        reason = self._node.unindexable_reason
        if reason is not None:
            advice = "open files without stream=True" if reason == STREAM else "do it before that stage"
            raise TypeError(
                f"{what}, the dataset must know its positions, which {reason} took away; {advice}"
            )

    def _reordered(self, reorder: Reorder, stage: Stage, *, still: bool = False) -> Self:
        self._require_positions("to change the order")
        return self._of(reordered(self._node, reorder, stage, still=still))

    def _cut(self, start: int, stop: int, step: int = 1) -> Self:
        size = len(range(start, stop, step))
        words = f"{size:,} of them, from {start:,}" + ("" if step == 1 else f", every {step}th")
        stage = Stage(words, ["slice", start, step, size])
        return self._reordered(lambda order: Part(order, start, step, size), stage)

    @options_by_name(1, "an exact shuffle needs no buffer size, and a seed is seed=…, as in shuffle(seed=1)")
    def shuffle(
        self,
        *,
        seed: int = 0,
        window: int | None = None,
        lanes: int | None = None,
        buffer: int | None = None,
    ) -> Self:
        """All elements in an exact random order, a new one in each epoch of a `repeat` behind it.

        Args:
            seed: Another one gives another order; the same one the same order, on every machine and for ever.
            window: Shuffle only within so many elements, taken from sixty-four places: for disks where
                every jump costs.
            lanes: So many windows next to each other, each for every `lanes`-th element: for many ranks, so
                that each of them reads for itself alone. As many as there are ranks, or a multiple.
            buffer: Draw each element from a buffer of so many: for what has no positions, as a stream. The
                order is not as good, and to go on from a state reads the buffer again.
        """
        seed = seed_in(seed)
        window = whole_or_none("window", window, 1)
        lanes = whole_or_none("lanes", lanes, 1)
        buffer = whole_or_none("buffer", buffer, 1)
        if window is not None and buffer is not None:
            raise ValueError("a shuffle has a window or a buffer, not both")
        if lanes is not None and window is None:
            raise ValueError("lanes are of a shuffle with a window")
        if buffer is not None:
            return self._of(BufferShuffle(self._node, seed, buffer))
        if (reason := self._node.unindexable_reason) is not None:
            instead = "open files without stream=True" if reason == STREAM else "shuffle before that"
            raise TypeError(f"{reason} took away the positions; {instead}, or use buffer=")
        len(self)  # what has no end cannot be shuffled: repeat after that
        if window is None:
            stage = Stage(f"shuffled with seed {seed}", ["shuffle", seed])
            return self._reordered(lambda order: Shuffled(order, seed), stage)
        stage = Stage(f"shuffled with seed {seed} in windows of {window:,}", ["shuffle", seed, window])
        if lanes is None:
            return self._reordered(lambda order: Windowed(order, seed, window), stage)
        stage = Stage(f"{stage.words} and {lanes:,} lanes", [*stage.identity, lanes])
        return self._reordered(lambda order: Laned(order, seed, window, lanes), stage)

    @no_seed_in_order
    def split(
        self,
        *fractions: float,
        seed: int = 0,
        shuffle: bool = True,
        by: str | None = None,
        stratify: str | None = None,
        drop_rest: bool = False,
    ) -> tuple[Self, ...]:
        """Parts of the dataset, dealt out at random, disjoint and by exact count.

        Args:
            fractions: The share of each part. They add up to 1.
            seed: Another one gives other parts; the same one the same parts, on every machine and for ever.
            shuffle: False keeps the order: the parts follow each other, and there is no seed. With `stratify`
                the elements of each value do.
            by: A feature: elements with the same value go to the same part, as the value and the seed decide
                alone. More files never move a group; counts are as near as the groups allow.
            stratify: A feature: each part has its share of the elements of every value.
            drop_rest: Fractions may add up to less than 1: what they leave is in no part.

        Raises:
            ValueError: Fractions do not add up to 1, or there are too few elements for one of them.
            TypeError: One is no number.

        Example:
            >>> tfreel.save("numbers.tfrecord", {"x": range(10), "label": [0, 1] * 5})
            >>> ds = tfreel.Dataset("numbers.tfrecord")
            >>> [len(part) for part in ds.split(0.8, 0.1, 0.1)]
            [8, 1, 1]
            >>> half, other = ds.split(0.4, 0.6, stratify="label")
            >>> sorted(row["label"].item() for row in half)
            [0, 0, 1, 1]
        """
        check_fractions(fractions, drop_rest=drop_rest)
        options = SplitOptions.of(seed, shuffle=shuffle, by=by, stratify=stratify)
        orders = self._parts(fractions, options, "part")
        identity = ["split", [*map(plain, fractions)], *options.identity]
        count = len(fractions)
        return tuple(
            self._reordered(
                order,
                Stage(f"part {i + 1} of {count}: {fractions[i]:g} of all{options.words}", [*identity, i]),
                still=True,
            )
            for i, order in enumerate(orders)
        )

    @options_by_name(2, "a seed is seed=…, as in folds(5, seed=1)")
    @no_seed_in_order
    def folds(
        self,
        count: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        by: str | None = None,
        stratify: str | None = None,
    ) -> list[tuple[Self, Self]]:
        """For cross-validation: `count` pairs of a dataset to train on and one to validate with.

        Every element is in exactly one of the second ones. The options are those of `split`.

        Example:
            >>> tfreel.save("numbers.tfrecord", {"x": range(10)})
            >>> [(len(train), len(val)) for train, val in tfreel.Dataset("numbers.tfrecord").folds(3)]
            [(7, 3), (6, 4), (7, 3)]
        """
        count = whole("count", count, 2)
        options = SplitOptions.of(seed, shuffle=shuffle, by=by, stratify=stratify)
        orders = self._parts([1 / count] * count, options, "fold")
        identity = ["folds", count, *options.identity]
        words = f"of {count}{options.words}"
        return [
            (
                self._reordered(
                    partial(in_turn, reorders=orders[:i] + orders[i + 1 :]),
                    Stage(f"all but fold {i + 1} {words}", [*identity, "all but", i]),
                    still=True,
                ),
                self._reordered(orders[i], Stage(f"fold {i + 1} {words}", [*identity, i]), still=True),
            )
            for i in range(count)
        ]

    def _parts(self, fractions: Sequence[float], options: SplitOptions, what: str) -> list[Reorder]:
        self._require_positions("to split it")
        return split_orders(self._node, len(self), fractions, options, what=what)

    @options_by_name(1, "a seed is seed=…, and weights are weights=…")
    def sample(
        self,
        *,
        seed: int = 0,
        weights: npt.ArrayLike | str | None = None,
        balance: str | None = None,
        size: int | None = None,
    ) -> Self:
        """Elements drawn with other frequencies than they have, anew in each epoch.

        Args:
            seed: Another one draws other elements; the same one the same elements, for ever.
            weights: How often each element is drawn, in proportion: a number for each, or the feature that
                holds it. Draws are independent of each other.
            balance: A feature: elements of all its values are equally frequent, and none comes a second time
                before all others with its value came.
            size: How many to draw; as many as there are if not given.

        Example:
            >>> tfreel.save("rare.tfrecord", {"label": [0] * 90 + [1] * 10})
            >>> balanced = tfreel.Dataset("rare.tfrecord").sample(balance="label", size=1000)
            >>> 450 < int(balanced.load()["label"].sum()) < 550
            True
        """
        self._require_positions("to sample it")
        seed = seed_in(seed)
        count = len(self) if size is None else whole("size", size, 0)
        if (weights is None) == (balance is None):
            raise ValueError("give either weights or balance")
        if balance is not None:
            members = groups_of(rows_with("balance", self._node), balance).members()
            stage = Stage(
                f"{count:,} drawn, {balance} balanced, with seed {seed}", ["balance", seed, count, balance]
            )
            return self._reordered(lambda order: balanced(order, members, seed, count), stage)
        given = numbers_of(rows_with("weights", self._node), weights) if isinstance(weights, str) else weights
        array = np.asarray(given, np.float64)
        stage = Stage(f"{count:,} drawn by weight with seed {seed}", ["weights", seed, count, digest(array)])
        return self._reordered(
            lambda order: WeightedOrder.of(Frozen(order), array, seed, count), stage, still=True
        )

    def shard(self, index: int, count: int, *, uneven: Uneven | None = None) -> Self:
        """What falls to one of several ranks or workers: every `count`-th element.

        A state that one rank saves is good for all of them, and for any other number of ranks: what is left
        is shared out anew.

        Args:
            index: Which of them, from 0.
            count: How many there are.
            uneven: What to do where they do not come out even: ``"keep"`` lets some have one more, ``"drop"``
                leaves out the rest, ``"pad"`` fills up with elements from the front. ``"balance"`` gives all
                as many batches, and shares out the last ones evenly: 65 elements in batches of 32 for two
                ranks are 17 and 16, then 16 and 16. Where the last step has fewer elements than there are
                ranks, some come twice. It is what a `batch` behind it does if nothing is said; without one,
                that is ``"keep"``.
        """
        spec = ShardSpec(whole("index", index), whole("count", count, 1), uneven)
        return self._of(shard_elements(self._node, spec))

    def take(self, count: int) -> Self:
        """The first `count` elements."""
        count = whole("count", count, 0, hint="without take, all elements come")
        if self._node.unindexable_reason is not None:
            return self._of(Limit(self._node, 0, count))
        size = self._node.size
        kept = count if size is None else min(count, size)
        return self._reordered(
            lambda order: Part(order, 0, 1, kept), Stage(f"the first {count:,}", ["take", count])
        )

    def skip(self, count: int) -> Self:
        """All but the first `count` elements."""
        count = whole("count", count, 0)
        if self._node.unindexable_reason is not None:
            return self._of(Limit(self._node, count, None))
        size = self._node.size
        left = None if size is None else max(0, size - count)
        stage = Stage(f"without the first {count:,}", ["skip", count])
        return self._reordered(lambda order: Part(order, count, 1, left), stage)

    def repeat(self, times: int | None = None) -> Self:
        """Everything again and again, `times` times or without end. Each time is an epoch of its own."""
        times = whole_or_none("times", times, 0, hint="repeat() without a number is for ever")
        return self._of(repeated(self._node, times))

    def epoch(self, number: int) -> Self:
        """The same in another epoch: what is shuffled comes in another order.

        A dataset is a plan: each `iter` of it is the same pass, that of this epoch. `epochs` is the loop over
        them, and `repeat` has them all in one.
        """
        dataset = self._of(self._node)
        dataset._epoch = whole("number", number, 0)
        return dataset

    def epochs(self, count: int | None = None) -> Epochs:
        """The loop over epochs: pairs of a number and a run through that epoch, in an order of its own.

        Args:
            count: How many there are, from the dataset's own on, which is 0 unless `epoch` says otherwise;
                without end if not given.

        Example:
            >>> tfreel.save("numbers.tfrecord", {"x": range(6)})
            >>> plan = tfreel.Dataset("numbers.tfrecord").shuffle(seed=1).batch(4)
            >>> for epoch, batches in plan.epochs(2):
            ...     print(epoch, [batch["x"].tolist() for batch in batches])
            0 [[5, 2, 4, 3], [0, 1]]
            1 [[4, 0, 3, 2], [1, 5]]
        """
        return Epochs(self._node, self._epoch, whole_or_none("count", count, 0))

    def concat(self, *others: Dataset) -> Self:
        """This dataset, then the others."""
        return self._of(concatenated([self._node, *(dataset_of(other)._node for other in others)]))

    def zip(self, *others: Dataset) -> Self:
        """Tuples of an element of this dataset and one of each other; as many as the shortest has."""
        return self._of(Zip((self._node, *(dataset_of(other)._node for other in others))))

    @staticmethod
    @options_by_name(2, "a seed is seed=…, as in mix([a, b], weights=[3, 1], seed=1)")
    def mix(datasets: Sequence[Dataset], weights: Sequence[float] | None = None, *, seed: int = 0) -> Dataset:
        """Several datasets mixed in fixed shares, in random order.

        It ends where the first of them has nothing left to give: `repeat` those that should not end it.

        Args:
            datasets: What to mix. Each gives its elements in its own order.
            weights: The share of each, in proportion; equal if not given.
            seed: Another one gives another order; the same one the same order, for ever.

        Example:
            >>> tfreel.save("cats.tfrecord", {"x": range(100)})
            >>> tfreel.save("dogs.tfrecord", {"x": range(100, 200)})
            >>> sets = [tfreel.Dataset(name).repeat() for name in ("cats.tfrecord", "dogs.tfrecord")]
            >>> mixed = tfreel.Dataset.mix(sets, weights=[3, 1]).take(1000)
            >>> 700 < int((mixed.load()["x"] < 100).sum()) < 800
            True
        """
        if not datasets:
            raise ValueError("there is nothing to mix")
        nodes = [dataset_of(dataset)._node for dataset in datasets]
        return datasets[0]._of(mixed_nodes(nodes, weights, seed_in(seed)))

    def batch(self, size: int, *, drop_remainder: bool = False, pad: Pad = None) -> Self:
        """Batches of `size` elements, as columns. Records are read, checked and parsed in one go for each.

        After `map` and the like, elements are gathered: arrays of one shape are stacked, of different lengths
        become `Ragged`.

        Args:
            size: How many elements.
            drop_remainder: Leave out the last batch if it is smaller.
            pad: Fill up rows of different lengths, and arrays of different shapes, to the longest of the
                batch: with this number, and strings with empty ones; or by name, for some columns only.
        """
        size = whole("size", size, 1)
        return self._of(batches(self._node, size, pad, drop_remainder=drop_remainder))

    def unbatch(self) -> Self:
        """The elements of batches, one by one."""
        return self._of(unbatched(self._node))

    def map(
        self,
        function: Callable[[Any], Any],
        *,
        workers: int = 0,
        processes: bool = False,
        batched: bool = True,
        ordered: bool = True,
        on_error: OnError = "raise",
    ) -> Self:
        """What `function` makes of each element.

        Args:
            function: Takes an element, gives an element.
            workers: Call it in so many threads, a few elements ahead; 0 calls it where elements are taken.
            processes: Workers are processes: for Python code that keeps the interpreter busy. The function
                and the elements must pickle. A function need not where processes start by a fork: on Linux,
                unless `multiprocessing.set_start_method` set another method than Python's default.
            batched: Of a dataset of batches, give the function whole batches. Otherwise it is called for each
                row, and its results are gathered to a batch.
            ordered: Keep the order. Otherwise results come as soon as they are there.
            on_error: ``"raise"`` what the function raises, with a note on the records it was called with.
                ``"skip"`` leaves out the element, or the row of a batch; positions and length are lost.
                ``"replace"`` puts another one in its place, and keeps them. `DatasetIterator.report` counts
                both, with the errors.

        To find the rows of a batch on which it fails, a function of batches is called on halves of the batch,
        and at last on the batch without these rows, or with others in their place: it has to treat rows one
        by one. Replacements are drawn at random from all elements below, or from all rows of their batches,
        by the plan, the epoch, and the record that failed: they are the same for any order, number of workers
        and ranks, after any state, and with ``ds[i]``. Split first: what is cut out behind the map may have
        replacements from elsewhere. If sixteen fail one after the other, the error is raised.

        Example:
            >>> tfreel.save("numbers.tfrecord", {"x": [1, 2, 0, 4]})
            >>> def quarter(row):
            ...     return {"y": 4 // int(row["x"])}
            >>> ds = tfreel.Dataset("numbers.tfrecord")
            >>> [row["y"] for row in ds.map(quarter, on_error="skip")]
            [4, 2, 1]
            >>> steps = iter(ds.map(quarter, on_error="replace"))
            >>> len(list(steps)), steps.report.replaced, steps.report.examples[0].record
            (4, 1, 2)
        """
        require_callable("function", function)
        workers = whole("workers", workers, 0)
        if on_error not in ON_ERROR:
            raise ValueError(f'on_error must be "raise", "skip" or "replace", not {on_error!r}')
        if on_error == "replace":
            self._require_positions("to draw others for elements that fail")
        if not batched and self._node.batched:
            function = RowByRow(function, on_error)
        elif on_error != "raise" and self._node.batched:
            function = ByHalves(function, on_error)
        pool = self._node if on_error == "replace" else None
        return self._of(Map(self._node, function, workers, processes, ordered, on_error, pool))

    def filter(self, keep: Callable[[Any], Any]) -> Self:
        """The elements for which `keep` is true. Positions and length are lost."""
        require_callable("keep", keep)
        return self._of(Filter(self._node, keep))

    def enumerate(self, start: int = 0) -> Self:
        """Pairs of a number and an element."""
        return self._of(Enumerate(self._node, whole("start", start)))

    def cache(self, directory: PathLike | None = None) -> Self:
        """The same elements, kept when they are first made: what lies below is done only once.

        What is shuffled below has one order from then on.

        Args:
            directory: Keep them there, in a file with checksums that is found again by the plan it was made
                by; in memory if not given. It can hold rows, batches and whatever is made of arrays, numbers,
                strings, dicts, lists and tuples.
        """
        return self._of(Cache(self._node, store_for(self._node, directory)))

    def prefetch(self, depth: int = 2) -> Self:
        """The same elements, made in a thread of their own up to `depth` ahead."""
        return self._of(Prefetch(self._node, whole("depth", depth, 1)))

    def load(self) -> Any:
        """All elements in memory, as one batch of columns.

        Example:
            >>> tfreel.save("numbers.tfrecord", {"x": range(10)})
            >>> tfreel.Dataset("numbers.tfrecord").filter(lambda row: row["x"] % 3 == 0).load()["x"]
            array([0, 3, 6, 9])
        """
        source = self._node.source_rows
        if source is not None:
            indices = source.order.at(np.arange(len(self._of(source)), dtype=np.uint64), self._epoch)
            return source.elements.batch(indices)
        elements: Iterable[Any] = self
        if self._node.batched:
            elements = (row for batch in self for row in rows_of(batch))
        rows = list(elements)
        return gather(rows) if rows else Batch({}, 0)

    def to_arrow_reader(self) -> Any:
        """A `pyarrow.RecordBatchReader` of all elements: as batches, if they are in batches, else 1,024 each.

        The dataset itself is Arrow data too, to libraries that take such: ``polars.DataFrame(dataset)``. All
        batches must have columns of one type.

        Raises:
            ImportError: There is no pyarrow.
        """
        return arrow_reader(self)

    def __arrow_c_schema__(self) -> object:
        return _core.arrow_schema(field_of_elements(self))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return capsule_of_elements(self)

    def __iter__(self) -> DatasetIterator:
        return DatasetIterator(self._node, self._epoch)

    def __repr__(self) -> str:
        first, *rest = (stage.words for stage in self._node.stages())
        return "\n".join([f"<tfreel.Dataset: {first.strip()}", *(f"  {line}" for line in rest)]) + ">"

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{markup.safe(stage.words.strip())}</li>" for stage in self._node.stages())
        length = "" if self._node.size is None else f" of {self._node.size:,}"
        first = markup.attempt(self._first_rows, (TfreelError, OSError))
        return markup.block(f"tfreel.Dataset{length}", f"<ol>{items}</ol>", first)

    def _first_rows(self) -> str:
        """The first records, if nobody's functions have to be called for them."""
        rows = self._node.source_rows
        if rows is None or not rows.size:
            return ""
        positions = np.arange(min(markup.MOST_ROWS, rows.size), dtype=np.uint64)
        return markup.Cells().row_table(rows.get(positions, self._epoch))


def dataset_of(value: Any) -> Dataset:
    """What was given, if it is a dataset.

    Raises:
        TypeError: It is something else; often files that nobody has opened yet.
    """
    if not isinstance(value, Dataset):
        raise TypeError(
            f"expected a tfreel.Dataset, not {type(value).__name__}; tfreel.Dataset(paths) makes one"
        )
    return value

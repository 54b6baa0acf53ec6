"""What the interface offers, without HTTP: questions in, plain values for JSON or bytes out."""

from __future__ import annotations

import hashlib
import secrets
import traceback
from collections.abc import Sequence
from typing import Any

from tfreel.errors import TfreelError
from tfreel.storage.dataset_folder import Folder
from tfreel.viewer.census import Census, Histogram, Scan
from tfreel.viewer.collection import Collection, RecordTooLargeError
from tfreel.viewer.distributions import distribution_of
from tfreel.viewer.facts import fault_map, file_facts, health_of, splits_of
from tfreel.viewer.jobs import Jobs
from tfreel.viewer.names import short_names, words_of
from tfreel.viewer.opening import NotReadyError, Opening
from tfreel.viewer.queries import Query, Question
from tfreel.viewer.shown import (
    MOST_FEATURES,
    bytes_shown,
    cell,
    features_shown,
    lists_shown,
    name_of,
    steps_cell,
)
from tfreel.viewer.values import Row, row_of

MOST_ROWS = 100
_PAGE_BYTES = 128 << 20  # of records that one page of a table is made of
_MOST_FILES = 2000


class Service:
    """One set of files, looked at.

    Args:
        files: Their paths.
        folder: What the folder says of itself that they are from, if it does.
        title: What to call it all.
    """

    def __init__(self, files: Sequence[str], folder: Folder | None, title: str) -> None:
        self._files = list(files)
        self._names = short_names(files)
        self._folder = folder
        self._title = title
        self._version = secrets.token_hex(4)  # addresses of pictures have it, so that no old one is shown
        self._opening = Opening(self._files, folder)
        self._queries: Jobs[Query] = Jobs()
        self._histograms: Jobs[Histogram] = Jobs()
        self._scans: Jobs[Scan] = Jobs()
        self._opening.start()

    def close(self) -> None:
        """Ends all work."""
        self._opening.cancel()
        for jobs in (self._queries, self._histograms, self._scans):
            jobs.cancel_all()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until the files are open. Whether they are."""
        return self._opening.wait(seconds)

    @property
    def collection(self) -> Collection:
        """The files.

        Raises:
            NotReadyError: They are not open yet.
        """
        found = self._opening.collection
        if found is None:
            raise NotReadyError
        return found

    @property
    def census(self) -> Census:
        """What is in them, as far as it is known."""
        return self._opening.census

    def words(self, error: BaseException) -> str:
        """What an error says, without paths. What nobody foresaw goes to the terminal as a whole."""
        if not isinstance(error, (TfreelError, OSError)):
            traceback.print_exception(error)
        return words_of(error, self._files, self._names)

    def overview(self) -> dict[str, Any]:
        """Everything on one page."""
        opening = self._opening
        page: dict[str, Any] = {"title": self._title, "version": self._version, "state": "ready"}
        if opening.failure is not None:
            return {**page, "state": "failed", "error": self.words(opening.failure)}
        if opening.collection is None:
            progress = {
                "records": opening.records,
                "bytes": opening.nbytes,
                "total_bytes": opening.total_bytes,
            }
            return {**page, "state": "opening", "progress": progress}
        collection, census = opening.collection, self.census
        files = [file_facts(file, number) for number, file in enumerate(collection.files)]
        return {
            **page,
            "records": len(collection),
            "bytes": sum(file["bytes"] for file in files),
            "bytes_on_disk": sum(file["bytes_on_disk"] for file in files),
            "file_count": len(files),
            "files": files[:_MOST_FILES],
            "splits": splits_of(collection, self._folder),
            "classes": {str(number): name for number, name in self._classes().items()},
            "health": health_of(collection),
            "scan": self._scan_state(),
            "looked_at": {"records": census.looked_at, "all": census.complete},
            "unreadable": census.unreadable,
            "features": self._features(census),
            "feature_count": len(census.profiles) + len(census.lists),
            "conflicts": census.conflicts,
            "overlays": census.overlays(),
        }

    def _features(self, census: Census) -> list[dict[str, Any]]:
        scan = self._finished_scan()
        features = census.features()
        for feature in features:
            figures = scan.figures(feature["name"], in_lists=feature["in_lists"]) if scan else None
            feature["exact"] = census.complete or figures is not None
            if figures is not None:
                feature["distribution"] = distribution_of(figures)
                feature["absent"], feature["share"] = figures.absent, figures.share
                missing = f"absent in {figures.absent:,} of {figures.records:,}"
                feature["gaps"] = [missing] if figures.absent else []
                if figures.numbers is not None:
                    feature["values"] = ""  # the ends of the sample; those of all are in the distribution
        return features

    def _classes(self) -> dict[int, str]:
        return dict(self._folder.classes) if self._folder else {}

    def faults(self, file: int | None = None) -> dict[str, Any]:
        """Where the damage is, and what `repair` would keep."""
        return fault_map(self.collection, file)

    def rows(self, offset: int, limit: int, features: list[str] | None, query: str | None) -> dict[str, Any]:
        """Some records, shortened for a table."""
        collection = self.collection
        limit = max(0, min(limit, MOST_ROWS))
        if query:
            asked = self._queries.get(query)
            found = asked.positions()
            total, done = len(found), asked.done
            positions = found[offset : offset + limit].tolist()
        else:
            total, done = len(collection), True
            positions = list(range(min(offset, total), min(offset + limit, total)))
        left = _PAGE_BYTES
        rows = []
        for position in positions:
            left -= collection.place(position).length
            rows.append(self._row(position, features, enough=left >= 0))
        return {"offset": offset, "total": total, "done": done, "rows": rows}

    def _row(self, position: int, features: list[str] | None, *, enough: bool) -> dict[str, Any]:
        shown: dict[str, Any] = {"record": position}
        if not enough:
            return {**shown, "error": "the records of this page are too large to show them all"}
        row = self._read(position)
        if isinstance(row, str):
            return {**shown, "error": row}
        if row.data is not None:
            return {**shown, "kind": row.kind, "data": cell([row.data], "")}
        chosen = [*row.features, *row.lists] if features is None else features
        cells = {name_of(name): _cell(row, name) for name in chosen[:MOST_FEATURES]}
        return {**shown, "features": {name: value for name, value in cells.items() if value is not None}}

    def _read(self, position: int) -> Row | str:
        """The record, or why it cannot be shown."""
        try:
            return row_of(self.collection.fetch(position))
        except RecordTooLargeError as error:
            return str(error)
        except (TfreelError, OSError) as error:
            return self.words(error)

    def row(self, position: int) -> Row:
        """A record, taken apart.

        Raises:
            IndexError: There is no such record.
            TfreelError: It is damaged.
        """
        return row_of(self.collection.fetch(position))

    def record(self, position: int) -> dict[str, Any]:
        """All that can be said of a record.

        Raises:
            IndexError: There is no such record.
        """
        collection = self.collection
        place = collection.place(position)
        file = collection.files[place.file]
        shown: dict[str, Any] = {
            "record": position,
            "total": len(collection),
            "version": self._version,
            "wire": {
                "file": {"id": place.file, "name": file.name, "split": file.split},
                "record": place.record,
                "offset": place.offset,
                "end": place.end,
                "length": place.length,
                "length_checksum": f"{place.length_checksum:08x}",
                "checksum": f"{place.checksum:08x}",
                "codec": file.index.codec,
            },
        }
        row = self._read(position)
        if isinstance(row, str):
            kind = "damaged" if collection.shows(place) else "too large"
            return {**shown, "kind": kind, "error": row}
        shown["kind"] = row.kind
        if row.data is not None:
            return {**shown, "why": row.why, "data": bytes_shown(row.data)}
        shown["features"] = features_shown(row, self.census.profiles)
        shown["feature_lists"] = lists_shown(row)
        shown["feature_count"] = len(row.features) + len(row.lists)
        return shown

    def class_names(self) -> dict[int, str]:
        """Names of classes by their ids, for masks."""
        return self._classes()

    def query(self, question: Question) -> dict[str, Any]:
        """Begins to answer a question, or says how far that is.

        Raises:
            ValueError: It makes no sense.
        """
        collection, census = self.collection, self.census
        make = lambda: Query(question, collection, census.profiles, census.lists)  # noqa: E731
        return self._told(self._queries.begun(question.id, make))

    def query_state(self, query: str) -> dict[str, Any]:
        """How far a query is.

        Raises:
            KeyError: There is none of that name.
        """
        return self._told(self._queries.get(query))

    def cancel_query(self, query: str) -> dict[str, Any]:
        """Ends a query.

        Raises:
            KeyError: There is none of that name.
        """
        self._queries.get(query).cancel()
        return self.query_state(query)

    def _told(self, job: Any) -> dict[str, Any]:
        job.wait(0.05)  # most answers are there at once, and one question less is asked
        state: dict[str, Any] = job.state()
        if isinstance(job.failure, ValueError):
            state["error"] = str(job.failure)  # what a comparison of text with numbers says
        elif job.failure is not None:
            state["error"] = self.words(job.failure)
        return state

    def next_match(self, query: str, position: int, step: int) -> dict[str, Any]:
        """The record before or behind one among those of a query, and where it stands there.

        One that is not among them, as somebody went to it by its number, has neighbours too, if in order.
        """
        asked = self._queries.get(query)
        found = asked.positions()
        places = (found == position).nonzero()[0]
        if len(places):
            place = int(places[0]) + step
        elif step and not asked.is_sorted:
            place = int(found.searchsorted(position)) - (step < 0)
        else:
            place = -1
        inside = 0 <= place < len(found)
        return {
            "record": int(found[place]) if inside else None,
            "place": place if inside else None,
            "total": len(found),
        }

    def histogram(self, feature: str, query: str | None) -> dict[str, Any]:
        """The distribution of a feature over all records, or those of a query.

        Raises:
            KeyError: There is no such feature or query.
        """
        collection, census = self.collection, self.census
        chosen, marked = None, ""
        if query:
            asked = self._queries.get(query)
            chosen, marked = asked.positions(), f"{query}/{asked.done}/{len(asked.positions())}"
        text = repr((feature, marked)).encode("utf-8", "backslashreplace")
        job_id = hashlib.sha256(text).hexdigest()[:20]
        make = lambda: Histogram(collection, census, feature, chosen, job_id)  # noqa: E731
        return self._told(self._histograms.begun(job_id, make))

    def scan(self) -> dict[str, Any]:
        """Begins to look at all records, or says how far that is."""
        collection = self.collection
        return self._told(self._scans.begun("scan", lambda: Scan(collection)))

    def cancel_scan(self) -> dict[str, Any]:
        """Ends the scan, if there is one."""
        self._scans.cancel_all()
        return self._scan_state() or {"done": True, "cancelled": True}

    def _scan_state(self) -> dict[str, Any] | None:
        try:
            return self._told(self._scans.get("scan"))
        except KeyError:
            return None

    def _finished_scan(self) -> Scan | None:
        try:
            scan = self._scans.get("scan")
        except KeyError:
            return None
        return scan if scan.done and not scan.cancelled and scan.failure is None else None


def _cell(row: Row, name: str) -> dict[str, Any] | None:
    if name in row.features:
        return cell(row.features[name], name)
    return steps_cell(row.lists[name], name) if name in row.lists else None

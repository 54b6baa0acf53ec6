"""The first thing to do: open the files, and look at some records, while the page is already there."""

from __future__ import annotations

from collections.abc import Sequence

from tfreel.storage.dataset_folder import Folder
from tfreel.storage.places import size_of
from tfreel.threads import Turn
from tfreel.viewer.census import Census, sample
from tfreel.viewer.collection import Collection, open_collection
from tfreel.viewer.jobs import Job


class NotReadyError(Exception):
    """The files are still being opened, or could not be."""


class Opening(Job):
    """Opens the files and looks at some records."""

    def __init__(self, files: Sequence[str], folder: Folder | None) -> None:
        super().__init__("opening")
        self._files = files
        self._folder = folder
        self.total_bytes = sum(size_of(file) for file in files)
        self.collection: Collection | None = None
        self.census = Census()

    def work(self) -> None:
        """Opens and samples."""
        collection = open_collection(
            self._files, self._folder, progress=self.progress, within=Turn(within=self.turn)
        )
        self.census = sample(collection)
        self.collection = collection

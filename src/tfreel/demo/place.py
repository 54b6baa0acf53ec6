"""The folder in which the demo plays, and where things are in it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

from tfreel.storage.paths import display

_MARKER = ".tfreel-demo"


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of a demo. Everything it makes is in there."""

    folder: str

    @property
    def fruit(self) -> str:
        """Pictures of apples and oranges."""
        return self._in("fruit")

    @property
    def fruit_records(self) -> str:
        """The same as a data set."""
        return self._in("fruit-records")

    @property
    def scenes(self) -> str:
        """Pictures and masks as Pascal VOC has them."""
        return self._in("voc")

    @property
    def scene_records(self) -> str:
        """The same as a data set."""
        return self._in("voc-records")

    @property
    def weights(self) -> str:
        """What a classifier had learned when it was interrupted."""
        return self._in("checkpoint.npz")

    @property
    def state(self) -> str:
        """Where in the data it was."""
        return self._in("checkpoint.json")

    @property
    def damaged(self) -> str:
        """A file with a bad byte."""
        return self._in("damaged.tfrecord")

    @property
    def mended(self) -> str:
        """What could be saved of it."""
        return self._in("mended.tfrecord")

    def _in(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def claim(self, *, force: bool = False) -> None:
        """Makes the folder, or takes an empty one.

        Args:
            force: Replace the folder of an earlier demo. What no demo made is never replaced: this would be
                the folder with somebody's photos.

        Raises:
            FileExistsError: There is something in it.
        """
        marker = self._in(_MARKER)
        if os.path.lexists(marker):
            if not force:
                raise FileExistsError(
                    f"{display(self.folder)}: an earlier demo is there; force=True replaces it"
                )
            shutil.rmtree(self.folder)
        elif os.path.isdir(self.folder) and os.listdir(self.folder):
            raise FileExistsError(
                f"{display(self.folder)}: something is there that is not of a demo; name another folder"
            )
        os.makedirs(self.folder, exist_ok=True)
        with open(marker, "x", encoding="utf-8") as file:
            file.write("Made by tfreel demo, which may replace all of this folder.\n")

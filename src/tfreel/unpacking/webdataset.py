"""Records in, a tar archive for WebDataset out.

A sample is what begins with the same key: ``key.jpg``, ``key.cls`` with a class that is a number,
``key.json`` with all other features. The same records give the same bytes: nobody owns the members, and they
have no time.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence

from tfreel.columns.batch import Batch
from tfreel.unpacking.samples import Sample, Samples
from tfreel.unpacking.schema import Column
from tfreel.unpacking.targets import Sink, TargetFile, Wishes


class WebDataset(TargetFile):
    """An archive of samples."""

    def __init__(self, wishes: Wishes, columns: Sequence[Column]) -> None:
        self._samples = Samples(wishes, columns)
        super().__init__(wishes, columns)
        self.notes += self._samples.notes
        self._tar = tarfile.open(fileobj=Sink(self.file), mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115 - until published
        self._keys: set[str] = set()
        self._records = 0
        self._renamed = 0

    def write(self, batch: Batch) -> None:
        """Adds samples."""
        for sample in self._samples.of(batch):
            key = self._key(sample)
            if sample.main is not None:
                self._add(f"{key}.{sample.main.extension}", sample.main.data)
            for beside in sample.beside:
                self._add(f"{key}.{beside.part}.{beside.media.extension}", beside.media.data)
            if sample.label is not None:
                self._add(f"{key}.cls", b"%d" % sample.label)
            self._add(f"{key}.json", f"{{{', '.join(sample.members)}}}".encode())
            self._records += 1

    def publish(self) -> None:
        """Ends the archive, and makes it appear."""
        self._tar.close()
        if self._renamed:
            self.notes.append(f"keys that came twice, and had a number added: {self._renamed:,}")
        super().publish()

    def _key(self, sample: Sample) -> str:
        # What follows the first dot is no part of a key.
        wanted = key = sample.name.replace(".", "_") or f"{self._records:08d}"
        number = 1
        while key in self._keys:
            number += 1
            key = f"{wanted}-{number}"
        self._renamed += number > 1
        self._keys.add(key)
        return key

    def _add(self, name: str, data: bytes) -> None:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        self._tar.addfile(member, io.BytesIO(data))

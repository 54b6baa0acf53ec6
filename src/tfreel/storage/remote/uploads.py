"""Objects to write: kept on this machine until they are whole, and sent then."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress

from tfreel.storage.places import exists
from tfreel.storage.publish import OutputFile
from tfreel.storage.remote.stores import exists_already, store_of
from tfreel.storage.url import Url


class NewObject(OutputFile):
    """An object that appears under its name only when it is whole: `NewFile` from afar.

    Until then it is a file in the directory for temporary files (``TMPDIR``). A large one is sent in parts,
    which become an object when the last one has come. A crash leaves the temporary file, from which
    `tfreel.repair` can save what was flushed.
    """

    path: Url

    def __init__(self, url: Url, *, replace: bool) -> None:
        self._replace = replace
        if not replace and exists(url):
            raise exists_already(url)
        descriptor, self.temporary = tempfile.mkstemp(prefix="tfreel-", suffix=".tmp")
        super().__init__(url, descriptor, durable=False)

    def publish(self, path: str | None = None) -> None:
        """Sends it (under another name, if said)."""
        try:
            self.seal()
            url = self.path if path is None else self.path.renamed(path)
            store_of(url).write(url, self.temporary, replace=self._replace)
        finally:
            self.abort()

    def abort(self) -> None:
        """Removes what was written."""
        with suppress(FileNotFoundError):
            os.unlink(self.temporary)
        self._close()

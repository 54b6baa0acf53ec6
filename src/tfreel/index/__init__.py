"""Random access: where each record lies, kept in memory or in a sidecar, and reading by that knowledge."""

from tfreel.index.access import Records, open  # noqa: A004 - the public name, as in gzip.open
from tfreel.index.build import build_index

__all__ = ["Records", "build_index", "open"]

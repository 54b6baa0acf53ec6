"""Records, framed bytes: read, written, verified and repaired. Paths come in, `bytes` go out, and back."""

from tfreel.records.read import Reader, read
from tfreel.records.repair import repair, verify
from tfreel.records.report import Fault, Report
from tfreel.records.shards import ShardedWriter
from tfreel.records.write import Writer

__all__ = ["Fault", "Reader", "Report", "ShardedWriter", "Writer", "read", "repair", "verify"]

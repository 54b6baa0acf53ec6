"""Scans: the records of files as one table, of which others read the columns and rows that they want."""

from tfreel.scans.table import Scan, scan

__all__ = ["Scan", "scan"]

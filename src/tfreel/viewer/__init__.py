"""The viewer: records in, a page in the browser out. Nothing of it is imported until it is used."""

from tfreel.viewer.server import Viewer, view

__all__ = ["Viewer", "view"]

"""`tf.gfile`: files and folders under their first-generation names."""

from tfreel.tf.files.first_names import Copy as Copy
from tfreel.tf.files.first_names import DeleteRecursively as DeleteRecursively
from tfreel.tf.files.first_names import Exists as Exists
from tfreel.tf.files.first_names import Glob as Glob
from tfreel.tf.files.first_names import IsDirectory as IsDirectory
from tfreel.tf.files.first_names import ListDirectory as ListDirectory
from tfreel.tf.files.first_names import MakeDirs as MakeDirs
from tfreel.tf.files.first_names import MkDir as MkDir
from tfreel.tf.files.first_names import Remove as Remove
from tfreel.tf.files.first_names import Rename as Rename
from tfreel.tf.files.first_names import Stat as Stat
from tfreel.tf.files.first_names import Walk as Walk
from tfreel.tf.files.gfile import FastGFile as FastGFile
from tfreel.tf.files.gfile import GFile as GFile
from tfreel.tf.files.gfile import GFile as Open

__all__ = [
    "Copy",
    "DeleteRecursively",
    "Exists",
    "FastGFile",
    "GFile",
    "Glob",
    "IsDirectory",
    "ListDirectory",
    "MakeDirs",
    "MkDir",
    "Open",
    "Remove",
    "Rename",
    "Stat",
    "Walk",
]

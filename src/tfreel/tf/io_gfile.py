"""`tf.io.gfile`: files and folders."""

from tfreel.tf.files.folders import copy as copy
from tfreel.tf.files.folders import exists as exists
from tfreel.tf.files.folders import glob as glob
from tfreel.tf.files.folders import isdir as isdir
from tfreel.tf.files.folders import join as join
from tfreel.tf.files.folders import listdir as listdir
from tfreel.tf.files.folders import makedirs as makedirs
from tfreel.tf.files.folders import mkdir as mkdir
from tfreel.tf.files.folders import remove as remove
from tfreel.tf.files.folders import rename as rename
from tfreel.tf.files.folders import rmtree as rmtree
from tfreel.tf.files.folders import stat as stat
from tfreel.tf.files.folders import walk as walk
from tfreel.tf.files.gfile import GFile as GFile

__all__ = [
    "GFile",
    "copy",
    "exists",
    "glob",
    "isdir",
    "join",
    "listdir",
    "makedirs",
    "mkdir",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]

"""What many processes write and one publishes: sets of shards, and folders. For engines with tasks.

Workers write each attempt at a task under a name of its own, where nobody looks, and say what they wrote as a
`Part`. The driver chooses, takes its choice down, and gives names; the manifest comes last. Whoever dies
where, there is all of it or nothing, and the next one tidies up.
"""

from tfreel.commits.folders import Job, files_in
from tfreel.commits.parts import Part
from tfreel.commits.sets import NewSet

__all__ = ["Job", "NewSet", "Part", "files_in"]

"""The kinds of sources: which one something is, and who opens it.

Each kind is a module of this room with three names in it: `Options`, a dataclass of the options it takes;
`recognised`, which tells whether something is of this kind; and `opened`, which gives the source. To add one,
add its module and its line here.
"""

from __future__ import annotations

# By the name of the kind, in the order in which they are asked whether something is theirs.
TREES = {
    "voc": "tfreel.packing.voc",
    "coco": "tfreel.packing.coco",
    "yolo": "tfreel.packing.yolo",
    "images": "tfreel.packing.image_folder",
}
FILES = {
    "csv": "tfreel.packing.csv_table",
    "jsonl": "tfreel.packing.jsonl",
    "parquet": "tfreel.packing.arrow_table",
    "numpy": "tfreel.packing.numpy_arrays",
}
OBJECTS = {
    "rows": "tfreel.packing.rows",
    "table": "tfreel.packing.arrow_table",
}

"""Writes docs/reference: every public name and every command, as the source tells them.

python docs/site/reference.py            writes the pages
python docs/site/reference.py --check    says which of them are not up to date, and fails then
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter
from pathlib import Path

from commands import describe_commands
from members import Describer, load_source, slug

ROOT = Path(__file__).parents[2]

# File: title, module, and names in the order of the page; without any, all that are public, functions first.
PAGES = {
    "records": (
        "Records",
        "tfreel",
        "read Reader Writer ShardedWriter open Records build_index verify repair Report Fault Url",
    ),
    "examples": (
        "Examples",
        "tfreel",
        "encode decode encode_sequence decode_sequence tensor Example Features Feature"
        " BytesList FloatList Int64List SequenceExample FeatureLists FeatureList",
    ),
    "columns": (
        "Features and columns",
        "tfreel",
        "FixedLenFeature VarLenFeature RaggedFeature SparseFeature FixedLenSequenceFeature"
        " infer_features InferredFeatures FeatureProfile parse parse_sequence Batch SequenceBatch"
        " BytesColumn Ragged Sparse load save scan Scan",
    ),
    "dataset": ("Datasets", "tfreel", "Dataset DatasetIterator Epochs"),
    "packing": ("Packing, unpacking, viewing", "tfreel", "pack PackReport unpack UnpackReport view Viewer"),
    "errors": (
        "Classes of errors",
        "tfreel",
        "TfreelError CorruptError TruncatedError ChecksumError DecodeError FeatureError MissingFeatureError"
        " FeatureMismatchError StaleIndexError StateError UnsafeInputError TfreelWarning",
    ),
    "images": ("Images", "tfreel.images", ""),
    "profile": ("Statistics, checks, comparisons", "tfreel.profile", ""),
    "torch": ("PyTorch", "tfreel.adapters.torch", ""),
    "jax": ("JAX", "tfreel.adapters.jax", ""),
    "keras": ("Keras", "tfreel.adapters.keras", ""),
    "grain": ("Grain", "tfreel.adapters.grain", ""),
    "polars": ("Polars", "tfreel.adapters.polars", ""),
    "duckdb": ("DuckDB", "tfreel.adapters.duckdb", ""),
    "huggingface": ("Hugging Face", "tfreel.adapters.huggingface", ""),
    "ray": ("Ray", "tfreel.adapters.ray", ""),
    "spark": ("Spark", "tfreel.adapters.spark", ""),
}

_INDEX = """# Reference

Every public name, and every option of [every command](cli.md). These pages are made of the source by
`make reference`, and a test holds them against it. What is not here is not public, and may change any time.

`import tfreel` brings in `tfreel.images` and `tfreel.profile`; adapters are imported by name, as in
`from tfreel.adapters import torch`, since each needs its framework. `tfreel.tf` has the names of
TensorFlow: see [coming from TensorFlow](../tensorflow.md). Errors, and what to do about each, are in
[Errors](../errors.md); what can be set from outside is in [the command line](../cli.md).

In signatures, `PathLike` is a `str`, `bytes` or `os.PathLike`, or a URL; `Paths` is one or many of them:
names, globs, shard patterns, folders, or open streams. `Features` is a dict of names and features. `engine`
is who does the work: threads here (`"local"`) or a [Ray](../ray.md) cluster (`"ray"`).
"""


def public_names(module: str) -> list[str]:
    """What stands in `__all__` of a module."""
    path = ROOT / "src" / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return sorted(ast.literal_eval(statement.value), key=lambda name: (name[0].isupper(), name))
    raise LookupError(f"{module} has no __all__")


def listed_names() -> dict[str, list[str]]:
    """By page, the full names that stand on it.

    Raises:
        LookupError: A name is public and on no page, or the other way round.
    """
    listed = {
        page: [f"{module}.{name}" for name in names.split() or public_names(module)]
        for page, (_, module, names) in PAGES.items()
    }
    public = {f"{module}.{name}" for _, module, _ in PAGES.values() for name in public_names(module)}
    if odd := public.symmetric_difference(name for names in listed.values() for name in names):
        raise LookupError(f"public, or listed in {Path(__file__).name}, but not both: {sorted(odd)}")
    return listed


def write_pages() -> dict[str, str]:
    """The text of every page, by the name of its file."""
    listed = listed_names()
    addresses = {}
    for page, names in listed.items():
        seen: Counter[str] = Counter()
        addresses.update({name: f"{page}.md#{slug(name, seen)}" for name in names})
    describer = Describer(load_source(), addresses)
    pages = {"cli.md": describe_commands(), "README.md": _INDEX}
    for page, names in listed.items():
        title, module, _ = PAGES[page]
        heading = f"# {title}\n\nFrom the source of `{module}`; see [all of the reference](README.md).\n"
        pages[f"{page}.md"] = "\n".join([heading, *map(describer.describe, names)]).rstrip() + "\n"
        rows = [f"| [`{name}`]({addresses[name]}) | {describer.headline(name)} |" for name in names]
        pages["README.md"] += "\n".join([f"\n## {title}\n", "| | |", "|---|---|", *rows, ""])
    return pages


def main() -> int:
    """Writes the pages, or checks them; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "docs/reference")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a page is not up to date"
    )
    asked = parser.parse_args()
    pages = write_pages()
    asked.out.mkdir(exist_ok=True)
    old = {path.name: path.read_text(encoding="utf-8") for path in asked.out.glob("*.md")}
    if asked.check:
        stale = sorted(name for name in pages.keys() | old.keys() if pages.get(name) != old.get(name))
        print(*(f"{name} is not up to date: make reference" for name in stale), sep="\n", end="")
        return bool(stale)
    for name in old.keys() - pages.keys():
        (asked.out / name).unlink()
    for name, text in pages.items():
        (asked.out / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

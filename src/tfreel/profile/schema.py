"""`tfreel.profile.Schema`: rules for all features, which a person may edit; to and from files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeAlias

from tfreel.profile.rules import FeatureRules, rules_from_json
from tfreel.storage.names import PathLike
from tfreel.storage.paths import display

VERSION = 1
_LARGEST_BYTES = 1 << 26
_MOST_FEATURES = 100_000

OtherFeatures: TypeAlias = Literal["allow", "refuse"]


@dataclass(frozen=True, slots=True)
class Schema:
    """What is asked of some data: rules for each feature, and for all of it.

    Attributes:
        rules: For features, by name.
        sequence_rules: For feature lists, by name.
        other_features: Whether records may have features that there are no rules for: ``"allow"`` or
            ``"refuse"``.
        min_records: How many records there are at least.
        max_records: And at most; None for any number.
        facts: What was seen of the data that the schema was inferred from, as JSON has it.
        notes: What of the file that it was read from is not checked.

    Example:
        >>> tfreel.save("cats.tfrecord", [{"label": i % 3, "name": f"cat {i}"} for i in range(100)])
        >>> schema = tfreel.profile.infer_schema("cats.tfrecord")
        >>> schema.rules["label"].to_json()
        {'kind': 'int64', 'presence': 1.0, 'shape': [], 'range': [0, 2]}
        >>> with open("schema.json", "w") as file:
        ...     _ = file.write(schema.to_json())
        >>> tfreel.profile.Schema.load("schema.json").rules == schema.rules
        True
    """

    rules: Mapping[str, FeatureRules]
    sequence_rules: Mapping[str, FeatureRules] = field(default_factory=dict)
    other_features: OtherFeatures = "allow"
    min_records: int = 1
    max_records: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.other_features not in ("allow", "refuse"):
            raise ValueError(f'other_features must be "allow" or "refuse", not {self.other_features!r}')
        for name, rules in [*self.rules.items(), *self.sequence_rules.items()]:
            if not isinstance(rules, FeatureRules):
                raise TypeError(f"rules of {name!r} must be FeatureRules, not {type(rules).__name__}")

    @classmethod
    def load(cls, path: PathLike, *, environment: str | None = None) -> Self:
        """The schema in a file: JSON, or the text format of tf.Metadata, as TFDV writes it.

        Args:
            path: The file.
            environment: Of a schema of tf.Metadata, for which of its environments.

        Raises:
            ValueError: It is no schema; says where, and why.
        """
        name = os.fsdecode(path)
        with open(name, "rb") as file:
            content = file.read(_LARGEST_BYTES + 1)
        try:
            if len(content) > _LARGEST_BYTES:
                raise ValueError(f"a schema of more than {_LARGEST_BYTES:,} bytes")  # noqa: TRY301
            text = content.decode()
            if text.lstrip().startswith("{") or name.endswith(".json"):
                if environment is not None:
                    raise ValueError("environments are for schemas of tf.Metadata")  # noqa: TRY301
                return cls.from_json(text)
            return cls.from_pbtxt(text, environment=environment)
        except ValueError as error:
            why = "not text in UTF-8" if isinstance(error, UnicodeDecodeError) else error
            raise ValueError(f"{display(name)}: {why}") from None

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The schema in a text that ``to_json`` made, or somebody wrote.

        Raises:
            ValueError: There is none; says where, and why.
        """
        try:
            found = json.loads(text)
        except RecursionError:
            raise ValueError("not a schema: lists in lists in lists") from None
        except json.JSONDecodeError as error:
            raise ValueError(f"line {error.lineno}: not JSON: {error.msg}") from None
        if not isinstance(found, dict) or "rules" not in found:
            raise ValueError('not a schema: expected an object with "schema_version" and "rules"')
        version = found.get("schema_version")
        if version != VERSION:
            raise ValueError(f"schema_version {version!r} is not known here, only {VERSION}")
        return cls(
            _rules(found, "rules"),
            _rules(found, "sequence_rules"),
            found.get("other_features", "allow"),
            _count(found, "min_records", 1),
            _count(found, "max_records", None),
            {key: found[key] for key in _FACTS if key in found},
        )

    @classmethod
    def from_pbtxt(cls, text: str, *, environment: str | None = None) -> Self:
        """The schema in the text format of tf.Metadata; ``notes`` say what of it is not checked.

        Raises:
            ValueError: There is none; says where, and why.
        """
        from tfreel.profile.pbtxt import read_schema

        return cls(**read_schema(text, environment=environment))

    def to_dict(self) -> dict[str, Any]:
        """The schema, and what it was inferred from, of plain values."""
        return {
            "schema_version": VERSION,
            "min_records": self.min_records,
            "max_records": self.max_records,
            "other_features": self.other_features,
            "rules": {name: rules.to_json() for name, rules in self.rules.items()},
            "sequence_rules": {name: rules.to_json() for name, rules in self.sequence_rules.items()},
            **self.facts,
        }

    def to_json(self) -> str:
        """The schema as a JSON object, to keep and to edit; its keys are in docs/validate.md."""
        lines = [f"  {json.dumps(key)}: {_laid_out(value)}" for key, value in self.to_dict().items()]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        # A byte of a file name that is no UTF-8 is a lone surrogate in Python: JSON can hold it, escaped.
        return text.encode("utf-8", "backslashreplace").decode()

    def to_pbtxt(self) -> str:
        """The schema in the text format of tf.Metadata, with comments for what that cannot say."""
        from tfreel.profile.pbtxt import written

        return written(self)


def _laid_out(value: Any) -> str:
    """A line for each feature: what is long to read is long to edit."""
    if not isinstance(value, Mapping) or not value:
        return json.dumps(value, ensure_ascii=False)
    lines = [
        f"    {json.dumps(key, ensure_ascii=False)}: {json.dumps(one, ensure_ascii=False)}"
        for key, one in value.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n  }"


_FACTS = ("records", "files", "features", "sequence_features", "conflicts")


def _rules(found: Mapping[str, Any], key: str) -> dict[str, FeatureRules]:
    rules = found.get(key, {})
    if not isinstance(rules, dict) or len(rules) > _MOST_FEATURES:
        raise ValueError(
            f"{key} must be an object with rules by name, of {_MOST_FEATURES:,} features at most"
        )
    return {name: rules_from_json(name, each) for name, each in rules.items()}


def _count(found: Mapping[str, Any], key: str, default: Any) -> Any:
    value = found.get(key, default)
    if value is None and default is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{key} must be a whole number that is not negative, not {value!r}")
    return value

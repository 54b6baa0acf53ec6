"""Schemas of tf.Metadata, as TensorFlow Data Validation writes them: text in, rules out; and back.

What such a schema says and is not checked here is not passed over in silence: it becomes a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tfreel.features.kinds import DType
from tfreel.inference.content import IMAGES
from tfreel.profile.pbtxt_text import written as written
from tfreel.profile.rules import Bounds, FeatureRules
from tfreel.profile.text_format import Message, Number, Word, parse_text

if TYPE_CHECKING:
    from tfreel.profile.text_format import Value

SEQUENCE = "##SEQUENCE##"  # the name that TFX gives to the feature lists of a SequenceExample
_KINDS: dict[str, DType | None] = {"INT": "int64", "FLOAT": "float32", "BYTES": "bytes", "TYPE_UNKNOWN": None}
_NOT_CHECKED_STAGES = ("PLANNED", "ALPHA", "DEPRECATED", "DEBUG_ONLY", "DISABLED")
_SAYS_NOTHING = ("annotation", "is_categorical", "name")
_MOST_NOTES = 100


class _Fields:
    """The fields of a message; knows which of them nobody asked for."""

    def __init__(self, message: Message, where: str) -> None:
        self.where = where
        self._message = message
        self._asked: set[str] = set(_SAYS_NOTHING)

    def all(self, name: str) -> list[tuple[Value, int]]:
        self._asked.add(name)
        return [(value, line) for key, value, line in self._message.fields if key == name]

    def _last(self, name: str, kind: type, what: str) -> Any:
        found = self.all(name)
        if not found:
            return None
        value, line = found[-1]
        if not isinstance(value, kind):
            raise self._wrong(line, name, what)
        return value

    def _wrong(self, line: int, name: str, what: str) -> ValueError:
        return ValueError(f"line {line}: {self.where}: {name} must be {what}")

    def text(self, name: str) -> str | None:
        found: str | None = self._last(name, str, "a text")
        return found

    def number(self, name: str) -> float | None:
        found = self._last(name, Number, "a number")
        return None if found is None else float(found)

    def whole(self, name: str) -> int | None:
        found: Number | None = self._last(name, Number, "a whole number")
        if found is None:
            return None
        if found.whole is None or not -(1 << 63) <= found.whole < 1 << 63:
            raise ValueError(f"{self.where}: {name} must be a whole number, not {found.text[:30]}")
        return found.whole

    def truth(self, name: str) -> bool:
        found = self._last(name, (Word, Number), "true or false")  # type: ignore[arg-type]
        if isinstance(found, Word) and found not in ("true", "false", "t", "f", "True", "False"):
            raise ValueError(f"{self.where}: {name} must be true or false, not {found}")
        return found in ("true", "t", "True") if isinstance(found, Word) else bool(found)

    def message(self, name: str) -> _Fields | None:
        found: Message | None = self._last(name, Message, "a message in { }")
        return None if found is None else _Fields(found, f"{self.where}: {name}")

    def messages(self, name: str) -> Iterator[_Fields]:
        for value, line in self.all(name):
            if not isinstance(value, Message):
                raise self._wrong(line, name, "a message in { }")
            yield _Fields(value, f"{self.where}: {name}")

    def texts(self, name: str) -> list[str]:
        found = self.all(name)
        for value, line in found:
            if not isinstance(value, str):
                raise self._wrong(line, name, "a text")
        return [str(value) for value, _ in found]

    def unread(self) -> Iterator[str]:
        """What nobody asked for, as notes."""
        for key, _, line in self._message.fields:
            if key not in self._asked:
                yield f"line {line}: {self.where}: {key} is not checked"


def read_schema(text: str, *, environment: str | None = None) -> dict[str, Any]:
    """The rules in a schema, as arguments of `Schema`.

    Raises:
        ValueError: It is none; says where, and why.
    """
    return _Reader(environment).schema(_Fields(parse_text(text), "schema"))


class _Reader:
    def __init__(self, environment: str | None) -> None:
        self._environment = environment
        self._default_environments: list[str] = []
        self._known_environments: set[str] = set()
        self._domains: dict[str, dict[str, Any]] = {}
        self._notes: list[str] = []

    def schema(self, fields: _Fields) -> dict[str, Any]:
        self._default_environments = fields.texts("default_environment")
        self._known_environments.update(self._default_environments)
        for kind, read in (("string_domain", _strings), ("int_domain", _ints), ("float_domain", _floats)):
            for domain in fields.messages(kind):
                self._domains[domain.text("name") or ""] = read(domain)
                self._note(domain)
        rules: dict[str, FeatureRules] = {}
        lists: dict[str, FeatureRules] = {}
        for feature in fields.messages("feature"):
            self._feature(feature, rules, lists, in_lists=False)
        sizes = fields.message("dataset_constraints")
        least = None if sizes is None else sizes.whole("min_examples_count")
        most = None if sizes is None else sizes.whole("max_examples_count")
        for each in (fields, sizes):
            if each is not None:
                self._note(each)
        if not rules and not lists:
            raise ValueError("not a schema: there is no feature { … } in it")
        if self._environment is not None and self._environment not in self._known_environments:
            known = ", ".join(sorted(self._known_environments)) or "none"
            raise ValueError(f"there is no environment {self._environment!r}; there are: {known}")
        return {
            "rules": rules,
            "sequence_rules": lists,
            "other_features": "refuse",
            "min_records": 1 if least is None else least,
            "max_records": most,
            "notes": tuple(self._notes),
        }

    def _note(self, fields: _Fields) -> None:
        self._notes += list(fields.unread())[: _MOST_NOTES - len(self._notes)]

    def _feature(
        self,
        fields: _Fields,
        rules: dict[str, FeatureRules],
        lists: dict[str, FeatureRules],
        *,
        in_lists: bool,
    ) -> None:
        name = fields.text("name")
        if name is None:
            raise ValueError(f"line {fields._message.line}: a feature without a name")
        fields.where = f"feature {name!r}"
        struct = fields.message("struct_domain")
        if struct is not None and name == SEQUENCE and not in_lists:
            for inner in struct.messages("feature"):
                self._feature(inner, rules, lists, in_lists=True)
            fields.text("type")
            self._note(struct)
            self._note(fields)
            return
        into = lists if in_lists else rules
        into[name] = self._rules(fields, in_lists=in_lists)
        self._note(fields)

    def _rules(self, fields: _Fields, *, in_lists: bool) -> FeatureRules:
        inside, outside = fields.texts("in_environment"), fields.texts("not_in_environment")
        self._known_environments.update(inside, outside)
        stage = fields.text("lifecycle_stage")
        found: dict[str, Any] = {}
        kind = fields.text("type")
        if kind is not None:
            if kind not in (*_KINDS, "STRUCT"):
                raise ValueError(f"{fields.where}: there is no type {kind}")
            found["kind"] = _KINDS.get(kind)
        found |= _presence(fields) | _counts(fields, in_lists=in_lists) | self._domain(fields)
        found |= _distances(fields)
        constraints = fields.message("distribution_constraints")
        if constraints is not None:
            found["allowed_share"] = _share(constraints, "min_domain_mass")
        here = (
            self._environment is None
            or self._environment in inside
            or (self._environment in self._default_environments and self._environment not in outside)
        )
        if not here or fields.truth("deprecated") or stage in _NOT_CHECKED_STAGES:
            return FeatureRules()
        try:
            return FeatureRules(**{key: value for key, value in found.items() if value is not None})
        except ValueError as error:
            raise ValueError(f"{fields.where}: {error}") from None

    def _domain(self, fields: _Fields) -> dict[str, Any]:
        name = fields.text("domain")
        if name is not None:
            if name not in self._domains:
                raise ValueError(f"{fields.where}: there is no domain {name!r}")
            return self._fitting(fields, self._domains[name])
        for kind, read in _DOMAINS.items():
            domain = fields.message(kind)
            if domain is not None:
                found = read(domain)
                self._note(domain)
                return self._fitting(fields, found)
        return {}

    def _fitting(self, fields: _Fields, domain: Mapping[str, Any]) -> dict[str, Any]:
        """A domain, if it is one for values of this type: numbers written as texts are not read."""
        kind = fields.text("type")
        if "range" in domain and kind == "BYTES":
            self._notes.append(f"{fields.where}: a domain of numbers, for texts, is not checked")
            return {}
        if "allowed" in domain and domain["allowed"] == ("0", "1") and kind in ("INT", "FLOAT"):
            return {"allowed": (0, 1)} if kind == "INT" else {"range": (0, 1)}
        return dict(domain)


def _share(fields: _Fields, name: str) -> float | None:
    share = fields.number(name)
    if share is not None and not 0 <= share <= 1:
        raise ValueError(f"{fields.where}: {name} must be from 0 to 1, not {share}")
    return share


def _presence(fields: _Fields) -> dict[str, Any]:
    presence = fields.message("presence")
    if presence is None:
        return {}
    return {
        "presence": _share(presence, "min_fraction"),
        "min_present": presence.whole("min_count") or None,
    }


def _bounds(fields: _Fields) -> Bounds | None:
    least, most = fields.whole("min"), fields.whole("max")
    if (least or 0) < 0 or (most is not None and most < (least or 0)):
        raise ValueError(f"{fields.where}: from {least} to {most} there is nothing")
    return None if not least and most is None else (least, most)


def _counts(fields: _Fields, *, in_lists: bool) -> dict[str, Any]:
    shape = fields.message("shape")
    if shape is not None:
        sizes = [dim.whole("size") for dim in shape.messages("dim")]
        known = [size for size in sizes if size is not None and size >= 0]
        return {"shape": tuple(known)} if len(known) == len(sizes) else {}
    count = fields.message("value_count")
    if count is not None:
        return {"steps" if in_lists else "count": _bounds(count)}
    nested = fields.message("value_counts")
    if nested is None:
        return {}
    levels = [_bounds(level) for level in nested.messages("value_count")]
    if in_lists:
        return dict(zip(("steps", "count"), levels, strict=False))
    return {"count": levels[0]} if len(levels) == 1 else {}


def _distances(fields: _Fields) -> dict[str, Any]:
    """How far values may drift, from data before, or else from data elsewhere."""
    found: dict[str, Any] = {}
    for name in ("skew_comparator", "drift_comparator"):
        comparator = fields.message(name)
        if comparator is None:
            continue
        for key, rule in (("infinity_norm", "drift"), ("jensen_shannon_divergence", "divergence")):
            norm = comparator.message(key)
            if norm is not None:
                found[rule] = _share(norm, "threshold")
    return found


def _strings(domain: _Fields) -> dict[str, Any]:
    return {"allowed": tuple(domain.texts("value"))}


def _ints(domain: _Fields) -> dict[str, Any]:
    least, most = domain.whole("min"), domain.whole("max")
    return {} if least is None and most is None else {"range": (least, most)}


def _floats(domain: _Fields) -> dict[str, Any]:
    least, most = domain.number("min"), domain.number("max")
    found: dict[str, Any] = {} if least is None and most is None else {"range": (least, most)}
    for rule in ("nan", "inf"):
        if domain.truth(f"disallow_{rule}"):
            found[rule] = False
    return found


def _bools(domain: _Fields) -> dict[str, Any]:
    return {"allowed": (domain.text("false_value") or "0", domain.text("true_value") or "1")}


def _images(domain: _Fields) -> dict[str, Any]:
    del domain
    return {"contents": tuple(sorted(IMAGES))}


_DOMAINS = {
    "int_domain": _ints,
    "float_domain": _floats,
    "string_domain": _strings,
    "bool_domain": _bools,
    "image_domain": _images,
}

"""Public names as Markdown: what the source says of each, read without importing anything.

Adapters need their frameworks to be imported, and the reference must be the same wherever it is made. So the
source is read by griffe, as text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

import griffe

_WIDTH = 96
_ABILITIES = {
    "__len__": "`len()`",
    "__getitem__": "`[…]`",
    "__iter__": "`for`",
    "__next__": "`next()`",
    "__contains__": "`in`",
    "__enter__": "`with`",
    "__call__": "calls",
    "__arrow_c_stream__": "Arrow's stream protocol",
    "__arrow_c_array__": "Arrow's array protocol",
}
_LISTS = {
    griffe.DocstringSectionKind.parameters: "Arguments",
    griffe.DocstringSectionKind.attributes: "Attributes",
    griffe.DocstringSectionKind.returns: "Returns",
    griffe.DocstringSectionKind.yields: "Yields",
    griffe.DocstringSectionKind.raises: "Raises",
}
_QUOTED = re.compile(r"``([^`]+)``")
_CODE = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)(\(\))?`(?!`)")


def slug(title: str, seen: Counter[str]) -> str:
    """The anchor that forges and the site give a heading; the second of the same letters gets a number."""
    plain = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    seen[plain] += 1
    return plain if seen[plain] == 1 else f"{plain}-{seen[plain] - 1}"


def load_source() -> griffe.Module:
    """The package as its source tells it."""
    options = {"warn_unknown_params": False, "warn_missing_types": False}
    found = griffe.load(
        "tfreel",
        search_paths=["src"],
        docstring_parser="google",
        docstring_options=options,
        allow_inspection=False,
        resolve_aliases=True,
    )
    assert isinstance(found, griffe.Module)
    return found


def find(source: griffe.Module, name: str) -> griffe.Object:
    """What a public name stands for, wherever it is defined."""
    found = source[name.removeprefix("tfreel.")]
    found = found.final_target if found.is_alias else found
    # A function may be in a file of its own name, which then hides it.
    return found[name.rpartition(".")[2]] if found.is_module else found


class Describer:
    """Writes what is to be said of names.

    Args:
        source: The package.
        addresses: Where each public name stands, for links.
    """

    def __init__(self, source: griffe.Module, addresses: Mapping[str, str]) -> None:
        self._source = source
        self._addresses = addresses

    def describe(self, name: str) -> str:
        """The section of a public name, with those of its methods."""
        thing = find(self._source, name)
        return "\n".join(["\n".join(self._about(f"## `{name}`", name, thing)), *self._members(name, thing)])

    def headline(self, name: str) -> str:
        """The first sentence of what is said of a name."""
        docstring = find(self._source, name).docstring
        first = docstring.value.partition("\n\n")[0].replace("\n", " ") if docstring else ""
        return self._linked(re.split(r"(?<=[.:]) ", first)[0].rstrip(":."))

    def _about(self, heading: str, name: str, thing: griffe.Object) -> Iterator[str]:
        yield f"{heading}\n"
        if signature := self._signature(name, thing):
            yield f"```python signature\n{signature}\n```\n"
        if thing.docstring:
            for section in thing.docstring.parsed:
                yield self._section(section)
        elif thing.is_attribute:
            yield f"`{thing.value}`\n"
        if abilities := [word for method, word in _ABILITIES.items() if method in thing.all_members]:
            yield f"Works with {', '.join(abilities)}.\n"

    def _members(self, name: str, thing: griffe.Object) -> Iterator[str]:
        if not thing.is_class:
            return
        short = name.rpartition(".")[2]
        for member in _public_members(thing):
            yield "\n".join(self._about(f"### `{short}.{member.name}`", f"{short}.{member.name}", member))

    def _signature(self, name: str, thing: griffe.Object) -> str:
        if thing.is_class:
            said = thing.docstring.parsed if thing.docstring else []
            if not any(section.kind is griffe.DocstringSectionKind.parameters for section in said):
                return ""  # it is made by functions, not by its class
            maker = thing.members.get("__new__", thing)
            return self._call(name, maker, "")
        if thing.is_function:
            return self._call(name, thing, self._type(thing.returns))
        return f"{name}: {self._type(thing.annotation)}" if "property" in thing.labels else ""

    def _call(self, name: str, thing: griffe.Object, returns: str) -> str:
        parts = list(self._parameters(thing))
        ending = f" -> {returns}" if returns else ""
        line = f"{name}({', '.join(parts)}){ending}"
        if len(line) <= _WIDTH:
            return line
        return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){ending}"

    def _parameters(self, thing: griffe.Object) -> Iterator[str]:
        kinds = griffe.ParameterKind
        star_seen = False
        for parameter in thing.parameters:
            if parameter.name in ("self", "cls"):
                continue
            if parameter.kind is kinds.keyword_only and not star_seen:
                yield "*"
            star_seen = star_seen or parameter.kind in (kinds.keyword_only, kinds.var_positional)
            stars = {kinds.var_positional: "*", kinds.var_keyword: "**"}.get(parameter.kind, "")
            hint = f": {self._type(parameter.annotation)}" if parameter.annotation else ""
            written = parameter.default is not None and not stars
            default = f" = {parameter.default}".replace("'", '"') if written else ""
            yield f"{stars}{parameter.name}{hint}{default}"

    def _type(self, annotation: griffe.Expr | str | None) -> str:
        """An annotation, with closed sets of words spelled out."""
        if not isinstance(annotation, griffe.Expr):
            return str(annotation or "")
        words = [self._spelled_out(part) for part in annotation.iterate(flat=True)]
        return "".join(words).replace("'", '"')

    def _spelled_out(self, part: griffe.Expr | str) -> str:
        if isinstance(part, griffe.ExprName):
            try:
                value = str(getattr(self._source[part.canonical_path.removeprefix("tfreel.")], "value", ""))
            except (KeyError, griffe.AliasResolutionError):
                return part.name
            if value.startswith("Literal["):
                return value
        return str(part)

    def _section(self, section: griffe.DocstringSection) -> str:
        if section.kind is griffe.DocstringSectionKind.text:
            return f"{self._linked(section.value)}\n"
        if section.kind is griffe.DocstringSectionKind.admonition:
            return f"```pycon docstring\n{section.value.description}\n```\n"
        items = "\n".join(self._item(item, section.kind) for item in section.value)
        return f"**{_LISTS[section.kind]}**\n\n{items}\n"

    def _item(self, item: griffe.DocstringElement, kind: griffe.DocstringSectionKind) -> str:
        said = self._linked(" ".join(item.description.split()))
        raises = kind is griffe.DocstringSectionKind.raises
        name = item.annotation if raises else getattr(item, "name", "")
        return f"- {self._linked(f'`{name}`')}: {said}" if name else f"- {said}"

    def _linked(self, text: str) -> str:
        def link(match: re.Match[str]) -> str:
            name = match[1]
            full = name if name.startswith("tfreel.") or not name[0].isupper() else f"tfreel.{name}"
            address = self._addresses.get(full)
            return f"[{match[0]}]({address})" if address else match[0]

        return _QUOTED.sub(r"`\1`", _CODE.sub(link, text))


def _public_members(thing: griffe.Object) -> Iterator[griffe.Object]:
    """Methods and properties, those of private bases too, in the order of the source."""
    inherited = {
        name: member.final_target
        for name, member in thing.inherited_members.items()
        if member.final_target.canonical_path.startswith("tfreel.")
    }
    for name, member in {**inherited, **thing.members}.items():
        method = member.is_function or "property" in member.labels
        if not name.startswith("_") and method and member.docstring:
            yield member

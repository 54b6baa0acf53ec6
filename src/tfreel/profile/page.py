"""Statistics as HTML: a page that needs nothing else, and a piece of one for notebooks.

All text that comes from files is escaped, names of features too. There is no script, and no address.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfreel.markup import safe
from tfreel.profile import words
from tfreel.profile.charts import histogram, share_bar
from tfreel.profile.figures import Bytes, Images, Numbers
from tfreel.profile.statistics import FeatureStatistics, Statistics

_MOST_FEATURES = 500  # on a page; a table of more is for programs
_MOST_GROUPS = 100

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
.tfreel{--ink:#1c2330;--paper:#fff;--soft:#667085;--line:#e4e7ec;--bar:#3b6fd6;--rest:#eef1f6;--bad:#b42318;
 font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
@media (prefers-color-scheme:dark){.tfreel{--ink:#e6e9ef;--paper:#14171d;--soft:#98a2b3;--line:#2b313c;
 --bar:#7ea6f7;--rest:#232833;--bad:#f97066}}
.tfreel table{border-collapse:collapse;width:100%}
.tfreel th,.tfreel td{text-align:left;vertical-align:top;padding:.4em .8em .4em 0;
 border-bottom:1px solid var(--line)}
.tfreel th{font-weight:600;color:var(--soft)}
.tfreel td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.tfreel td.name{font-weight:600;overflow-wrap:anywhere;max-width:18em}
.tfreel .soft{color:var(--soft)}.tfreel .bad{color:var(--bad)}
.tfreel svg rect{fill:var(--bar)}.tfreel svg rect.rest{fill:var(--rest)}
.tfreel svg.histogram{width:15em;height:3em;display:block}
.tfreel svg.share{width:7em;height:.7em;margin-right:.5em}
.tfreel .facts{display:flex;flex-wrap:wrap;gap:.4em 2em;margin:0 0 1em}
.tfreel .facts b{display:block;font-size:1.3em}
.tfreel .wide{overflow-x:auto}.tfreel summary{cursor:pointer;color:var(--soft)}
.tfreel details table{width:auto;margin:.4em 0}
"""
_BODY_STYLE = (
    "body{margin:0}.tfreel.page{padding:1.5em;min-height:100vh;box-sizing:border-box}h1{font-size:1.4em}"
)


def page(found: Statistics, title: str = "Statistics") -> str:
    """A whole page."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{safe(title)}</title><style>{_STYLE}{_BODY_STYLE}</style></head>"
        f'<body><main class="tfreel page"><h1>{safe(title)}</h1>{_content(found)}</main></body></html>\n'
    )


def fragment(found: Statistics) -> str:
    """A piece of a page, with its style."""
    return f'<style>{_STYLE}</style><div class="tfreel">{_content(found)}</div>'


def _content(found: Statistics) -> str:
    parts = [_facts(found), *_faults(found), _features(found.all_features(), found)]
    if found.by is not None:
        parts.append(_groups(found))
    return "".join(parts)


def _facts(found: Statistics) -> str:
    facts = [(found.records, "record"), (found.bytes, "byte"), (len(found.features), "feature")]
    facts += [(len(found.lists), "feature list")] if found.lists else []
    facts += [(found.report.files, "file")]
    told = [words.plural(*fact).partition(" ") for fact in facts]
    spans = "".join(f"<span><b>{count}</b>{noun}</span>" for count, _, noun in told)
    return f'<div class="facts">{spans}</div>'


def _faults(found: Statistics) -> Iterator[str]:
    if found.malformed:
        odd = words.plural(found.malformed, "record")
        yield f'<p class="bad">Passed over {odd} that are no Examples.</p>'
    if not found.report.ok:
        faults = words.plural(found.report.fault_count, "fault")
        first = safe(f"{found.report.faults[0].path}: {found.report.faults[0].message}")
        yield f'<p class="bad">Passed over {faults}; the first: {first}</p>'


def _features(features: Iterable[FeatureStatistics], found: Statistics) -> str:
    listed = list(features)
    rows = "".join(_row(feature) for feature in listed[:_MOST_FEATURES])
    heads = ("feature", "kind", "values", "distribution", "distinct", "bytes")
    head = "".join(f"<th>{name}</th>" for name in heads)
    more = len(listed) - _MOST_FEATURES
    note = f'<p class="soft">… and {more:,} more features.</p>' if more > 0 else ""
    other = (
        f'<p class="soft">{found.other_bytes:,} bytes are frames, and what no feature above takes.</p>'
        if found.records
        else ""
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="wide">{table}</div>{note}{other}'


def _row(feature: FeatureStatistics) -> str:
    shown = words.distribution(feature)
    chart = histogram(shown.histogram, f"distribution of {feature.name}") if shown is not None else ""
    if feature.strings is not None and shown is feature.strings.sizes:
        chart += '<div class="soft">size in bytes</div>'
    size = f"{feature.bytes:,} bytes, {words.percent(feature.share)} of all"
    gaps = words.gaps(feature)
    return (
        f'<tr><td class="name">{safe(feature.name)}</td><td>{safe(words.kind(feature))}</td>'
        f"<td>{safe(words.values(feature))}"
        + (f'<div class="bad">{safe(gaps)}</div>' if gaps else "")
        + f'{_details(feature)}</td><td>{chart}</td><td class="n">{safe(words.distinct(feature))}</td>'
        f'<td class="n">{share_bar(feature.share, size)}{safe(words.percent(feature.share))}</td></tr>'
    )


def _details(feature: FeatureStatistics) -> str:
    parts = []
    for name, numbers in (("int64", feature.int64), ("float32", feature.float32)):
        if numbers is not None and numbers.count:
            parts.append(_numbers(name, numbers))
    if feature.strings is not None:
        parts.append(_strings(feature.strings))
    if feature.lengths.count and feature.lengths.min != feature.lengths.max:
        parts.append(_numbers("values in a list", feature.lengths))
    if feature.steps is not None and feature.steps.count:
        parts.append(_numbers("steps", feature.steps))
    return f"<details><summary>more</summary>{''.join(parts)}</details>" if parts else ""


def _numbers(name: str, numbers: Numbers) -> str:
    pairs = [
        ("count", f"{numbers.count:,}"),
        ("zeros", f"{numbers.zeros:,}"),
        ("mean", words.number(numbers.mean)),
        ("standard deviation", words.number(numbers.std)),
        ("least", words.number(numbers.min)),
        *((words.percent(share), words.number(value)) for share, value in numbers.quantiles.items()),
        ("greatest", words.number(numbers.max)),
    ]
    if numbers.quantile_error:
        pairs.append(("error of shares", f"≤ {words.percent(numbers.quantile_error)}"))
    common = [(words.number(each.value), each.count) for each in numbers.common if each.count > 1]
    return _table(name, pairs) + _common(common, numbers.common_error)


def _strings(strings: Bytes) -> str:
    kinds = [(name, f"{count:,}") for name, count in strings.contents.items()]
    common = [(words.common_bytes(each), each.count) for each in strings.common if each.count > 1]
    images = "" if strings.images is None else _images(strings.images)
    sizes = _numbers("size in bytes", strings.sizes)
    return _table("content", kinds) + _common(common, strings.common_error) + images + sizes


def _images(images: Images) -> str:
    sizes = [(f"{each.value[0]:,}×{each.value[1]:,}", each.count) for each in images.common]
    charts = "".join(
        f'<div class="soft">{name}</div>{histogram(side.histogram, name)}'
        for name, side in (("widths", images.widths), ("heights", images.heights))
    )
    return charts + _common(sizes, images.common_error)


def _common(common: list[tuple[str, int]], error: int) -> str:
    note = f" (up to {error:,} more each)" if error else ""
    return _table(f"most common{note}", [(value, f"{count:,}") for value, count in common]) if common else ""


def _table(title: str, pairs: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f'<tr><td>{safe(name)}</td><td class="n">{safe(value)}</td></tr>' for name, value in pairs)
    return f'<table><thead><tr><th colspan="2">{safe(title)}</th></tr></thead><tbody>{rows}</tbody></table>'


def _groups(found: Statistics) -> str:
    rows = []
    for value, group in list(found.groups.items())[:_MOST_GROUPS]:
        share = group.records / found.records
        told = f"{group.records:,} records, {words.percent(share)} of all"
        rows.append(
            f'<tr><td class="name">{safe(words.group(value))}</td><td class="n">{group.records:,}</td>'
            f"<td>{share_bar(share, told)}{safe(words.percent(share))}</td>"
            f"<td><details><summary>features</summary>{_features(group.all_features(), group)}</details>"
            "</td></tr>"
        )
    more = len(found.groups) - _MOST_GROUPS
    note = f'<p class="soft">… and {more:,} more groups.</p>' if more > 0 else ""
    heads = f"<th>{safe(str(found.by))}</th><th>records</th><th>share</th><th></th>"
    return (
        f"<h2>By {safe(str(found.by))}</h2>"
        f'<div class="wide"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{note}"
    )

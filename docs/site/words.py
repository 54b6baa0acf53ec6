"""What the search of the site takes for words: stems of English, and of Chinese every two letters.

Chinese has no spaces, and Sphinx would need a dictionary to find its words. Pairs of letters need none: a
text that has all pairs of a query, most likely has the query.
"""

from __future__ import annotations

import re

from sphinx.search.en import SearchEnglish

_RUN = re.compile(r"[\u4e00-\u9fff]+|[^\W\u4e00-\u9fff]+")


class Words(SearchEnglish):
    """Splits text, and in the browser the query, in the same way."""

    lang = "en-zh"
    js_splitter_code = r"""
function splitQuery(query) {
  const runs = query.match(/[\u4e00-\u9fff]+|(?:(?![\u4e00-\u9fff])[\p{Letter}\p{Number}_])+/gu) || [];
  const pairs = (run) => Array.from({ length: run.length - 1 }, (_, i) => run.slice(i, i + 2));
  return runs.flatMap((run) => (/^[\u4e00-\u9fff]{2,}$/.test(run) ? pairs(run) : [run]));
}
"""

    def split(self, input: str) -> list[str]:  # noqa: A002 - the name of Sphinx
        """The words of a text."""
        return [word for run in _RUN.findall(input) for word in _pairs(run)]


def _pairs(run: str) -> list[str]:
    chinese = "\u4e00" <= run[0] <= "\u9fff"
    return [run[i : i + 2] for i in range(len(run) - 1)] if chinese and len(run) > 1 else [run]

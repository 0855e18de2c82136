"""Text from outside on a page: without the folders of its writer, and nothing in it is obeyed."""

import re
from collections.abc import Iterable

from gammaplan.report.plain import printable

TOKEN = re.compile(r"[^\s\"'`,;=|()\[\]{}<>]+")
ROOTED = re.compile(r"[/\\][^/\\]+[/\\]|~[^/\\]*[/\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\]")
ENDING = re.compile(r"\.[A-Za-z]\w{0,9}$")
SLASH = re.compile(r"[/\\]")


def bare(text: str, names: Iterable[str] = ()) -> str:
    """`text` with every file named without its folders; `names` are files that it may hold.

    Examples
    --------
    >>> bare("note: /home/me/logs/vllm.log:3: a line, runs/day 1/a.json", ["runs/day 1/a.json"])
    'note: vllm.log:3: a line, a.json'
    >>> bare("accepted/drafted of org/Model-3.1 at http://host:8000/metrics")
    'accepted/drafted of org/Model-3.1 at http://host:8000/metrics'
    """
    for name in names:
        text = text.replace(name, _last(name))
    return TOKEN.sub(lambda found: _bare_token(found[0]), text) if SLASH.search(text) else text


def _bare_token(token: str) -> str:
    if "://" in token or not SLASH.search(token):
        return token
    last = _last(token)
    is_file = ROOTED.match(token) or ENDING.search(last.partition(":")[0])
    return last if last and is_file else token


def _last(name: str) -> str:
    """The last part of a path; an address stays whole."""
    return name if "://" in name else SLASH.split(name)[-1]


def lines_of(text: str) -> str:
    """`text` with its line breaks, and every other control character shown."""
    return "\n".join(map(printable, text.split("\n")))

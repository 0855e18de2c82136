"""Addresses of servers among the names of inputs, and how they are shown."""

import re
from typing import NamedTuple

PATIENCE = 30.0  # seconds for a whole answer
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class Access(NamedTuple):
    """How servers are asked: where the token and the authorities are, and how long to wait.

    It names files and holds no secret itself.
    """

    token_file: str | None = None
    ca_file: str | None = None
    patience: float = PATIENCE


OPEN = Access()


def is_address(path: str) -> bool:
    """Whether an input is named by an address (of any scheme) and not by a path."""
    return bool(_SCHEME.match(path))


def shown(address: str) -> str:
    """The address without what may be secret: credentials, query and fragment."""
    match = _SCHEME.match(address)
    scheme, rest = (match[0], address[match.end() :]) if match else ("", address)
    return scheme + re.split(r"[?#]", rest.rpartition("@")[2], maxsplit=1)[0]

"""The template with its facts: one file that needs no network and lets nothing else in."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping
from importlib.resources import files
from string import Template

SCRIPTS = ("model", "parts", "chart", "page")
ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def filled(facts: Mapping[str, object]) -> str:
    """The page that shows these facts.

    Raises
    ------
    ValueError
        If a number among them is NaN or infinite.

    Notes
    -----
    Style and scripts are allowed by their SHA-256 alone, text reaches the page
    only as JSON that holds no ``<``, and trusted types forbid the page itself
    to make HTML of it.
    """
    here = files(__package__)
    texts = {name: (here / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS}
    style = (here / "page.css").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; "
        f"script-src {' '.join(map(_hash, texts.values()))}; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    template = Template((here / "page.html").read_text(encoding="utf-8"))
    return template.substitute(texts, style=style, policy=policy, facts=_embedded(facts))


def _hash(text: str) -> str:
    """A source of a content security policy that allows exactly this text."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _embedded(facts: Mapping[str, object]) -> str:
    text = json.dumps(facts, allow_nan=False, separators=(",", ":"))
    return text.translate(ESCAPES)  # ASCII, so U+2028 and lone surrogates are escaped already

"""What a llama.cpp command line, or the server's start, says about drafts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gammaplan.data.findings import finding
from gammaplan.errors import Finding

MARKS = (b"--spec-", b"--draft", b"LLAMA_ARG_", b"n_max", b"-np ", b"--parallel")

_IS = r"(?:=|[ \t]+|\", ?\"|', ?')\"?'?"
_LONGEST = re.compile(
    rf"(?:--(?:spec-)?draft(?:-n)?(?:-max)?{_IS}|LLAMA_ARG_(?:SPEC_)?DRAFT_(?:N_)?MAX[=:]\s*)"
    r"(\d{1,4})(?![\d.])"
)
_LONGEST_FIELD = re.compile(r"\bn_max\s*[=:]\s*(\d{1,4})(?![\d.])")
_VARIES = re.compile(
    rf"(?:--(?:spec-)?draft-(?:n-min|min|p-min){_IS}|LLAMA_ARG_(?:SPEC_)?DRAFT_(?:N_|P_)?MIN[=:]\s*"
    r"|\b[np]_min\s*[=:]\s*)(\d{1,4}(?:\.\d{1,9})?)"
)
_SYNTHETIC = re.compile(
    r"(?:--spec-synth-(?:len|rates)|LLAMA_ARG_SPEC_SYNTH_(?:LEN|RATES))(?:=|[ \t]+)\"?[\d.,\[(]+"
)
_KINDS = re.compile(rf"--spec-type{_IS}([\w,:.=-]{{1,200}})")
_TREE = re.compile(
    r"(?:^|[/\\\s])(?:llama-)?speculative(?:\.exe)?\s.*?(?:-np|--parallel)[ =](\d{1,4})\b"
)


@dataclass
class Settings:
    """The settings that were seen; several values of one contradict each other and are not used."""

    longest: set[int] = field(default_factory=set)
    kinds: str = ""
    varies: bool = False
    synthetic: bool = False
    tree: bool = False

    @property
    def gamma(self) -> int | None:
        """The longest draft that was asked for, where there is one answer."""
        return next(iter(self.longest)) if len(self.longest) == 1 else None

    def see(self, text: str) -> Iterator[Finding]:
        """Take in what a line says; what changes the meaning of all figures is a finding."""
        found = _LONGEST.findall(text)[:16]
        if ("draft" in text or "spec" in text) and "ngram" not in text:
            found += _LONGEST_FIELD.findall(text)[:16]
        self.longest |= {int(n) for n in found if int(n)}
        self.varies |= any(float(v) > 0 for v in _VARIES.findall(text)[:16])
        kinds = _KINDS.search(text)
        if kinds and len(self.kinds) < 400:
            self.kinds += kinds[1]
        synthetic = _SYNTHETIC.search(text)
        if synthetic and not self.synthetic:
            self.synthetic = True
            yield finding("synthetic_acceptance", setting=synthetic[0])
        tree = _TREE.search(text)
        if tree and int(tree[1]) > 1 and not self.tree:
            self.tree = True
            yield finding("tree_draft")

"""llama.cpp: ``--spec-draft-n-max`` since spring 2026, ``--draft-max`` before (versions: dates)."""

from gammaplan.engines.settings.base import OFF, Version, Wanted, Writer, rates, shell

YEARS, RENAMED = 2_000, (2026, 4)
WORDS = {
    "draft-model": "draft-simple",
    "eagle3": "draft-eagle3",
    "mtp": "draft-mtp",
    "dflash": "draft-dflash",
    "dspark": "draft-dspark",
    "ngram": "ngram-simple",
    "ngram-mod": "ngram-mod",
}
OWN = ("mtp", "ngram", "ngram-mod")
KEY = 12  # tokens that ngram-simple looks up unless told


class LlamaCpp(Writer):
    """llama.cpp."""

    name = "llama.cpp"

    def methods(self, version: Version) -> list[str]:
        """Draft models alone under the old names."""
        return ["draft-model"] if _old(version) else list(WORDS)

    def off(self, wanted: Wanted, version: Version) -> str:
        """The server without a draft."""
        return f"{shell('llama-server', '-m', wanted.target)}  {OFF}"

    def write(self, wanted: Wanted, version: Version) -> str:
        """The server with full drafts: confidence does not cut them short."""
        words: list[object] = ["llama-server", "-m", wanted.target]
        if wanted.method not in OWN:
            words += ["-md", wanted.draft]
        if _old(version):
            return shell(
                *words, "--draft-max", wanted.gamma, "--draft-min", 0, "--draft-p-min", "0.0"
            )
        words += ["--spec-type", WORDS[wanted.method]]
        if wanted.method == "ngram":
            words += ["--spec-ngram-simple-size-m", wanted.gamma]
            if wanted.gamma < KEY:  # what is shorter than its key is never drafted
                words += ["--spec-ngram-simple-size-n", wanted.gamma]
            return shell(*words)
        if wanted.method == "ngram-mod":  # its least length is 48 unless told
            longest = ("--spec-ngram-mod-n-max", wanted.gamma)
            return shell(*words, *longest, "--spec-ngram-mod-n-min", wanted.gamma)
        return shell(*words, "--spec-draft-n-max", wanted.gamma, "--spec-draft-p-min", "0.0")

    def check(self, wanted: Wanted, version: Version) -> str | None:
        """The same with synthetic acceptance, position by position."""
        if _old(version):
            return None
        shares = ",".join(f"{rate:g}" for rate in rates(wanted.survival))
        return f"{self.write(wanted, version)} {shell('--spec-synth-rates', shares)}"


def _old(version: Version) -> bool:
    return (YEARS,) <= version < RENAMED


WRITER = LlamaCpp()

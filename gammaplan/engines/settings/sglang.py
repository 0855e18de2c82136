"""SGLang: a chain is as long as its steps, and one token more is verified."""

import json

from gammaplan.engines.settings.base import OFF, Version, Wanted, Writer, shell

SYNTHETIC_SINCE = (0, 5, 16)
WORDS = {
    "eagle3": "EAGLE3",
    "eagle": "EAGLE",
    "mtp": "NEXTN",
    "draft-model": "STANDALONE",
    "ngram": "NGRAM",
    "dflash": "DFLASH",
    "dspark": "DSPARK",
}
OWN = ("mtp", "ngram")
ADAPTIVE = ("eagle", "eagle3")
FILE = "adaptive.json"


class SGLang(Writer):
    """SGLang."""

    name = "sglang"
    oldest, newest = (0, 4), (0, 5, 23)

    def methods(self, version: Version) -> list[str]:
        """What the algorithms are called here."""
        return list(WORDS)

    def off(self, wanted: Wanted, version: Version) -> str:
        """The server without an algorithm."""
        return f"{_server(wanted)}  {OFF}"

    def write(self, wanted: Wanted, version: Version) -> str:
        """The server with its flags; a schedule is a file before it."""
        line = _server(wanted, *_flags(wanted))
        if not wanted.schedule:
            return line
        tiers = {str(low): {"candidate_steps": [gamma]} for low, _, gamma in wanted.schedule}
        return f"{shell('echo', json.dumps(tiers, separators=(',', ':')))} > {FILE}\n{line}"

    def cannot_schedule(self, wanted: Wanted, version: Version) -> str | None:
        """Tiers by batch size, of EAGLE chains."""
        if version < self.newest:
            return "its tiers by batch size were read in 0.5.23"
        if wanted.method not in ADAPTIVE:
            return f"its tiers by batch size are for EAGLE and EAGLE3, not {WORDS[wanted.method]}"
        return None

    def check(self, wanted: Wanted, version: Version) -> str | None:
        """The same with the mean length simulated, the bonus token counted; one for all tiers."""
        if version < SYNTHETIC_SINCE or wanted.schedule:
            return None
        length = 1 + sum(wanted.survival)
        return (
            f"SGLANG_SIMULATE_ACC_LEN={length:.4f} SGLANG_SIMULATE_ACC_METHOD=match-expected "
            f"SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token {self.write(wanted, version)}"
        )


def _server(wanted: Wanted, *flags: object) -> str:
    return shell("python3", "-m", "sglang.launch_server", "--model-path", wanted.target, *flags)


def _flags(wanted: Wanted) -> list[object]:
    flags: list[object] = ["--speculative-algorithm", WORDS[wanted.method]]
    if wanted.method not in OWN:
        flags += ["--speculative-draft-model-path", wanted.draft]
    if wanted.method == "dflash":  # its window holds the last token too
        return [*flags, "--speculative-dflash-block-size", wanted.gamma + 1]
    if wanted.method == "dspark":
        return [*flags, "--speculative-dspark-block-size", wanted.gamma]
    if wanted.method == "ngram":  # a breadth of 1 keeps its tree a chain
        flags += ["--speculative-ngram-max-bfs-breadth", 1]
        return [*flags, "--speculative-num-draft-tokens", wanted.gamma + 1]
    flags += ["--speculative-num-steps", wanted.gamma, "--speculative-eagle-topk", 1]
    flags += ["--speculative-num-draft-tokens", wanted.gamma + 1]
    if wanted.schedule:
        flags += ["--speculative-adaptive", "--speculative-adaptive-config", FILE]
    return flags


WRITER = SGLang()

"""LMDeploy: flags of its server."""

from gammaplan.engines.settings.base import OFF, Version, Wanted, Writer, shell

WORDS = {"eagle3": "eagle3", "eagle": "eagle", "mtp": "deepseek_mtp"}


class LMDeploy(Writer):
    """LMDeploy."""

    name = "lmdeploy"

    def methods(self, version: Version) -> list[str]:
        """What the algorithms are called here."""
        return list(WORDS)

    def off(self, wanted: Wanted, version: Version) -> str:
        """The server without an algorithm."""
        return f"{_server(wanted)}  {OFF}"

    def write(self, wanted: Wanted, version: Version) -> str:
        """The server with an algorithm; heads of the target are no draft model."""
        words: list[object] = ["--speculative-algorithm", WORDS[wanted.method]]
        if wanted.method != "mtp":
            words += ["--speculative-draft-model", wanted.draft]
        words += ["--speculative-num-draft-tokens", wanted.gamma]
        return f"{_server(wanted)} {shell(*words)}"


def _server(wanted: Wanted) -> str:
    return shell("lmdeploy", "serve", "api_server", wanted.target)


WRITER = LMDeploy()

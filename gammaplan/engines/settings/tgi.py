"""TGI: one flag; what drafts is what the model ships, else n-grams."""

from gammaplan.engines.settings.base import OFF, Version, Wanted, Writer, shell


class TGI(Writer):
    """TGI."""

    name = "tgi"
    infers = True

    def methods(self, version: Version) -> list[str]:
        """The flag is the same."""
        return ["ngram", "medusa"]

    def off(self, wanted: Wanted, version: Version) -> str:
        """The launcher without the flag."""
        return f"{_launcher(wanted)}  {OFF}"

    def write(self, wanted: Wanted, version: Version) -> str:
        """The launcher with the flag."""
        return f"{_launcher(wanted)} {shell('--speculate', wanted.gamma)}"


def _launcher(wanted: Wanted) -> str:
    return shell("text-generation-launcher", "--model-id", wanted.target)


WRITER = TGI()

"""mlx-vlm: a block is a token longer than its draft."""

from gammaplan.engines.settings.base import OFF, Version, Wanted, Writer, shell

METHODS = ["dflash", "eagle3", "mtp"]  # its own names of the kinds


class MLXVLM(Writer):
    """mlx-vlm."""

    name = "mlx-vlm"

    def methods(self, version: Version) -> list[str]:
        """The kinds of its drafters."""
        return METHODS

    def off(self, wanted: Wanted, version: Version) -> str:
        """The server without a drafter."""
        return f"{_server(wanted)}  {OFF}"

    def write(self, wanted: Wanted, version: Version) -> str:
        """The server with a drafter: heads for MTP are a model of their own here."""
        flags = ("--draft-model", wanted.draft, "--draft-kind", wanted.method)
        return _server(wanted, *flags, "--draft-block-size", wanted.gamma + 1)


def _server(wanted: Wanted, *flags: object) -> str:
    return shell("mlx_vlm.server", "--model", wanted.target, *flags)


WRITER = MLXVLM()

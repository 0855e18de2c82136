"""mlx-lm: two flags of its server and its generator."""

from gammaplan.engines.settings.base import OFF, Version, Wanted, Writer, shell


class MLX(Writer):
    """mlx-lm."""

    name = "mlx-lm"

    def methods(self, version: Version) -> list[str]:
        """A draft model."""
        return ["draft-model"]

    def off(self, wanted: Wanted, version: Version) -> str:
        """The server without a draft."""
        return f"{shell('mlx_lm.server', '--model', wanted.target)}  {OFF}"

    def write(self, wanted: Wanted, version: Version) -> str:
        """The server with a draft."""
        words = ("mlx_lm.server", "--model", wanted.target, "--draft-model", wanted.draft)
        return shell(*words, "--num-draft-tokens", wanted.gamma)


WRITER = MLX()

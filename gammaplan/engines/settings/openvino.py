"""OpenVINO GenAI: arguments of the pipeline."""

from gammaplan.engines.settings.base import OFF, Version, Wanted, Writer


class OpenVINO(Writer):
    """OpenVINO GenAI."""

    name = "openvino"

    def methods(self, version: Version) -> list[str]:
        """A draft model."""
        return ["draft-model"]

    def off(self, wanted: Wanted, version: Version) -> str:
        """The pipeline without a draft."""
        return f"pipe = openvino_genai.LLMPipeline({wanted.target!r}, device)  {OFF}"

    def write(self, wanted: Wanted, version: Version) -> str:
        """The pipeline with a draft, and the length of a generation."""
        return (
            f"pipe = openvino_genai.LLMPipeline({wanted.target!r}, device, "
            f"draft_model=openvino_genai.draft_model({wanted.draft!r}, device))\n"
            f"pipe.generate(prompt, num_assistant_tokens={wanted.gamma})"
        )


WRITER = OpenVINO()

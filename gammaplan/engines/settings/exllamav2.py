"""exllamav2: the generator that exllamav3 replaced."""

from gammaplan.engines.settings.exllama import ExLlama


class ExLlamaV2(ExLlama):
    """exllamav2 alone; its versions start with 0."""

    name = "exllamav2"
    newest = (0, 3, 2)


WRITER = ExLlamaV2()

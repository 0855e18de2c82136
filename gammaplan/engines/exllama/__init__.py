"""exllamav2, exllamav3 and tabbyAPI: job results, rounds, consoles, logs and usage."""

from gammaplan.engines.base import JsonFormat, LogFormat, Word
from gammaplan.engines.exllama import console, results, rounds, tabby, usage

NAME = "exllama"
ALIASES = ("exllamav2", "exllamav3", "tabbyapi")
WORDS = (
    Word("SD efficiency", "pooled_rate"),
    Word("Draft: … tokens accepted", "pooled_rate", "tabbyAPI"),
)
FORMATS = (
    LogFormat("tabbyapi-log", (tabby.NAMED,), tabby.read, tabby.claims),
    LogFormat("tabbyapi-log", (tabby.UNNAMED,), tabby.read, tabby.claims),
    LogFormat("exllama-console", console.MARKS, console.read),
    JsonFormat("exllama-result", results.claims, results.read),
    JsonFormat("exllama-rounds", rounds.claims, rounds.read, general=True),
    JsonFormat("openai-usage-prediction", usage.claims, usage.read, general=True),
)

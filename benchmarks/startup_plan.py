"""Start-up of plan from evidence, against the smallest Typer app with numpy and a rich table.

Runs in the environment that it is started with; medians of interleaved pairs.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

PAIRS = 25
TARGET = 1.3
RIVAL = """\
import numpy as np
import typer
from rich.console import Console
from rich.table import Table

app = typer.Typer()


@app.command()
def table() -> None:
    gamma = np.arange(1, 13)
    tokens = (1 - 0.8 ** (gamma + 1)) / (1 - 0.8)
    cost = 1 + 0.1 * gamma
    out = Table("gamma", "E[tokens]", "round cost", "speedup")
    for row in zip(gamma, tokens, cost, tokens / cost):
        out.add_row(*(f"{value:.4g}" for value in row))
    Console().print(out)


app()
"""


def seconds(command: list[str]) -> float:
    # Without what changes how Python starts, so that both run compiled modules.
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=env)
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rival, fit = folder / "rival.py", folder / "fit.json"
        rival.write_text(RIVAL)
        program = os.fspath(Path(sys.executable).with_name("gammaplan"))
        known = ["convert", "--survival", "0.844,0.599,0.385,0.271", "--json"]
        done = subprocess.run([program, *known], check=True, capture_output=True, text=True)
        document = json.loads(done.stdout)
        span = {"level": 0.95, "low": 0.71, "high": 0.77, "method": "clopper-pearson"}
        document["result"]["acceptance"]["interval"] = span
        fit.write_text(json.dumps(document))
        ours = [program, "plan", str(fit), "--c", "0.08", "--quiet"]
        theirs = [sys.executable, str(rival)]
        for command in (ours, theirs):
            seconds(command)  # compiled and cached
        ratios = [seconds(ours) / seconds(theirs) for _ in range(PAIRS)]
    found = median(ratios)
    verdict = "ok" if found <= TARGET else "slower than wanted"
    print(f"plan from evidence / Typer app with numpy and a rich table: {found:.2f} ({verdict})")


if __name__ == "__main__":
    main()

"""Start-up: gammaplan as it is installed, against the smallest Typer apps that do as much.

Makes a wheel of this checkout and a virtual environment for each typer, in a
temporary directory, so both sides run from installed, compiled modules.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from measure import process, ratio, report

CHECKOUT = Path(__file__).resolve().parent.parent
TYPERS = ("typer==0.28.0", "typer")
TARGET, PLAN_TARGET, REPORT_TARGET = 1.15, 1.3, 1.5
TABLE = ("table", "--alpha", "0.8", "--c", "0.1")

RIVALS = {
    "rival_table": """\
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
""",
    "rival_numpy": """\
import numpy as np
import typer

app = typer.Typer()


@app.command()
def speedup() -> None:
    gamma = np.arange(1, 13)
    print(((1 - 0.8 ** (gamma + 1)) / (1 - 0.8) / (1 + 0.1 * gamma)).tolist())
""",
}


def clean_environment() -> dict[str, str]:
    """Ours without what changes how Python starts or how wide a terminal is."""
    return {k: v for k, v in os.environ.items() if not k.startswith("PYTHON") and k != "COLUMNS"}


def make_wheel(folder: Path) -> Path:
    make = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    subprocess.run([*make, "-w", str(folder), str(CHECKOUT)], check=True)
    return next(folder.glob("gammaplan-*.whl"))


def make_environment(folder: Path, wheel: Path, typer: str) -> Path:
    """The bin directory of a fresh environment with gammaplan, this typer, and the rivals."""
    venv.create(folder, with_pip=True)
    binaries = folder / ("Scripts" if os.name == "nt" else "bin")
    python, env = str(binaries / "python"), clean_environment()
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", str(wheel), typer], check=True, env=env
    )
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([python, "-c", where], check=True, env=env, capture_output=True)
    for name, source in RIVALS.items():
        Path(packages.stdout.decode().strip(), f"{name}.py").write_text(source)
    return binaries


def make_evidence(file: Path, ours: str, env: dict[str, str]) -> None:
    """A document with four measured positions and an interval on alpha."""
    known = [ours, "convert", "--survival", "0.844,0.599,0.385,0.271", "--json"]
    document = json.loads(subprocess.run(known, check=True, env=env, capture_output=True).stdout)
    span = {"level": 0.95, "low": 0.71, "high": 0.77, "method": "clopper-pearson"}
    document["result"]["acceptance"]["interval"] = span
    file.write_text(json.dumps(document))


def measure(binaries: Path) -> None:
    env = clean_environment()
    python, ours = str(binaries / "python"), str(binaries / "gammaplan")
    version = "from importlib.metadata import version; print('typer', version('typer'))"
    subprocess.run([python, "-c", version], check=True, env=env)
    evidence = binaries / "evidence.json"
    make_evidence(evidence, ours, env)
    plan = ("plan", str(evidence), "--c", "0.08", "--quiet")
    cases = {
        "table / Typer app with numpy and a rich table": (TABLE, "rival_table", TARGET),
        "table --json / Typer app with numpy": ((*TABLE, "--json"), "rival_numpy", TARGET),
        "plan from evidence / the same with a table": (plan, "rival_table", PLAN_TARGET),
    }
    for what, (arguments, rival, target) in cases.items():
        app = process([python, "-c", f"from {rival} import app; app()"], env)
        report(what, ratio(process([ours, *arguments], env), app), at_most=target)
    answer, page = str(binaries / "plan.json"), str(binaries / "page.html")
    made = subprocess.run([ours, *plan, "--json"], check=True, env=env, capture_output=True)
    Path(answer).write_bytes(made.stdout)
    planning = process([ours, *plan], env)
    for what, arguments in {
        "report / plan": ("report", answer, "-o", page),
        "plan --report / plan": (*plan, "--report", page),
    }.items():
        report(what, ratio(process([ours, *arguments], env), planning), at_most=REPORT_TARGET)
    imported = process([python, "-c", "import typer"], env)
    found = ratio(process([ours, "--version"], env), imported)
    report('--version / python -c "import typer"', found, at_most=TARGET)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = make_wheel(folder)
        for i, typer in enumerate(TYPERS):
            measure(make_environment(folder / str(i), wheel, typer))


if __name__ == "__main__":
    main()

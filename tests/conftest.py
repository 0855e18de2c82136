"""Settings of every test: a plain terminal, and hypothesis that finds the same examples again."""

import os
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from typer.testing import CliRunner, Result

settings.register_profile("default", deadline=None, max_examples=60, print_blob=True)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a script
    signal.signal(signal.SIGINT, signal.default_int_handler)

PLAIN = {"TERM": "dumb", "COLUMNS": "80", "PYTHONUTF8": "1"}
NOISE = ("FORCE_COLOR", "NO_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "PYTHONIOENCODING", "LC_ALL")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")

Cli = Callable[..., Result]
Program = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*NOISE, *PROXIES):
        monkeypatch.delenv(name, raising=False)
    for name, value in PLAIN.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def cli() -> Cli:
    """`cli("table --alpha 0.8 --c 0.1")` or `cli([...], input=...)`: a command in this process."""
    from gammaplan.cli.app import app

    def run(args: str | list[str], input: str | bytes | None = None) -> Result:
        words = args.split() if isinstance(args, str) else args
        result = CliRunner().invoke(app, words, input=input)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture(scope="session")
def script() -> str:
    """The installed program."""
    path = Path(sysconfig.get_path("scripts")) / "gammaplan"
    assert path.exists(), "gammaplan is not installed in the environment of these tests"
    return str(path)


@pytest.fixture
def program(script: str) -> Program:
    """`program("table", "--json", COLUMNS="40")`: the installed program in its own process."""

    def run(*args: str, stdin: str = "", **env: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [script, *args],
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            env=os.environ | env,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def python() -> Callable[[str], str]:
    """`python("print(1)")`: what a fresh interpreter prints."""

    def run(code: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run

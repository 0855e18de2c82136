"""The shipped completion scripts: what the program prints today, tried in the real shells."""

import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "completions"
FILES = ("_gammaplan", "gammaplan.bash", "gammaplan.fish", "gammaplan.ps1")
PATIENCE = 20.0  # seconds for one answer of a shell
CASES = [("gammaplan opt", "optimum"), ("gammaplan table --al", "--alpha")]

by_case = pytest.mark.parametrize(("typed", "completed"), CASES, ids=[c[0] for c in CASES])


@pytest.fixture(autouse=True)
def _program_on_path(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(script).parent), os.environ["PATH"]]))


def test_the_command_of_contributing_makes_the_scripts_that_are_shipped(tmp_path):
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^```sh\n([^`]*completions/[^`]*)```$", page, re.MULTILINE)
    (tmp_path / "completions").mkdir()
    subprocess.run(["bash", "-euc", command], cwd=tmp_path, check=True, timeout=60)
    for name in FILES:
        made = (tmp_path / "completions" / name).read_text(encoding="utf-8")
        assert made == (SCRIPTS / name).read_text(encoding="utf-8"), name


def test_nothing_else_is_shipped():
    assert sorted(path.name for path in SCRIPTS.iterdir()) == sorted(FILES)


def test_the_zsh_script_starts_with_its_tag():
    assert (SCRIPTS / "_gammaplan").read_text(encoding="utf-8").startswith("#compdef gammaplan\n")


@by_case
def test_bash(typed, completed):
    setup = f"source '{SCRIPTS}/gammaplan.bash'"
    with Terminal([shell("bash"), "--norc", "--noprofile", "-i"]) as terminal:
        terminal.completes(setup, typed, completed)


@by_case
def test_zsh_from_its_function_path_at_the_first_tab(typed, completed):
    setup = f"fpath=('{SCRIPTS}' $fpath); autoload -Uz compinit; compinit -D -u"
    with Terminal([shell("zsh"), "-f", "-i"]) as terminal:
        terminal.completes(setup, typed, completed)


@by_case
def test_zsh_sourced(typed, completed):
    setup = f"autoload -Uz compinit; compinit -D -u; source '{SCRIPTS}/_gammaplan'"
    with Terminal([shell("zsh"), "-f", "-i"]) as terminal:
        terminal.completes(setup, typed, completed)


@by_case
def test_fish(typed, completed, tmp_path):
    code = f"source '{SCRIPTS}/gammaplan.fish'; complete -C '{typed}'"
    home = os.environ | {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(
        [shell("fish"), "--no-config", "-c", code],
        capture_output=True, encoding="utf-8", env=home, timeout=60, check=False,
    )  # fmt: skip
    assert completed in [line.split("\t")[0] for line in done.stdout.splitlines()], done


def shell(name: str) -> str:
    """Where a shell is; without it the test is skipped, or fails where shells are required."""
    path = shutil.which(name)
    if path is None and os.environ.get("GAMMAPLAN_REQUIRE_SHELLS"):
        pytest.fail(f"{name} is not installed, and GAMMAPLAN_REQUIRE_SHELLS is set")
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


class Terminal:
    """An interactive shell on a terminal of its own."""

    def __init__(self, command: list[str]) -> None:
        main, child = pty.openpty()
        self.screen, self.terminal = "", main
        self.process = subprocess.Popen(
            command, stdin=child, stdout=child, stderr=child, start_new_session=True, close_fds=True
        )
        os.close(child)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)

    def completes(self, setup: str, typed: str, completed: str) -> None:
        """Set up, type `typed` and one TAB, and see the word completed and a space after it."""
        self.write(f"{setup}; echo rea''dy\n")
        self.wait_for(r"ready\r?\n")
        self.screen = ""
        self.write(typed + "\t")
        rest = completed.removeprefix(typed.rsplit(maxsplit=1)[-1])
        self.wait_for(re.escape(typed) + r"\x07?" + re.escape(rest) + " ")
        assert "\a" not in self.screen, f"the first TAB found nothing: {self.screen!r}"

    def write(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def wait_for(self, pattern: str) -> None:
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.screen):
            left = end - time.monotonic()
            assert left > 0, f"no {pattern!r} on the screen: {self.screen!r}"
            if select.select([self.terminal], [], [], min(left, 0.5))[0]:
                self.screen += os.read(self.terminal, 65_536).decode("utf-8", "replace")

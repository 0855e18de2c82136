"""The live view of watch in a real terminal (tmux): its screen, its keys, and what it leaves."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ..servers import page
from .engine import Engine

PATIENCE = 40.0  # seconds for what is expected to be on the screen
A, B = "example-org/target-8b", "example-org/target-70b"
Engines = Callable[[dict[str, tuple[int, float]]], Engine]
Watch = Callable[..., list[str]]


class Terminal:
    """A shell in a terminal of its own."""

    def __init__(
        self, tmux: str, home: Path, columns: int, lines: int, env: dict[str, str]
    ) -> None:
        self.home = home
        self._tmux = [tmux, "-S", str(home / "tmux"), "-f", "/dev/null"]
        size = ["-x", str(columns), "-y", str(lines)]
        shell = ["env", "PS1=> ", "bash", "--norc", "--noprofile"]
        self._run("new-session", "-d", *size, "-c", str(home), *shell, env=env)
        self._run("set-option", "-g", "monitor-bell", "on")

    @property
    def rang(self) -> bool:
        """Whether the terminal's bell was rung."""
        return self._run("list-windows", "-F", "#{window_bell_flag}").strip() == "1"

    @property
    def child(self) -> int:
        """The process that the shell runs."""
        shell = self._run("list-panes", "-F", "#{pane_pid}").split()[0]
        return int(Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])

    def _run(self, *words: str, env: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            [*self._tmux, *words], capture_output=True, encoding="utf-8", timeout=30, check=True,
            env=env,
        )  # fmt: skip
        return done.stdout

    def press(self, *keys: str) -> None:
        self._run("send-keys", *keys)

    def start(self, *words: str) -> None:
        """Run a command; when it ends, the shell tells how, and how it finds the terminal."""
        after = 'echo "exit code $?"; stty -a | grep -ow -e "-\\?icanon" -e "-\\?echo"'
        self.press("-l", f"clear; {shlex.join(words)}; {after}")
        self.press("Enter")

    def resize(self, columns: int, lines: int) -> None:
        self._run("resize-window", "-x", str(columns), "-y", str(lines))

    @property
    def screen(self) -> str:
        return self._run("capture-pane", "-p")

    def until(self, what: str | Callable[[str], object]) -> str:
        """The screen, once it has or is what is expected."""
        good = (lambda screen: what in screen) if isinstance(what, str) else what
        end = time.monotonic() + PATIENCE
        while not good(screen := self.screen):
            assert time.monotonic() < end, f"never came: {what}\n{screen}"
            time.sleep(0.05)
        return screen

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, timeout=30, check=False)


Open = Callable[..., Terminal]


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    program = shutil.which("tmux")
    if program is None and os.environ.get("GAMMAPLAN_REQUIRE_TMUX"):
        pytest.fail("tmux is not installed, and GAMMAPLAN_REQUIRE_TMUX is set")
    if program is None:
        pytest.skip("tmux is not installed")
    opened: list[Terminal] = []

    def open_(columns: int = 80, lines: int = 24) -> Terminal:
        env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
        env |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        home = tmp_path_factory.mktemp("tmux")
        opened.append(Terminal(program, home, columns, lines, env))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


@pytest.fixture(scope="module")
def engines() -> Iterator[Engines]:
    running: list[Engine] = []

    def run(models: dict[str, tuple[int, float]]) -> Engine:
        engine = Engine(models)
        engine.up()
        running.append(engine)
        return engine

    yield run
    for engine in running:
        engine.down()


@pytest.fixture(scope="module")
def watch(script: str) -> Watch:
    def words(engine: Engine, *more: str) -> list[str]:
        return [script, "watch", engine.url, "--c", "0.08", "--every", "0.2", *more]

    return words


@pytest.fixture(scope="module")
def view(terminal: Open, engines: Engines, watch: Watch) -> Terminal:
    """A view that goes on while tests look at it, each in its own way."""
    tty = terminal(80)
    engine = engines({A: (2, 0.85), B: (5, 0.75), "\x1b[31m[bold]x[/bold]": (2, 0.85)})
    tty.start(*watch(engine, "--save", "no/evidence.json"))
    tty.until(lambda s: row(s, "target-8b"))
    return tty


def row(screen: str, name: str) -> str:
    return next((line for line in screen.splitlines() if name in line and ".." in line), "")


def failures(screen: str) -> int:
    """How many readings in a row failed, as the screen counts them."""
    told = re.search(r"\((\d+) readings\)", screen)
    return int(told[1]) if told else 0


@pytest.mark.parametrize("columns", [80, 120])
def test_the_screen_has_a_row_a_model_and_marks_those_outside_their_band(view, columns):
    view.resize(columns, 24)
    screen = view.until(lambda s: ("rounds  γ" in s) == (columns == 120) and row(s, "target-8b"))
    bad, good = row(screen, "target-8b").split(), row(screen, "target-70b").split()
    assert bad[0] == "!"
    assert good[0] != "!"
    assert "2" in bad
    assert "5" in good
    lines = screen.rstrip().splitlines()
    assert any(line.startswith("! γ 2 of") and "loses" in line for line in lines)
    assert lines[-1].startswith("q quit   s save to")
    assert max(map(len, lines)) <= columns


def test_names_of_models_are_text_on_the_screen(view):
    view.until(lambda s: row(s, r"\x1b[31m[bold]x[/bold]"))


def test_what_cannot_be_saved_is_told_on_the_screen(view):
    view.press("s")
    view.until("no/evidence.json: cannot be written")


def test_a_suspended_view_comes_back(view):
    view.press("C-z")
    view.until("Stopped")
    view.press("-l", "fg")
    view.press("Enter")
    view.until(lambda s: row(s, "target-8b") and "q quit" in s and "Stopped" not in s)


def test_many_models_are_cut_with_the_alarming_ones_on_top(terminal, engines, watch):
    models = {f"org/model-{i:02}": (4, 0.7) for i in range(30)} | {"org/odd": (1, 0.9)}
    tty = terminal(80)
    tty.start(*watch(engines(models)))
    screen = tty.until(lambda s: "… and" in s and "! org/odd" in s)
    lines = screen.splitlines()
    table = next(i for i, line in enumerate(lines) if "model_name" in line)
    assert lines[table + 1].startswith("! org/odd")
    shown = sum("org/model-" in line and ".." in line for line in lines)
    assert f"… and {30 - shown} more" in screen


def test_a_length_that_leaves_its_band_is_told_and_rung(terminal, engines, watch):
    engine, tty = engines({A: (5, 0.8)}), terminal(80)
    tty.start(*watch(engine, "--window", "1", "--bell"))
    tty.until("γ 5 is in the band")
    assert not tty.rang
    engine.models[A] = (5, 0.3)
    tty.until(f"left the band: γ 5 of {A}")
    assert tty.rang
    engine.models[A] = (5, 0.8)
    screen = tty.until(f"back in the band: γ 5 of {A}")
    assert "left the band" not in screen  # the latest is enough


def test_a_restart_and_a_gap_are_told_and_it_goes_on(terminal, engines, watch):
    engine, tty = engines({A: (2, 0.85)}), terminal(120)
    tty.start(*watch(engine, "--timeout", "5"))
    tty.until(lambda s: row(s, "target-8b"))
    with engine.lock:
        engine.start_anew()
    tty.until("so their process was restarted")
    engine.down()
    tty.until("Connection refused")
    tty.until(" readings)")  # said once, however long it lasts
    engine.up()
    screen = tty.until("answers again, after")
    assert screen.count("Connection refused") == 1
    engine.trouble = page("<html><body>a proxy</body></html>")
    tty.until("answers with a web page")
    engine.trouble = None
    tty.until(lambda s: s.count("answers again") == 2)


def test_what_is_told_in_a_gap_stays(terminal, engines, watch):
    engine, tty = engines({A: (2, 0.85)}), terminal(120)
    tty.start(*watch(engine, "--save", "evidence.json"))
    tty.until(lambda s: row(s, "target-8b"))
    engine.trouble = page("no", 503)
    tty.until("answers 503")
    tty.press("s")
    before = failures(tty.until("saved to evidence.json"))
    screen = tty.until(lambda s: failures(s) > before + 2)
    assert "saved to evidence.json" in screen
    assert screen.count("answers 503") == 1


def test_s_saves_evidence_and_q_ends_with_the_terminal_as_it_was(terminal, engines, watch, cli):
    tty = terminal(80)
    tty.start(*watch(engines({A: (2, 0.85)}), "--save", "evidence.json"))
    tty.until(lambda s: row(s, "target-8b") and "save to evidence.json" in s)
    tty.press("s")
    tty.until("saved to evidence.json")
    tty.press("q")
    screen = tty.until(lambda s: "exit code 0" in s and "icanon" in s and "echo" in s)
    assert "-icanon" not in screen
    assert "-echo" not in screen
    assert "γ 2 loses" in screen  # the answer stays behind
    words = ["optimum", str(tty.home / "evidence.json"), "--c", "0.08", "--json"]
    answer = json.loads(cli(words).stdout)
    assert answer["result"]["in_use"]["gamma"] == 2


@pytest.mark.parametrize(("key", "code"), [("C-c", 130), ("TERM", 143)])
def test_an_interrupt_leaves_the_terminal_as_it_was(terminal, engines, watch, key, code):
    tty = terminal(80)
    tty.start(*watch(engines({A: (2, 0.85)})))
    tty.until(lambda s: row(s, "target-8b"))
    if key == "TERM":
        os.kill(tty.child, signal.SIGTERM)
    else:
        tty.press(key)
    screen = tty.until(lambda s: f"exit code {code}" in s and "icanon" in s and "echo" in s)
    assert "-icanon" not in screen
    assert "Traceback" not in screen
    assert "gammaplan watch http" not in screen.splitlines()[0]


def test_without_a_terminal_for_input_keys_are_off_and_that_is_said(terminal, engines, watch):
    tty = terminal(80)
    words = shlex.join(watch(engines({A: (2, 0.85)})))
    tty.start("bash", "-c", f"{words} </dev/null")
    tty.until("keys are off")


def test_a_server_that_never_was_there_leaves_one_sentence(terminal, engines, watch):
    engine, tty = engines({A: (2, 0.85)}), terminal(80)
    engine.trouble = page("no", 404)
    tty.start(*watch(engine))
    screen = tty.until(lambda s: "exit code 1" in s)
    assert "answers 404" in screen

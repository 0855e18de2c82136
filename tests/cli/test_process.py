"""The installed program as a process: pipes, signals, widths, encodings, streams."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

TABLE = ("table", "--alpha", "0.8", "--c", "0.1")


def width(line):
    return len(line.rstrip())


def test_the_answer_is_on_stdout_and_stderr_is_silent(program):
    done = program(*TABLE)
    assert done.returncode == 0
    assert done.stdout.startswith("γ = 6 is best: 2.47×")
    assert done.stderr == ""


def test_findings_are_on_stderr(program):
    done = program("optimum", "--json")
    assert done.stdout.startswith("{")
    assert done.stderr.startswith("note: neither acceptance nor cost was given")


@pytest.mark.parametrize("args", [("fit", "-"), ("optimum",)], ids=["an error", "a finding"])
def test_a_terminal_shows_whole_words(script, program, args):
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as shown, os.fdopen(theirs, "wb") as stderr:
        subprocess.run(
            [script, *args],
            check=False,
            input=b"",
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env=os.environ | {"COLUMNS": "48"},
        )
        lines = shown.read(10_000).decode().splitlines()
    assert len(lines) > 1
    assert all(len(line) <= 48 for line in lines)
    assert all(line.startswith("  ") for line in lines[1:])
    assert " ".join(map(str.strip, lines)) == program(*args).stderr.rstrip("\n")


def test_quiet_silences_findings(program):
    assert program("optimum", "--quiet").stderr == ""


def test_python_m_is_the_same_program(program):
    done = subprocess.run(
        [sys.executable, "-m", "gammaplan", *TABLE],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == program(*TABLE).stdout


def test_version_is_one_line(program):
    from gammaplan import __version__

    assert program("--version").stdout == f"gammaplan {__version__}\n"


def test_without_arguments_the_help_is_shown_and_the_exit_code_is_2(program):
    done = program()
    assert done.returncode == 2
    assert "Usage: gammaplan" in done.stdout + done.stderr


def test_evidence_in_a_pipe_of_two_processes(program):
    evidence = program("convert", "--mean-length", "4.739", "--gamma", "6", "--json").stdout
    answer = program("optimum", "-", "--c", "0.05", "--format", "csv", stdin=evidence).stdout
    header, row = answer.splitlines()[:2]
    assert dict(zip(header.split(","), row.split(","), strict=False))["gamma"] == "11"


@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize(
    "args",
    [
        TABLE,
        ("optimum", "--alpha", "0.8", "--c", "0.1", "--gamma", "4"),
        ("sweep",),
        ("convert", "--alpha", "0.8"),
        ("tokens", "--alpha", "0.8"),
        ("ceiling", "--alpha", "0.8", "--c", "0.1"),
    ],
    ids=lambda args: args[0] if isinstance(args, tuple) else str(args),
)
def test_no_line_is_wider_than_the_terminal(program, args, columns):
    lines = program(*args, COLUMNS=str(columns)).stdout.splitlines()
    assert max(map(width, lines)) <= columns


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_the_table_keeps_its_figures_at_any_width(program, columns):
    lines = program(*TABLE, COLUMNS=str(columns)).stdout.splitlines()
    best = next(line for line in lines if line.startswith("*"))
    assert best.split()[:5] == ["*", "6", "3.951", "1.60", "2.47×"]


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb"}])
def test_a_redirect_has_no_escape_sequences(program, env):
    assert "\x1b" not in program(*TABLE, **env).stdout


def test_colour_can_be_forced(program):
    done = program(*TABLE, FORCE_COLOR="1", TERM="xterm-256color")
    assert "\x1b[" in done.stdout


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["ascii", "C locale"],
)
@pytest.mark.parametrize(
    "args",
    [
        TABLE,
        ("optimum",),
        ("sweep",),
        ("convert", "--survival", "0.9,0.8"),
        ("convert", "--alpha", "0.8"),
        ("table", "--help"),
        ("--help",),
        ("table", "--alpha", "γ"),
        ("optimum", "α.json"),
    ],
    ids=" ".join,
)
def test_an_ascii_terminal_is_enough(program, args, env):
    done = program(*args, **env)
    assert "Traceback" not in done.stderr
    assert (done.stdout + done.stderr).isascii()
    assert done.returncode == {"γ": 2, "α.json": 1}.get(args[-1], 0)


def test_an_ascii_table_keeps_its_columns(program):
    lines = program(*TABLE, PYTHONIOENCODING="ascii", PYTHONUTF8="0").stdout.splitlines()
    assert lines[0] == "g = 6 is best: 2.47x (a 0.8, c 0.1)."


def test_an_ascii_table_keeps_its_columns_beside_wide_letters(program):
    drafts = [f"--candidate=name={name},alpha=0.7,c=0.1" for name in ("日本", "abcd")]
    done = program("plan", *drafts, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    rows = [line for line in done.stdout.splitlines() if line.startswith(("????  ", "abcd  "))]
    assert len(rows) == 2
    assert rows[0].index("1.98x") == rows[1].index("1.98x")


def test_ascii_json_is_the_same_json(program):
    plain = program(*TABLE, "--json", PYTHONIOENCODING="ascii", PYTHONUTF8="0").stdout
    assert plain == program(*TABLE, "--json").stdout


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_a_closed_pipe_is_silent(script, form):
    args = [script, "table", "--alpha", "0.8", "--c", "0.1", "--gamma", "1..9000", "--format", form]
    writer = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    writer.stdout.readline()
    writer.stdout.close()
    assert writer.stderr.read() == b""
    writer.stderr.close()
    writer.wait(timeout=30)


def test_a_full_disk_is_one_line(script):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [script, *TABLE], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("args", ["fit -", "optimum - --c 0.1"])
def test_a_closed_standard_input_is_one_line(script, args):
    done = subprocess.run(
        ["sh", "-c", f"exec {script} {args} <&-"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "Error: standard input: cannot be read: it is closed\n"


def until_it_waits(pid):
    """Until a process sleeps for half a second on end: it waits for its standard input."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        time.sleep(5)
        return
    asleep, deadline = 0, time.monotonic() + 60
    while asleep < 10 and time.monotonic() < deadline:
        time.sleep(0.05)
        state = stat.read_text().rpartition(")")[2].split()[0]
        asleep = asleep + 1 if state == "S" else 0


def test_an_interrupt_is_exit_code_130_and_no_traceback(script):
    reader = subprocess.Popen(
        [script, "optimum", "-", "--c", "0.1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until_it_waits(reader.pid)
    os.kill(reader.pid, signal.SIGINT)
    out, err = reader.communicate(timeout=30)
    assert reader.returncode == 130
    assert out == ""
    assert "Traceback" not in err


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="counts processes in /proc")
def test_an_interrupt_of_a_terminal_ends_the_workers_without_a_word(script, tmp_path):
    rows = np.random.default_rng(0).normal(size=(400_000, 2)).astype("<f4")
    np.save(tmp_path / "rows.npy", rows)
    words = ["alpha", "rows.npy", "rows.npy", "--temperature", "0..4:0.01", "--workers", "2"]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    reader = subprocess.Popen(
        [script, *words], cwd=tmp_path, text=True, start_new_session=True, **pipes
    )
    children = Path(f"/proc/{reader.pid}/task/{reader.pid}/children")
    deadline = time.monotonic() + 30
    while len(children.read_text().split()) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)  # until they are at work
    os.killpg(reader.pid, signal.SIGINT)
    _, err = reader.communicate(timeout=30)
    assert reader.returncode == 130
    assert "Traceback" not in err


def test_no_environment_variable_changes_an_answer(program):
    names = ("ALPHA", "C", "TOLERANCE", "FORMAT", "JSON")
    env = {f"GAMMAPLAN_{name}": "0.5" for name in names}
    assert program(*TABLE, **env).stdout == program(*TABLE).stdout

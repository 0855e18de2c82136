"""The examples of the documentation: found, run, and (as a program) brought up to date.

``python -m tests.docs.examples`` writes what each example prints today into
README.md and docs/*.md; read the difference before you keep it.
"""

import os
import re
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLAIN = {"TERM": "dumb", "COLUMNS": "80", "PYTHONUTF8": "1", "NO_COLOR": "1"}
NOISE = ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "PYTHONIOENCODING", "LC_ALL", "LINES")


class Block(NamedTuple):
    """One fenced block: where it starts, its language and its text."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def name(self) -> str:
        """README.md:12."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


class Step(NamedTuple):
    """One command of a block and what it prints; None where no output is shown."""

    command: str
    output: str | None


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        yield Block(page, text.count("\n", 0, found.start()) + 1, found[1], found[2])


def steps(block: Block) -> Iterator[Step]:
    """The commands of a block: every line in ``sh``, those after a $ in ``console``."""
    if block.language == "sh":
        for line in block.text.replace("\\\n", "").splitlines():
            if line and not line.startswith("#"):
                yield Step(line, None)
    else:
        for part in re.split(r"^\$ ", block.text.replace("\\\n", ""), flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield Step(command, output)


def run(command: str, *, columns: int = 80, where: Path | None = None) -> str:
    """What a command prints on a plain terminal, stderr in its place; fails if it fails."""
    scripts = sysconfig.get_path("scripts")
    env = {name: value for name, value in os.environ.items() if name not in NOISE}
    env |= PLAIN | {"COLUMNS": str(columns), "PATH": f"{scripts}{os.pathsep}{env['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        cwd=where,
        env=env,
        timeout=120,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command}: exit code {done.returncode}\n{done.stdout}")
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def console(command: str) -> str:
    """A block that shows a command and what it prints."""
    return f"```console\n$ {command}\n{run(command)}```"


def help_page(command: str) -> str:
    """A block with the help of a command, 100 columns wide."""
    return f"```text\n{run(f'{command} --help', columns=100).strip()}\n```"


def _refreshed(block: Block) -> str:
    if block.language != "console" or "\\\n" in block.text:
        return block.text
    with tempfile.TemporaryDirectory() as where:
        return "".join(f"$ {s.command}\n{run(s.command, where=Path(where))}" for s in steps(block))


def main() -> None:
    """Write what every console block prints today."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in blocks(page):
            text = text.replace(
                f"```console\n{block.text}```", f"```console\n{_refreshed(block)}```"
            )
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""The pictures of the documentation, and a sheet of every picture to look at.

``python -m tests.docs.pictures`` draws docs/pictures/*.svg anew;
``python -m tests.docs.pictures SHEET.png`` draws the same and many harder ones
side by side: look at each before you keep a change of how pictures are drawn.
"""

import io
import json
import os
import shlex
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from typer.testing import CliRunner

from gammaplan.cli.app import app
from gammaplan.cli.plotted import with_curves
from gammaplan.report.picture import Picture
from gammaplan.report.pictures import picture_of

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
DATA = ROOT / "tests" / "data"
LINE = (
    "INFO 06-01 10:10:41 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: {0}, "
    "Accepted throughput: 59.29 tokens/s, Drafted throughput: 72.59 tokens/s, "
    "Accepted: {1} tokens, Drafted: {2} tokens, Per-position acceptance rate: {3}, "
    "Avg Draft acceptance rate: {4}%\n"
)
PASSES = "tokens,batch,ms\n" + "".join(
    f"{n},1,{10 + 0.01 * n + 2.6 * ((n - 1) // 32):.2f}\n"
    for n in (1, 2, 4, 8, 16, 24, 32, 33, 40, 48, 64, 65, 80, 96)
)
INPUTS = {
    "vllm.log": LINE.format("3.45", "593", "726", "0.917, 0.839, 0.694", "81.7"),
    "config.json": (DATA / "configs" / "llama-3.1-8b-instruct.json").read_text(encoding="utf-8"),
    "passes.csv": PASSES,
    "runs.csv": "gamma,speedup,mean_length\n"
    "1,1.31,1.75\n2,1.46,2.3\n3,1.5,2.7\n5,1.42,3.2\n7,1.2,3.35\n",
    "bent.csv": "gamma,speedup,mean_length\n1,1.09,1.8\n2,1.17,2.44\n4,1.27,3.36\n8,1.29,4.33\n",
    "slow.log": LINE.format("2.05", "254", "968", "0.599, 0.302, 0.099, 0.050", "26.2"),
}
ALPHA = "alpha --target-logits 2,0,-1 --draft-logits 1.5,0,1"
COST = (
    "cost --target config.json --method eagle3 --device h100-sxm --batch 1,8,64,256 --context 512"
)
PREPARED = {
    "cost.json": COST,
    "chat.json": "convert --survival 0.75,0.52,0.36,0.25 --gamma 4",
    "code.json": "convert --survival 0.9,0.8,0.7,0.61 --gamma 4",
    "temperatures.json": f"{ALPHA} --temperature 0.25..1.5:0.25",
}
PICTURES = {
    "table": "table --alpha 0.8 --c 0.1 --gamma 0..16",
    "temperatures": "table temperatures.json --c 0.08 --gamma 0..16",
    "sweep": "sweep",
    "fit": "fit vllm.log",
    "plan": "plan --gamma 5 --baseline-tps 41.6 --spec-tps 60.3 --pooled-rate 0.6",
    "runs": "plan --runs runs.csv",
    "drafts": "plan --candidate name=eagle3,evidence=code.json,c=0.06 "
    "--candidate name=ngram,evidence=chat.json,c=0.002 "
    "--candidate name=draft-model,alpha=0.8,c=0.2",
    "schedule": "plan cost.json --alpha 0.75",
    "cost": COST,
    "passes": "cost --verify-curve passes.csv --draft-ms 0.9",
    "measured": "cost --runs runs.csv",
    "alpha": f"{ALPHA} --temperature 0..2:0.125",
    "explain": "explain --gamma 8 --speedup 0.931 --mean-length 3.762 --target-ms 27.95 "
    "--draft-round-ms 39.03 --verify-ms 63.54",
    "tree": "tree --ranks 0.63,0.11,0.057,0.022 --budget 4..32 --c 0.05 --verify-slope 0.01",
    "adapt": "adapt --regimes 0.9,0.4 --dwell 100 --c 0.1",
    "simulate": "simulate --alpha 0.8 --gamma 6 --rounds 10000",
}
HARDER = {
    "one row": "table --alpha 0.8 --c 0.1 --gamma 5",
    "forty rows": "table --alpha 0.95 --c 0.01 --gamma 1..40",
    "long rows": "table --alpha 0.99 --c 0.001 --gamma 1,10,100,1000",
    "unbounded": "optimum --alpha 0.9 --c 0",
    "infinite": "optimum --alpha 1 --c 0",
    "plain": "optimum --alpha 0.1 --c 0.9",
    "far": "optimum --alpha 0.999 --c 0.0001",
    "in use": "optimum --alpha 0.8 --c 0.1 --gamma 5",
    "in use afar": "optimum --alpha 0.8 --c 0.1 --gamma 50",
    "plan in use afar": "plan --alpha 0.8 --c 0.1 --gamma 50",
    "beyond the band": "table --alpha 0.8 --c 0.1 --gamma 10..20",
    "no line fits": "cost --runs bent.csv",
    "one draft": "plan --candidate name=only,alpha=0.7,c=0.06",
    "free drafts": "sweep --alpha 0.5..0.9:0.1 --c 0",
    "short of the best": "explain --gamma 3 --alpha 0.99 --c 0 --speedup 3.9",
    "two logs": "fit vllm.log slow.log",
    "tokens": "tokens --alpha 0.8",
    "ceiling": "ceiling --alpha 0.8",
    "large sweep": "sweep --alpha 0.01..0.99:0.02 --c 0.01..0.6:0.01",
    "one alpha": "sweep --alpha 0.8 --c 0.01..0.5:0.01",
    "one c": "sweep --alpha 0.5..0.95:0.05 --c 0.05",
    "one cell": "sweep --alpha 0.8 --c 0.05",
    "endless cells": "sweep --alpha 0.5,1 --c 0,0.1",
    "rate": "convert --pooled-rate 0.59 --gamma 4",
    "no length": "convert --mean-length 3.4",
    "sixty positions": "convert --survival " + ",".join(f"{0.97**i:.4f}" for i in range(1, 61)),
    "names": "plan --candidate name=$x^2$<b>&amp;[red],alpha=0.7,c=0.06 --candidate "
    "name=a-very-long-name-of-a-draft-that-goes-on-and-on-and-on,alpha=0.72,c=0.05 "
    + " ".join(f"--candidate name=d{i},alpha=0.{i + 50},c=0.0{i % 9 + 1}" for i in range(12)),
    "mix": "plan --mix name=code,share=0.6,evidence=code.json "
    "--mix name=chat,share=0.4,evidence=chat.json --c 0.06",
    "one setting": f"{ALPHA} --temperature 0.7",
    "settings": f"{ALPHA} --temperature 0.25..1.5:0.25 --top-k 0,2,3",
    "timings": "cost --target-ms 40 --draft-ms 3",
    "big tree": "tree --ranks 0.6,0.2,0.1,0.05 --budget 200",
    "tree of one": "tree --ranks 0.6,0.2 --budget 1 --c 0.1",
    "no tree": "tree --ranks 0.1,0.05 --c 0.9",
    "rules": "simulate --target-logits 2,0 --draft-logits 1.5,0 --gamma 4 --rounds 2000",
}


def prepared(where: Path) -> None:
    """The inputs of the commands, in a folder."""
    for name, text in INPUTS.items():
        (where / name).write_text(text, encoding="utf-8")
    with chdir(where):
        for name, command in PREPARED.items():
            done = run(f"{command} --json --quiet")
            (where / name).write_text(done, encoding="utf-8")


def run(command: str) -> str:
    """What a command prints; fails if it fails."""
    done = CliRunner().invoke(app, shlex.split(command), env={"TERM": "dumb"})
    if done.exit_code:
        raise RuntimeError(f"{command}: exit code {done.exit_code}\n{done.output}")
    return done.stdout


def drawn(where: Path, name: str, command: str, kind: str) -> Path:
    """The picture of a command, drawn in the folder of its inputs."""
    file = where / f"{name.replace(' ', '-')}.{kind}"
    with chdir(where):
        run(f"{command} --quiet --plot {shlex.quote(file.name)}")
    return file


def pictured(where: Path, command: str) -> Picture:
    """What the picture of a command shows."""
    with chdir(where):
        document = json.loads(run(f"{command} --json --quiet"))
    name, inputs = command.split(maxsplit=1)[0], document["inputs"]
    picture = picture_of(name, with_curves(name, document["result"], inputs), inputs)
    assert picture is not None
    return picture


def sheet(files: list[Path]) -> bytes:
    """All pictures side by side."""
    from PIL import Image

    pictures = [Image.open(file).convert("RGB") for file in files]
    columns: list[list[Image.Image]] = [[], [], [], []]
    for picture in pictures:
        min(columns, key=lambda c: sum(p.height + 24 for p in c)).append(picture)
    width = max(p.width for p in pictures) + 24
    height = max(sum(p.height + 24 for p in c) for c in columns)
    whole = Image.new("RGB", (width * len(columns), height), "#888888")
    for i, column in enumerate(columns):
        top = 0
        for picture in column:
            whole.paste(picture, (i * width + 12, top + 12))
            top += picture.height + 24
    page = io.BytesIO()
    whole.save(page, "png")
    return page.getvalue()


def main() -> None:
    """Draw the documentation's pictures, or a sheet of all."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        prepared(where)
        if len(sys.argv) > 1:
            every = PICTURES | HARDER
            files = [drawn(where, name, command, "png") for name, command in every.items()]
            Path(sys.argv[1]).write_bytes(sheet(files))
            return
        FOLDER.mkdir(exist_ok=True)
        for name, command in PICTURES.items():
            drawn(where, name, command, "svg").replace(FOLDER / f"{name}.svg")


if __name__ == "__main__":
    os.environ["NO_COLOR"] = "1"
    main()

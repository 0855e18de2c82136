"""Plan first, measure second, on this machine:

    python -m benchmarks.live                 # all five steps, under 40 minutes on two cores
    python -m benchmarks.live --plan          # what would run, and how long it takes
    python -m benchmarks.live --small         # a rehearsal of a minute or two
    python -m benchmarks.live --publish NAME  # a finished run into the repository

Build llama.cpp, make the models, predict, measure, compare. What was interrupted is gone on with.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.live import engine, models, plot
from benchmarks.live.calibrate import calibrate, time_passes
from benchmarks.live.compare import by_length, compare, summary, write
from benchmarks.live.design import FULL, ROOT, SMALL, Setup, cache
from benchmarks.live.measure import measure
from benchmarks.live.order import PREDICTIONS, OutOfOrder
from benchmarks.live.predict import predict
from benchmarks.live.publish import publish

T = TypeVar("T")
BUILD = 7.0  # minutes of two cores


def main() -> int:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.live",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--small", action="store_true", help="the rehearsal instead of the full run"
    )
    parser.add_argument("--plan", action="store_true", help="print what would run, and stop")
    parser.add_argument("--run", metavar="N", help="go on with this run (default: a new one)")
    parser.add_argument(
        "--until",
        choices=("build", "models", "predict", "measure"),
        help="stop after this step",
    )
    parser.add_argument("--if-built", action="store_true", help="skip all where no engine is")
    parser.add_argument("--publish", metavar="NAME", help="put a finished run into the repository")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers end too
    where, setup = cache(), SMALL if args.small else FULL
    try:
        if args.if_built and not engine.built(where):
            print(f"skipped: no engine is built in {where}")
        elif args.plan:
            print("\n".join(told(setup, where)))
        elif args.publish is not None:
            for path in publish(_newest(where, args.run), args.publish):
                print(path.relative_to(ROOT))
        else:
            return every_step(where, setup, args.run, args.until)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read has enough, and what is flushed at the end goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (OutOfOrder, RuntimeError, OSError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        said = (error.stderr or b"").decode("utf-8", "replace").strip().splitlines()
        program, *words = map(str, error.cmd)
        what = " ".join([Path(program).name, *words[:3]])
        why = f": {said[-1]}" if said else ""
        print(f"Error: {what} … ended with {error.returncode}{why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: --run N goes on", file=sys.stderr)
        return 130
    return 0


def told(setup: Setup, where: Path) -> list[str]:
    """What a run does, and how long it takes."""
    count, minutes = setup.requests(), setup.minutes()
    if not engine.built(where):
        minutes = {"build": BUILD, **minutes}
    return [
        f"{setup.name}: γ {setup.lengths[0]}..{setup.lengths[-1]} and none; drafts "
        f"{', '.join(setup.drafts)}; {len(setup.cells())} workloads "
        f"({', '.join(c.name for c in setup.cells())}); {setup.tokens} tokens a request.",
        f"{count['calibrate']} requests to calibrate at γ {setup.revealed[0]} and "
        f"{setup.revealed[1]}, {count['measure']} to measure in {setup.rounds} interleaved rounds.",
        *(f"  {step:<26} {time:5.1f} minutes" for step, time in minutes.items()),
        f"  {'in all, about':<26} {sum(minutes.values()):5.1f} minutes",
    ]


def every_step(where: Path, setup: Setup, number: str | None, until: str | None) -> int:
    """The five steps, in their order; 1 where logs and metrics do not agree."""
    run = None if number is None else _named(where, setup, number)
    if run is None:
        print("\n".join(told(setup, where)), flush=True)
    if not plot.possible():
        print("no plot will be drawn: pip install '.[plot]'", file=sys.stderr, flush=True)
    where.mkdir(parents=True, exist_ok=True)
    timed("1 build", lambda: engine.build(where))
    if until == "build":
        return 0
    made = timed("2 models", lambda: models.make(where))
    if until == "models":
        return 0
    run = run or _new(where, setup)
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    record |= {"machine": engine.machine(), "engine": engine.version(where), "models": made}
    print(f"run {run.name}: {run}", flush=True)
    if not (run / PREDICTIONS).exists():
        timed("3 time passes", lambda: time_passes(where, setup, run))
        timed("3 calibrate", lambda: calibrate(where, setup, run))
        timed("3 predict", lambda: predict(setup, run))
    predictions = json.loads((run / PREDICTIONS).read_text(encoding="utf-8"))
    record["predicted"] = predictions["written"]
    _write(run, record)
    if until == "predict":
        return 0
    measured = timed("4 measure", lambda: measure(where, setup, run))
    record["measured"] = min(r["started"] for r in measured)
    _write(run, record)
    if until == "measure":
        return 0
    comparison = timed("5 compare", lambda: compare(setup, run))
    write(run, comparison)
    if plot.possible():
        plot.draw(predictions, comparison, run / "plot.png")
    print("\n".join([*by_length(comparison), "", *summary(comparison)]), flush=True)
    wrong = [server for server in comparison["servers"] if server["differ"]]
    for server in wrong:
        print(f"the log and the metrics of {server['server']} differ: {server}")
    return 1 if wrong else 0


def timed(step: str, work: Callable[[], T]) -> T:
    """Do a step, and say on stderr how long it took."""
    begin = time.monotonic()
    print(f"{step} …", file=sys.stderr, flush=True)
    found = work()
    print(f"{step}: {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    return found


def _named(where: Path, setup: Setup, number: str) -> Path:
    """The folder of a run to go on with."""
    run = where / "runs" / number
    if not number.isdecimal() or not (run / "run.json").exists():
        raise FileNotFoundError(f"there is no run {number} in {where / 'runs'}")
    made = json.loads((run / "run.json").read_text(encoding="utf-8"))["setup"]
    if made["name"] != setup.name:
        raise FileNotFoundError(f"run {number} is a {made['name']} one")
    if made != json.loads(json.dumps(setup.as_json())):
        raise FileNotFoundError(f"run {number} is of another design; begin a new one")
    return run


def _new(where: Path, setup: Setup) -> Path:
    """The folder of a new run."""
    runs = where / "runs"
    taken = [int(p.name) for p in runs.glob("*") if p.name.isdecimal()]
    run = runs / str(max(taken, default=0) + 1)
    run.mkdir(parents=True)
    _write(run, {"setup": setup.as_json()})
    return run


def _newest(where: Path, number: str | None) -> Path:
    """The run to publish: the one that was named, or the last full one that was compared."""
    runs = where / "runs"
    done = [p.parent for p in runs.glob("*/comparison.json")]
    if number is not None:
        done = [p for p in done if p.name == number]
    else:
        done = [p for p in done if _size(p) == FULL.name]
    if not done:
        raise FileNotFoundError(f"there is no finished run in {runs}")
    return max(done, key=lambda p: int(p.name))


def _size(run: Path) -> str:
    name: str = json.loads((run / "run.json").read_text(encoding="utf-8"))["setup"]["name"]
    return name


def _write(run: Path, record: dict[str, Any]) -> None:
    text = json.dumps(record, indent=1, ensure_ascii=False)
    (run / "run.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

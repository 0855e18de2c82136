"""What a command loads, and what it must not: checked in fresh interpreters."""

import importlib

import pytest

RUN = """
import sys
from gammaplan.cli.app import main
sys.argv = ["gammaplan", *{args!r}.split()]
try:
    main()
except SystemExit:
    pass
loaded = [name for name in {names!r} if name in sys.modules]
print("loaded:", *loaded)
"""
NUMERIC = ("numpy", "scipy")
ANSWERS = [
    "table --alpha 0.8 --c 0.1",
    "optimum --alpha 0.8 --c 0.1",
    "optimum --alpha 0.8 --c 0.1 --overhead 0.2 --gamma 4",
    "tokens --alpha 0.8",
    "ceiling --alpha 0.8 --c 0.1",
    "sweep",
    "simulate --alpha 0.8 --rounds 1000",
    "convert --mean-length 4.739 --gamma 6",
    "convert --survival 0.9,0.8",
    "convert --histogram 39,1,0,3",
    "alpha --target-logits 2,0 --draft-logits 1.5,0 --temperature 0,1",
    "tree --ranks 0.6,0.2 --budget 8 --c 0.1",
]


@pytest.fixture
def loaded(python):
    def run(args, *names):
        return python(RUN.format(args=args, names=names)).rstrip().rsplit("loaded:", 1)[1].split()

    return run


def test_importing_the_package_loads_no_numpy(python):
    assert python("import gammaplan, sys; print('numpy' in sys.modules)") == "False\n"


@pytest.mark.parametrize("args", ["--help", "--version", "table --help", "nope", "--nope"])
def test_help_and_version_load_no_numpy(loaded, args):
    assert loaded(args, *NUMERIC) == []


@pytest.mark.parametrize("args", ANSWERS)
def test_the_calculator_loads_no_scipy(loaded, args):
    assert loaded(args, *NUMERIC) == ["numpy"]


@pytest.mark.parametrize(
    "args",
    [
        *(a for a in ANSWERS if not a.startswith(("alpha", "simulate"))),
        "plan --alpha 0.8 --c 0.1 --gamma 4",
    ],
)
def test_the_calculator_loads_no_part_of_numpy_that_it_does_not_need(loaded, args):
    assert loaded(args, "numpy.ma", "numpy.typing", "numpy.random") == []


@pytest.mark.parametrize("args", ANSWERS)
def test_json_loads_no_rich_table(loaded, args):
    assert loaded(f"{args} --json", "rich.table", "rich.console") == []


@pytest.mark.parametrize("form", ["csv", "markdown"])
def test_csv_and_markdown_load_no_rich_table(loaded, form):
    assert loaded(f"table --alpha 0.8 --c 0.1 --format {form}", "rich.table") == []


PLOTTING = ("matplotlib", "gammaplan.report.picture", "gammaplan.cli.plotting")


@pytest.mark.parametrize("args", [*ANSWERS, "plan --alpha 0.8 --c 0.1", "table --help"])
def test_a_command_without_a_picture_loads_nothing_of_it(loaded, args):
    assert loaded(args, *PLOTTING) == []


def test_a_picture_needs_no_state_of_matplotlib(loaded, tmp_path):
    args = f"table --alpha 0.8 --c 0.1 --plot {tmp_path / 'a.svg'}"
    assert loaded(args, *PLOTTING, "matplotlib.pyplot") == list(PLOTTING)


def test_every_command_imports_and_is_a_function_of_its_module():
    from gammaplan.cli.app import COMMANDS

    for name in COMMANDS:
        assert callable(getattr(importlib.import_module(f"gammaplan.cli.{name}"), name))

"""--plot: the picture beside the answer, and every way in which it cannot be drawn."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

TABLE = "table --alpha 0.8 --c 0.1"
BLOCKED = """
import sys
from pathlib import Path
sys.modules["matplotlib"] = None
from gammaplan.cli.app import main
sys.argv = ["gammaplan", *{args!r}]
main()
"""


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a.svg", b"<?xml"),
        ("a.png", b"\x89PNG"),
        ("a.pdf", b"%PDF"),
        ("A.SVG", b"<?xml"),
        (".svg", b"<?xml"),
    ],
)
def test_the_ending_says_what_is_drawn(cli, tmp_path, name, start):
    done = cli(f"{TABLE} --plot {tmp_path / name}")
    assert done.exit_code == 0
    assert (tmp_path / name).read_bytes().startswith(start)


def test_the_answer_is_printed_as_without_it(cli, tmp_path):
    done = cli(f"{TABLE} --plot {tmp_path / 'a.svg'}")
    assert done.output == cli(TABLE).output


def test_json_goes_to_stdout_beside_the_picture(cli, tmp_path):
    done = cli(f"{TABLE} --json --plot {tmp_path / 'a.svg'}")
    assert json.loads(done.stdout) == json.loads(cli(f"{TABLE} --json").stdout)
    assert (tmp_path / "a.svg").exists()


@pytest.mark.parametrize("name", ["a", "a.gif", "a.svg.gz", ".", "svg"])
def test_an_unknown_ending_is_refused_before_anything_is_done(cli, name):
    done = cli(f"{TABLE} --plot {name}")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"Error: --plot must be a file that ends in .svg, .png or .pdf, or -, got {name}\n"
    )


@pytest.mark.parametrize("form", ["json", "csv", "markdown"])
def test_the_terminal_is_not_drawn_into_a_document(cli, form):
    done = cli(f"{TABLE} --format {form} --plot -")
    assert done.exit_code == 2
    assert done.stderr == f"Error: --plot - draws in the terminal; with {form} give a file\n"


def test_a_folder_that_is_not_there_is_one_sentence_after_the_answer(cli, tmp_path):
    path = tmp_path / "none" / "a.svg"
    done = cli(f"{TABLE} --plot {path}")
    assert done.exit_code == 1
    assert done.stdout == cli(TABLE).stdout
    assert done.stderr == f"Error: {path}: cannot be written: No such file or directory\n"


def test_a_folder_of_that_name_is_one_sentence(cli, tmp_path):
    (tmp_path / "a.svg").mkdir()
    done = cli(f"{TABLE} --plot {tmp_path / 'a.svg'}")
    assert done.exit_code == 1
    assert done.stderr == f"Error: {tmp_path / 'a.svg'}: cannot be written: Is a directory\n"


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path):
    import resource

    path = tmp_path / "a.svg"
    path.write_text("before")

    def small_files():
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = subprocess.run(
        [sys.executable, "-m", "gammaplan", *TABLE.split(), "--plot", str(path)],
        preexec_fn=small_files,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == f"Error: {path}: cannot be written: File too large\n"
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed(cli, tmp_path):
    (tmp_path / "link.svg").symlink_to(tmp_path / "real.svg")
    cli(f"{TABLE} --plot {tmp_path / 'link.svg'}")
    assert (tmp_path / "link.svg").is_symlink()
    assert (tmp_path / "real.svg").read_bytes().startswith(b"<?xml")


def test_what_is_no_file_is_written_to_and_not_replaced(cli, tmp_path):
    link = tmp_path / "null.svg"
    link.symlink_to("/dev/null")
    assert cli(f"{TABLE} --plot {link}").exit_code == 0
    assert Path("/dev/null").is_char_device()


def test_a_new_file_has_the_usual_permissions(cli, tmp_path):
    (tmp_path / "other").touch()
    cli(f"{TABLE} --plot {tmp_path / 'a.svg'}")
    usual = stat.S_IMODE((tmp_path / "other").stat().st_mode)
    assert stat.S_IMODE((tmp_path / "a.svg").stat().st_mode) == usual


def test_a_missing_extra_is_named_after_the_answer(tmp_path):
    path = tmp_path / "a.svg"
    code = BLOCKED.format(args=[*TABLE.split(), "--plot", str(path)])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 1
    assert done.stdout.startswith("γ = 6 is best")
    assert done.stderr == (
        "Error: --plot FILE needs matplotlib, which the extra named plot brings: "
        "pip install 'gammaplan[plot]'\n"
    )
    assert not path.exists()


def test_a_failed_gate_is_said_and_the_picture_is_there(cli, tmp_path):
    done = cli(f"{TABLE} --require-speedup 9 --plot {tmp_path / 'a.svg'}")
    assert done.exit_code == 3
    assert "Failed: --require-speedup 9" in done.stderr
    assert (tmp_path / "a.svg").exists()


@pytest.mark.parametrize(
    "command",
    ["convert --mean-length 2 --gamma 4 --drafted-per-round 3", "sweep --alpha 1 --c 0"],
)
def test_an_answer_that_has_nothing_to_draw_says_so(cli, tmp_path, command):
    path = tmp_path / "a.svg"
    done = cli(f"{command} --plot {path}")
    assert done.exit_code == 1
    assert done.stderr.endswith(f"Error: --plot {path}: this answer has nothing to draw\n")


def test_no_picture_is_drawn_where_there_is_no_answer(cli, tmp_path):
    (tmp_path / "empty.log").write_text("nothing of use\n")
    done = cli(f"fit {tmp_path / 'empty.log'} --plot {tmp_path / 'a.svg'}")
    assert done.exit_code == 1
    assert not (tmp_path / "a.svg").exists()


def test_a_home_that_cannot_be_written_makes_no_noise(program, tmp_path):
    closed = tmp_path / "closed"
    closed.write_text("")
    path = tmp_path / "a.svg"
    done = program(*TABLE.split(), "--plot", str(path), HOME=str(closed), MPLCONFIGDIR=str(closed))
    assert done.returncode == 0
    assert done.stderr == ""
    assert path.exists()


def test_a_style_of_the_user_makes_no_noise_and_no_difference(program, tmp_path):
    (tmp_path / "matplotlibrc").write_text("font.size: 40\nnot.a.setting: 1\n")
    one, other = tmp_path / "a.svg", tmp_path / "b.svg"
    done = program(*TABLE.split(), "--plot", str(one), MATPLOTLIBRC=str(tmp_path))
    program(*TABLE.split(), "--plot", str(other))
    assert done.stderr == ""
    assert one.read_bytes() == other.read_bytes()


def test_groups_of_evidence_are_drawn_with_their_labels_as_text(cli, tmp_path):
    evidence = tmp_path / "sweep.json"
    done = cli("alpha --target-logits 2,0 --draft-logits 1.5,0 --temperature 0.5,1 --json")
    document = json.loads(done.stdout)
    for row in document["result"]["rows"]:
        row["labels"] = {"t": f"$x^{{{row['temperature']}}}$\x1b<&"}
    evidence.write_text(json.dumps(document), encoding="utf-8")
    done = cli(f"table {evidence} --c 0.1 --plot {tmp_path / 'a.svg'}")
    assert done.exit_code == 0
    assert "\x1b" not in (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert r"t=$x^{0.5}$\x1b&lt;&amp;" in (tmp_path / "a.svg").read_text(encoding="utf-8")

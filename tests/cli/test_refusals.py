"""What a user can get wrong: one line on stderr, the documented exit code, no traceback."""

import json

import pytest

MEAN = "convert --mean-length"

USAGE = [
    ("table --alpha 1.2 --c 0.1", "--alpha must be a fraction in [0, 1], got 1.2"),
    ("table --alpha -0.1 --c 0.1", "--alpha must be a fraction in [0, 1], got -0.1"),
    ("table --alpha nan --c 0.1", "--alpha must be a fraction in [0, 1], got nan"),
    ("table --alpha inf --c 0.1", "--alpha must be a fraction in [0, 1], got inf"),
    ("table --alpha high --c 0.1", "--alpha must be a fraction in [0, 1], got high"),
    ("table --alpha 1_0 --c 0.1", "--alpha must be a fraction in [0, 1], got 1_0"),
    ("table --alpha 80 --c 0.1", "got 80 (80 % is 0.8)"),
    ("table --alpha 0.8 --c -1", "--c must be a number of at least 0, got -1"),
    ("table --alpha 0.8 --c nan", "--c must be a number of at least 0, got nan"),
    ("table --alpha 0.8 --c inf", "--c must be a number of at least 0, got inf"),
    ("table --alpha 0.8 --c 1e999", "--c must be a number of at least 0, got 1e999"),
    ("table --alpha 0.8 --c 0.1 --speed-ratio 10", "c was given by --c and by --speed-ratio"),
    ("table --alpha 0.8 --c 0.1 --draft-ms 1 --target-ms 9", "give it once"),
    ("table --alpha 0.8 --draft-ms 1", "--draft-ms needs --target-ms beside it"),
    ("table --alpha 0.8 --target-ms 9", "--target-ms needs --draft-ms beside it"),
    ("table --alpha 0.8 --speed-ratio 0", "--speed-ratio must be a number above 0, got 0"),
    ("table --alpha 0.8 --c 0.1 --overhead -1", "--overhead must be a number of at least 0"),
    ("table --alpha 0.8 --c 0.1 --verify-slope nan", "--verify-slope must be a number"),
    ("table --gamma -1", "--gamma must be a whole number of at least 0, got -1"),
    ("table --gamma 1.5", "--gamma must be a whole number of at least 0, got 1.5"),
    ("table --gamma 12..1", "--gamma must be a range that rises, got 12..1; write 1..12"),
    ("table --gamma 1..1e9", "--gamma must be at most 10,000 values, got 1..1e9"),
    ("table --gamma 0..10000", "--gamma must be at most 10,000 values"),
    ("table --gamma 1..9:0", "--gamma must be a range with a step above 0"),
    ("table --gamma 1e300", "--gamma must be at most 9,007,199,254,740,992, got 1e300"),
    ("table --gamma ,", "--gamma must be whole numbers like 4, 1,2,4 or 1..12, got ,"),
    ("convert --alpha 0.8 --gamma 1e9", "--gamma must be at most 10,000, got 1e9"),
    ("optimum --tolerance 3", "(3 is 300 %; write 3% or 0.03)"),
    ("optimum --tolerance 1", "--tolerance must be a fraction in [0, 1), got 1"),
    ("optimum --tolerance -0.1", "--tolerance must be a fraction in [0, 1), got -0.1"),
    ("optimum --max-gamma -1", "--max-gamma must be a whole number of at least 0, got -1"),
    ("optimum --alpha 0.8", "the cost of a draft is missing; give --c"),
    ("optimum --c 0.1", "acceptance is missing; give --alpha"),
    ("ceiling --c 0.1", "acceptance is missing; give --alpha"),
    ("ceiling --alpha 0.8 --overhead 0.1", "the cost of a draft is missing; give --c"),
    ("optimum --alpha 0.8 --c 0.1 --pick batch", "--pick must be KEY=VALUE, got batch"),
    ("optimum --alpha 0.8 --c 0.1 --pick batch=1", "--pick batch=1 matches nothing"),
    ("optimum - -", "standard input (-) can be read once"),
    ("optimum --json --format csv", "--json and --format csv contradict"),
    ("optimum --format xml", "--format must be one of table, json, csv, markdown, got xml"),
    ("sweep --alpha 0.5..2:0.5", "--alpha must be a fraction in [0, 1], got 1.5"),
    ("sweep --c 0.1,-1", "--c must be a number of at least 0, got -1"),
    ("sweep --alpha 0..1:0.001 --c 0..1:0.1", "must span at most 10,000 pairs"),
    ("convert", "one reported figure is needed"),
    ("convert --alpha 0.8 --mean-length 3", "got --alpha and --mean-length"),
    ("convert --survival 0.5,0.6", "survival must not rise with position, got 0.6 after 0.5"),
    ("convert --survival 0.5,1.5", "--survival must be a fraction in [0, 1], got 1.5"),
    ("convert --survival 0.5,0.4 --gamma 3", "2 positions were given, so gamma must be 2, got 3"),
    (f"{MEAN} 8 --gamma 6", "the mean length must be in [1, gamma + 1] = [1, 7], got 8"),
    (f"{MEAN} 0.5 --gamma 6", "the mean length must be at least 1, got 0.5"),
    (f"{MEAN} 0.5", "the mean length must be at least 1, got 0.5"),
    (f"{MEAN} 2 --gamma 4 --drafted-per-round 5", "drafted tokens per round must be at most"),
    ("convert --histogram 0,0", "a histogram needs the rounds with exactly 0, 1, ... accepted"),
    ("convert --histogram 5", "a histogram needs"),
    ("convert --histogram 1,-2", "--histogram must be whole numbers of at least 0"),
    ("convert --histogram 1,2 --gamma 5", "a histogram of 2 entries has gamma 1, got 5"),
    ("convert --survival 1,0 --drafted-per-round 0.5", "must be at most the 0.5 drafted, got 1"),
    ("convert --alpha 0.8 --drafted-per-round 3", "--drafted-per-round says nothing beside"),
    ("optimumm", "there is no command 'optimumm'; did you mean optimum?"),
    ("frobnicate", "there is no command 'frobnicate'"),
    ("--nope", "there is no option '--nope'"),
    ("table --alpa 0.8", "there is no option '--alpa'; did you mean --alpha"),
    ("table --alpha", "--alpha needs a value, and none was given"),
    ("schema nope", "command must be one of"),
]

UNREADABLE = {
    "empty": b"",
    "blank": b" \n\n",
    "not JSON": b"{",
    "binary": b"\xff\xfe\x00\x01" * 50,
    "deep": b"[" * 100_000,
    "not a document": b"[1, 2]",
    "another schema": b'{"schema": "other/1", "result": {}}',
    "no result": b'{"schema": "gammaplan.convert/1"}',
    "newer": b'{"schema": "gammaplan.convert/2", "result": {}}',
    "nothing to plan with": b'{"schema": "gammaplan.sweep/1", "result": {"rows": []}}',
    "list for a law": b'{"schema": "gammaplan.convert/1", "result": {"acceptance": [1]}}',
    "number for a group": b'{"schema": "gammaplan.fit/1", "result": {"groups": [1]}}',
    "number for costs": b'{"schema": "gammaplan.cost/1", "result": {"costs": 5}}',
}


def law(**shape):
    return {"schema": "gammaplan.convert/1", "result": {"acceptance": shape}}


def price(**shape):
    return {"schema": "gammaplan.cost/1", "result": {"costs": [shape]}}


DAMAGED = {
    "alpha above 1": law(model="geometric", parameters={"alpha": 2}),
    "no alpha": law(model="geometric", parameters={}),
    "alpha is text": law(model="geometric", parameters={"alpha": "0.8"}),
    "unknown model": law(model="martian", parameters={}),
    "no hazards": law(model="per_position", parameters={"hazards": []}),
    "negative c": price(c=-1),
    "c is text": price(c="cheap"),
    "neither c nor table": price(kind="measured"),
    "a free round": price(table=[{"gamma": 1, "round_cost": 0}]),
    "a length twice": price(table=[{"gamma": 1, "round_cost": 1.1}] * 2),
}


def one_error_line(result):
    lines = result.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    return lines[0]


@pytest.mark.parametrize(("args", "said"), USAGE, ids=[args for args, _ in USAGE])
def test_a_wrong_command_line_is_one_line_and_exit_code_2(cli, args, said):
    result = cli(args)
    assert said in one_error_line(result)
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize("option", ["--gamma", "--alpha", "--c"])
def test_an_empty_value_is_one_line_and_exit_code_2(cli, option):
    result = cli(["table", option, ""])
    assert "got nothing" in one_error_line(result)
    assert result.exit_code == 2


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_evidence_is_one_line_and_exit_code_1(cli, tmp_path, name):
    path = tmp_path / "evidence.json"
    path.write_bytes(UNREADABLE[name])
    result = cli(["optimum", str(path), "--c", "0.1"])
    assert one_error_line(result).startswith(f"Error: {path}: ")
    assert (result.exit_code, result.stdout) == (1, "")


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_standard_input_is_named_in_the_line(cli, name):
    result = cli("optimum - --c 0.1", input=UNREADABLE[name])
    assert one_error_line(result).startswith("Error: standard input: ")
    assert result.exit_code == 1


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_document_is_one_line_and_exit_code_1(cli, tmp_path, name):
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(DAMAGED[name]))
    result = cli(
        [
            "optimum",
            str(path),
            *("--alpha 0.5" if "costs" in path.read_text() else "--c 0.1").split(),
        ]
    )
    assert one_error_line(result).startswith(f"Error: {path}: ")
    assert result.exit_code == 1


def test_a_newer_version_asks_for_a_newer_gammaplan(cli):
    result = cli("optimum - --c 0.1", input=UNREADABLE["newer"])
    assert "newer than this gammaplan reads (/1); install a newer gammaplan" in result.stderr


def test_a_missing_file_is_one_line_and_exit_code_1(cli):
    result = cli("optimum missing.json --c 0.1")
    said = "Error: missing.json: cannot be read: No such file or directory"
    assert one_error_line(result) == said
    assert result.exit_code == 1


def test_a_directory_is_one_line_and_exit_code_1(cli, tmp_path):
    result = cli(["optimum", str(tmp_path), "--c", "0.1"])
    assert one_error_line(result) == f"Error: {tmp_path}: must be a file, and is a directory"
    assert result.exit_code == 1


def test_an_unreadable_file_is_one_line_and_exit_code_1(cli, tmp_path):
    path = tmp_path / "loop.json"
    path.symlink_to(path)  # unreadable even to root
    result = cli(["optimum", str(path), "--c", "0.1"])
    assert one_error_line(result).startswith(f"Error: {path}: cannot be read: ")
    assert result.exit_code == 1


def test_a_nul_byte_in_a_file_name_is_one_line_and_exit_code_1(cli):
    result = cli(["optimum", "a\0b", "--c", "0.1"])
    assert "cannot be read" in one_error_line(result)
    assert result.exit_code == 1


@pytest.mark.parametrize("name", ["a\x1b[31mb", "a\nb", "a\rb", "a\x07b", "a\u202eb", "\u2028"])
def test_control_characters_of_a_file_name_are_shown_not_obeyed(cli, name):
    result = cli(["optimum", name, "--c", "0.1"])
    assert name not in one_error_line(result)
    assert name.encode("unicode_escape").decode() in result.stderr


def test_markup_in_a_file_name_is_text(cli):
    result = cli(["optimum", "[bold]x[/bold]", "--c", "0.1"])
    assert one_error_line(result).startswith("Error: [bold]x[/bold]: ")


def test_markup_in_an_option_value_is_text(cli):
    assert "got [red]x[/red]" in one_error_line(cli(["table", "--alpha", "[red]x[/red]"]))

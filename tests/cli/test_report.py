"""The command `report`, and `plan --report`: what they write, and what they refuse."""

import json
import os
import stat

import pytest

from gammaplan.shapes.parts import CostKind

PLAN = "plan --alpha 0.8 --c 0.1 --gamma 4"
MADE = ("plan --alpha 0.8", "optimum --alpha 0.8 --c 0.1", "table --alpha 0.8 --c 0.1")
EXPLAIN = "explain --gamma 5 --baseline-tps 41.6 --spec-tps 30.3 --pooled-rate 0.55"


@pytest.fixture
def answer(cli):
    """`answer("plan …")`: the document of a command."""

    def run(args):
        return json.loads(cli(f"{args} --json --quiet").stdout)

    return run


@pytest.fixture
def refused(cli):
    """`refused(document)`: the one sentence that a document is refused with."""

    def run(document):
        text = document if isinstance(document, str | bytes) else json.dumps(document)
        done = cli(["report", "-", "-o", "-"], input=text)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith("Error: standard input: ")
        assert done.stderr.count("\n") == 1
        return done.stderr

    return run


def facts(page):
    return json.loads(page.partition('id="facts">')[2].partition("</script>")[0])


@pytest.mark.parametrize("args", [*MADE, EXPLAIN])
def test_a_page_starts_with_the_answer_of_the_terminal(cli, answer, args):
    page = cli(["report", "-", "-o", "-"], input=json.dumps(answer(args))).stdout
    said = facts(page)["parts"][0]
    terminal = " ".join(cli(args).stdout.split())
    assert terminal.startswith(said["headline"])
    assert len(page) < 100_000


def test_the_same_document_makes_the_same_page(cli, answer):
    document = json.dumps(answer(PLAN))
    one, other = (cli(["report", "-", "-o", "-"], input=document).stdout for _ in range(2))
    assert one == other
    assert one.startswith("<!doctype html>")


def test_a_page_is_written_beside_nothing(cli, answer, tmp_path):
    source, target = tmp_path / "plan.json", tmp_path / "a b.html"
    source.write_text(json.dumps(answer(PLAN)))
    done = cli(["report", str(source), "-o", str(target)])
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a b.html", "plan.json"]
    said = facts(target.read_text(encoding="utf-8"))
    assert said["origin"] == "gammaplan plan, plan.json"
    assert str(tmp_path) not in target.read_text(encoding="utf-8")


def test_plan_writes_the_page_of_its_own_document(cli, answer, tmp_path):
    target = tmp_path / "plan.html"
    done = cli([*PLAN.split(), "--report", str(target)])
    assert done.stdout == cli(PLAN).stdout
    page = cli(["report", "-", "-o", "-"], input=json.dumps(answer(PLAN))).stdout
    assert target.read_text(encoding="utf-8") == page


def test_a_page_takes_the_place_of_an_older_one_with_the_rights_of_a_new_file(cli, tmp_path):
    target = tmp_path / "plan.html"
    (tmp_path / "real.html").write_text("old")
    target.symlink_to("real.html")
    assert cli([*PLAN.split(), "--report", str(target)]).exit_code == 0
    assert target.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("<!doctype")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("place", ["", "missing/page.html", "file.txt/page.html", "n\0l.html"])
def test_a_place_that_cannot_be_written_is_one_sentence(cli, tmp_path, place):
    (tmp_path / "file.txt").write_text("")
    done = cli([*PLAN.split(), "--report", f"{tmp_path}/{place}"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "cannot be written: " in done.stderr
    assert done.stderr.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["file.txt"]


def test_a_failed_write_leaves_the_old_page(cli, tmp_path, monkeypatch):
    target = tmp_path / "page.html"
    target.write_text("old")

    def full(self, other):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    done = cli([*PLAN.split(), "--report", str(target)])
    assert done.exit_code == 1
    assert "No space left on device" in done.stderr
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("page.html", "old")]


def test_a_device_is_written_as_it_is(cli):
    assert cli([*PLAN.split(), "--report", os.devnull]).exit_code == 0


def test_the_page_and_the_answer_do_not_share_stdout(cli):
    done = cli(f"{PLAN} --report -")
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: --report needs a file")


def test_a_place_for_the_page_is_required(cli):
    assert cli("report plan.json").exit_code == 2


@pytest.mark.parametrize("args", ["convert --mean-length 4.7 --gamma 6", "tokens --alpha 0.8"])
def test_an_answer_without_a_curve_is_refused(refused, answer, args):
    command = args.split()[0]
    assert f"is an answer of {command}, and a page is made of" in refused(answer(args))


def test_a_newer_schema_is_refused(refused, answer):
    assert "newer than this gammaplan reads" in refused(
        answer(PLAN) | {"schema": "gammaplan.plan/2"}
    )


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"a": 1}', b"\xff\xfe\x00", "NaN"])
def test_what_is_no_document_is_refused(refused, text):
    refused(text)


@pytest.mark.parametrize("text", ["INFO Mean acceptance length: 2.5", '{"total_accepted": 3}'])
def test_where_a_report_of_an_engine_goes_is_told(refused, text):
    assert "plan reads reports of engines" in refused(text)


@pytest.mark.parametrize("limit", ["6", -3, 2.5])
def test_a_limit_that_is_no_length_is_refused(refused, answer, limit):
    document = answer(PLAN)
    document["inputs"]["max_gamma"] = limit
    assert "max_gamma must be a whole number of at least 0, got" in refused(document)


def test_a_table_of_costs_longer_than_any_draft_is_refused(refused, answer):
    document = answer("optimum --alpha 0.8 --c 0.1")
    ends = [{"gamma": 1, "round_cost": 1.1}, {"gamma": 10**12, "round_cost": 2.0}]
    document["result"]["costs"][0]["table"] = ends
    assert "a cost table may reach to γ 16,384, got one to 1000000000000" in refused(document)


def test_a_cut_document_is_refused(refused, answer):
    text = json.dumps(answer(PLAN))
    for cut in range(1, len(text), 397):
        refused(text[:cut])


@pytest.mark.parametrize("key", ["gamma", "rows", "acceptance", "costs", "band", "settings"])
def test_a_document_without_a_part_is_damaged(refused, answer, key):
    document = answer(PLAN)
    del document["result"][key]
    assert "damaged" in refused(document)


@pytest.mark.parametrize("key", ["inputs", "sources", "warnings", "generator"])
def test_a_document_without_its_envelope_is_damaged(refused, answer, key):
    document = answer(PLAN)
    del document[key]
    assert "damaged" in refused(document)


@pytest.mark.parametrize("value", ["1e999", "-1e999", "NaN", '"x"', "[]"])
def test_a_figure_that_is_none_is_refused(refused, answer, value):
    text = json.dumps(answer(PLAN))
    where = '"round_cost": 1.1'
    assert where in text
    refused(text.replace(where, f'"round_cost": {value}'))


def test_a_page_of_more_than_two_megabytes_is_refused(refused, answer):
    document = answer(PLAN)
    document["result"]["rows"] *= 2_000
    assert "2 MB is the most" in refused(document)


def test_the_kinds_of_a_cost_all_have_words():
    from typing import get_args

    from gammaplan.report.page.tables import KINDS, MODELS

    assert set(KINDS) == set(get_args(CostKind))
    assert set(MODELS) == {"geometric", "per_position", "beta_geometric"}

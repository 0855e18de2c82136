"""The settings of engines: exact text, each engine's own grammar, limits, hostile names."""

import json
import shlex
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gammaplan.engines.llamacpp.settings import Settings as LlamaCppSettings
from gammaplan.engines.settings import base
from gammaplan.engines.settings.base import Wanted, settings
from gammaplan.engines.sglang.settings import from_text
from gammaplan.errors import DomainError
from gammaplan.model.schedule import Range

from ..support import rows
from .grammar import ENGINES, VERSIONS, Wrong, meaning

PLAN = (Range(1, 4, 5), Range(5, 32, 2), Range(33, None, 0))


@pytest.mark.parametrize("row", rows("settings/exact"), ids=lambda row: row["engine"])
def test_the_settings_are_exactly(row):
    found = settings(row["engine"], Wanted(int(row["gamma"])), method=row["method"] or None)
    assert found.text == row["text"]


@pytest.mark.parametrize("row", rows("settings/schedules"), ids=lambda row: row["engine"])
def test_the_schedule_is_exactly(row):
    found = settings(row["engine"], Wanted(5, schedule=PLAN), method=row["method"])
    assert found.text == row["text"]


SETUPS = [
    (engine, version, method)
    for engine in ENGINES
    for version in VERSIONS.get(engine, [(0,)])
    for method in base.find(engine).methods(version)
]
names = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), include_characters=" "), min_size=1
).filter(lambda s: s.strip() and not s.startswith("-"))


@st.composite
def schedules(draw):
    lows = sorted(draw(st.sets(st.integers(2, 3_000), max_size=5)))
    gammas = draw(st.lists(st.integers(0, 24), min_size=len(lows) + 1, max_size=len(lows) + 1))
    highs = [*(low - 1 for low in lows), None]
    ranges = [Range(*r) for r in zip([1, *lows], highs, gammas, strict=True)]
    return base.merged(ranges)


def named(engine, version):
    return engine if version == (0,) else f"{engine}@{base.dotted(version)}"


@given(st.sampled_from(SETUPS), st.integers(0, 160), names, names)
def test_every_engine_takes_its_settings_and_drafts_gamma(setup, gamma, target, draft):
    engine, version, method = setup
    wanted = Wanted(gamma, target=target, draft=draft)
    found = settings(named(engine, version), wanted, method=method)
    means = meaning(engine, found.text, version)
    assert means.gamma == found.gamma
    assert found.gamma == gamma or (engine == "vllm" and found.gamma in (32, 128))
    assert means.target in (target, None)
    assert means.draft in (draft, "[ngram]", None)


@given(st.sampled_from(SETUPS), st.integers(1, 20), schedules())
def test_a_schedule_is_what_the_engine_will_do_or_is_said_to_be_impossible(setup, gamma, plan):
    engine, version, method = setup
    found = settings(named(engine, version), Wanted(gamma, schedule=plan), method=method)
    means = meaning(engine, found.text, version)
    codes = {f.code for f in found.findings}
    if len(plan) == 1:
        assert means.gamma == plan[0].gamma
        assert not means.ranges
    elif "schedule_not_settable" in codes:
        assert means.gamma == gamma
    else:
        for low, high, length in plan:
            for batch in (low, high or max(low, base.OPEN_END)):
                assert next(k for a, b, k in means.ranges if a <= batch <= b) == length


@pytest.mark.parametrize("engine", ENGINES)
def test_the_grammar_refuses_an_unknown_field(engine):
    good = settings(engine, Wanted(3)).text
    assert meaning(engine, good, base.find(engine).newest).gamma == 3
    broken = {
        "tensorrt-llm": good.replace("{", "{unheard_of: 1, "),
        "tabbyapi": good.replace("{", "{unheard_of: 1, "),
        "lmstudio": good.replace("{", '{"unheardOf": 1, '),
        "transformers": good.replace("**inputs", "**inputs, unheard_of=1"),
        "exllama": good.replace("cache=cache", "unheard_of=1"),
        "exllamav2": good.replace("cache=cache", "unheard_of=1"),
        "openvino": good.replace("num_assistant", "unheard_of"),
        "vllm": good.replace("{", '{"unheard_of":1,'),
    }.get(engine, good + " --unheard-of 1")
    with pytest.raises(Wrong):
        meaning(engine, broken, base.find(engine).newest)


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("num-draft-tokens 4", "num-draft-tokens 3"),
        ("num-steps 3", "num-steps 4"),
        ("eagle-topk 1", "eagle-topk 2"),
    ],
)
def test_the_grammar_refuses_a_chain_that_is_off_by_one(text, broken):
    good = settings("sglang", Wanted(3), method="eagle3").text
    assert text in good
    with pytest.raises(Wrong):
        meaning("sglang", good.replace(text, broken), (0, 5, 23))


@pytest.mark.parametrize("broken", ["[6,32,2]", "[4,32,2]", "[5,32,6]", "[5,31,2]"])
def test_the_grammar_refuses_gaps_overlaps_and_lengths_above_the_maximum(broken):
    good = settings("vllm", Wanted(5, schedule=PLAN), method="eagle3").text
    with pytest.raises(Wrong):
        meaning("vllm", good.replace("[5,32,2]", broken), (0, 33))


@pytest.mark.parametrize("method", ["eagle3", "eagle", "mtp", "draft-model", "dflash", "dspark"])
@pytest.mark.parametrize("gamma", [1, 3, 16])
def test_the_reader_of_sglang_reads_the_same_gamma(method, gamma):
    found = from_text(settings("sglang", Wanted(gamma), method=method).text)
    assert (found.gamma, found.tree) == (gamma, False)


@pytest.mark.parametrize("engine", ["llama.cpp", "llama.cpp@2025-06", "ik_llama.cpp"])
@pytest.mark.parametrize("gamma", [1, 3, 16])
def test_the_reader_of_llamacpp_reads_the_same_gamma(engine, gamma):
    seen = LlamaCppSettings()
    list(seen.see(settings(engine, Wanted(gamma), method="draft-model").text))
    assert (seen.gamma, seen.varies) == (gamma, False)


def test_the_reader_of_vllm_reads_the_same_gamma(cli, tmp_path):
    line = settings("vllm", Wanted(7), method="eagle3").text
    config = json.loads(shlex.split(line)[-1])
    log = (
        f"INFO config: SpeculativeConfig(method='eagle3', model='DRAFT', "
        f"num_spec_tokens={config['num_speculative_tokens']})\n"
        "INFO SpecDecoding metrics: Mean acceptance length: 2.00, Accepted throughput: 1.00 "
        "tokens/s, Drafted throughput: 7.00 tokens/s, Accepted: 100 tokens, Drafted: 700 tokens, "
        "Per-position acceptance rate: 0.500, 0.250, 0.150, 0.100, 0.000, 0.000, 0.000, "
        "Avg Draft acceptance rate: 14.3%\n"
    )
    (tmp_path / "vllm.log").write_text(log)
    done = cli(f"fit {tmp_path / 'vllm.log'} --json")
    assert json.loads(done.stdout)["result"]["gamma"] == 7


CHECKS = [
    ("vllm", "eagle3", ("rates", (0.8, 0.6, 0.4))),
    ("llama.cpp", "draft-model", ("rates", (0.8, 0.6, 0.4))),
    ("sglang", "eagle3", ("length", 2.8)),
    ("tensorrt-llm", "eagle3", ("accepted", 1.8)),
]


@pytest.mark.parametrize(("engine", "method", "simulated"), CHECKS)
def test_the_check_simulates_the_acceptance_of_the_plan(engine, method, simulated):
    found = settings(engine, Wanted(3, survival=(0.8, 0.6, 0.4)), method=method)
    means = meaning(engine, found.check, base.find(engine).newest)
    assert means.simulated == simulated
    assert means.gamma in (3, -1)


def test_a_schedule_is_checked_where_acceptance_is_simulated_by_position():
    rates = (0.9, 0.8, 0.7, 0.6, 0.5)
    found = settings("vllm", Wanted(2, schedule=PLAN, survival=rates), method="eagle3")
    means = meaning("vllm", found.check, (0, 33))
    assert (means.gamma, means.simulated) == (5, ("rates", rates))
    assert means.ranges
    for engine in ("sglang", "tensorrt-llm"):  # their one mean length is for one draft length
        wanted = Wanted(2, schedule=PLAN, survival=rates)
        assert settings(engine, wanted, method="eagle3").check is None


@pytest.mark.parametrize("engine", ["vllm@0.27", "sglang@0.5.10", "tensorrt-llm@1.1", "mlx"])
def test_there_is_no_check_where_acceptance_cannot_be_simulated(engine):
    assert settings(engine, Wanted(3, survival=(0.8, 0.6, 0.4))).check is None


@pytest.mark.parametrize(
    ("engine", "gamma", "written"), [("vllm", 200, 128), ("vllm@0.10.2", 40, 32), ("mlx", 200, 200)]
)
def test_the_cap_of_an_engine_is_respected_and_said(engine, gamma, written):
    found = settings(engine, Wanted(gamma), method="draft-model")
    assert found.gamma == written
    assert ("engine_limit" in {f.code for f in found.findings}) == (gamma != written)


def test_the_cap_holds_for_every_range_of_a_schedule():
    plan = (Range(1, 2, 300), Range(3, 4, 200), Range(5, None, 2))
    found = settings("vllm", Wanted(300, schedule=plan), method="eagle3")
    assert meaning("vllm", found.text, (0, 33)).ranges == ((1, 4, 128), (5, 1024, 2))


@pytest.mark.parametrize(("gamma", "written"), [(1, 1), (2, 2), (3, 2), (4, 4), (7, 6)])
def test_beyond_its_layers_an_mtp_head_drafts_a_multiple(gamma, written):
    found = settings("vllm", Wanted(gamma, layers=2), method="mtp")
    assert found.gamma == written
    assert ("mtp_multiple" in {f.code for f in found.findings}) == (gamma != written)


speeds = st.lists(st.floats(0.5, 4) | st.just(float("nan")), min_size=8, max_size=40)


@given(speeds, st.integers(1, 200), st.integers(1, 9))
def test_the_length_written_is_the_fastest_that_is_accepted(row, gamma, layers):
    row[0] = 1.0
    found = settings("vllm", Wanted(gamma, layers=layers, speedups=(row,)), method="mtp").gamma
    accepted = [g for g in range(129) if g <= layers or g % layers == 0]
    if gamma in accepted:
        assert found == gamma
        return
    assert found in accepted
    assert row[found] == max(row[g] for g in accepted if g < len(row) and row[g] == row[g])


def test_each_range_of_a_schedule_takes_its_own_fastest_length():
    plan = (Range(1, 8, 5), Range(9, None, 3))
    up, down = [1, 1, 1.1, 1.2, 1.3, 1.4, 1.39], [1, 1.1, 1.2, 1.25, 1.1, 0.9, 0.8]
    wanted = Wanted(3, schedule=plan, layers=2, speedups=(down, up, down))
    found = settings("vllm", wanted, method="mtp")
    assert meaning("vllm", found.text, (0, 33)).ranges == ((1, 8, 6), (9, 1024, 2))
    assert [f.message.rpartition(": ")[2] for f in found.findings] == [
        "γ 6 is written instead of 5",
        "γ 2 is written instead of 3",
    ]


def test_a_length_that_is_not_written_is_not_warned_of():
    wanted = Wanted(5, schedule=(Range(1, 8, 4), Range(9, None, 2)), layers=2)
    assert settings("vllm", wanted, method="mtp").findings == ()
    found = settings("vllm@0.23", wanted, method="mtp").findings
    assert [f.code for f in found] == ["mtp_multiple", "schedule_not_settable"]


def test_a_cap_that_is_no_multiple_is_said_as_what_is_written():
    (said,) = settings("vllm", Wanted(200, layers=3), method="mtp").findings
    assert said.message == "vllm drafts at most 128 tokens, and the plan is γ 200: γ 126 is written"


def test_layers_do_not_touch_other_methods():
    assert settings("vllm", Wanted(3, layers=2), method="eagle3").gamma == 3


HOSTILE = ["$(reboot)", "a b; rm -rf /", "x'y", 'x"y', "`id`", "a\\b", "é 模型", "{x: 1}", "#no"]


@pytest.mark.parametrize(("engine", "name"), [*product(ENGINES, HOSTILE)])
def test_a_hostile_name_stays_one_name(engine, name):
    found = settings(engine, Wanted(3, target=name, draft=name), method=None)
    means = meaning(engine, found.text, base.find(engine).newest)
    assert means.gamma == 3
    assert means.target in (name, None)
    assert means.draft in (name, None)


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31m", "a\x00", "a\u2028b", "a\u202eb", "a\rb"])
@pytest.mark.parametrize("kind", ["target", "draft"])
def test_a_control_character_is_refused(name, kind):
    with pytest.raises(DomainError, match=f"name of the {kind} must have no control character"):
        settings("vllm", Wanted(3, **{kind: name}))


@pytest.mark.parametrize("name", ["-h", "--help", " ", ""])
def test_an_option_is_no_name(name):
    with pytest.raises(DomainError, match="must not start with a hyphen"):
        settings("vllm", Wanted(3, target=name))


@pytest.mark.parametrize(
    ("engine", "method", "said"),
    [
        ("nope", None, "no settings of an engine 'nope'; there are exllama"),
        ("vllm@", None, "NAME or NAME@VERSION"),
        ("vllm@new", None, "NAME or NAME@VERSION"),
        ("@1", None, "NAME or NAME@VERSION"),
        ("vllm@0.3", None, "they are from 0.5 on"),
        ("mlx", "medusa", "mlx-lm cannot draft by medusa; it can by draft-model"),
        ("vllm", "medusa", "vllm 0.33 cannot draft by medusa"),
        ("sglang", "spark", "sglang 0.5.23 cannot draft by spark"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(engine, method, said):
    with pytest.raises(DomainError) as error:
        settings(engine, Wanted(3), method=method)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [("llama.cpp", "llama.cpp"), ("llamacpp", "llama.cpp"), ("Llama.CPP", "llama.cpp"),
     ("trtllm", "tensorrt-llm"), ("TensorRT-LLM", "tensorrt-llm"), ("exllamav3", "exllama"),
     ("exllamav2", "exllamav2"), ("MLX", "mlx-lm"), ("mlx_vlm", "mlx-vlm"), ("mlc", "mlc-llm"),
     ("ik_llama", "ik_llama.cpp")],
)  # fmt: skip
def test_an_engine_goes_by_the_letters_of_its_name(spelling, name):
    assert base.find(spelling).name == name


def test_every_writer_is_in_the_grammar():
    assert {base.find(name).name for name in base.names()} == set(ENGINES)


def test_a_newer_version_is_written_as_the_newest_and_said():
    found = settings("vllm@0.99", Wanted(3))
    assert found.text == settings("vllm", Wanted(3)).text
    assert [f.code for f in found.findings] == ["engine_newer"]
    assert settings("vllm@0.33.1", Wanted(3)).findings == ()


def test_writing_settings_loads_no_reader(python):
    code = (
        "import sys; from gammaplan.engines.settings.base import *; settings('vllm', Wanted(3)); "
        "print(any(n.startswith('gammaplan.engines.vllm') for n in sys.modules))"
    )
    assert python(code) == "False\n"

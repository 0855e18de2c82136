"""TGI: the prefill step of every request is among the observations."""

import pytest


def histogram(requests: int, buckets: list[int], total: int, labels: str = "") -> str:
    edges = [*map(str, range(len(buckets))), "+Inf"]
    counts = [*buckets, buckets[-1]]
    inner = f",{labels}" if labels else ""
    outer = f"{{{labels}}}" if labels else ""
    rows = [
        f'tgi_request_skipped_tokens_bucket{{le="{le}"{inner}}} {n}'
        for le, n in zip(edges, counts, strict=True)
    ]
    return "\n".join(
        [
            "# TYPE tgi_request_count counter",
            f"tgi_request_count{outer} {requests}",
            "# TYPE tgi_request_skipped_tokens histogram",
            *rows,
            f"tgi_request_skipped_tokens_sum{outer} {total}",
            f"tgi_request_skipped_tokens_count{outer} {buckets[-1]}",
            "",
        ]
    )


ONE = histogram(10, [40, 60, 100], 20 + 2 * 40)


def test_the_prefill_of_each_request_is_no_round(fit):
    found = fit(ONE)
    assert found.counted == (90, 180, 100)
    assert found.result["counts"]["accepted_at_least"] == [60, 40]
    assert found.result["counts"]["rejections"] == 50
    assert "includes_prefill" in found.codes


def test_edges_may_be_floats(fit):
    floats = ONE.replace('le="0"', 'le="0.0"').replace('le="1"', 'le="1.0"')
    assert fit(floats).counted == (90, 180, 100)


def test_servers_of_one_model_add_up(fit):
    pages = [histogram(10, [40, 60, 100], 100, f'instance="{i}"') for i in "ab"]
    found = fit("".join(pages))
    assert found.counted == (180, 360, 200)
    assert "multi_series" in found.codes


def test_models_are_groups(fit):
    pages = [histogram(10, [40, 60, 100], 100, f'model_id="{i}"') for i in "ab"]
    found = fit("".join(pages)).result
    assert not found["pooled"]
    assert [g["counts"]["rounds"] for g in found["groups"]] == [90, 90]


@pytest.mark.parametrize(
    "page",
    [
        histogram(50, [40, 60, 100], 100),
        histogram(10, [40, 60, 100], 99),
        histogram(10, [40, 30, 100], 100),
    ],
    ids=["more requests than steps without drafts", "another sum", "falling buckets"],
)
def test_figures_that_contradict_each_other_give_no_alpha(fit, page):
    found = fit(page)
    assert found.result["alpha"] is None
    assert found.bounds is None
    assert "impossible" in found.codes


def test_without_requests_the_prefills_are_unknown(fit):
    found = fit(ONE.replace("tgi_request_count 10", "tgi_other 10"))
    assert found.result["alpha"] is None
    assert "impossible" in found.codes


@pytest.mark.parametrize("page", [histogram(10, [90], 0), histogram(10, [10, 10, 10], 0)])
def test_steps_that_gained_nothing_may_have_drafted_nothing(fit, page):
    found = fit(page)
    assert found.result["alpha"] is None
    assert "zero_drafts" in found.codes


SUMMARY = (
    "# TYPE tgi_request_skipped_tokens summary\n"
    'tgi_request_skipped_tokens{quantile="0.5"} 1\n'
    "tgi_request_skipped_tokens_sum 300\n"
    "tgi_request_skipped_tokens_count 210\n"
    "# TYPE tgi_request_count counter\n"
    "tgi_request_count 10\n"
)


def test_a_summary_bounds_alpha_by_its_rounds(fit):
    found = fit(SUMMARY)
    assert found.counted == (200, None, 300)
    assert found.bounds == (pytest.approx(0.6), 1.0)
    assert "gamma_unknown" in found.codes


def test_full_drafts_of_a_stated_length_give_a_point(fit):
    found = fit(SUMMARY, "--gamma", "3", "--full-drafts")
    alpha = found.result["alpha"]
    assert alpha + alpha**2 + alpha**3 == pytest.approx(1.5)


def test_the_difference_of_two_pages_is_read(fit, cli, tmp_path):
    (tmp_path / "before").write_text(histogram(4, [10, 20, 30], 30))
    found = fit(ONE, "--before", str(tmp_path / "before"))
    assert found.counted == (64, 128, 70)

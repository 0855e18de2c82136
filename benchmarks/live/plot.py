"""The picture of step 5: speedups measured and calibrated as points, predictions as lines."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

COLOURS = {"one": "#0072b2", "two": "#d55e00", "bench": "#009e73", "passes": "#8a6fb0"}


def possible() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw(predictions: dict[str, Any], comparison: dict[str, Any], file: Path) -> None:
    """One panel a configuration."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    rows = comparison["configurations"]
    drafts = list(dict.fromkeys(row["draft"] for row in rows))
    cells = list(dict.fromkeys(row["cell"] for row in rows))
    figure, axes = plt.subplots(
        len(drafts),
        len(cells),
        figsize=(2.6 * len(cells) + 0.8, 2.3 * len(drafts) + 1.0),
        sharex=True,
        sharey="row",
        squeeze=False,
        layout="constrained",
    )
    for panel in axes.flat:
        panel.set_visible(False)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.tick_params(labelsize=7, labelbottom=True)
    plans = {(c["draft"], c["cell"]): c["plans"] for c in predictions["configurations"]}
    for row in rows:
        panel = axes[drafts.index(row["draft"])][cells.index(row["cell"])]
        for name, plan in plans[row["draft"], row["cell"]].items():
            gammas = [r["gamma"] for r in plan["rows"]]
            speeds = [r["speedup"] for r in plan["rows"]]
            panel.plot(gammas, speeds, color=COLOURS[name], lw=1.2, label=f"planned from {name}")
            if name == "one":
                low, high = (
                    [r[end] or r["speedup"] for r in plan["rows"]] for end in ("low", "high")
                )
                band = f"interval from {name}"
                panel.fill_between(
                    gammas, low, high, color=COLOURS[name], alpha=0.15, lw=0, label=band
                )
        points = [(0, 1.0), *((p["gamma"], p["speedup"]) for p in row["measured"])]
        panel.plot(*zip(*points, strict=True), "o", color="black", ms=3.5, label="measured")
        shown = [(r["gamma"], r["calibrated"]) for r in row["repeats"]]
        panel.plot(
            *zip(*shown, strict=True), "s", color="black", mfc="white", ms=4, label="calibrated"
        )
        panel.axhline(1, color="#999999", lw=0.6, zorder=0)
        panel.set_title(f"{row['draft']}, {row['cell']}", fontsize=8)
        panel.set_visible(True)
    figure.supxlabel("draft length γ", fontsize=9)
    figure.supylabel("speedup over plain decoding", fontsize=9)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=min(7, 2 * len(cells)),
        fontsize=8,
        frameon=False,
    )
    figure.savefig(file, dpi=90)
    plt.close(figure)

"""Draw `docs/benchmarks.svg`: each ratio divided by its aim."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results import Comparison

# The same results must make the same file, so it has no random ids, date, version or font outlines.
_SETTINGS = {
    "svg.hashsalt": "dbt-deltawiden",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
}
_METADATA = {"Date": None, "Creator": None}
_MET, _MISSED = "#2a78b5", "#d1751f"
_WIDTH, _HEIGHT_OF_BAR = 8.0, 0.42


@dataclass(frozen=True)
class Bar:
    """One bar of the chart.

    Attributes:
        label: the work and the two programs.
        length: the ratio divided by its aim.
        text: the ratio and its aim.
    """

    label: str
    length: float
    text: str

    @property
    def is_met(self) -> bool:
        """Whether the ratio meets its aim."""
        return self.length <= 1


def bars(comparisons: Iterable[Comparison]) -> list[Bar]:
    """Return a bar for each comparison that has an aim."""
    return [
        Bar(
            _label(comparison),
            comparison.ratio / comparison.aim,
            f"{comparison.ratio:.3g} (aim {comparison.aim:g})",
        )
        for comparison in comparisons
        if comparison.aim is not None
    ]


def _label(comparison: Comparison) -> str:
    programs = f"{comparison.ours.program} against {comparison.other.program}"
    return f"{comparison.work}\n{programs}".replace("`", "")


def draw(comparisons: Iterable[Comparison], file: Path) -> None:
    """Draw the chart.

    Args:
        comparisons: the comparisons, from top to bottom.
        file: the SVG file to write.
    """
    # Import it here: only the chart needs it, and only the extra `bench` installs it.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    shown = bars(comparisons)
    with rc_context(_SETTINGS):
        figure = Figure(figsize=(_WIDTH, 1 + _HEIGHT_OF_BAR * len(shown)), layout="constrained")
        axes = figure.add_subplot()
        colors = [_MET if bar.is_met else _MISSED for bar in shown]
        places = range(len(shown))
        axes.barh(places, [bar.length for bar in shown], color=colors)
        axes.set_yticks(places, [bar.label for bar in shown])
        for place, bar in zip(places, shown, strict=True):
            axes.text(1.02, place, bar.text, va="center", transform=axes.get_yaxis_transform())
        axes.axvline(1, color="black", linewidth=1)
        axes.invert_yaxis()
        axes.set_xlim(0, 1.05 * max([1.0, *(bar.length for bar in shown)]))
        axes.set_xlabel("ratio / aim: met up to the line")
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(file, format="svg", metadata=_METADATA)

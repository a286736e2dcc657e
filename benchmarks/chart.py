"""`docs/benchmarks.svg`: each ratio as a part of its aim."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results import Comparison

# The same results make the same file: no random ids, no date, no version, no outlines of fonts.
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
        label: what was measured.
        length: the ratio as a part of its aim: up to one it is met.
        text: the ratio and its aim.
    """

    label: str
    length: float
    text: str

    @property
    def is_met(self) -> bool:
        """Whether the ratio is within its aim."""
        return self.length <= 1


def bars(comparisons: Iterable[Comparison]) -> list[Bar]:
    """Make the bars; a comparison without an aim has none."""
    return [
        Bar(
            f"{each.work}\n{each.ours.program} against {each.other.program}".replace("`", ""),
            each.ratio / each.aim,
            f"{each.ratio:.3g} (aim {each.aim:g})",
        )
        for each in comparisons
        if each.aim is not None
    ]


def draw(comparisons: Iterable[Comparison], file: Path) -> None:
    """Draw the chart.

    Args:
        comparisons: what was measured, from top to bottom.
        file: the SVG file to write.
    """
    # Only the page needs it, and the extra `bench` installs it.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    shown = bars(comparisons)
    with rc_context(_SETTINGS):
        figure = Figure(figsize=(_WIDTH, 1 + _HEIGHT_OF_BAR * len(shown)), layout="constrained")
        axes = figure.add_subplot()
        colors = [_MET if each.is_met else _MISSED for each in shown]
        places = range(len(shown))
        axes.barh(places, [each.length for each in shown], color=colors)
        axes.set_yticks(places, [each.label for each in shown])
        for place, each in zip(places, shown, strict=True):
            axes.text(1.02, place, each.text, va="center", transform=axes.get_yaxis_transform())
        axes.axvline(1, color="black", linewidth=1)
        axes.invert_yaxis()
        axes.set_xlim(0, 1.05 * max([1.0, *(each.length for each in shown)]))
        axes.set_xlabel("ratio / aim: met up to the line")
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(file, format="svg", metadata=_METADATA)

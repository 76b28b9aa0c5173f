"""Plots of tuning as SVG: no scripts, no files besides, light and dark as the reader's page is."""

import math
from dataclasses import dataclass
from html import escape

#: rules of plots; a page that has them once needs them in no plot
STYLE = """
svg { --ink: #24292f; --best: #0969da; --trial: #8c959f; --base: #cf222e; font: 12px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #d1d7e0; --best: #58a6ff; --trial: #6e7681; --base: #ff7b72; }
}
svg text { fill: var(--ink); }
svg .grid { stroke: var(--ink); opacity: .12; }
svg .base { stroke: var(--base); stroke-dasharray: 4 3; fill: none; }
svg .best { stroke: var(--best); stroke-width: 2; fill: none; stroke-linejoin: round; }
svg .trial { fill: var(--trial); opacity: .75; }
svg .winner { fill: var(--best); }
"""
_WIDTH, _HEIGHT = 460, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 12, 26, 38


def ticks_of(low: float, high: float) -> list[float]:
    """About five round numbers from `low` to `high`."""
    step = 10 ** math.floor(math.log10((high - low) / 4))
    step *= next(times for times in (1, 2, 5, 10) if (high - low) / (step * times) <= 6)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Axes:
    """Where numbers are in the plot.

    x, y              (low, high) of the numbers
    x_label, y_label  what they are
    """

    x: tuple[float, float]
    y: tuple[float, float]
    x_label: str
    y_label: str

    def place(self, x: float, y: float) -> tuple[float, float]:
        """The place of a point; what is outside is at the border."""
        shares = [
            min(1.0, max(0.0, (value - low) / (high - low)))
            for value, (low, high) in ((x, self.x), (y, self.y))
        ]
        return (
            _LEFT + shares[0] * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - shares[1] * (_HEIGHT - _TOP - _BOTTOM),
        )

    def frame(self) -> str:
        """The lines and numbers of the grid, and the labels."""
        parts = []
        for x in ticks_of(*self.x):
            place, bottom = self.place(x, self.y[0])
            parts.append(f'<line class="grid" x1="{place:.1f}" x2="{place:.1f}" y1="{_TOP}" y2="{bottom}"/>')
            parts.append(f'<text x="{place:.1f}" y="{bottom + 15}" text-anchor="middle">{x:g}</text>')
        for y in ticks_of(*self.y):
            left, place = self.place(self.x[0], y)
            right = _WIDTH - _RIGHT
            parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{place:.1f}" y2="{place:.1f}"/>')
            parts.append(f'<text x="{left - 5}" y="{place + 4:.1f}" text-anchor="end">{y:g}</text>')
        parts.append(
            f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(self.x_label)}</text>'
        )
        parts.append(f'<text x="4" y="14">{escape(self.y_label)}</text>')
        return "\n".join(parts)

    def path(self, points: list[tuple[float, float]], kind: str) -> str:
        """A line through points."""
        places = " L".join("{:.1f} {:.1f}".format(*self.place(*point)) for point in points)
        return f'<path class="{kind}" d="M{places}"/>'

    def dot(self, x: float, y: float, kind: str, title: str, radius: float = 2.5) -> str:
        """A dot, with a text that shows where the mouse is over it."""
        left, top = self.place(x, y)
        return (
            f'<circle class="{kind}" cx="{left:.1f}" cy="{top:.1f}" r="{radius}">'
            f"<title>{escape(title)}</title></circle>"
        )


def svg(title: str, parts: list[str], *, is_alone: bool = False) -> str:
    """A plot of its parts.

    is_alone  it is a file of its own, and needs the style; default False
    """
    style = f"<style>{STYLE}</style>\n" if is_alone else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">\n{style}' + "\n".join(parts) + "\n</svg>\n"
    )


def steps(points: list[tuple[float, float]], end: float) -> list[tuple[float, float]]:
    """The corners of a line that stays at each value until the next point, up to `end`."""
    corners: list[tuple[float, float]] = []
    for x, y in points:
        if corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, y))
    return [*corners, (end, corners[-1][1])]

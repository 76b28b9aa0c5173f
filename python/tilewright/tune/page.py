"""Tuning as a page that needs nothing else: how fast candidates were, when, and what the fastest does otherwise."""

import collections
import difflib
from dataclasses import dataclass
from html import escape
from pathlib import Path

from .. import _core
from ..errors import Error, UserError
from ..ir import IRModule
from ..records import Record, RecordFile, speed_order, trace_of
from ..schedule import by_rules
from .plot import STYLE, Axes, steps, svg
from .statistics import median, ratios_of, speed_interval

_PAGE_STYLE = """
:root { color-scheme: light dark; font: 15px/1.55 system-ui, sans-serif; }
body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; }
h2 { margin-top: 2.5rem; border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding-top: 1.2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: .15rem .7rem; text-align: right; }
td:first-child, th:first-child { text-align: left; }
tr:nth-child(even) { background: color-mix(in srgb, currentColor 6%, transparent); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem; }
figure { margin: 0; }
svg { width: 100%; height: auto; }
pre { overflow-x: auto; font-size: 13px; line-height: 1.4; }
pre ins { text-decoration: none; display: block; background: color-mix(in srgb, #2da44e 22%, transparent); }
pre del { text-decoration: none; display: block; background: color-mix(in srgb, #cf222e 18%, transparent); }
@media print { details:not([open]) > * { display: block; } figure, tr { break-inside: avoid; } }
"""


@dataclass(frozen=True)
class Story:
    """The measurements of one kernel in one space.

    name     of the kernel
    func     the PrimFunc; None: unknown
    records  in the order in which they were measured
    """

    name: str
    func: object
    records: list[Record]

    @property
    def default_s(self) -> float | None:
        """The median time of the default schedule, in s; None if it was not measured."""
        alone = [each.median for each in self.records if not each.trace_json and each.seconds]
        if alone:
            return alone[-1]
        turns = [median(each.baseline) for each in self.records if each.baseline]
        return median(turns) if turns else None

    def speed_of(self, record: Record) -> float | None:
        """Its speed, in times of the default schedule's; None: it failed, or the default schedule has no time."""
        if not record.seconds:
            return None
        if record.baseline:
            return median(ratios_of(record.seconds, record.baseline))
        return self.default_s / record.median if self.default_s else None

    def may_win(self, record: Record) -> bool:
        """True if the record is of the default schedule, or surely faster, or from a space of its own."""
        return bool(record.seconds) and (
            not record.trace_json or record.beats_default or record.space != "default"
        )

    @property
    def best(self) -> Record | None:
        """The fastest of those that may win; None if there is none."""
        usable = [each for each in self.records if self.may_win(each)]
        return min(usable, key=speed_order, default=None)

    @property
    def trials(self) -> list[Record]:
        """The records but those of the default schedule."""
        return [each for each in self.records if each.trace_json]


def stories_of(source) -> list[Story]:
    """The stories of results of tune, or of all records in a RecordFile."""
    if not isinstance(source, RecordFile):
        return [Story(each.task.name, each.task.func, each.records) for each in source]
    programs = {hash_: (name, func) for hash_, name, func in source.programs()}
    groups: dict[tuple, list[Record]] = {}
    for record in sorted(source.records(with_failures=True), key=lambda record: record.id):
        groups.setdefault((record.key.program, record.key.machine, record.space), []).append(record)
    stories = []
    for (program, _, space), records in groups.items():
        name, func = programs.get(program, (program[:8], None))
        stories.append(Story(name if space == "default" else f"{name}, {space}", func, records))
    return stories


def best_so_far(story: Story, place_of) -> list[tuple[float, float]]:
    """(place, speed) of the default schedule, and of each record that was the fastest when it came.

    place_of  (n, record) -> its place, where n counts trials from 1
    """
    found, fastest, n = [], 0.0, 0
    for record in story.records:
        n += bool(record.trace_json)
        speed = story.speed_of(record)
        if speed is None or not story.may_win(record) or speed <= fastest:
            continue
        fastest = speed
        found.append((place_of(n, record), speed))
    return found


def curve(story: Story, *, by_time: bool = False, is_alone: bool = False) -> str:
    """The speed of each trial and of the fastest so far as SVG; "" if nothing was measured.

    by_time   against seconds since the first record, instead of trials
    is_alone  as a file of its own
    """
    if not story.records or story.default_s is None:
        return ""
    begin = story.records[0].time
    n, points = 0, []
    for record in story.records:
        n += bool(record.trace_json)
        if record.trace_json and (speed := story.speed_of(record)) is not None:
            points.append((record.time - begin if by_time else n, speed))
    end = max(story.records[-1].time - begin, 1e-3) if by_time else max(n, 1)
    best = best_so_far(story, lambda n, record: record.time - begin if by_time else n)
    most = max([1.0, *(speed for _, speed in points), *(speed for _, speed in best)])
    label = "seconds" if by_time else "trials"
    axes = Axes((0.0, end), (0.0, 1.1 * most), label, "times as fast as the default schedule")
    parts = [axes.frame(), axes.path([(0.0, 1.0), (end, 1.0)], "base")]
    parts += [axes.dot(x, speed, "trial", f"{label} {x:g}: {speed:.2f}") for x, speed in points]
    if best:
        parts.append(axes.path(steps(best, end), "best"))
        parts.append(axes.dot(*best[-1], "winner", f"the fastest: {best[-1][1]:.2f}", 4))
    return svg(f"{story.name}: speed against {label}", parts, is_alone=is_alone)


def _ranks(values: list[float]) -> list[float]:
    order = sorted(values)
    return [(order.index(each) + len(order) - 1 - order[::-1].index(each)) / 2 for each in values]


def rank_correlation(one: list[float], other: list[float]) -> float:
    """Spearman's: 1 if both order alike, 0 if they have nothing to do with each other."""
    pairs = [_ranks(one), _ranks(other)]
    means = [sum(each) / len(each) for each in pairs]
    deviations = [[rank - mean for rank in ranks] for ranks, mean in zip(pairs, means, strict=True)]
    spread = [sum(each * each for each in ranks) for ranks in deviations]
    if not all(spread):
        return 0.0
    return sum(a * b for a, b in zip(*deviations, strict=True)) / (spread[0] * spread[1]) ** 0.5


def scores_plot(story: Story) -> tuple[str, float | None]:
    """(SVG, rank correlation) of scores that the cost model gave and speeds that were measured; ("", None) for few of them."""
    found = [
        (each.score, speed)
        for each in story.trials
        if each.score is not None and (speed := story.speed_of(each)) is not None
    ]
    if len(found) < 3:
        return "", None
    scores, speeds = zip(*found, strict=True)
    low, high = min(scores), max(scores)
    if low == high:
        return "", None
    axes = Axes((low, high), (0.0, 1.1 * max(speeds)), "score before it was measured", "speed")
    dots = [axes.dot(x, y, "trial", f"score {x:.3g}: {y:.2f}") for x, y in found]
    return svg(f"{story.name}: scores and speeds", [axes.frame(), *dots]), rank_correlation(
        list(scores), list(speeds)
    )


def default_trace(story: Story) -> str | None:
    """The steps of the default schedule; None if they are not known."""
    if story.func is None or not story.records:
        return None
    name = _core.record_function
    module = IRModule({name: story.func.with_attr("global_symbol", name)})
    try:
        return str(by_rules(module, story.records[0].target).trace)
    except Error:  # of a target that this machine cannot make code for
        return None


def trace_difference(story: Story) -> str:
    """The steps of the fastest beside those of the default schedule as HTML; "" if the default is the fastest."""
    trace = trace_of(story.best) if story.best is not None and story.best.trace_json else None
    if trace is None:
        return ""
    before, after = (default_trace(story) or "").splitlines(), str(trace).splitlines()
    lines = []
    for line in difflib.ndiff(before, after):
        tag = {"+": "ins", "-": "del"}.get(line[0])
        if line[0] != "?":
            lines.append(f"<{tag}>{escape(line)}</{tag}>" if tag else escape(line) + "\n")
    return f"<pre>{''.join(lines)}</pre>"


def _time_text(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e6:.2f}"


def _row(story: Story, place: int) -> str:
    best = story.best
    failed = sum(bool(each.failure) for each in story.trials)
    speed = story.speed_of(best) if best is not None else None
    interval = speed_interval(best.seconds, best.baseline) if best is not None else None
    cells = [
        f'<a href="#k{place}">{escape(story.name)}</a>',
        *(str(len(story.trials)), str(failed), _time_text(story.default_s)),
        _time_text(best.median if best is not None else None),
        "-" if speed is None else f"{speed:.2f}",
        "-" if interval is None else f"{interval[0]:.2f} to {interval[1]:.2f}",
    ]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _section(story: Story, place: int) -> str:
    scores, correlation = scores_plot(story)
    plots = [curve(story), curve(story, by_time=True), scores]
    parts = [f'<h2 id="k{place}">{escape(story.name)}</h2>', '<div class="plots">']
    parts += [f"<figure>{each}</figure>" for each in plots if each]
    parts.append("</div>")
    if correlation is not None:
        parts.append(
            f"<p>Scores and measured speeds have a rank correlation of {correlation:.2f} "
            "(1: the same order; 0: no relation).</p>"
        )
    if reasons := collections.Counter(each.failure for each in story.trials if each.failure):
        items = "".join(f"<li>{count} times: {escape(text)}</li>" for text, count in reasons.most_common())
        parts.append(f"<p>Candidates that failed:</p><ul>{items}</ul>")
    difference = trace_difference(story)
    if difference:
        summary = "what the fastest does (+) and the default schedule did (-)"
        parts.append(f"<details open><summary>{summary}</summary>{difference}</details>")
    else:
        parts.append("<p>No candidate is surely faster than the default schedule, which stays.</p>")
    return "\n".join(parts)


def report(source, path) -> None:
    """Writes a page about tuning to `path`, as HTML that needs nothing else.

    For each kernel: how fast the trials were, against their number and time; scores of the cost model against measured speeds;
    why candidates failed; and the steps of the fastest beside those of the default schedule.

    source  what tune, tune_model or tune_tasks returned, or a RecordFile
    path    the file; one that is there is replaced
    Raises  UserError if there are no records, OSError if the file cannot be written
    >>> results = tilewright.tune.tune(mm, database=tilewright.tune.RecordFile(), trials=2, quiet=True)
    >>> tilewright.tune.report(results, "tune.html")
    """
    stories = [each for each in stories_of(source) if each.records]
    if not stories:
        raise UserError("there are no records to report\nhelp: tune something first")
    faster = sum(each.best is not None and bool(each.best.trace_json) for each in stories)
    head = "Kernel Trials Failed Default,us Fastest,us Speedup 95,%".replace(",", "&nbsp;").split()
    rows = "\n".join(_row(each, place) for place, each in enumerate(stories))
    sections = "\n".join(_section(each, place) for place, each in enumerate(stories))
    count = "1 kernel" if len(stories) == 1 else f"{len(stories)} kernels"
    trials = sum(len(each.trials) for each in stories)
    machine = stories[0].records[-1].processor
    Path(path).write_text(
        f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Tuning</title>
<style>{_PAGE_STYLE}{STYLE}</style>
</head>
<body>
<h1>Tuning</h1>
<p>{count}, {trials} trials on {escape(machine or "an unknown processor")}; {faster} faster than by the default schedule.</p>
<table>
<tr>{"".join(f"<th>{cell}</th>" for cell in head)}</tr>
{rows}
</table>
{sections}
</body>
</html>
""",
        encoding="utf-8",
    )

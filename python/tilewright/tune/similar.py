"""Records of programs that differ from a task's in their numbers alone: their schedules are where its search begins."""

import json
import math
import re

from .. import _core
from ..records import RecordFile, Task, trace_of
from ..schedule import Schedule, Trace

#: schedules that a search begins with, at most
MOST_STARTS = 4
_MOST_PROGRAMS = 2
_SEEDS = 4
_TOKEN = re.compile(r'"[^"]*"|(?<![\w.])[A-Za-z_]\w*|(?<!\w)\d+(?!\w)')


def pattern_of(func) -> tuple[str, list[int]]:
    """(text, numbers) of a PrimFunc: its script without numbers, with names in the order in which they appear, and the numbers.

    Programs of the same text differ in their numbers alone: extents, and constants.
    >>> tilewright.tune.similar.pattern_of(func)[1]
    """
    names: dict[str, str] = {}
    numbers: list[int] = []

    def plain(found: re.Match) -> str:
        token = found[0]
        if token[0] == '"':
            return token
        if token[0].isdigit():
            numbers.append(int(token))
            return "#"
        return names.setdefault(token, f"n{len(names)}")

    text = _TOKEN.sub(plain, str(func.with_attr("global_symbol", "main")))
    # where lines are broken depends on the numbers
    return re.sub(r"\s+", "", text).replace(",)", ")"), numbers


def _distance(one: list[int], other: list[int]) -> float:
    """How far extents are apart: 1 for each that is twice as large."""
    return sum(abs(math.log2((a + 1) / (b + 1))) for a, b in zip(one, other, strict=True))


def similar_programs(func, database: RecordFile) -> list[str]:
    """The hashes of programs in `database` that differ from `func` in numbers alone, the nearest first."""
    text, numbers = pattern_of(func)
    found = []
    for hash_, _, other in database.programs():
        other_text, other_numbers = pattern_of(other)
        if other_text == text and other_numbers != numbers:
            found.append((_distance(numbers, other_numbers), hash_))
    return [hash_ for _, hash_ in sorted(found)]


def _decisions(trace: dict) -> list[dict]:
    """The arguments of steps that draw samples."""
    return [step["args"] for step in trace["steps"] if "decision" in step["args"]]


def _replayed(program: Schedule, trace: dict) -> dict | None:
    """The trace after a replay, with all samples drawn; None if a step refuses."""
    steps = Trace.load_json(json.dumps(trace))
    for seed in range(_SEEDS):
        candidate = _core.candidate_of(program._core, steps, seed)
        if candidate is not None:
            return json.loads(candidate.sch.trace().save_json())
    return None


def _fitted(decision, drawn):
    """`decision` for another extent, which is the product of the factors `drawn`: inner factors stay as far as they divide it."""
    if not isinstance(decision, list) or not isinstance(drawn, list) or len(decision) != len(drawn):
        return decision
    rest, factors = math.prod(drawn), []
    for factor in reversed(decision[1:]):
        factors.append(max(n for n in range(1, factor + 1) if rest % n == 0))
        rest //= factors[-1]
    return [rest, *reversed(factors)]


def adapted(program: Schedule, trace_json: str) -> str | None:
    """The trace of a record, as JSON, with its decisions changed to what fits `program`; None if it does not apply.

    program     of another extent, as it was written
    trace_json  whose decisions stay where they are possible; others are drawn
    """
    trace = json.loads(trace_json)
    samples = _decisions(trace)
    wanted = [args["decision"] for args in samples]
    for args in samples:
        args["decision"] = None
    found = _replayed(program, trace)
    for place, args in enumerate(samples):
        if found is None:
            return None
        drawn = _decisions(found)[place]["decision"]
        args["decision"] = _fitted(wanted[place], drawn)
        if (replayed := _replayed(program, trace)) is None:
            args["decision"] = drawn
        else:
            found = replayed
    return None if found is None else json.dumps(found)


def starts_of(task: Task, program: Schedule, database: RecordFile, space: str) -> list[str]:
    """Traces, as JSON, that were the fastest for programs with other extents, changed so that they apply to `task`.

    They are candidates, nothing more: each is measured before it may win.
    """
    found: list[str] = []
    view = database.of_space(space)
    for hash_ in similar_programs(task.func, database)[:_MOST_PROGRAMS]:
        key = _core.RecordKey(hash_, task.key.machine)
        for record in view.records(key, limit=MOST_STARTS // _MOST_PROGRAMS + 1):
            is_readable = record.trace_json and trace_of(record) is not None
            trace = adapted(program, record.trace_json) if is_readable else None
            if trace is not None and trace not in found:
                found.append(trace)
    return found[:MOST_STARTS]

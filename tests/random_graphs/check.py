"""Compiles a graph at several optimisation levels and compares all results with numpy's."""

import random
import re
from pathlib import Path

import numpy as np

import tilewright
from tilewright.relax import analysis, transform

from .generate import generate
from .graph import Graph, evaluate
from .shrink import shrink

_TABLE = Path(__file__).parents[2] / "docs" / "graph-passes.md"
#: the default pipeline, as it is documented
PIPELINE = re.findall(r"^\| `(\w+)` \| [0-3] \|", _TABLE.read_text(), re.MULTILINE)
#: the passes after it that say where tensors lie
LOWERING = re.findall(
    r"^\| `(\w+)` \|", _TABLE.read_text().partition("## Memory")[2].partition("\n## ")[0], re.MULTILINE
)
OPTIONAL = sorted(set(PIPELINE) - {"lambda_lift", "legalize_ops"})


def contexts_of(seed: int) -> list[dict]:
    """The contexts in which the graph of a seed runs: level 2, level 3 without some passes, some also at level 0 or with
    bounds checked.

    Level 0 compiles most kernels, a program per operator, and has the fewest ways to go wrong.
    """
    choose = random.Random(seed)
    disabled = choose.sample(OPTIONAL, choose.choice([0, 1, 2, 4]))
    contexts = [{"opt_level": 2}, {"opt_level": 3, "disabled_pass": disabled}]
    more = {0: [{"opt_level": 0}], 1: [{"opt_level": 2, "check_bounds": True}]}
    return [*more.get(seed % 4, []), *contexts]


def check_seed(seed: int) -> None:
    """Raises AssertionError with the smallest failing program if a result of the graph of `seed` is wrong."""
    graph = generate(seed)
    for context in contexts_of(seed):
        problem = problem_of(graph, context)
        if problem:
            raise AssertionError(report(graph, context, problem))
    problem = malformed(graph)
    if problem:
        small = shrink(graph, lambda other: malformed(other))
        raise AssertionError(f"seed {graph.seed}: {problem}\n{small.script()}")


def problem_of(graph: Graph, context: dict) -> str | None:
    """Says how the results of `graph` compiled in `context` are wrong; None if they are right."""
    try:
        module = tilewright.script.parse(graph.script())
        options = dict(context)
        check_bounds = options.pop("check_bounds", False)
        with tilewright.transform.PassContext(**options):
            executable = tilewright.compile(module, check_bounds=check_bounds)
        problem = overwritten(executable.plans)
        return problem or wrong_result(graph, tilewright.VirtualMachine(executable)["main"])
    except (tilewright.UserError, tilewright.Unsupported, tilewright.InternalError) as error:
        return f"{type(error).__name__}: {error}"


def overwritten(plans: dict[str, str]) -> str | None:
    """Two tensors of a memory plan that are alive together and overlap, or None."""
    for plan in plans.values():
        rows = re.findall(r"(\d+) bytes at +(\d+), steps (\d+) to (\d+)", plan)
        places = [tuple(map(int, row)) for row in rows]
        for n, (size, offset, first, last) in enumerate(places):
            for other_size, other_offset, other_first, other_last in places[:n]:
                together = first <= other_last and other_first <= last
                if together and offset < other_offset + other_size and other_offset < offset + size:
                    return f"tensor {n} of the memory plan lies on another that is alive:\n{plan}"
    return None


def wrong_result(graph: Graph, main) -> str | None:
    for sample, n in enumerate(graph.sizes):
        inputs = [tilewright.tensor(value) for value in graph.inputs(sample)]
        wanted = evaluate(graph, sample)
        slack = slack_of(graph, sample, wanted)
        for again in range(2):  # the second time memory is not fresh
            got = main(*inputs)
            got = list(got) if len(graph.results) != 1 else [got]
            for name, value, want, allowed in zip(graph.results, got, wanted, slack, strict=True):
                problem = difference(value.numpy(), want, allowed)
                if problem:
                    return f"n = {n}, call {again + 1}, {name}: {problem}"
    return None


def slack_of(graph: Graph, sample: int, wanted: list) -> list[float]:
    """How far each result may be off: what rounding does to it, with a margin."""
    noise = np.random.default_rng(graph.seed)
    slack = [1e-5 * max(1.0, float(np.abs(want).max(initial=0))) for want in wanted]
    for _ in range(3):
        for n, (value, want) in enumerate(zip(evaluate(graph, sample, noise), wanted, strict=True)):
            if want.dtype == np.float64:
                slack[n] += 4 * float(np.abs(value - want).max(initial=0))
    return slack


def difference(got: np.ndarray, want: np.ndarray, allowed: float) -> str | None:
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if want.dtype == np.float64:
        if got.dtype != np.float32:
            return f"dtype {got.dtype}, expected float32"
        off = np.abs(got - want)
        bad = ~(off <= allowed)
    else:
        if got.dtype != want.dtype:
            return f"dtype {got.dtype}, expected {want.dtype}"
        bad = got != want
    if not bad.any():
        return None
    first = tuple(int(index) for index in np.argwhere(bad)[0])
    return (
        f"{int(bad.sum())} of {bad.size} elements are wrong, at {first} {got[first]} instead of {want[first]}"
    )


def malformed(graph: Graph) -> str | None:
    """The first pass of the way to code whose result is not well formed, or None."""
    module = tilewright.script.parse(graph.script())
    for name in PIPELINE + LOWERING:
        module = getattr(transform, name)()(module)
        if not analysis.well_formed(module):
            return f"after {name} the module is not well formed"
    return None


def guilty_pass(graph: Graph) -> str:
    """The first pass of the pipeline after which the module computes something else."""
    module = tilewright.script.parse(graph.script())
    for name in PIPELINE:
        module = getattr(transform, name)()(module)
        with tilewright.transform.PassContext(opt_level=0):
            try:
                main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
                if wrong_result(graph, main):
                    return f"wrong from {name} on"
            except tilewright.UserError as error:
                return f"fails from {name} on: {error}"
    return "no graph pass alone makes it wrong: kernels or their schedules do"


def report(graph: Graph, context: dict, problem: str) -> str:
    kind = problem.partition(":")[0]
    is_same = lambda other: (problem_of(other, context) or "").partition(":")[0][:4] == kind[:4]  # noqa: E731
    small = shrink(graph, is_same)
    if context["opt_level"] and not problem_of(small, {"opt_level": 0}):
        kind = guilty_pass(small)
    else:
        kind = "wrong at every level"
    lines = [
        f"seed {graph.seed}, {context}: {problem_of(small, context)}",
        f"({kind}; the whole graph: {problem})",
    ]
    lines.append(small.script())
    for param in small.params.values():
        if not param.is_constant and max(value.size for value in param.values) <= 64:
            lines.append(f"{param.name} = {[value.tolist() for value in param.values]}")
    return "\n".join(lines)

"""Random graphs at several optimisation levels against numpy, and well formed after each pass.

TILEWRIGHT_FUZZ_SEED is the first seed ("fresh": of this hour), TILEWRIGHT_FUZZ_RUNS how many graphs there are,
TILEWRIGHT_SLOW_GRAPHS how many in the slow set (5000: about an hour of a core).  A failure prints the smallest program
that still fails; PYTHONPATH=tests python -m random_graphs SEED runs one again.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from random_graphs import check, evaluate, generate, shrink

import tilewright

TESTS = Path(__file__).parents[1]
SEED = os.environ.get("TILEWRIGHT_FUZZ_SEED", "1")
# all workers of one run have to find the same tests: no finer than the hour
FIRST = int(time.strftime("%Y%m%d%H")) if SEED == "fresh" else int(SEED)
COUNT = int(os.environ.get("TILEWRIGHT_FUZZ_RUNS", "60"))
BATCH = 20
SLOW = range(FIRST + 10_000, FIRST + 10_000 + int(os.environ.get("TILEWRIGHT_SLOW_GRAPHS", "300")), BATCH)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_graph(seed):
    check.check_seed(seed)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + 5))
def test_the_lowered_form_prints_and_compiles_to_the_same_code(seed):
    executable = tilewright.compile(tilewright.script.parse(generate(seed).script()))
    again = tilewright.script.parse(executable.lowered.script(show_meta=True))
    with tilewright.transform.PassContext(opt_level=0):  # it is fused and planned already
        assert tilewright.compile(again).as_text() == executable.as_text()


@pytest.mark.slow
@pytest.mark.parametrize("first", SLOW)
def test_batch_of_random_graphs(first):
    """A process per batch: a crash names the seed."""
    done = subprocess.run(
        [sys.executable, "-m", "random_graphs", str(first), str(BATCH)],
        env={**os.environ, "PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}:{TESTS}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_seed_gives_the_same_graph():
    assert generate(7).script() == generate(7).script() != generate(8).script()


def test_a_failing_graph_shrinks_to_the_step_that_fails():
    graph = next(g for g in map(generate, range(100)) if any("R.matmul" in step.text for step in g.steps))
    small = shrink(graph, lambda other: any("R.matmul" in step.text for step in other.steps))
    assert [step.text for step in small.steps] == ["R.matmul({0}, {1})"]
    wanted = evaluate(small, 0)
    main = tilewright.VirtualMachine(tilewright.compile(tilewright.script.parse(small.script())))["main"]
    np.testing.assert_allclose(main(*small.inputs(0)).numpy(), wanted[0], rtol=1e-4, atol=1e-4)


def test_a_wrong_element_is_reported():
    want = np.zeros((2, 3))
    assert check.difference(want.astype("float32"), want, 1e-5) is None
    got = want.astype("float32")
    got[1, 2] = 1
    assert check.difference(got, want, 1e-5) == "1 of 6 elements are wrong, at (1, 2) 1.0 instead of 0.0"
    assert check.difference(got[0], want, 1e-5) == "shape (3,), expected (2, 3)"


def test_a_tensor_that_lies_on_another_is_reported():
    plan = "a 64 bytes at 0, steps 0 to 1\nb 64 bytes at {}, steps 1 to 2\npeak 128 bytes"
    assert check.overwritten({"main": plan.format(64)}) is None
    assert check.overwritten({"main": plan.format(32)}).startswith(
        "tensor 1 of the memory plan lies on another"
    )

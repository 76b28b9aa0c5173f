"""--best-at of the commands: extents of open dimensions that schedules are chosen for."""

import json

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
FLOAT = onnx.TensorProto.FLOAT


@pytest.fixture
def model(save_model):
    """A convolution of x[n, 3, h, 8]."""
    nodes = [onnx.helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)]
    return save_model(
        nodes,
        {"x": (FLOAT, ["n", 3, "h", 8])},
        {"y": (FLOAT, None)},
        {"w": np.ones((16, 3, 3, 3), "float32")},
    )


def sizes(command, model, *words):
    shown = command("inspect", model, "--stage", "tir", *words, "-q")
    assert shown.code == 0
    return {line.strip() for line in shown.out.splitlines() if "likely_sizes" in line}


def test_kernels_are_planned_for_it(command, model):
    (line,) = sizes(command, model, "--best-at", "n=1", "--best-at", "h=64")
    assert '"likely_sizes": {"h": 64, "n": 1}' in line
    (line,) = sizes(command, model)
    assert '"likely_sizes": {"h": 224, "n": 8}' in line


@pytest.mark.parametrize(
    ("word", "error"),
    [
        ("m=2", 'error: best_at has "m", which is no open dimension of the inputs\nhelp: open are h, n\n'),
        ("n", "error: --best-at n: expected a name and sizes, e.g. n=8 or n=1,8\n"),
        ("n=", "error: --best-at n=: expected a name and sizes, e.g. n=8 or n=1,8\n"),
        ("=1", "error: --best-at =1: expected a name and sizes, e.g. n=8 or n=1,8\n"),
        ("n=1,", "error: --best-at n=1,: expected a name and sizes, e.g. n=8 or n=1,8\n"),
        ("n=1,x", "error: --best-at n=1,x: expected a name and sizes, e.g. n=8 or n=1,8\n"),
        ("n=1,-8", "error: --best-at n=1,-8: the size -8 is below 1\n"),
        ("n=8,8", 'error: best_at has 8 for "n" twice\n'),
        (
            "n=1,2,3,4,5",
            'error: best_at has 5 extents for "n", for which a kernel would have 5 plans, more than 4\n'
            "help: name those extents alone that most calls have\n",
        ),
        ("n=0", "error: --best-at n=0: the size 0 is below 1\n"),
    ],
)
def test_refused(command, model, word, error):
    done = command("compile", model, "-o", "model.so", "--best-at", word, "-q")
    assert (done.code, done.err) == (2, error)


def test_a_library_takes_none(command, model):
    command("compile", model, "-o", "model.so", "-q")
    done = command("run", "model.so", "--best-at", "n=2", "-q")
    assert (done.code, done.err) == (
        2,
        'error: --best-at does not apply to "model.so", which is compiled already\nhelp: give the option to `tilewright compile`\n',
    )


TARGET = ("--target", "llvm -num-cores=2")
PLANS = ["n from 1: best at n = 1", "n from 2: best at n = 8"]


@pytest.fixture
def product(save_model):
    """A product of x[n, 129]: one row is no tile."""
    nodes = [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])]
    weights = {"w": np.ones((129, 7), "float32")}
    return save_model(nodes, {"x": (FLOAT, ["n", 129])}, {"y": (FLOAT, None)}, weights)


def test_several_sizes_are_several_plans(command, product, monkeypatch, tmp_path):
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TILEWRIGHT_CACHE_MB", "10")
    for repeated in (["n=1,8"], ["n=8", "--best-at", "n=1"]):  # the second takes code from the cache
        words = (*TARGET, "--best-at", *repeated, "-q")
        assert command("compile", product, "-o", "model.so", "--force", *words).code == 0
        shown = command("inspect", "model.so").out
        (kernel,) = json.loads(command("inspect", "model.so", "--json").out)["kernels"]
        assert shown.endswith(f"kernels\n  {kernel}\n    {PLANS[0]}\n    {PLANS[1]}\n")
        assert json.loads(command("inspect", "model.so", "--json").out)["plans"] == {kernel: PLANS}


def test_each_plan_has_its_schedule(command, product):
    words = (*TARGET, "--best-at", "n=1,8", "-q")
    shown = command("inspect", product, "--schedules", *words).out.splitlines()
    heads = [line.partition(", ") for line in shown if line.startswith("# ") and not line.startswith("# not")]
    assert [plan for _, _, plan in heads] == PLANS
    listed = json.loads(command("inspect", product, "--schedules", "--json", *words).out)
    assert [each["plan"] for each in listed] == PLANS
    assert listed[0]["trace"] != listed[1]["trace"]
    stage = command("inspect", product, "--stage", "schedule", *words).out
    assert "if n < T.int64(2):" in stage and stage.count("def ") == 1


@pytest.mark.parametrize(("batch", "plan"), [(1, 0), (2, 1), (9, 1)])
def test_explain_knows_which_plan_ran(command, product, batch, plan):
    words = (*TARGET, "--best-at", "n=1,8", "--dim", f"n={batch}", "-q")
    (kernel,) = json.loads(command("explain", product, "--json", *words).out)["kernels"]
    assert (kernel["plans"], kernel["plan"]) == (PLANS, plan)


def test_explain_says_which_plan_ran(command, product, tmp_path):
    page = tmp_path / "page.html"
    words = (*TARGET, "--best-at", "n=1,8", "--dim", "n=2", "--html", str(page), "-q")
    lines = command("explain", product, *words).out.splitlines()
    ran = [PLANS[0], f"{PLANS[1]}, which ran"]
    assert [line for line in lines if line.startswith("  plan    ")] == [f"  plan    {plan}" for plan in ran]
    assert "".join(f"<li>plan {plan}</li>\n" for plan in ran) in page.read_text()

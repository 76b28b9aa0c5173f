"""Cost models: what they prefer before and after measurements, the same for the same, and without XGBoost."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tilewright import _core, te, tune
from tilewright.errors import Unsupported, UserError
from tilewright.schedule import Schedule
from tilewright.tune import model as models

TARGET = "llvm -mcpu=znver4 -num-cores=1"
MEASURED = json.loads((Path(__file__).parent / "measured_products.json").read_text())


def matmul(n):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    return te.create_prim_func(
        [a, b, te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")]
    )


def tiled(n, where, rows, columns, terms):
    """The design of rule multi_level_tiling; `where` results are copied out: 0 nowhere, 1 outside, 2 inside of tiles for caches."""
    sch = Schedule(tune.tasks_of(matmul(n), TARGET)[0].module)
    block = sch.get_child_blocks(sch.get_block("root", func_name="main"))[0]
    i, j, k = sch.get_loops(block)
    writer = sch.cache_write(block, 0, "global") if where else None
    i0, i1, i2, i3 = sch.split(i, rows)
    j0, j1, j2, j3 = sch.split(j, columns)
    k0, k1 = sch.split(k, terms)
    sch.reorder(i0, j0, i1, j1, k0, i2, j2, k1, i3, j3)
    outer = sch.fuse(i0, j0)
    if writer:
        sch.reverse_compute_at(writer, outer if where == 1 else j1)
    sch.unroll(i3)
    sch.vectorize(j3)
    init = sch.decompose_reduction(block, k0)
    sch.vectorize(sch.get_loops(init)[-1])
    return sch


@cache
def measured(name):
    """Candidates of a product, and what they took on one core of a Zen 4, in s: the least of 3 to 16 measurements."""
    n, found = int(name.removeprefix("matmul")), MEASURED[name]
    program = Schedule(tune.tasks_of(matmul(n), TARGET)[0].module)
    candidates = [_core.candidate_of(program._core, tiled(n, *row[:4]).trace) for row in found]
    return candidates, np.array([row[4] for row in found])


def agreement(scores, seconds):
    """Spearman's correlation of ranks: 1 if higher scores always took less time, 0 if they have nothing to do with it."""
    ranks = [np.argsort(np.argsort(each)) for each in (-np.asarray(scores), seconds)]
    return float(np.corrcoef(*ranks)[0, 1])


def share_of_best(scores, seconds, count):
    """The speed of the best of the `count` highest scores, as a share of the best of all."""
    return seconds.min() / seconds[np.argsort(-np.asarray(scores))[:count]].min()


@pytest.mark.parametrize("name", MEASURED)
def test_the_analytic_model_ranks_before_anything_was_measured(name):
    candidates, seconds = measured(name)
    scores = models.AnalyticModel(TARGET).predict(candidates)
    assert agreement(scores, seconds) > 0.5
    assert share_of_best(scores, seconds, 16) >= 0.95


def test_predicted_seconds():
    model = models.AnalyticModel(TARGET)
    candidates, seconds = measured("matmul512")
    fastest = np.argsort(seconds)[:8]
    mods = [tiled(512, *MEASURED["matmul512"][n][:4]).mod for n in fastest]
    predicted = np.array([model.seconds(mod) for mod in mods])
    np.testing.assert_allclose(-np.log2(predicted), np.array(model.predict(candidates))[fastest], rtol=1e-12)
    assert 0.3 < np.median(predicted / seconds[fastest]) < 3
    assert models.AnalyticModel("llvm -mcpu=znver4 -num-cores=1").seconds(matmul(64)) > 0


def test_random_scores_repeat():
    candidates, seconds = measured("matmul128")
    one, two = (models.RandomModel(3).predict(candidates) for _ in range(2))
    assert one == two != models.RandomModel(4).predict(candidates)
    assert abs(agreement(one, seconds)) < 0.3


needs_xgboost = pytest.mark.skipif(models.xgboost_library() is None, reason="XGBoost is not installed")


def halves(name, seed):
    """32 candidates to learn from, and the others."""
    candidates, seconds = measured(name)
    order = np.random.default_rng(seed).permutation(len(seconds))
    return [([candidates[n] for n in part], seconds[part]) for part in (order[:32], order[32:])]


@needs_xgboost
def test_it_learns_from_32_measurements():
    analytic, boosted, drawn = [], [], []
    for name in MEASURED:
        for seed in range(4):
            (known, times), (others, seconds) = halves(name, seed)
            model = models.BoostedModel(TARGET, seed)
            before = model.predict(others)
            assert before == models.AnalyticModel(TARGET).predict(others)
            model.update(known, list(times))
            analytic.append(agreement(before, seconds))
            boosted.append(agreement(model.predict(others), seconds))
            drawn.append(agreement(models.RandomModel(seed).predict(others), seconds))
    assert np.mean(boosted) >= np.mean(analytic)
    assert np.mean(boosted) > np.mean(drawn) + 0.5


@needs_xgboost
def test_the_same_measurements_give_the_same_scores():
    (known, times), (others, _) = halves("matmul512", 0)

    def scores(seed):
        model = models.BoostedModel(TARGET, seed)
        model.update(known, list(times))
        return model.predict(others)

    assert scores(1) == scores(1)
    assert scores(1) != scores(2)


@needs_xgboost
def test_what_it_has_learnt_is_kept():
    (known, times), (others, _) = halves("matmul512", 0)
    model, other = models.BoostedModel(TARGET), models.BoostedModel(TARGET)
    assert model.save() == b""
    model.update(known, list(times))
    scores = model.predict(others)
    other.load(model.save())
    assert other.predict(others) == scores
    with pytest.raises(UserError, match="^error: xgboost: |^xgboost: "):
        other.load(b"no trees")


@needs_xgboost
def test_failures_teach_that_a_candidate_is_slow():
    (known, times), _ = halves("matmul512", 0)
    fastest = int(np.argmin(times))
    failed = list(times)
    failed[fastest] = float("inf")
    ranks = []
    for each in (list(times), failed):
        model = models.BoostedModel(TARGET)
        model.update(known, each)
        scores = model.predict(known)
        ranks.append(sum(score > scores[fastest] for score in scores))
    assert ranks[1] > ranks[0]
    # all failed: nothing to compare with
    model = models.BoostedModel(TARGET)
    model.update(known, [float("inf")] * len(known))
    assert model.predict(known) == models.AnalyticModel(TARGET).predict(known)
    with pytest.raises(UserError) as error:
        model.update(known, [1.0])
    assert str(error.value) == "error: update: 1 times for 32 candidates"


@needs_xgboost
def test_other_kernels_teach_too():
    model = models.BoostedModel(TARGET)
    for name in ("matmul128", "matmul1024"):
        candidates, seconds = measured(name)
        model.update(candidates, list(seconds))
    candidates, seconds = measured("matmul512")
    assert agreement(model.predict(candidates), seconds) > 0.6


@needs_xgboost
def test_the_default_is_boosted():
    assert isinstance(models.default_model(TARGET), models.BoostedModel)


def test_without_xgboost(monkeypatch):
    monkeypatch.setattr(models, "xgboost_library", lambda: None)
    assert isinstance(models.default_model(TARGET), models.AnalyticModel)
    with pytest.raises(Unsupported) as error:
        models.BoostedModel(TARGET)
    assert str(error.value) == (
        "BoostedModel needs the library of XGBoost, which is not installed\n"
        "help: pip install 'tilewright[xgboost]', or use tune.AnalyticModel"
    )


def test_a_named_library(tmp_path):
    program = "from tilewright.tune import model; print(model.xgboost_library())"

    def run(path):
        environment = os.environ | {"TILEWRIGHT_XGBOOST": str(path)}
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=environment
        )
        return done.stdout.strip(), done.stderr.strip()

    (tmp_path / "lib.so").write_text("no library")
    out, err = run(tmp_path / "lib.so")
    assert out == "" and f"xgboost: {tmp_path}/lib.so cannot be opened: " in err
    out, err = run("libc.so.6")
    assert err.endswith(
        "xgboost: libc.so.6 lacks functions of the C API of XGBoost 1.7\n"
        "help: install another: pip install 'tilewright[xgboost]'"
    )
    if found := models.xgboost_library():
        assert run(found) == (found, "")


def test_features_have_names():
    found = models.program_features(tiled(128, 0, [2, 4, 2, 8], [1, 4, 2, 16], [8, 16]).mod, TARGET)
    assert round(2 ** found["lanes"] - 1) == 16
    assert 2 ** found["float_fma"] - 1 == pytest.approx(128**3)

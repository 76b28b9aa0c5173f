"""Results of trained networks have the same bits with any number of threads, in any batch, with an open and a fixed batch.

docs/precision.md says which choices may differ in the last bit.
"""

import datetime
import os
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest

import tilewright
from tilewright import tune

SHARED = Path(__file__).resolve().parents[3] / "shared"
MODELS = sorted(SHARED.glob("models/**/*.onnx"))
pytestmark = pytest.mark.skipif(not MODELS, reason="../shared is absent")


def input_of(model):
    """Its only input; None if it has others."""
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    return inputs[0] if len(inputs) == 1 else None


def shape_of(value):
    return [dim.dim_value or dim.dim_param or 1 for dim in value.type.tensor_type.shape.dim]


def with_batch(path, batch):
    """The model at `path` with the first dimension of what comes in set; None if it has several inputs."""
    model = onnx.load(path)
    value = input_of(model)
    if value is None:
        return None
    dim = value.type.tensor_type.shape.dim[0]
    dim.Clear()
    if isinstance(batch, str):
        dim.dim_param = batch
    else:
        dim.dim_value = batch
    del model.graph.value_info[:]
    for result in model.graph.output:
        result.type.tensor_type.ClearField("shape")
    return model


def data_for(path, count):
    """Random data of the kind that the model takes, `count` rows."""
    value = input_of(onnx.load(path))
    if value is None:
        pytest.skip("it has several inputs")
    shape = [1 if isinstance(extent, str) else extent for extent in shape_of(value)]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    return np.random.default_rng(7).standard_normal((count, *shape[1:])).astype(dtype)


def main_of(model):
    return tilewright.VirtualMachine(tilewright.compile(model))["main"]


def results(main, x):
    try:
        result = main(x)
    except tilewright.UserError as error:  # e.g. a Reshape to one row
        pytest.skip(f"it fixes its batch: {str(error).splitlines()[0]}")
    return [item.numpy() for item in result] if isinstance(result, (tuple, list)) else [result.numpy()]


def assert_same_bits(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@cache
def compiled(path, batch):
    model = with_batch(path, batch)
    if model is None:
        pytest.skip("it has several inputs")
    try:
        return main_of(model)
    except tilewright.errors.Error as error:
        if batch == 1:
            raise
        pytest.skip(f"it fixes its batch: {str(error).splitlines()[0]}")


def name_of(path):
    return str(path.relative_to(SHARED / "models"))


@pytest.mark.parametrize("path", MODELS, ids=name_of)
def test_threads_change_no_bit(path):
    for batch in (1, "n"):
        main = compiled(path, batch)
        x = data_for(path, 1 if batch == 1 else 5)
        expected = results(main, x)
        tilewright.runtime.set_num_threads(1)
        try:
            assert_same_bits(results(main, x), expected)
        finally:
            tilewright.runtime.set_num_threads(0)


@pytest.mark.parametrize("path", MODELS, ids=name_of)
def test_a_row_has_the_same_bits_alone_and_in_a_batch(path):
    main = compiled(path, "n")
    x = data_for(path, 5)
    of_all = results(main, x)
    if any(len(item) != 5 for item in of_all):
        pytest.skip("its results have other rows than its input")
    for n in range(5):
        assert_same_bits(results(main, x[n : n + 1]), [item[n : n + 1] for item in of_all])


@pytest.mark.parametrize("batch", [1, 2, 5])
@pytest.mark.parametrize("path", MODELS, ids=name_of)
def test_an_open_batch_has_the_bits_of_a_fixed_one(path, batch):
    x = data_for(path, batch)
    assert_same_bits(results(compiled(path, "n"), x), results(compiled(path, batch), x))


class AnyMeasured(tune.Database):
    """The fastest candidate of each kernel that is no default schedule, whether it won or not."""

    def __init__(self, records):
        self.best_of = {}
        for record in sorted(filter(is_candidate, records), key=lambda record: -record.relative):
            self.best_of[record.key.program, record.key.machine] = record
        self.given = 0

    def best(self, key):
        record = self.best_of.get((key.program, key.machine))
        self.given += record is not None
        return record


def is_candidate(record):
    return bool(record.trace_json and record.seconds and not record.changes_sums)


#: a third of the models each day; TILEWRIGHT_TUNED_MODELS=all takes all of them, which is some minutes
TODAY = MODELS
if os.environ.get("TILEWRIGHT_TUNED_MODELS") != "all":
    TODAY = MODELS[datetime.datetime.now(tz=datetime.UTC).toordinal() % 3 :: 3]


@pytest.mark.slow
@pytest.mark.parametrize("path", TODAY, ids=name_of)
def test_tuned_kernels_change_no_bit(path, tmp_path):
    """Each kernel that has a candidate takes it, so that the result depends on all of them, not on the few that win."""
    main, x = compiled(path, 1), data_for(path, 1)
    expected = results(main, x)
    model, file = tmp_path / "model.onnx", tune.RecordFile(tmp_path / "tune.db")
    onnx.save(with_batch(path, 1), model)
    found = tune.tune_model(
        model,
        database=file,
        trials=40,
        options=tune.MeasureOptions(min_repeat_ms=1, rounds=1),
        quiet=True,
    )
    database = AnyMeasured([record for task in found for record in task.records])
    with database:
        tuned = main_of(with_batch(path, 1))
    assert database.given > 0
    assert_same_bits(results(tuned, x), expected)

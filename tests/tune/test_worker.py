"""Arguments that candidates are measured on."""

import sys

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, tune
from tilewright.errors import Unsupported
from tilewright.tune.worker import arguments_of

DTYPES = ["float32", "float16", "float64", "bfloat16", "float8_e4m3fn", "int8", "uint8", "int64", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5, 7), (), (0, 3)])
def test_arguments_are_set_and_the_same_each_time(dtype, shape):
    one, other = (arguments_of([(shape, dtype)])[0] for _ in range(2))
    assert one.dtype == dtype and tuple(one.shape) == shape
    assert one.numpy().tobytes() == other.numpy().tobytes()
    if one.numpy().size > 1:
        assert len(np.unique(one.numpy().astype("float64"))) > 1


def test_bfloat16_needs_ml_dtypes(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(Unsupported) as error:
        arguments_of([((2,), "float7")])  # numpy knows bfloat16 once another test has imported ml_dtypes
    assert str(error.value) == (
        "arguments of float7 cannot be made without ml_dtypes\nhelp: pip install 'tilewright[tune]'"
    )


def test_a_product_of_bfloat16_is_tuned():
    a, b = (te.placeholder((16, 16), "bfloat16", name=name) for name in "AB")
    k = te.reduce_axis((0, 16), name="k")
    product = te.compute(
        (16, 16), lambda i, j: te.sum(a[i, k].astype("float32") * b[k, j].astype("float32"), axis=k), name="C"
    )
    database = tune.RecordFile()
    (result,) = tune.tune(
        te.create_prim_func([a, b, product]),
        "llvm -num-cores=1",
        database=database,
        trials=6,
        options=tune.MeasureOptions(min_repeat_ms=1),
        quiet=True,
    )
    assert result.trials == 6 and result.default_s
    failures = [each.failure for each in database.records(with_failures=True) if each.failure]
    assert not [each for each in failures if "other numbers" in each], failures
    assert len(failures) < 6
    assert tw.build(te.create_prim_func([a, b, product]))

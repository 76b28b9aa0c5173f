"""compile(..., reproducible=True): the same bits for open and fixed pictures, and with records that change sums."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import tilewright as tw
from tilewright import te, tune
from tilewright.errors import UserError


def network(height, width):
    """A convolution of 3 x 3 that is computed by Winograd, with open or fixed pictures."""
    weight = np.random.default_rng(0).standard_normal((32, 32, 3, 3)).astype("float32")
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])],
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 32, height, width])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 32, height, width])],
        [numpy_helper.from_array(weight, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def result(model, data, **options):
    executable = tw.compile(model, **options)
    return tw.VirtualMachine(executable)["main"](tw.tensor(data)).numpy()


def test_open_and_fixed_pictures_have_the_same_bits():
    data = np.random.default_rng(1).standard_normal((1, 32, 20, 24)).astype("float32")
    expected = ReferenceEvaluator(network(20, 24)).run(None, {"x": data})[0]
    found = [
        result(network(*size), data, reproducible=True, target=f"llvm -num-cores={threads}")
        for size in (("h", "w"), (20, 24))
        for threads in (1, 2)
    ]
    for each in found:
        np.testing.assert_allclose(each, expected, rtol=1e-3, atol=1e-4)
        assert each.tobytes() == found[0].tobytes()
    names = [str(tw.compile(network(20, 24), reproducible=flag).legalized) for flag in (False, True)]
    assert ["winograd" in each for each in names] == [True, False]


def test_records_that_change_sums_are_left_out():
    class Other(tune.Database):
        def __init__(self):
            self.asked = []

        def best(self, key):
            record = tune.Record()
            record.key, record.trace_json, record.changes_sums = (
                key,
                '{"tilewright_trace":1,"steps":[]}',
                True,
            )
            self.asked.append(key)
            return record

    database = Other()
    model = network(20, 24)
    with database:
        tuned = tw.compile(model, reproducible=True)
    assert database.asked
    data = np.ones((1, 32, 20, 24), "float32")
    plain = result(model, data, reproducible=True)
    assert tw.VirtualMachine(tuned)["main"](tw.tensor(data)).numpy().tobytes() == plain.tobytes()


def test_target_c_needs_its_option():
    with pytest.raises(UserError) as error:
        tw.compile(network(20, 24), "c", reproducible=True)
    assert str(error.value) == (
        "error: reproducible: the C compiler decides about multiply-adds of target c\n"
        "help: add -fp-contract=off to the target"
    )
    tw.compile(network(20, 24), "c -fp-contract=off", reproducible=True)


def test_loop_programs_have_no_such_option():
    x = te.placeholder((5,), name="x")
    func = te.create_prim_func([x, te.compute((5,), lambda i: x[i] + 1.0, name="y")])
    with pytest.raises(UserError) as error:
        tw.compile(func, reproducible=True)
    assert str(error.value) == (
        "reproducible= applies to graph functions; this module has only loop programs\n"
        "help: their sums have the order of the default schedule where no record of a database is in force"
    )

"""The cases of the benchmark of single operators are models, and its table says which are slow."""

import numpy as np
import onnx_operators
import pytest
from onnx_operator_cases import CASES, Case


@pytest.mark.parametrize("is_open", [False, True])
def test_cases_are_models(is_open):
    names = [
        name for name in CASES if not name.startswith("TreeEnsemble") or "100 of depth 6, 1 rows" in name
    ]
    for name in names:
        case = CASES[name]()
        model = onnx_operators.model_of(case, is_open=is_open)
        assert model.graph.node[0].op_type == case.op
        assert len(model.graph.node[0].output) == case.num_outputs
        given = [name for name, array in case.inputs.items() if array is not None]
        assert [each.name for each in model.graph.input] == [n for n in given if n not in case.constants]
        for each in model.graph.input:
            dims = each.type.tensor_type.shape.dim
            assert len(dims) == case.inputs[each.name].ndim
            if not is_open:
                assert [dim.dim_value for dim in dims] == list(case.inputs[each.name].shape)


def test_names_of_open_extents():
    case = Case("Add", {"a": np.zeros((5, 7)), "b": np.zeros(7)}, open_dims={"a": ["n", None]})
    assert onnx_operators.open_shape(case, "a", case.inputs["a"]) == ["n", 7]
    assert onnx_operators.open_shape(case, "b", case.inputs["b"]) == ["b0"]


def test_both_libraries_compute_a_case():
    case = Case("Add", {"a": np.ones((5, 7), "float32"), "b": np.ones(7, "float32")})
    calls = onnx_operators.calls_of(case, 1, is_open=True)
    assert onnx_operators.difference(calls, case) == ""
    calls["onnxruntime"] = lambda: [np.full((5, 7), 3, "float32")]
    assert onnx_operators.difference(calls, case) == "result 0 differs by 1"
    calls["onnxruntime"] = lambda: [np.full((5, 1), 2, "float32")]
    assert onnx_operators.difference(calls, case) == "result 0 is (5, 7), onnxruntime's (5, 1)"


def test_slow_cases_come_first():
    def row(name, ours, theirs):
        rounds = {"tilewright": [ours] * 3, "onnxruntime": [theirs] * 3}
        figures = {peer: {"median_us": times[0]} for peer, times in rounds.items()}
        return {"case": name, "threads": 1, "figures": figures, "rounds": rounds}

    rows = [
        row("fast", 10.0, 20.0),
        {"case": "odd", "threads": 1, "problem": "differs"},
        row("slow", 30.0, 15.0),
    ]
    assert onnx_operators.table(rows).splitlines()[2:] == [
        "| slow | 1 | 30.0 | 15.0 | 0.50 (0.50..0.50) |",
        "| fast | 1 | 10.0 | 20.0 | 2.00 (2.00..2.00) |",
        "| odd | 1 | - | - | differs |",
    ]

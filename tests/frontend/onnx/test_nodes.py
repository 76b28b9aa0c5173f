"""The tests of ONNX's own operators: cases that the package `onnx` brings compute what they say, or are refused with a reason.

Here runs a sample, another one each day; tests/tools/test_onnx_coverage.py runs all of them.
"""

import runpy
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx_cases import Case, by_name, imported, of_today, outcome, require_equal
from onnx_refusals import DIFFERENT, REASONS, reason_of

ROOT = Path(__file__).resolve().parents[3]
TOOL = runpy.run_path(str(ROOT / "tools/onnx_coverage.py"))
LISTED = TOOL["listed"](TOOL["PAGE"].read_text())
SAMPLE, PARTS = 160, 8


@pytest.mark.parametrize("part", range(PARTS))
def test_cases_of_today(part):
    wrong = []
    for case in of_today(SAMPLE)[part::PARTS]:
        made = outcome(case)
        if made.result != "passed" and (made.result == "wrong" or case.name not in LISTED):
            wrong.append(f"{case.name}: {made.result}: {made.reason}")
    assert wrong == [], "the page docs/onnx-coverage.md has them as passed"


def test_names_of_cases_are_those_of_the_package():
    assert set(LISTED) <= set(by_name())
    assert set(DIFFERENT) <= set(by_name())


def test_operators_of_cases():
    assert by_name()["test_abs"].operator == "Abs"
    assert by_name()["test_celu_expanded"].operator == "Celu"
    assert by_name()["test_split_to_sequence_1"].operator == "SplitToSequence"
    assert by_name()["test_ai_onnx_ml_binarizer"].operator == "ai.onnx.ml::Binarizer"


def test_inputs_become_constants_until_the_model_is_imported(tmp_path):
    case = by_name()["test_reduce_sum_keepdims_random"]
    inputs = dict(zip([value.name for value in case.model.graph.input], case.data_sets[0][0], strict=True))
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    imported(model, inputs, tmp_path / "model.onnx")
    assert list(inputs) == ["data"] and [tensor.name for tensor in model.graph.initializer] == ["axes"]
    assert outcome(case).constants == 1


def test_a_wrong_number_is_wrong():
    case = by_name()["test_abs"]
    (given, (right,)) = case.data_sets[0]
    changed = Case(case.name, case.kind, case.operator, case.test)
    changed.__dict__["data_sets"] = [(given, [right + np.float32(1e-2)])]
    made = outcome(changed)
    assert made.result == "wrong" and "Not equal to tolerance" in made.reason


def test_results_are_compared_by_dtype_shape_and_parts():
    case = by_name()["test_abs"]
    one = np.ones(3, "float32")
    require_equal([one, None], [one, None], case)
    for found, right in (
        (one.astype("float64"), one),
        (one[:2], one),
        ([one], [one, one]),
        (None, one),
        (one, None),
    ):
        with pytest.raises((AssertionError, TypeError)):
            require_equal(found, right, case)


def test_reasons_of_refusals():
    assert reason_of("something else") == ""
    assert len({pattern for pattern, _ in REASONS}) == len(REASONS)

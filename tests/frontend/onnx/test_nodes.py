"""The tests of ONNX's own operators: each model that the package `onnx` brings computes what it says, or is refused.

Inputs that must be known when a model is imported (shapes, axes) become constants.
"""

import functools
import re
import warnings

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import tilewright
from tilewright.frontend.onnx import from_onnx

# what is different, and why
DIFFERENT = {
    "test_causal_conv_with_state_silu_fp16_expanded": "rounds to float16 after fusing, not after each step",
    "test_celu_bfloat16": "is computed in float32, the expected value in bfloat16",
    "test_celu_bfloat16_expanded": "is computed in float32, the expected value in bfloat16",
    "test_einsum_batch_diagonal": 'einsum: "...ii" names an index twice behind "..."',
}
# of a scale that makes no whole number of elements, 0.6 of 4; onnxruntime and PyTorch do as the text says
for method in ("linear", "cubic"):
    DIFFERENT[f"test_resize_downsample_scales_{method}_align_corners"] = (
        "divides by the number of elements less 1, as the operator's text says, not by 1.4"
    )
KNOWN_LATER = re.compile(r'input "([^"]*)" is known only at run time')


@functools.cache
def cases() -> dict:
    """[test] by operator; "functions" are those of several nodes."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = load_model_tests(kind="node")
    found: dict = {}
    for test in tests:
        nodes = test.model.graph.node if test.model else []
        if nodes and test.data_sets:
            found.setdefault(nodes[0].op_type if len(nodes) == 1 else "functions", []).append(test)
    return found


def array(value) -> np.ndarray:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def imported(model, inputs: dict, path):
    """The module; inputs that must be known now go from `inputs` into the model."""
    while True:
        onnx.save(model, path)
        try:
            return from_onnx(path)
        except tilewright.Unsupported as problem:
            name = KNOWN_LATER.search(str(problem))
            if not name or name[1] not in inputs:
                raise
        model.graph.initializer.append(numpy_helper.from_array(inputs.pop(name[1]), name[1]))
        kept = [value for value in model.graph.input if value.name != name[1]]
        del model.graph.input[:]
        model.graph.input.extend(kept)


def check(test, path) -> bool:
    """True if the test ran; False if the model is refused as unsupported, or its data is no tensor."""
    model = onnx.ModelProto()
    model.CopyFrom(test.model)
    given, expected = test.data_sets[0]
    try:
        arrays = [array(value) for value in given]
        inputs = dict(zip([value.name for value in model.graph.input], arrays, strict=False))
        module = imported(model, inputs, path)
    except (tilewright.Unsupported, ValueError):
        return False
    results = tilewright.VirtualMachine(tilewright.compile(module))["main"](*inputs.values())
    results = results if isinstance(results, tuple) else (results,)
    for result, right in zip(results, expected, strict=True):
        got, right = result.numpy(), array(right)
        assert (got.dtype, got.shape) == (right.dtype, right.shape)
        exact = got.dtype == bool or got.dtype.kind in "iu"
        # the reference rounds sums of halves after each term, we at the end
        rtol = max(test.rtol, {"bfloat16": 2**-5, "float16": 2**-8}.get(got.dtype.name, 0))
        tolerance = {} if exact else {"rtol": rtol, "atol": max(test.atol, 1e-6)}
        wide = (got, right) if exact else (got.astype("float64"), right.astype("float64"))
        np.testing.assert_allclose(*wide, **tolerance)
    return True


def run(tests, path) -> int:
    """How many ran; the errors say which test is wrong."""
    count, wrong = 0, []
    for test in tests:
        if test.name in DIFFERENT:
            continue
        try:
            count += check(test, path)
        except Exception as problem:
            wrong.append(f"{test.name}: {problem}")
    assert wrong == []
    return count


# operators with the number of tests that run, at least
OPERATORS = """
Abs 1 Acos 2 Acosh 2 Add 4 And 8 ArgMax 12 ArgMin 12 Asin 2 Asinh 2 Atan 2 Atanh 2 AveragePool 15 BatchNormalization 2
BitShift 8 BitwiseAnd 3 BitwiseNot 3 BitwiseOr 3 BitwiseXor 3 Cast 20 CastLike 20 Ceil 2 Celu 1 Clip 10 Concat 10
Constant 1 ConstantOfShape 2 Conv 5 ConvInteger 2 ConvTranspose 8 Cos 2 Cosh 2 CumSum 8 DepthToSpace 2 DequantizeLinear 3 Div 4
Dropout 4 DynamicQuantizeLinear 3 Einsum 4 Elu 2 Equal 4 Erf 1 Exp 2 Expand 2 EyeLike 3 Flatten 8 Floor 2 Gather 3 GatherElements 3 GatherND 3
Gelu 4 Gemm 10 GlobalAveragePool 2 GlobalMaxPool 2 Greater 3 GreaterOrEqual 3 GroupNormalization 2 HardSigmoid 2
HardSwish 1 Identity 1 InstanceNormalization 2 IsInf 3 IsNaN 1 LRN 2 LayerNormalization 15 LeakyRelu 2 Less 3 LessOrEqual 3
Log 2 LogSoftmax 6 LpNormalization 2 LpPool 4 MatMul 4 MatMulInteger 1 Max 10 MaxPool 10 Mean 3 MeanVarianceNormalization 1 Min 10
Mish 1 Mod 10 Mul 4 Neg 2  OneHot 3 Or 8 PRelu 2 Pad 5 Pow 8 QLinearConv 1 QLinearMatMul 8 QuantizeLinear 3 RMSNormalization 10 Range 2
Reciprocal 2 ReduceL1 8 ReduceL2 8 ReduceLogSum 4 ReduceLogSumExp 8 ReduceMax 8 ReduceMean 8 ReduceMin 8 ReduceProd 8
ReduceSum 10 ReduceSumSquare 8 Relu 1 Reshape 9 Resize 30 ReverseSequence 2 Round 1 ScatterElements 6 ScatterND 5 Selu 2 Shape 8 Shrink 2
Sigmoid 2 Sign 1 Sin 2 Sinh 2 Size 2 Slice 7 Softmax 6 Softplus 2 Softsign 2 SpaceToDepth 2 Split 9 Sqrt 2 Squeeze 2
Sub 4 Sum 3 Swish 1 Tan 2 Tanh 2 ThresholdedRelu 2 Tile 2 TopK 5 Transpose 6 Trilu 15 Unsqueeze 5 Where 2 Xor 8
""".split()


@pytest.mark.parametrize(
    ("operator", "least"), list(zip(OPERATORS[::2], map(int, OPERATORS[1::2]), strict=True))
)
def test_operator(operator, least, tmp_path):
    assert run(cases()[operator], tmp_path / "model.onnx") >= least


@pytest.mark.slow
def test_functions(tmp_path):
    """Operators that the standard writes as graphs of others."""
    assert run(cases()["functions"], tmp_path / "model.onnx") >= 180

"""Functions of models called by the names of their inputs; what models tell of inputs and outputs; how things print."""

import numpy as np
import pytest

import tilewright as tw
from tilewright.runtime import TensorInfo

X, Y = np.linspace(-1, 1, 35, dtype="float32").reshape(5, 7), np.full(7, 0.25, "float32")
PROGRAM = """
@R.function
def main(x: R.Tensor(("n", 7), "float32"), y: R.Tensor((7,), "float32")):
    with R.dataflow():
        total = R.add(x, y)
        both = (total, R.concat([total, total], axis=0))
        R.output(both)
    return both
"""
SIGNATURE = "main(x: float32[n, 7], y: float32[7]) -> output_0: float32[n, 7], output_1: float32[n * 2, 7]"


@pytest.fixture(scope="module")
def executable():
    return tw.compile(tw.script.parse(PROGRAM))


@pytest.fixture(scope="module")
def main(executable):
    return tw.VirtualMachine(executable)["main"]


@pytest.mark.parametrize(
    ("args", "named"), [((X, Y), {}), ((X,), {"y": Y}), ((), {"y": Y, "x": X}), ((), {"x": X, "y": Y})]
)
def test_positions_and_names(main, args, named):
    np.testing.assert_array_equal(main(*args, **named)[0].numpy(), X + Y)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda main: main(X, z=Y), 'main has no input "z"\nhelp: the names are x, y'),
        (lambda main: main(X, bias=Y), 'main has no input "bias"\nhelp: the names are x, y'),
        (lambda main: main(X, x=X), 'main: input "x" is given twice, by position and by name'),
        (lambda main: main(x=X), 'main: no value is given for "y"'),
        (lambda main: main(y=Y), 'main: no value is given for "x"'),
        (lambda main: main(X, Y, X, y=Y), "main: 3 arguments are given by position, but it has 2 inputs"),
    ],
)
def test_names_that_do_not_fit(main, call, text):
    with pytest.raises(tw.UserError) as error:
        call(main)
    joint = "; " if "help" in text else "\nhelp: "
    assert str(error.value) == f"error: {text}{joint}the function is {SIGNATURE}"


def test_names_of_onnx_that_are_no_identifiers():
    onnx = pytest.importorskip("onnx")
    from onnx import helper

    names = ["input:0", "a b", "größe", "def"]
    node = helper.make_node("Sum", names, ["out/1"])
    values = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["batch", 7])
        for name in [*names, "out/1"]
    ]
    model = helper.make_model(
        helper.make_graph([node], "g", values[:-1], values[-1:]),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=10,
    )
    executable = tw.compile(model)
    assert [each.name for each in executable.inputs] == names
    assert executable.outputs == [TensorInfo("out/1", ("batch", 7), "float32", "float32[batch, 7]")]
    arrays = {name: X * n for n, name in enumerate(names)}
    vm = tw.VirtualMachine(executable)
    np.testing.assert_allclose(vm["main"](**arrays).numpy(), sum(arrays.values()), rtol=1e-6)
    np.testing.assert_allclose(vm["main"](X, **{"def": X, "größe": X, "a b": X}).numpy(), 4 * X, rtol=1e-6)


def test_inputs_and_outputs(executable):
    vm = tw.VirtualMachine(executable)
    inputs = [
        TensorInfo("x", ("n", 7), "float32", "float32[n, 7]"),
        TensorInfo("y", (7,), "float32", "float32[7]"),
    ]
    for thing in (executable, vm):
        assert thing.inputs == inputs
        assert [(each.name, each.shape) for each in thing.outputs] == [
            ("output_0", ("n", 7)),
            ("output_1", ("n * 2", 7)),
        ]
    assert (vm.inputs_of("main"), vm.outputs_of("main")) == (vm.inputs, vm.outputs)
    assert str(inputs[0]) == "x: float32[n, 7]"


@pytest.mark.parametrize(
    ("text", "shape", "dtype"),
    [
        ("float32[]", (), "float32"),
        ("int64[n, min(n, 3), (n + 1) // 2, 5]", ("n", "min(n, 3)", "(n + 1) // 2", 5), "int64"),
        ("float8_e4m3fn[0]", (0,), "float8_e4m3fn"),
        ("bfloat16[ndim=3]", None, "bfloat16"),
        ("bool", None, "bool"),
        ("tensor[5]", (5,), None),
        ("tensor", None, None),
        ("shape", None, None),
        ("tuple(float32[5], int64[])", None, None),
        ("object", None, None),
    ],
)
def test_every_kind_of_value_is_described(text, shape, dtype):
    assert tw.runtime.signature.tensor_info("a", text) == TensorInfo("a", shape, dtype, text)


def test_a_model_of_several_functions():
    one = PROGRAM.replace("def main", "def one")
    module = tw.IRModule(
        {"one": tw.script.parse(one), "two": tw.script.parse(one.replace("def one", "def two"))}
    )
    vm = tw.VirtualMachine(tw.compile(module))
    assert vm.inputs_of("two")[0].name == "x"
    with pytest.raises(tw.UserError) as error:
        vm.inputs  # noqa: B018
    assert (
        str(error.value)
        == "the model has no function main, but one, two\nhelp: ask vm.inputs_of(name) of one of them"
    )
    with pytest.raises(tw.UserError, match="did you mean two"):
        vm.outputs_of("tow")
    alone = tw.compile(tw.IRModule({"one": module["one"]}))
    assert [each.name for each in alone.inputs] == ["x", "y"]


KERNEL = """
@T.prim_func
def add(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(7):
        B[i] = A[i] + T.float32(1)
"""


def test_what_things_print(executable):
    vm = tw.VirtualMachine(executable)
    kernels = tw.build(tw.script.parse(KERNEL))
    shown = {
        repr(vm): f"<VirtualMachine {SIGNATURE}>",
        repr(vm["main"]): f"<Function {SIGNATURE}>",
        repr(executable): f"<Executable {SIGNATURE}; 2 kernels, 0 bytes of constants>",
        repr(kernels): "<Module jit: add>",
        repr(kernels["add"]): "<Function add(A: float32[7], B: float32[7] (written))>",
        repr(tw.cpu()): 'device("cpu:0")',
        repr(tw.Target("llvm -num-cores=2")): 'Target("llvm -num-cores=2")',
        repr(
            tw.tensor(np.arange(3, dtype="int8"))
        ): "Tensor(shape=(3,), dtype=int8, device=cpu:0)\narray([0, 1, 2], dtype=int8)",
    }
    assert list(shown) == list(shown.values())


def test_a_module_of_many_functions_prints_some():
    functions = {f"add{n}": tw.script.parse(KERNEL.replace("def add", f"def add{n}")) for n in range(9)}
    assert (
        repr(tw.build(tw.IRModule(functions)))
        == "<Module jit: add0, add1, add2, add3, add4, add5, add6, add7, ...>"
    )

"""Every public callable meets arguments of every wrong kind: it says so in words, or takes them, and never crashes.

docs/errors.md says what may come out: UserError (ArgumentError among them), Unsupported, or Python's own TypeError for a
class that is not made by calling it.
"""

import inspect
import types

import numpy as np
import pytest
from refusals import refusal

import tilewright
from tilewright import arith, ir, relax, runtime, schedule, script, te, tir, topi, transform
from tilewright.frontend import onnx
from tilewright.relax.frontend import nn

WRONG = [
    None, object(), 2**70, -1, float("nan"), b"bytes", [[1], [2, [3]]], "no such", {"a": 1}, {1, 2}, lambda: 0, int, (),
    1 + 2j, np.zeros(3), True, np.float32(1), te.var("n"), np.zeros(2, ">f4"), np.zeros(2, [("a", "i4")]),
    np.array([None]), (2**40, 2**40), range(3), tilewright.cpu(), te.placeholder((3,)),
]  # fmt: skip
# what changes the process, waits, opens files by design, or is a list or dict of Python
LEFT_OUT = {"set_num_threads", "register_func", "set_default_dtype", "ParameterDict", "ParameterList"}
MODULES = {
    "tilewright": tilewright, "te": te, "tir": tir, "ir": ir, "runtime": runtime, "script": script, "schedule": schedule,
    "transform": transform, "relax": relax, "relax.op": relax.op, "relax.op.nn": relax.op.nn,
    "relax.transform": relax.transform, "onnx": onnx, "topi.nn": topi.nn, "arith": arith,
    "nn": nn, "nn.op": nn.op,
    # its __all__ leaves out what hides names of Python
    "topi": types.SimpleNamespace(**{name: each for name, each in vars(topi).items() if not name.startswith("_")}),
}  # fmt: skip


def kernel():
    return tilewright.build(script.parse(COPY))["copy"]


COPY = """
@T.prim_func
def copy(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi]
"""


def objects():
    """One of each class whose methods people call."""
    module = tilewright.build(script.parse(COPY))
    return {
        "Tensor": tilewright.empty((2, 3)),
        "Module": module,
        "Function": module["copy"],
        "IRModule": tilewright.IRModule({"copy": script.parse(COPY)}),
        "Schedule": tilewright.Schedule(script.parse(COPY)),
        "Trace": tilewright.Schedule(script.parse(COPY)).trace,
        "BlockBuilder": relax.BlockBuilder(),
        "PassContext": transform.PassContext(),
        "Buffer": tir.decl_buffer((4,)),
        "Var": tir.Var("x", "int32"),
    }


def functions():
    seen = set()
    for place, module in MODULES.items():
        names = getattr(module, "__all__", None) or [
            name for name in vars(module) if not name.startswith("_")
        ]
        for name in names:
            found = getattr(module, name, None)
            is_error = isinstance(found, type) and issubclass(found, BaseException)
            if callable(found) and not inspect.ismodule(found) and not is_error and id(found) not in seen:
                seen.add(id(found))
                if name not in LEFT_OUT and "guard" not in name and name != "methods_for":
                    yield pytest.param(found, id=f"{place}.{name}")


def methods():
    for name, thing in objects().items():
        yield pytest.param(name, "__call__", id=f"{name}()")
        for key in dir(type(thing)):
            method = getattr(type(thing), key, None)
            # another test of this process may have given classes their TVM spellings
            is_ours = not (getattr(method, "__module__", None) or "").startswith("tilewright.compat")
            if not key.startswith("_") and callable(method) and is_ours:
                yield pytest.param(name, key, id=f"{name}.{key}")


def is_readable(error: Exception) -> bool:
    text = str(error)
    if isinstance(error, tilewright.UserError | tilewright.Unsupported):
        return bool(text) and "incompatible function arguments" not in text and "std::" not in text
    known = (
        "no constructor defined",
        "takes no arguments",
        "positional argument",
        "keyword-only argument",
        "unexpected keyword argument",
    )
    return isinstance(error, TypeError) and any(part in text for part in known)


def try_everything(call, named_too: bool = False) -> list[str]:
    failures = []
    ways = [
        (),
        *((value,) for value in WRONG),
        *((value, value) for value in WRONG),
        (None, 1),
        (1, None, []),
    ]
    for args in ways:
        for named in [{}, {"no_such_argument": 1}] if named_too else [{}]:
            try:
                call(*args, **named)
            except (StopIteration, KeyboardInterrupt):
                raise
            except Exception as error:
                if not is_readable(error):
                    given = ", ".join(type(arg).__name__ for arg in args)
                    failures.append(f"({given}): {type(error).__name__}: {str(error)[:200]}")
    return failures


@pytest.mark.parametrize("call", list(functions()))
def test_function(call, capsys):
    assert try_everything(call, named_too=True) == []


@pytest.mark.parametrize(("name", "method"), list(methods()))
def test_method(name, method, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # some write files of any name
    thing = objects()[name]
    if method == "__call__" and not callable(thing):
        return
    call = thing if method == "__call__" else getattr(thing, method)
    assert try_everything(call) == []


SIGNATURE = "\nhelp: the function is copy(A: float32[4], B: float32[4] (written))"
A = np.zeros(4, "float32")


def not_aligned():
    return np.zeros(17, "uint8")[1:].view("float32")


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((A,), "copy: 1 arguments given, expected 2 (A, B)"),
        ((A, A.astype("float64")), "copy: argument B has dtype float64, expected float32"),
        ((A.astype("bool"), A), "copy: argument A has dtype bool, expected float32"),
        ((A.astype("complex128"), A), "copy: argument A has dtype complex128, expected float32"),
        ((A.reshape(2, 2), A), "copy: argument A is 2-dimensional, expected 1-dimensional"),
        ((np.array(1, "float32"), A), "copy: argument A is 0-dimensional, expected 1-dimensional"),
        ((np.zeros(5, "float32"), A), "copy: argument A has shape [5], expected [4]"),
        ((not_aligned(), A), "copy: the data of argument A is not aligned to 4 bytes"),
        ((3, A), "copy: argument A is not a tensor"),
        ((np.float32(1), A), "copy: argument A is not a tensor"),
        ((None, A), "copy: argument A is not a tensor"),
        (("text", A), "copy: argument A is not a tensor"),
    ],
)
def test_what_a_kernel_refuses(args, text):
    assert refusal(kernel(), *args) == "error: " + text + SIGNATURE


@pytest.mark.parametrize("array", [np.zeros(8, "float32")[::2], A[::-1]])
def test_strided_arrays(array):
    text = "error: copy: argument A is not compact in row-major order"
    assert refusal(kernel(), array, A) == text + SIGNATURE + "; numpy.ascontiguousarray(x) is compact"


def test_names_with_percent_signs():
    A100 = te.placeholder((3,), name="100%s")
    function = tilewright.build(te.create_prim_func([A100, te.compute((3,), lambda i: A100[i], name="%n")]))
    x = np.zeros(3, "float32")
    assert refusal(function, 1, x).splitlines()[0] == "error: main: argument 100%s is not a tensor"
    assert (
        refusal(function, x, x[:2]).splitlines()[0] == "error: main: argument %n has shape [2], expected [3]"
    )


def fill(dtype):
    return tilewright.build(
        tilewright.script.parse(
            f"""
@T.prim_func
def fill(n: T.{dtype}, A: T.Buffer((1,), "int64")):
    A[0] = T.Cast("int64", n)
"""
        ),
        "llvm",
    )["fill"]


@pytest.mark.parametrize(
    ("dtype", "accepted", "wrong", "kept"),
    [
        ("int8", [-128, 127], [-129, 128], "from -128 to 127"),
        ("int16", [-(2**15), 2**15 - 1], [2**15, 2**40], "from -32768 to 32767"),
        ("int32", [-(2**31), 2**31 - 1], [2**31, -(2**31) - 1, 2**63 - 1], "from -2147483648 to 2147483647"),
        ("uint8", [0, 255], [-1, 256], "from 0 to 255"),
        ("uint32", [0, 2**32 - 1], [-1, 2**32], "from 0 to 4294967295"),
        ("uint64", [0, 2**63 - 1], [-1, -(2**63)], "not negative"),
        ("int64", [-(2**63), 2**63 - 1], [], ""),
    ],
)
def test_whole_numbers_do_not_wrap(dtype, accepted, wrong, kept):
    function = fill(dtype)
    signature = f"\nhelp: the function is fill(n: {dtype}, A: int64[1] (written))"
    out = tilewright.empty((1,), "int64")
    for number in accepted:
        function(number, out)
        assert out.numpy()[0] == number
    for number in wrong:
        text = f"error: fill: argument n is {number}, but {dtype} is {kept}"
        assert refusal(function, number, out) == text + signature
    for number in (1.0, np.float32(2.5)):
        assert refusal(function, number, out) == "error: fill: argument n is not an integer" + signature


def test_a_list_for_a_tensor():
    x = relax.Var("x", relax.TensorType((2,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(relax.op.nn.relu(x)))
    main = tilewright.VirtualMachine(tilewright.compile(bb.get()))["main"]
    assert refusal(main, [1.0, 2.0]) == (
        "error: main: x is a tuple or list, expected float32[2]\n"
        'help: make it a tensor, e.g. numpy.array(values, "float32"); the function is main(x: float32[2]) -> output: float32[2]'
    )


def test_arguments_by_name():
    text = "error: copy: A, B given by name, but arguments of compiled functions have only positions"
    assert refusal(kernel(), A=A, B=A) == text + SIGNATURE


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2**70, "error: copy: argument 1: 1180591620717411303424 does not fit in 64 bits"),
        (
            object(),
            "error: copy: argument 1: a Python object cannot be passed to a compiled function\n"
            "help: pass tensors, numpy arrays, numbers, strings or tuples of them",
        ),
        (
            A.astype(">f4"),
            "error: copy: argument 1: elements of dtype >f4 cannot be those of a tensor\n"
            "help: the bytes of each are in the other order: convert them, array.astype(array.dtype.newbyteorder())",
        ),
        (
            np.zeros(2, [("a", "i4")]),
            "error: copy: argument 1: elements of dtype [('a', '<i4')] cannot be those of a tensor\n"
            'help: convert them to numbers, e.g. array.astype("float32")',
        ),
        (
            np.array([None]),
            "error: copy: argument 1: elements of dtype object cannot be those of a tensor\n"
            'help: convert them to numbers, e.g. array.astype("float32")',
        ),
    ],
)
def test_what_is_no_argument(value, text):
    assert refusal(kernel(), value, A) == text


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: tilewright.Schedule(None),
            "Schedule: mod is a Python NoneType, expected a module or a function\n"
            "help: parse one with tilewright.script, or make one with te.create_prim_func",
        ),
        (
            lambda: tilewright.Schedule(script.parse(COPY)).get(3),
            "error: get: a Python int is not a handle\n"
            'help: pass what a step of a schedule returned, e.g. sch.get(sch.get_block("C"))',
        ),
        (
            lambda: tilewright.empty([[1]]),
            "error: empty: a dimension is a Python list, expected an integer\n"
            "help: give the shape as integers, e.g. (2, 3)",
        ),
        (
            lambda: tilewright.empty("ab"),
            "error: empty: the shape is a Python str, expected integers\n"
            "help: give the shape as integers, e.g. (2, 3)",
        ),
        (
            lambda: tilewright.empty(2**70),
            "error: empty: a dimension, 1180591620717411303424, does not fit in 64 bits",
        ),
        (
            lambda: tilewright.empty((2**40, 2**40)),
            "error: tensor: float32[1099511627776, 1099511627776] is larger than any memory",
        ),
        (
            lambda: tilewright.empty(3, 5),
            'error: the dtype is a Python int, expected a name\nhelp: e.g. "float32"',
        ),
        (
            lambda: tilewright.empty(3, device=3),
            "error: the device is a Python int, expected a device or its name\n"
            'help: e.g. tilewright.cpu() or "cuda:0"',
        ),
        (
            lambda: tilewright.tensor([[1], [2, 3]]),
            "error: a Python list is not a tensor: its rows have different lengths",
        ),
        (lambda: tilewright.tensor(int), "error: a Python type is not a tensor"),
        (
            lambda: tilewright.empty(3).copy_to(3),
            "error: copy_to: the target is a Python int, expected a tensor",
        ),
        (
            lambda: tilewright.build(script.parse(COPY))[3],
            'error: a function is looked up by a Python int, expected its name\nhelp: e.g. module["main"]',
        ),
        (lambda: script.tir.prim_func(3), "a Python int is no program\nhelp: decorate a function or a class"),
        (
            lambda: tilewright.build(3),
            "tilewright.build: cannot take (mod = 3): these are not the types that it takes\n"
            "help: build(mod, target='llvm', schedule: bool = True, check_bounds: bool = False): The loop programs of `mod`, compiled and loaded.",
        ),
        (
            lambda: te.placeholder(),
            "tilewright.te.placeholder: cannot take (): placeholder() missing 1 required positional argument: 'shape'\n"
            "help: placeholder(shape, dtype: str = 'float32', name: str = 'placeholder'): An input tensor.",
        ),
        (
            lambda: te.compute((3,), 5),
            "tilewright.te.compute: cannot take (shape = a Python tuple, fcompute = 5): 'int' object has no attribute "
            "'__code__'\nhelp: compute(shape, fcompute, name: str = 'compute', tag: str = '', attrs: dict | None = None): "
            "The tensor of `shape` whose element at the axes is `fcompute(*axes)`.",
        ),
    ],
)
def test_text(call, text):
    assert refusal(call) == text


def test_errors_of_the_users_own_function_come_through():
    def body(i):
        return {}["missing"]

    with pytest.raises(KeyError) as error:
        te.compute((3,), body)
    assert str(error.value) == "'missing'"


def test_a_wrong_argument_is_a_type_error_too():
    with pytest.raises(TypeError):
        te.placeholder(3, dtype=[])

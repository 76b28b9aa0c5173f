"""Tensors, targets, devices, programs and compiled code as values: pickle, copy, other processes."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import tilewright as tw
from tilewright import relax, tir

PROGRAM = """
@R.function
def main(x: R.Tensor(("n", 7), "float32"), y: R.Tensor((7,), "float32")):
    return R.nn.relu(R.add(x, y))
"""
KERNEL = """
@T.prim_func
def add(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(7):
        B[i] = A[i] + T.float32(1)
"""
X, Y = np.linspace(-1, 1, 35, dtype="float32").reshape(5, 7), np.full(7, 0.25, "float32")


def again(value, protocol=pickle.DEFAULT_PROTOCOL):
    return pickle.loads(pickle.dumps(value, protocol))


@pytest.fixture(scope="module")
def executable():
    return tw.compile(tw.script.parse(PROGRAM))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "dtype",
    [
        "float32",
        "float64",
        "float16",
        "bfloat16",
        "float8_e4m3fn",
        "int4",
        "uint4",
        "bool",
        "int8",
        "uint64",
    ],
)
@pytest.mark.parametrize("shape", [(), (0, 5), (5,), (3, 5, 7)])
def test_a_tensor_keeps_shape_dtype_and_elements(dtype, shape, protocol):
    pytest.importorskip("ml_dtypes")
    tensor = tw.empty(shape, dtype)
    tensor.copy_from(np.ones(shape).astype(tensor.numpy().dtype))
    found = again(tensor, protocol)
    assert (found.shape, found.dtype, found.device) == (tensor.shape, tensor.dtype, tensor.device)
    np.testing.assert_array_equal(found.numpy(), tensor.numpy())


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, again])
def test_a_copy_of_a_tensor_has_elements_of_its_own(copied):
    tensor = tw.tensor([1.0, 2.0])
    found = copied(tensor)
    found.copy_from(np.zeros(2))
    assert tensor.tolist() == [1, 2]


def test_a_view_with_gaps_is_pickled_as_numpy_sees_it():
    array = np.arange(35, dtype="float32").reshape(5, 7).T
    np.testing.assert_array_equal(again(tw.runtime.from_dlpack(array)).numpy(), array)


def test_bytes_of_another_size_are_no_tensor():
    with pytest.raises(tw.UserError) as error:
        tw._core.tensor_of_bytes(b"123", (1,), "float32")
    assert str(error.value) == "error: tensor: float32[1] takes 4 bytes, got 3"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, again])
@pytest.mark.parametrize(
    "value",
    [
        tw.cpu(),
        tw.device("cuda", 1),
        tw.Target("llvm -mcpu=skylake -num-cores=2"),
        tw.Target("c", host="llvm"),
        tir.Var("x", "int64") + 1,
        relax.TensorType((5, 7), "float32"),
    ],
    ids=str,
)
def test_devices_targets_and_nodes(value, copied):
    found = copied(value)
    if isinstance(value, tw.Device):
        assert found == value
    else:
        assert tw.ir.structural_equal(found, value, map_free_vars=True)
    assert repr(found) == repr(value)


def doubled(x):
    return 2 * x


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, again])
def test_a_module_keeps_functions_constants_and_python_functions(copied):
    module = tw.script.parse(PROGRAM)
    module = tw.IRModule({"main": module}) if not isinstance(module, tw.IRModule) else module
    module["add"] = tw.script.parse(KERNEL)
    module = module.with_attr("made", "here")
    module.pyfuncs["doubled"] = doubled
    found = copied(module)
    tw.ir.assert_structural_equal(found, module)
    assert found.attrs == {"made": "here"}
    assert found.pyfuncs == {"doubled": doubled}
    del found["add"]
    assert "add" in module


def test_an_executable_runs_again_and_tells_the_same(executable):
    for found in (again(executable), again(again(executable)), copy.deepcopy(executable)):
        np.testing.assert_array_equal(tw.VirtualMachine(found)["main"](X, Y).numpy(), np.maximum(X + Y, 0))
        assert (found.inputs, found.outputs, found.as_text()) == (
            executable.inputs,
            executable.outputs,
            executable.as_text(),
        )
        assert repr(found) == repr(executable)


def test_an_executable_from_bytes_is_exported_as_a_library(executable, tmp_path):
    again(executable).export_library(tmp_path / "model.so")
    vm = tw.VirtualMachine(tw.load_module(tmp_path / "model.so"))
    np.testing.assert_array_equal(vm["main"](X, Y).numpy(), np.maximum(X + Y, 0))
    with pytest.raises(tw.UserError) as error:
        again(executable).export_library("model.tar")
    assert str(error.value) == (
        "model.tar cannot be written: this executable was loaded from bytes, which are a .so\nhelp: name it .so"
    )


@pytest.mark.parametrize("name", ["legalized", "lowered"])
def test_an_executable_from_bytes_has_no_modules(executable, name):
    found = again(executable)
    with pytest.raises(tw.UserError) as error:
        getattr(found, name)
    assert str(error.value).startswith("error: ")
    assert str(error.value).endswith(
        "only contains code, not the modules it was compiled from\nhelp: ask the executable that tilewright.compile returned"
    )


def machines(executable, folder):
    executable.export_library(folder / "model.so")
    return {
        "executable": tw.VirtualMachine(executable),
        "file": tw.VirtualMachine(tw.load_module(folder / "model.so")),
        "bytes": tw.VirtualMachine(tw.runtime.load_bytes(executable.to_bytes())),
        "kernels": tw.VirtualMachine(executable.kernels),
    }


@pytest.mark.parametrize("made_of", ["executable", "file", "bytes", "kernels"])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, again])
def test_a_machine_runs_again(executable, made_of, copied, tmp_path):
    found = copied(machines(executable, tmp_path)[made_of])
    np.testing.assert_array_equal(found["main"](X, Y).numpy(), np.maximum(X + Y, 0))
    np.testing.assert_array_equal(again(found)["main"](X, Y).numpy(), np.maximum(X + Y, 0))


def test_inputs_that_a_machine_keeps_stay_behind(executable):
    vm = tw.VirtualMachine(executable)
    vm.set_input("main", X, Y)
    with pytest.raises(tw.UserError, match='"main" has no inputs'):
        again(vm).invoke_stateful("main")


def test_a_module_of_kernels():
    module = tw.build(tw.script.parse(KERNEL))
    for found in (again(module), again(again(module)), copy.deepcopy(module)):
        out = tw.empty((7,))
        found["add"](Y, out)
        assert out.tolist() == [1.25] * 7


def test_the_file_of_a_library_that_is_gone(executable, tmp_path):
    executable.export_library(tmp_path / "model.so")
    module = tw.load_module(tmp_path / "model.so")
    (tmp_path / "model.so").unlink()
    with pytest.raises(tw.UserError) as error:
        pickle.dumps(module)
    assert (
        str(error.value)
        == f"the library {tmp_path / 'model.so'} cannot be read again: No such file or directory"
    )


def test_a_function_says_what_travels_instead(executable):
    function = tw.VirtualMachine(executable)["main"]
    assert copy.copy(function) is function and copy.deepcopy(function) is function
    with pytest.raises(tw.ArgumentError) as error:
        pickle.dumps(function)
    assert str(error.value) == (
        "function main is code of this process and cannot be pickled\n"
        "help: pickle its VirtualMachine or Module, and look it up there"
    )


def run(machine, x):
    return machine["main"](x, Y)


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_other_processes_take_machines_and_give_tensors(executable, method):
    vm = tw.VirtualMachine(executable)
    with multiprocessing.get_context(method).Pool(2) as pool:
        results = pool.starmap(run, [(vm, tw.tensor(X + n)) for n in range(5)])
    for n, result in enumerate(results):
        np.testing.assert_array_equal(result.numpy(), np.maximum(X + n + Y, 0))

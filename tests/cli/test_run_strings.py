"""Strings in files of arrays: tilewright run and inspect, and a process that has the runtime only."""

import ctypes
import json

import numpy as np
import onnx
import pytest

INPUT = np.array([["b", "ä日", ""], ["😀", "long " * 30, "x"]])


@pytest.fixture
def model(tmp_path):
    """y = x + "!", and e, where x is "b"."""
    text = """<ir_version: 10, opset_import: ["": 20]>
    g (string[n, 3] x) => (string[n, 3] y, bool[n, 3] e) <string[1] mark = {"!"}, string[1] b = {"b"}> {
        y = StringConcat(x, mark)
        e = Equal(x, b)
    }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "model.onnx")
    return "model.onnx"


@pytest.mark.parametrize("change", [lambda x: x, np.asfortranarray, lambda x: x.astype(">U200")])
@pytest.mark.parametrize("is_library", [False, True])
def test_arrays_of_strings(command, tmp_path, model, change, is_library):
    if is_library:
        assert command("compile", model, "-o", "model.so", "-q").code == 0
        model = "model.so"
    np.savez(tmp_path / "x.npz", x=change(INPUT))
    done = command("run", model, "--input", "x.npz", "--output", "y.npz")
    assert done.code == 0
    assert done.out.splitlines()[0].startswith('y  string[2, 3]  "b!", "ä日!", "!", "😀!", "long long')
    with np.load(tmp_path / "y.npz") as outputs:
        np.testing.assert_array_equal(outputs["y"], np.char.add(INPUT, "!"))
        np.testing.assert_array_equal(outputs["e"], INPUT == "b")


def test_bytes_and_json(command, tmp_path, model):
    np.save(tmp_path / "x.npy", np.array([[b"b", b"\xc3\xa4", b""]]))
    done = command("run", model, "--input", "x.npy", "--json")
    assert json.loads(done.out)["outputs"][0] == {"name": "y", "dtype": "string", "shape": [1, 3]}
    np.save(tmp_path / "x.npy", np.array([[b"b", b"\xff", b""]]))
    done = command("run", model, "--input", "x.npy")
    assert done.err.splitlines()[-2:] == [
        'error: "x.npy" has a string that is not UTF-8',
        "help: encode it so",
    ]


def test_numbers_for_strings(command, tmp_path, model):
    np.savez(tmp_path / "x.npz", x=np.zeros((2, 3), "float32"))
    done = command("run", model, "--input", "x.npz")
    assert done.code != 0
    assert done.err.splitlines()[-3:] == [
        'error: "x.npz" has numbers for input "x", which is string[n, 3]',
        "help: the inputs are:",
        "  x  string[n, 3]",
    ]


def test_an_array_that_is_cut_short(command, tmp_path, model):
    np.save(tmp_path / "x.npy", INPUT)
    whole = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(whole[:-4])
    done = command("run", model, "--input", "x.npy")
    assert done.err.splitlines()[-2] == (
        'error: "x.npy" claims to be <U150[2, 3], which is 3600 bytes, but has 3596'
    )


def test_inspect(command, model):
    assert "x  string[n, 3]" in command("inspect", model).out
    found = json.loads(command("inspect", model, "--coverage", "--json").out)
    assert found["nodes"] == 2


class Description(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p)]


class DlTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32), ("dtype", ctypes.c_uint32),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
    ]  # fmt: skip


def test_c_interface_takes_and_gives_pairs(command, tmp_path, model):
    from pathlib import Path

    import tilewright

    assert command("compile", model, "-o", "model.so", "-q").code == 0
    (library,) = Path(tilewright.__file__).parents[2].glob("lib*/libtilewright_runtime.so")
    runtime = ctypes.CDLL(str(library))
    runtime.tilewright_last_error.restype = ctypes.c_char_p
    runtime.tilewright_tensor_info.restype = ctypes.POINTER(DlTensor)
    loaded, about = ctypes.c_void_p(), Description()
    assert runtime.tilewright_module_load(str(tmp_path / "model.so").encode(), ctypes.byref(loaded)) == 0
    assert runtime.tilewright_module_parameter(loaded, b"main", ctypes.c_int64(0), ctypes.byref(about)) == 0
    assert (about.name, about.type) == (b"x", b"string[n, 3]")

    def tensor(array, dtype):
        made = ctypes.c_void_p()
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        assert (
            runtime.tilewright_tensor_create(shape, array.ndim, ctypes.c_uint32(dtype), ctypes.byref(made))
            == 0
        )
        ctypes.memmove(runtime.tilewright_tensor_info(made).contents.data, array.tobytes(), array.nbytes)
        return made

    uint8, int64 = 1 | 8 << 8 | 1 << 16, 0 | 64 << 8 | 1 << 16
    data, ends = np.frombuffer(b"ab\xc3\xa4", "uint8"), np.array([[1, 2, 4]])
    args = (ctypes.c_void_p * 2)(tensor(data, uint8), tensor(ends, int64))
    results, count = (ctypes.c_void_p * 4)(), ctypes.c_int64()
    run = lambda number: runtime.tilewright_module_run(  # noqa: E731
        loaded, b"main", args, ctypes.c_int64(number), results, ctypes.c_int64(4), ctypes.byref(count)
    )
    assert run(2) == 0, runtime.tilewright_last_error()
    assert count.value == 3
    info = runtime.tilewright_tensor_info(ctypes.c_void_p(results[0])).contents
    assert ctypes.string_at(info.data, info.shape[0]) == "a!b!ä!".encode()
    info = runtime.tilewright_tensor_info(ctypes.c_void_p(results[1])).contents
    assert np.frombuffer(ctypes.string_at(info.data, 24), "int64").tolist() == [2, 4, 7]
    assert run(1) == -1
    assert runtime.tilewright_last_error().decode() == (
        'error: main: argument "x" is strings, which are two tensors\n'
        "help: pass the bytes (uint8), then the number of bytes up to the end of each string (int64)"
    )


def test_no_random_strings(command, model):
    done = command("run", model, "--random", "0", "-q")
    assert (done.code, done.out, done.err) == (
        2,
        "",
        'unsupported: input "x" is string[n, 3]: there are no random strings\nhelp: give the inputs with --input\n',
    )

"""Model files that are wrong: the same text from the program (exit code 2, no file) and from Python, never a crash."""

import os
import shutil
import subprocess

import numpy as np
import pytest

import tilewright

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402

FLOAT = TensorProto.FLOAT
X, Y = {"x": (FLOAT, [2, 3])}, {"y": (FLOAT, [2, 3])}
RELU = helper.make_node("Relu", ["x"], ["y"], name="relu")
ADD = helper.make_node("Add", ["x", "w"], ["y"], name="add")


@pytest.fixture
def refused(command, tmp_path, monkeypatch):
    """refused(path, text): both ways to compile `path` fail with `text`."""

    def check(path, text):
        done = command("compile", path, "-o", "out.so", "--quiet")
        assert (done.code, done.out, done.err) == (2, "", text + "\n")
        assert not list(tmp_path.glob("*out*")) and not list(tmp_path.glob(".tilewright*"))
        monkeypatch.chdir(tmp_path)
        kind = tilewright.UserError if text.startswith("error: ") else tilewright.Unsupported
        with pytest.raises(kind) as error:
            tilewright.compile(path)
        assert str(error.value) == text

    return check


def tensor(name, data_type, dims, raw=b""):
    proto = TensorProto()
    proto.name, proto.data_type, proto.raw_data = name, data_type, raw
    proto.dims.extend(dims)
    return proto


def test_missing_file(refused):
    refused("model.onnx", 'error: there is no file "model.onnx"\nhelp: check the path')


def test_pipe(refused, tmp_path):
    os.mkfifo(tmp_path / "model.onnx")
    refused(
        "model.onnx",
        'error: "model.onnx" is not a regular file, expected an ONNX file\nhelp: check the path',
    )


def test_folder(refused, tmp_path):
    (tmp_path / "model.onnx").mkdir()
    refused("model.onnx", 'error: "model.onnx" is a folder, expected an ONNX file\nhelp: check the path')


def test_empty_file(refused, tmp_path):
    (tmp_path / "model.onnx").touch()
    refused("model.onnx", 'error: "model.onnx" is empty\nhelp: export or download the model again')


NOT_ONNX = (
    'error: "model.onnx" is not an ONNX model, or is cut short\nhelp: export or download the model again'
)


def test_other_file(refused, tmp_path):
    (tmp_path / "model.onnx").write_text("<html>404 Not Found</html>\n")
    refused("model.onnx", NOT_ONNX)


def test_truncated_file(refused, save_model, tmp_path):
    path = tmp_path / save_model([RELU], X, Y)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    refused("model.onnx", NOT_ONNX)


def test_cyclic_graph(refused, save_model):
    nodes = [
        helper.make_node("Relu", ["b"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"], name="second"),
        helper.make_node("Add", ["x", "a"], ["y"]),
    ]
    refused(
        save_model(nodes, X, Y),
        'error: the graph has a cycle: Relu node "first" needs Relu node "second" needs the Relu node "first"\n'
        "help: an ONNX graph must be acyclic",
    )


def test_missing_initializer(refused, save_model):
    refused(
        save_model([ADD], X, Y),
        'error: Add node "add" reads "w", which no node, input or initializer defines\n'
        "help: the file is incomplete; check it with onnx.checker.check_model",
    )


def test_output_that_nothing_makes(refused, save_model):
    refused(save_model([RELU], X, {"z": (FLOAT, [2, 3])}), 'error: graph output "z" is not made by any node')


def test_two_nodes_make_one_value(refused, save_model):
    again = helper.make_node("Relu", ["x"], ["y"], name="again")
    refused(save_model([RELU, again], X, Y), 'error: two nodes make "y"; the second is the Relu node "again"')


def test_two_inputs_of_one_name(refused, save_model, tmp_path):
    path = tmp_path / save_model([RELU], X, Y)
    model = onnx.load(path)
    model.graph.input.append(model.graph.input[0])
    path.write_bytes(model.SerializeToString())
    refused("model.onnx", 'error: the graph has two inputs called "x"')


def test_node_without_output(refused, save_model):
    nothing = helper.make_node("Relu", ["x"], [], name="nothing")
    refused(save_model([RELU, nothing], X, Y), 'error: Relu node "nothing" has no output')


def test_node_without_input(refused, save_model):
    refused(
        save_model([helper.make_node("Relu", [], ["y"], name="relu")], X, Y),
        'error: Relu node "relu": 0 inputs, expected 1',
    )


def test_unknown_element_type(refused, save_model):
    refused(
        save_model([ADD], X, Y, {"w": tensor("w", 99, [2, 3])}),
        'error: tensor "w" has element type 99, which ONNX does not know\n'
        "help: the file is damaged; export or download the model again",
    )


def test_strings(refused, save_model):
    refused(
        save_model([ADD], X, Y, {"w": tensor("w", TensorProto.STRING, [1])}),
        'error: tensor "w" has shape [1], which is 1 strings, but 0 are given\n'
        "help: the file is damaged; export or download the model again",
    )


def test_complex_tensor(refused, save_model):
    refused(
        save_model([ADD], X, Y, {"w": tensor("w", TensorProto.COMPLEX64, [1])}),
        'unsupported: tensor "w" has element type COMPLEX64\nhelp: use bool, integers or floats',
    )


def test_complex_input(refused, save_model):
    refused(
        save_model([RELU], {"x": (TensorProto.COMPLEX64, [2])}, Y),
        'unsupported: value "x" has element type COMPLEX64\nhelp: use bool, integers or floats',
    )


def test_all_unknown_operators_at_once(refused, save_model):
    nodes = [
        helper.make_node("Frobnicate", ["x"], ["a"], name="f1"),
        helper.make_node("Frobnicate", ["a"], ["b"], name="f2"),
        helper.make_node("Widen", ["b"], ["y"], domain="my.ops"),
    ]
    refused(
        save_model(nodes, X, Y),
        "unsupported: the model uses operators that cannot be imported: Frobnicate (f1, f2); my.ops::Widen (y)\n"
        "help: express them with other operators where the model is exported, or say what one is: "
        'tilewright.frontend.onnx.register_converter("my.ops::Widen", fn)',
    )


def test_names_that_are_not_utf_8(save_model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / save_model([helper.make_node("Frobnicate", ["x"], ["y"], name="f1")], X, Y)
    path.write_bytes(path.read_bytes().replace(b"f1", b"\xff1"))
    with pytest.raises(tilewright.Unsupported) as error:
        tilewright.compile(str(path))
    assert str(error.value) == (
        "unsupported: the model uses operators that cannot be imported: Frobnicate (\\xff1)\n"
        "help: express them with other operators where the model is exported"
    )


def test_ten_claimed_gigabytes(refused, save_model):
    refused(
        save_model([ADD], X, Y, {"w": tensor("w", FLOAT, [50000, 50000], bytes(16))}),
        'error: tensor "w" has shape [50000, 50000] and dtype float32, which is 10000000000 bytes, but 16 are given\n'
        "help: the file is damaged; export or download the model again",
    )


def test_more_elements_than_numbers(refused, save_model):
    refused(
        save_model([ADD], X, Y, {"w": tensor("w", FLOAT, [1 << 40, 1 << 40])}),
        'error: tensor "w": float32[1099511627776, 1099511627776] is larger than any memory',
    )


def test_negative_dimension(refused, save_model):
    refused(
        save_model([ADD], X, Y, {"w": tensor("w", FLOAT, [-2, 3])}),
        'error: tensor "w": shape [-2, 3] has the negative dimension -2',
    )


def external(location):
    proto = tensor("w", FLOAT, [2, 3])
    proto.ClearField("raw_data")
    proto.data_location = TensorProto.EXTERNAL
    entry = proto.external_data.add()
    entry.key, entry.value = "location", location
    return proto


def test_external_data_that_is_missing(refused, save_model):
    refused(
        save_model([ADD], X, Y, {"w": external("weights.bin")}),
        'error: tensor "w": its data file "./weights.bin" is missing\nhelp: put it beside the model',
    )


@pytest.mark.parametrize("location", ["/etc/passwd", "../secret", "a/../../secret"])
def test_external_data_outside_of_the_folder(refused, save_model, location):
    refused(
        save_model([ADD], X, Y, {"w": external(location)}),
        f'error: tensor "w": external data at "{location}" is not inside the model\'s folder',
    )


def conv(**attributes):
    return [helper.make_node("Conv", ["x", "w"], ["y"], name="conv", **attributes)]


IMAGE = {"x": (FLOAT, [1, 2, 5, 5])}


def test_weights_of_a_convolution_have_four_dimensions(refused, save_model):
    refused(
        save_model(conv(), IMAGE, Y, {"w": np.ones((3, 2), "float32")}),
        'unsupported: Conv node "conv": the weight has 2 dimensions, expected 3 to 5 ([n, c, ...])',
    )


def test_stride_zero(refused, save_model):
    refused(
        save_model(
            conv(strides=[1, 0], auto_pad="SAME_UPPER"), IMAGE, Y, {"w": np.ones((3, 2, 3, 3), "float32")}
        ),
        'error: Conv node "conv": attribute "strides" is 0, expected 1 to 2147483647',
    )


def test_one_stride(refused, save_model):
    refused(
        save_model(
            conv(strides=[2], auto_pad="SAME_UPPER"), IMAGE, Y, {"w": np.ones((3, 2, 3, 3), "float32")}
        ),
        'error: Conv node "conv": attribute "strides" has 1 number, expected 2',
    )


def test_reshape_keeps_a_dimension_that_is_not_there(refused, save_model):
    node = helper.make_node("Reshape", ["x", "s"], ["y"], name="reshape")
    refused(
        save_model([node], X, Y, {"s": np.array([2, 3, 0], "int64")}),
        'error: Reshape node "reshape": the shape keeps dimension 2 of an input with 2 dimensions',
    )


@pytest.mark.parametrize(("op", "inputs"), [("Identity", [""]), ("Concat", ["x", ""])])
def test_input_left_out(refused, save_model, op, inputs):
    number = len(inputs) - 1
    attributes = {"axis": 0} if op == "Concat" else {}
    refused(
        save_model([helper.make_node(op, inputs, ["y"], name="node", **attributes)], X, Y),
        f'error: {op} node "node": input {number} is left out, but is required',
    )


def test_long_chains_are_no_problem(command, save_model):
    nodes = [helper.make_node("Neg", [f"v{n}"], [f"v{n + 1}"]) for n in range(2000)]
    model = save_model(nodes, {"v0": (FLOAT, [2])}, {"v2000": (FLOAT, [2])})
    done = command("inspect", model, "--stage", "graph")
    assert done.code == 0
    assert done.out.count("R.negative(") == 2000


@pytest.mark.parametrize("back", [0, 1], ids=["doubled", "Fibonacci"])
def test_sums_that_would_grow_exponentially_if_they_were_written_out(command, save_model, back):
    nodes = [helper.make_node("Add", [f"v{n}", f"v{max(n - back, 0)}"], [f"v{n + 1}"]) for n in range(60)]
    model = save_model(nodes, {"v0": (FLOAT, [2])}, {"v60": (FLOAT, [2])})
    done = command("run", model, "--random", 0, "-q")
    values = ["1.01839e+18, 4.97518e+17", "3.57983e+12, 1.74887e+12"][back]
    assert (done.code, done.out) == (0, f"v60  float32[2]  {values}\n")


# ---- compiled models


@pytest.fixture
def library(command, save_model, tmp_path):
    assert command("compile", save_model([RELU], X, Y), "-o", "model.so", "-q").code == 0
    return tmp_path / "model.so"


@pytest.fixture
def not_loaded(command, tmp_path, monkeypatch):
    """not_loaded(path, text): the program and Python refuse to load `path`."""

    def check(path, text):
        done = command("run", path, "--random", 0, "--quiet")
        assert (done.code, done.out, done.err) == (2, "", f"error: {text}\n")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(tilewright.UserError) as error:
            tilewright.load_module(path)
        assert str(error.value) == f"error: {text}"

    return check


def test_truncated_library(not_loaded, library):
    library.write_bytes(library.read_bytes()[:3000])
    not_loaded(
        "model.so", "cannot load model.so: it is truncated at 3000 bytes\nhelp: compile or copy it again"
    )


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_library_with_one_wrong_bit(not_loaded, library, part):
    bytes_ = bytearray(library.read_bytes())
    bytes_[int(part * len(bytes_))] ^= 4
    library.write_bytes(bytes_)
    not_loaded(
        "model.so",
        "cannot load model.so: it is damaged, its checksum is wrong\nhelp: compile or copy it again",
    )


def test_text_called_a_library(not_loaded, tmp_path):
    (tmp_path / "model.so").write_text("hello")
    not_loaded(
        "model.so",
        "cannot load model.so: it is not a shared library\nhelp: make one with `tilewright compile`",
    )


def test_missing_library(not_loaded):
    not_loaded("model.so", "cannot load model.so: there is no such file\nhelp: check the path")


def test_library_of_someone_else(command, tmp_path, monkeypatch):
    compiler = shutil.which("cc") or shutil.which("clang-19")
    if compiler is None:
        pytest.skip("no C compiler")
    (tmp_path / "other.c").write_text("int answer(void) { return 42; }\n")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", "other.so", "other.c"], cwd=tmp_path, check=True)
    done = command("run", "other.so", "--random", 0, "-q")
    assert done.code == 2
    assert done.err == (
        "error: other.so was not compiled by tilewright: it has no symbol __tilewright_abi_version\n"
        "help: make a library with `tilewright compile`\n"
    )


# ---- arrays from Python


@pytest.fixture
def relu(save_model, tmp_path):
    return tilewright.VirtualMachine(tilewright.compile(tmp_path / save_model([RELU], X, Y)))["main"]


def test_arrays_that_are_not_contiguous_work(relu):
    x = np.arange(-6, 6, dtype="float32").reshape(3, 4).T[::2]
    assert not x.flags.c_contiguous
    assert np.array_equal(relu(x).numpy(), np.maximum(x, 0))


def test_arrays_that_are_not_aligned_work(relu):
    x = np.frombuffer(bytes(1) + np.arange(-3, 3, dtype="float32").tobytes(), "float32", offset=1).reshape(
        2, 3
    )
    assert not x.flags.aligned
    assert np.array_equal(relu(x).numpy(), np.maximum(x, 0))


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ([np.zeros((2, 4), "float32")], "main: x is float32[2, 4], expected float32[2, 3]"),
        ([np.zeros((2, 3), "float64")], "main: x is float64[2, 3], expected float32[2, 3]"),
        ([np.zeros(3, "float32")], "main: x is float32[3], expected float32[2, 3]"),
        ([3.5], "main: x is a float, expected float32[2, 3]"),
        ([], "main: got 0 arguments, expected 1 (x)"),
        ([np.zeros((2, 3), "float32")] * 2, "main: got 2 arguments, expected 1 (x)"),
    ],
)
def test_wrong_arguments(relu, args, text):
    with pytest.raises(tilewright.UserError) as error:
        relu(*args)
    usage = "help: the function is main(x: float32[2, 3]) -> y: float32[2, 3]"
    assert str(error.value) == f"error: {text}\n{usage}"


def test_nan_and_infinity_pass(relu):
    x = np.array([[np.nan, np.inf, -np.inf], [1, -1, 0]], "float32")
    np.testing.assert_array_equal(relu(x).numpy(), np.array([[np.nan, np.inf, 0], [1, 0, 0]], "float32"))


# ---- targets and outputs from Python


def test_unknown_target_from_python(save_model, tmp_path):
    path = tmp_path / save_model([RELU], X, Y)
    with pytest.raises(tilewright.UserError) as error:
        tilewright.compile(path, target="lvm")
    assert str(error.value) == (
        'error: unknown target kind "lvm"\nhelp: the kinds are c, cuda, llvm, metal, opencl'
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("no/model.so", "No such file or directory\nhelp: the folder must exist and be writable"),
        ("model.exe", 'the ending ".exe" is not a known format\nhelp: use .so, .o, .a, .tar, .ll, .s, .tir'),
        ("folder.so", "it is a folder"),
    ],
)
def test_output_that_cannot_be_written_from_python(save_model, tmp_path, name, text):
    (tmp_path / "folder.so").mkdir()
    executable = tilewright.compile(tmp_path / save_model([RELU], X, Y))
    with pytest.raises(tilewright.UserError) as error:
        executable.export_library(str(tmp_path / name))
    assert str(error.value) == f"error: {tmp_path / name} cannot be written: {text}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.so", "model.onnx"]

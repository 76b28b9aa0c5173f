"""tilewright run: arrays in, arrays out, and what is wrong with them."""

import json
import resource
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from cli.conftest import affine_weights

INPUTS = "help: the inputs are:\n  x  float32[n, 3]\n"


@pytest.fixture
def library(command, affine):
    assert command("compile", affine, "-o", "model.so", "-q").code == 0
    return "model.so"


@pytest.fixture
def two_inputs(save_model):
    """difference = left - right and total = left + right, of float32[2]."""
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("Sub", ["left", "right"], ["difference"]),
        helper.make_node("Add", ["left", "right"], ["total"]),
    ]
    value = (TensorProto.FLOAT, [2])
    return save_model(nodes, {"left": value, "right": value}, {"difference": value, "total": value})


def numbers(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


def expected(x):
    w, b = affine_weights()
    return x @ w + b


@pytest.mark.parametrize("model", ["affine", "library"])
def test_npz_in_npz_out(command, tmp_path, request, model):
    x = numbers(5, 3)
    np.savez(tmp_path / "x.npz", x=x)
    done = command("run", request.getfixturevalue(model), "--input", "x.npz", "--output", "y.npz")
    assert done.code == 0
    assert done.out.splitlines()[-1] == "wrote y.npz"
    with np.load(tmp_path / "y.npz") as outputs:
        assert outputs.files == ["y"]
        np.testing.assert_allclose(outputs["y"], expected(x), rtol=1e-6)


@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        lambda x: x.astype(">f4"),
        lambda x: np.asfortranarray(x.astype(">f4")),
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    ],
    ids=["column-major", "big-endian", "both", "strided"],
)
def test_order_of_elements_and_bytes_does_not_matter(command, library, tmp_path, change):
    x = numbers(5, 3)
    np.savez_compressed(tmp_path / "x.npz", x=change(x))
    assert command("run", library, "-i", "x.npz", "-o", "y.npz").code == 0
    np.testing.assert_allclose(np.load(tmp_path / "y.npz")["y"], expected(x), rtol=1e-6)


def test_single_arrays(command, library, tmp_path):
    np.save(tmp_path / "x.npy", numbers(7, 3))
    assert command("run", library, "-i", "x.npy", "-o", "y.npy").code == 0
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected(numbers(7, 3)), rtol=1e-6)


def test_several_inputs_and_outputs(command, two_inputs, tmp_path):
    np.savez(tmp_path / "x.npz", right=np.array([1, 2], "float32"), left=np.array([5, 7], "float32"))
    done = command("run", two_inputs, "-i", "x.npz", "-q")
    assert done.out == "difference  float32[2]  4, 5\ntotal  float32[2]  6, 9\n"
    assert command("run", two_inputs, "-i", "x.npz", "-o", "y.npz").code == 0
    with np.load(tmp_path / "y.npz") as outputs:
        assert outputs.files == ["difference", "total"]
        assert outputs["total"].tolist() == [6, 9]


def test_nan_and_infinity_pass(command, library, tmp_path):
    x = np.array([[np.nan, 0, 0], [np.inf, 0, 0], [-np.inf, 0, 0]], "float32")
    np.savez(tmp_path / "x.npz", x=x)
    done = command("run", library, "-i", "x.npz", "-q")
    assert done.out == "y  float32[3, 2]  nan, nan, inf, inf, -inf, -inf\n"


def test_no_rows(command, library, tmp_path):
    np.savez(tmp_path / "x.npz", x=numbers(0, 3))
    assert command("run", library, "-i", "x.npz", "-q").out == "y  float32[0, 2]  \n"


def test_random_inputs_are_the_same_for_the_same_seed(command, library):
    first, again, other = (
        command("run", library, "--random", seed, "--dim", "n=2", "-q") for seed in (3, 3, 4)
    )
    assert first.out.startswith("y  float32[2, 2]  ")
    assert first.out == again.out != other.out


def test_json(command, library):
    result = json.loads(command("run", library, "--random", 0, "-q", "--json").out)
    assert result["outputs"] == [{"name": "y", "dtype": "float32", "shape": [1, 2]}]


def test_no_input_lists_what_there_is(command, library):
    done = command("run", library, "-q")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: run: no inputs were given\n"
        "help: give a .npz with --input, or --random SEED; the inputs are:\n  x  float32[n, 3]\n"
    )


def refused(command, library, text):
    done = command("run", library, "-i", "x.npz", "-o", "y.npz", "-q")
    assert (done.code, done.out, done.err) == (2, "", text)


def test_wrong_name(command, library, tmp_path):
    np.savez(tmp_path / "x.npz", image=numbers(5, 3))
    text = 'error: "x.npz" has an array "image", but the model has no input of that name\n'
    refused(command, library, text + INPUTS)
    assert not (tmp_path / "y.npz").exists()


def test_missing_array(command, two_inputs, tmp_path):
    np.savez(tmp_path / "x.npz", left=numbers(2))
    refused(
        command,
        two_inputs,
        'error: "x.npz" has no array for input "right", which is float32[2]\n'
        "help: the inputs are:\n  left   float32[2]\n  right  float32[2]\n",
    )


def test_one_array_for_two_inputs(command, two_inputs, tmp_path):
    np.save(tmp_path / "x.npy", numbers(2))
    done = command("run", two_inputs, "-i", "x.npy", "-q")
    assert done.code == 2
    assert done.err == (
        'error: "x.npy" is one array, but the model has 2 inputs\n'
        "help: write a .npz with numpy.savez, one array for each of:\n  left   float32[2]\n  right  float32[2]\n"
    )


def test_two_outputs_for_one_array(command, two_inputs):
    done = command("run", two_inputs, "--random", 0, "-o", "y.npy", "-q")
    assert done.code == 2
    assert done.err == 'error: "y.npy" holds one array, but the model has 2 outputs\nhelp: write a .npz\n'


def test_wrong_shape(command, library, tmp_path):
    np.savez(tmp_path / "x.npz", x=numbers(5, 4))
    refused(command, library, "error: main: x is float32[5, 4], expected float32[n, 3]\n" + INPUTS)


def test_wrong_ndim(command, library, tmp_path):
    np.savez(tmp_path / "x.npz", x=numbers(3))
    refused(command, library, "error: main: x is float32[3], expected float32[n, 3]\n" + INPUTS)


def test_wrong_dtype(command, library, tmp_path):
    np.savez(tmp_path / "x.npz", x=numbers(5, 3).astype("float64"))
    refused(command, library, "error: main: x is float64[5, 3], expected float32[n, 3]\n" + INPUTS)


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (np.zeros((5, 3), "complex64"), "<c8"),
        (np.array([[None, None, None]]), "|O"),
        (np.zeros((1, 3), "datetime64[s]"), "<M8[s]"),
    ],
)
def test_elements_that_are_no_numbers(command, library, tmp_path, array, name):
    np.savez(tmp_path / "x.npz", x=array)
    refused(
        command,
        library,
        f'unsupported: array "x" of "x.npz" has elements of numpy type "{name}"\n'
        "help: convert it to bool, an integer or a float type with numpy's astype\n",
    )


def test_strings_for_numbers(command, library, tmp_path):
    np.savez(tmp_path / "x.npz", x=np.array([["a", "b", "c"]]))
    refused(command, library, 'error: "x.npz" has strings for input "x", which is float32[n, 3]\n' + INPUTS)


def test_elements_of_several_fields(command, library, tmp_path):
    np.savez(tmp_path / "x.npz", x=np.zeros((5, 3), [("a", "f4"), ("b", "i8", (2,))]))
    refused(
        command,
        library,
        """unsupported: array "x" of "x.npz" has elements of several fields: [('a', '<f4'), ('b', '<i8', (2,))]\n"""
        'help: save each field as an array of its own, e.g. numpy.savez(path, x=array["x"])\n',
    )


def test_input_that_is_no_npz(command, library, tmp_path):
    (tmp_path / "x.npz").write_text("hello")
    refused(
        command,
        library,
        'error: "x.npz" is neither a .npz nor a .npy file\n'
        'help: write it with numpy.savez("x.npz", input_name=array)\n',
    )


def test_truncated_npz(command, library, tmp_path):
    np.savez(tmp_path / "x.npz", x=numbers(5, 3))
    whole = (tmp_path / "x.npz").read_bytes()
    (tmp_path / "x.npz").write_bytes(whole[: len(whole) // 2])
    refused(
        command,
        library,
        'error: "x.npz" is damaged: it ends too early\nhelp: write it again with numpy.savez\n',
    )


def test_damaged_npz(command, library, tmp_path):
    np.savez(tmp_path / "x.npz", x=numbers(5, 3))
    bytes_ = bytearray((tmp_path / "x.npz").read_bytes())
    bytes_[200] ^= 1
    (tmp_path / "x.npz").write_bytes(bytes_)
    refused(
        command,
        library,
        'error: "x.npz" is damaged: the checksum of "x.npy" is wrong\nhelp: write it again with numpy.savez\n',
    )


def test_npy_that_claims_ten_gigabytes(command, library, tmp_path):
    np.save(tmp_path / "x.npy", numbers(5, 3))
    text = (tmp_path / "x.npy").read_bytes().replace(b"(5, 3), }           ", b"(50000, 50000), }   ")
    (tmp_path / "x.npy").write_bytes(text)
    done = command("run", library, "-i", "x.npy", "-q")
    assert done.code == 2
    assert done.err == (
        'error: "x.npy" claims to be float32[50000, 50000], which is 10000000000 bytes, but has 60\n'
        "help: write it again with numpy.save\n"
    )


def test_missing_input_file(command, library):
    refused(command, library, 'error: there is no file "x.npz"\nhelp: check the path\n')


def test_existing_output_is_kept(command, library, tmp_path):
    (tmp_path / "y.npz").write_text("mine")
    done = command("run", library, "--random", 0, "-o", "y.npz", "-q")
    assert (done.code, done.err) == (2, 'error: "y.npz" exists already\nhelp: use --force to replace it\n')
    assert (tmp_path / "y.npz").read_text() == "mine"


def test_unknown_dimension(command, library):
    done = command("run", library, "--random", 0, "--dim", "m=2", "-q")
    assert (done.code, done.err) == (
        2,
        'error: --dim m=2: no input has a dimension "m"\nhelp: the only one is n\n',
    )


def test_dimension_without_size(command, library):
    done = command("run", library, "--random", 0, "--dim", "n", "-q")
    assert (done.code, done.err) == (2, "error: --dim n: expected a name and a size, e.g. n=8\n")


def test_dimension_of_size_zero(command, library):
    done = command("run", library, "--random", 0, "--dim", "n=0", "-q")
    assert (done.code, done.err) == (2, "error: --dim n=0: the size 0 is below 1\n")


def test_library_takes_no_compile_options(command, library):
    done = command("run", library, "--random", 0, "--opt-level", 1)
    assert done.code == 2
    assert done.err == (
        'error: --opt-level does not apply to "model.so", which is compiled already\n'
        "help: give the option to `tilewright compile`\n"
    )


def test_input_is_a_folder(command, library, tmp_path):
    (tmp_path / "x.npz").mkdir()
    refused(command, library, 'error: "x.npz" is a folder, expected a file\nhelp: check the path\n')


def test_input_is_a_device(command, library):
    done = command("run", library, "-i", "/dev/zero", "-q")
    assert (done.code, done.err) == (2, 'error: "/dev/zero" is not a regular file\n')


# files that even root cannot read
UNREADABLE = [str(path) for path in sorted(Path("/sys/bus").glob("*/drivers_probe"))[:1]]


@pytest.mark.parametrize("path", UNREADABLE)
def test_input_that_cannot_be_read(command, library, path):
    done = command("run", library, "-i", path, "-q")
    assert (done.code, done.err) == (2, f'error: cannot read "{path}"\nhelp: check its permissions\n')


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_standard_output_that_is_full(program, command, library, tmp_path):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [program, "run", library, "--random", "0", "-q"],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "error: standard output cannot be written: No space left on device\n"


def test_disk_that_is_full(program, command, library, tmp_path):
    # a limit on the size of files, whose signal is ignored, acts like a full disk
    def limit():
        # PoCL, where a test of this process has used it, catches the signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    words = [program, "run", library, "--random", "0", "--dim", "n=5000", "-o", "y.npz", "-q"]
    done = subprocess.run(
        words,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=limit,
        restore_signals=False,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'error: "y.npz" cannot be written: the disk may be full\n'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.onnx", "model.so"]


def test_an_output_that_is_no_file_of_arrays(command, affine, tmp_path):
    done = command("run", affine, "--random", "0", "-o", "y.txt")
    assert (done.code, done.out) == (2, "")
    assert done.err == 'error: "y.txt" is not a file of arrays\nhelp: its name must end in .npz or .npy\n'
    assert not (tmp_path / "y.txt").exists()


def test_standard_error_that_is_closed_or_full(program, affine, tmp_path):
    for end in ("2>&-", "2>/dev/full"):
        run = f"{program} run {affine} --random 0 --dim n=1 {end}"
        assert subprocess.run(run, shell=True, cwd=tmp_path, stdout=subprocess.DEVNULL).returncode == 0
        wrong = f"{program} run none.so {end}"
        assert subprocess.run(wrong, shell=True, cwd=tmp_path).returncode == 2


def test_values_of_16_bits_are_shown(command, save_model):
    from onnx import TensorProto, helper

    nodes = [helper.make_node("Constant", [], ["half"], value_floats=[1.5, -0.25])]
    nodes += [helper.make_node("Cast", ["half"], ["y"], to=TensorProto.FLOAT16)]
    nodes += [helper.make_node("Relu", ["x"], ["z"])]
    value = (TensorProto.FLOAT, [1])
    model = save_model(nodes, {"x": value}, {"y": (TensorProto.FLOAT16, [2]), "z": value})
    assert "y  float16[2]  1.5, -0.25\n" in command("run", model, "--random", "0", "-q").out


def test_checked_bounds(command, affine):
    plain = command("run", affine, "--random", "1", "--dim", "n=5", "-q")
    checked = command("run", affine, "--random", "1", "--dim", "n=5", "-q", "--check-bounds")
    assert (checked.code, checked.out) == (0, plain.out)


def test_check_bounds_of_a_library(command, affine):
    assert command("compile", affine, "-o", "model.so", "-q", "--check-bounds").code == 0
    done = command("run", "model.so", "--random", "1", "--dim", "n=5", "--check-bounds")
    assert (done.code, done.err) == (
        2,
        'error: --check-bounds does not apply to "model.so", which is compiled already\n'
        "help: give the option to `tilewright compile`\n",
    )

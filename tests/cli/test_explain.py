"""tilewright explain: every form of its answer, and what it refuses."""

import json


def test_names_each_kernel_and_its_limit(command, affine):
    done = command("explain", affine, "--dim", "n=127")
    assert done.code == 0
    first, peaks, *rest = done.out.splitlines()
    header, *rows = rest[rest.index("") + 1 :]  # behind what is said of a busy machine
    assert first.startswith("model.onnx: ") and first.endswith(" a call")
    assert peaks.startswith("peaks of ") and ", memory " in peaks
    assert header.split() == "kernel calls time share GFLOP/s GB/s lanes of limit limit".split()
    assert rows[0].split()[0] == "fused_matmul_add"
    assert rows[1].startswith("between kernels")
    assert [line[:8].strip() for line in rows if line.startswith("  ")][:3] == ["nodes", "work", "limit"]


def test_json_page_and_one_kernel(command, affine, tmp_path):
    done = command("explain", affine, "--json", "--html", "page.html", "--quiet")
    result = json.loads(done.out)
    (kernel,) = result["kernels"]
    assert kernel["name"] == "fused_matmul_add"
    assert kernel["flops"] == 2 * 3 * 2 + 2
    assert kernel["bytes"] == 4 * (3 + 6 + 2 + 2)
    assert 0 < kernel["vector_use"] <= 1
    assert [step["kernel"] for step in result["steps"]] == ["fused_matmul_add"]
    assert result["peaks"]["flops_per_s"] > 1e8
    page = (tmp_path / "page.html").read_text()
    assert page.count("<circle") == 1 and page.count("<rect") == 1
    assert "fused_matmul_add" in page
    detail = command("explain", affine, "--kernel", "fused_matmul_add", "--quiet")
    _, *rest = detail.out.splitlines()
    assert rest[rest.index("") + 1] == "fused_matmul_add"
    assert kernel["trace"].splitlines()[0] in detail.out


def test_refuses(command, affine):
    done = command("explain", affine, "--kernel", "fused_matmul", "--quiet")
    assert (done.code, done.err) == (
        2,
        'error: there is no kernel "fused_matmul"\nhelp: did you mean fused_matmul_add?\n',
    )
    command("compile", affine, "-o", "model.so")
    done = command("explain", "model.so")
    assert (done.code, done.err) == (
        2,
        'error: "model.so" is compiled already and has no schedules\nhelp: give the ONNX model it was compiled from\n',
    )
    done = command("explain", affine, "--html", "nowhere/page.html", "--quiet")
    assert (done.code, done.err) == (
        2,
        'error: "nowhere/page.html" cannot be written: No such file or directory\n'
        "help: its folder must exist and be writable\n",
    )


def test_bytes_of_parts_are_theirs_alone(command, save_model):
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("Softmax", ["x"], ["a"], axis=1),
        helper.make_node("Softmax", ["a"], ["b"], axis=0),
        helper.make_node("Concat", ["a", "b"], ["y"], axis=1),
    ]
    model = save_model(nodes, {"x": (TensorProto.FLOAT, [5, 7])}, {"y": (TensorProto.FLOAT, [5, 14])}, {})
    done = command("explain", model, "--json", "--quiet")
    kernels = json.loads(done.out)["kernels"]
    assert sorted(kernel["name"] for kernel in kernels) == ["softmax1_in_14", "softmax_in_14"]
    assert [kernel["bytes"] for kernel in kernels] == [4 * (5 * 7 + 5 * 7)] * 2

"""Loop programs that bring functions of their own as LLVM IR, and pointers into buffers."""

import numpy as np
import pytest

import tilewright
from tilewright import tir
from tilewright.script import tir as T

SCALE = """
define i32 @scale(ptr %data, i32 %count, float %factor) {
start:
  br label %loop
loop:
  %i = phi i32 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr float, ptr %data, i32 %i
  %old = load float, ptr %at
  %new = fmul float %old, %factor
  store float %new, ptr %at
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret i32 0
}
"""


@T.prim_func
def main(A: T.Buffer((6, 5), "float32")):
    for i in T.serial(3, annotations={"pragma_import_llvm": SCALE}):
        with T.block("A"):
            vi = T.axis.spatial(3, i)
            T.reads(A[vi * 2, 0:5])
            T.writes(A[vi * 2, 0:5])
            R = T.match_buffer(A[vi * 2, 0:5], (5,), strides=["s"], offset_factor=1)
            T.call_extern("int32", "scale", R.access_ptr("rw", offset=1), 4, T.float32(10))


def test_functions_of_llvm_ir_are_called_with_pointers_into_a_buffer():
    a = np.arange(30, dtype="float32").reshape(6, 5)
    tensor = tilewright.tensor(a)
    lib = tilewright.build(main)
    lib["main"](tensor)
    a[::2, 1:] *= 10
    np.testing.assert_array_equal(tensor.numpy(), a)
    assert "define internal" in lib.get_source("ll")


def test_pointers_of_vectors_count_vectors():
    @T.prim_func
    def main(A: T.Buffer((16,), "float32")):
        for i in T.serial(1, annotations={"pragma_import_llvm": SCALE}):
            T.call_extern("int32", "scale", A.access_ptr("rw", content_lanes=4, offset=4), 3, T.float32(2))

    tensor = tilewright.tensor(np.ones(16, "float32"))
    tilewright.build(main)["main"](tensor)
    expected = np.ones(16, "float32")
    expected[4:7] = 2
    np.testing.assert_array_equal(tensor.numpy(), expected)


def test_the_text_is_kept_by_the_program():
    assert tilewright.script.parse(main.script()).script() == main.script()
    assert tir.verify(main) is None


C_SCALE = """
static float limit = 100;
static float limited(float x) { return x > limit ? limit : x; }
int scale(float* data, int count, float factor) {
  for (int i = 0; i < count; ++i) data[i] = limited(data[i] * factor);
  return 0;
}
"""


@T.prim_func
def with_c(A: T.Buffer((16,), "float32")):
    for i in T.serial(2, annotations={"pragma_import_c": C_SCALE}):
        T.call_extern("int32", "scale", A.access_ptr("rw", offset=i * 8), 5, T.float32(10))


@pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=x86-64", "c"])
def test_functions_of_c_are_called(target):
    tensor = tilewright.tensor(np.arange(16, dtype="float32"))
    tilewright.build(with_c, target)["with_c"](tensor)
    expected = np.arange(16, dtype="float32")
    for first in (0, 8):
        expected[first : first + 5] = np.minimum(expected[first : first + 5] * 10, 100)
    np.testing.assert_array_equal(tensor.numpy(), expected)


def test_two_functions_with_the_same_c_make_one_library(tmp_path):
    module = tilewright.IRModule(
        {"one": with_c.with_attr("global_symbol", "one"), "two": with_c.with_attr("global_symbol", "two")}
    )
    for target in ("llvm", "c"):
        tilewright.build(module, target).export_library(tmp_path / f"{target}.so")
        tensor = tilewright.tensor(np.ones(16, "float32"))
        tilewright.load_module(str(tmp_path / f"{target}.so"))["two"](tensor)
        assert tensor.numpy().sum() == 10 * 10 + 6


@pytest.mark.parametrize("form", ["lowered", "ll", "asm"])
def test_two_builds_of_a_program_with_c_have_the_same_text(form):
    first, second = (tilewright.build(with_c, "llvm").get_source(form) for _ in range(2))
    assert "with_c" in first
    assert first == second


def test_c_needs_clang(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(tilewright.UserError) as error:
        tilewright.build(with_c)
    assert str(error.value) == (
        "error: pragma_import_c: no clang was found: neither clang-19 nor clang is on the PATH\n"
        "help: install it (Debian: apt-get install clang-19), or bring LLVM IR with pragma_import_llvm"
    )


def test_what_clang_refuses():
    @T.prim_func
    def wrong(A: T.Buffer((16,), "float32")):
        for i in T.serial(2, annotations={"pragma_import_c": "int scale(float* data { return 0; }"}):
            A[i] = T.float32(0)

    with pytest.raises(tilewright.UserError, match=r"pragma_import_c: the compiler .* failed: ") as error:
        tilewright.build(wrong)
    assert "expected ')'" in str(error.value)

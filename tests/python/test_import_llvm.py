"""Loop programs that bring functions of their own as LLVM IR, and pointers into buffers."""

import numpy as np

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

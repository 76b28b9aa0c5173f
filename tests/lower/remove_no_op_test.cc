// Statements that compute nothing go.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(RemoveNoOp, LoopsThatDoNotRunAndEmptyLoopsGo) {
  check_pass("remove_no_op", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), n: T.int32):
        for i in range(0):
            A[i] = T.float32(1)
        for i in range(n):
            T.evaluate(0)
        for i in range(5):
            A[i] = T.float32(2)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), n: T.int32):
        for i in range(5):
            A[i] = T.float32(2)
  )");
}

TEST(RemoveNoOp, BranchesThatAreEmptyOrDecidedGo) {
  check_pass("remove_no_op", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), n: T.int32):
        if n > 1:
            T.evaluate(0)
        if n > 2:
            T.evaluate(n)
        else:
            A[0] = T.float32(1)
        if T.bool(False):
            A[1] = T.float32(1)
        else:
            A[2] = T.float32(1)
        if n > 3:
            A[3] = T.float32(1)
        else:
            T.evaluate(0)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), n: T.int32):
        if not n > 2:
            A[0] = T.float32(1)
        A[2] = T.float32(1)
        if n > 3:
            A[3] = T.float32(1)
  )");
}

TEST(RemoveNoOp, StoreOfWhatIsThereGoes) {
  check_pass("remove_no_op", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32")):
        for i in range(4):
            A[i] = A[i]
            A[i + 1] = A[i]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32")):
        for i in range(4):
            A[i + 1] = A[i]
  )");
}

TEST(RemoveNoOp, DefinitionsThatNobodyUsesGo) {
  check_pass("remove_no_op", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), n: T.int32):
        x: T.int32 = n + 1
        y: T.int32 = n + 2
        B = T.decl_buffer((5,), "float32", data=A.data)
        for i in range(0):
            A[i] = B[i]
        A[0] = T.Cast("float32", y)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), n: T.int32):
        y: T.int32 = n + 2
        A[0] = T.Cast("float32", y)
  )");
}

TEST(RemoveNoOp, CallsAndUsedPointersStay) {
  check_unchanged("remove_no_op", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), n: T.int32):
        p: T.handle("float32") = T.address_of(A[1])
        B = T.decl_buffer((4,), "float32", data=p)
        B[0] = T.float32(1)
        for i in range(n):
            T.call_extern("int32", "f", i)
        if T.call_extern("bool", "g", n):
            A[1] = T.float32(1)
  )");
}

}  // namespace
}  // namespace tilewright::lower

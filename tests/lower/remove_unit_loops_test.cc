// Loops of one iteration are that iteration.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(RemoveUnitLoops, OfAnyKindWhereverTheyBegin) {
  check_pass("remove_unit_loops", R"(
    @T.prim_func
    def main(A: T.Buffer((3, 5), "float32"), B: T.Buffer((3, 5), "float32")):
        for i in range(1, 2):
            for j in T.unroll(1):
                B[i, j] = A[i, j] + T.float32(1)
            for j in range(5):
                for k in T.vectorized(1):
                    B[i + k, j] = A[i, j]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((3, 5), "float32"), B: T.Buffer((3, 5), "float32")):
        B[1, 0] = A[1, 0] + T.float32(1)
        for j in range(5):
            B[T.Add(1, 0), j] = A[1, j]
  )");
}

TEST(RemoveUnitLoops, OthersStay) {
  // threads, an open extent, an annotation
  check_unchanged("remove_unit_loops", R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in T.thread_binding(1, "threadIdx.x"):
            for j in range(n):
                B[j] = A[j]
            for j in T.serial(1, annotations={"software_pipeline_stage": 0}):
                B[j] = A[j]
  )");
  // what leaves the loop would leave another one
  check_unchanged("remove_unit_loops", R"(
    @T.prim_func
    def main(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            for j in range(1):
                if A[i] < T.float32(0):
                    T.evaluate(T.break_loop())
                B[i] = A[i]
  )");
}

}  // namespace
}  // namespace tilewright::lower

// Views of regions become accesses of what they view, in bodies and in what blocks say that they read and
// write.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(LowerMatchBuffer, AccessesAndRegionsAreOfTheSource) {
  check_pass("lower_match_buffer", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 14), "float32")):
        with T.block("root"):
            T.reads()
            T.writes()
            V = T.match_buffer(B[0:5, 7:14], (5, 7), strides=(14, 1), offset_factor=1)
            for i, j in T.grid(5, 7):
                with T.block("V"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.reads(A[vi, vj])
                    T.writes(V[vi, vj])
                    V[vi, vj] = A[vi, vj]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 14), "float32")):
        with T.block("root"):
            T.reads()
            T.writes()
            for i, j in T.grid(5, 7):
                with T.block("V"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.reads(A[vi, vj])
                    T.writes(B[vi, 7 + vj])
                    B[vi, 7 + vj] = A[vi, vj]
  )");
}

TEST(LowerMatchBuffer, DimensionsThatTheViewLacks) {
  check_pass("lower_match_buffer", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32")):
        for i in range(5):
            with T.block("outer"):
                vi = T.axis.spatial(5, i)
                T.reads()
                T.writes(A[vi, 0:7])
                V = T.match_buffer(A[vi, 0:7], (7,), offset_factor=1)
                for j in range(7):
                    with T.block("V"):
                        vj = T.axis.spatial(7, j)
                        T.reads()
                        T.writes(V[vj])
                        V[vj] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32")):
        for i in range(5):
            with T.block("outer"):
                vi = T.axis.spatial(5, i)
                T.reads()
                T.writes(A[vi, 0:7])
                for j in range(7):
                    with T.block("V"):
                        vj = T.axis.spatial(7, j)
                        T.reads()
                        T.writes(A[vi, vj])
                        A[vi, vj] = T.float32(1)
  )");
}

TEST(LowerMatchBuffer, ProgramsWithoutViewsStay) {
  check_unchanged("lower_match_buffer", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("A"):
                vi = T.axis.spatial(5, i)
                A[vi] = A[vi] + T.float32(1)
  )");
}

}  // namespace
}  // namespace tilewright::lower

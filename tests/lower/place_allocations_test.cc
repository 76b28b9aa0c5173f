// Memory is allocated where it is used, but outside of loops that carry its values.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(PlaceAllocations, ElementByElementInsideOfTheLoop) {
  check_pass(place_allocations, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
        Y = T.alloc_buffer((5, 7), "float32")
        for i in range(5):
            for j in range(7):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = A[vi, vj]
            for j in range(7):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = Y[vi, vj]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
        with T.block("root"):
            for i in range(5):
                Y = T.decl_buffer((5, 7), "float32")
                for j in range(7):
                    with T.block("Y"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        Y[vi, vj] = A[vi, vj]
                for j in range(7):
                    with T.block("B"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        B[vi, vj] = Y[vi, vj]
  )");
}

TEST(PlaceAllocations, SumsOutsideOfTheirLoop) {
  check_pass(place_allocations, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5,), "float32")):
        Y = T.alloc_buffer((5,), "float32")
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                if vk == 0:
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
                B[vi] = Y[vi]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5,), "float32")):
        with T.block("root"):
            for i in range(5):
                Y = T.decl_buffer((5,), "float32")
                for k in range(7):
                    with T.block("Y"):
                        vi, vk = T.axis.remap("SR", [i, k])
                        if vk == 0:
                            Y[vi] = T.float32(0)
                        Y[vi] = Y[vi] + A[vi, vk]
                        B[vi] = Y[vi]
  )");
}

TEST(PlaceAllocations, NestsThatShareABufferHaveItAroundThem) {
  check_pass(place_allocations, R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        Y = T.alloc_buffer((5,), "float32")
        for i in range(5):
            with T.block("Y"):
                vi = T.axis.spatial(5, i)
                Y[vi] = A[vi]
        for i in range(5):
            with T.block("B"):
                vi = T.axis.spatial(5, i)
                B[vi] = Y[4 - vi]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        with T.block("root"):
            Y = T.decl_buffer((5,), "float32")
            for i in range(5):
                with T.block("Y"):
                    vi = T.axis.spatial(5, i)
                    Y[vi] = A[vi]
            for i in range(5):
                with T.block("B"):
                    vi = T.axis.spatial(5, i)
                    B[vi] = Y[4 - vi]
  )");
}

TEST(PlaceAllocations, NothingToAllocate) {
  check_unchanged(place_allocations, R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("B"):
                vi = T.axis.spatial(5, i)
                B[vi] = A[vi]
  )");
}

}  // namespace
}  // namespace tilewright::lower

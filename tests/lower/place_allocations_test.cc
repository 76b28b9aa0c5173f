// Memory is allocated where it is used, but outside of loops that carry its values.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(PlaceAllocations, ElementByElementInsideOfTheLoop) {
  check_pass("place_allocations", R"(
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
  check_pass("place_allocations", R"(
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
  check_pass("place_allocations", R"(
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

TEST(PlaceAllocations, ValuesOfAnEarlierIterationStayOutsideOfTheLoop) {
  check_pass("place_allocations", R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((7,), "float32")
        for i in range(5):
            for j in range(7):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    if vi < 1:
                        B[vj] = A[vj]
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[6 - vj]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((5, 7), "float32")):
        with T.block("root"):
            B = T.decl_buffer((7,), "float32")
            for i in range(5):
                for j in range(7):
                    with T.block("B"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        if vi < 1:
                            B[vj] = A[vj]
                for j in range(7):
                    with T.block("C"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        C[vi, vj] = B[6 - vj]
  )");
}

TEST(PlaceAllocations, HalfOfABufferWrittenInAnIterationStaysOutsideOfTheLoop) {
  check_pass("place_allocations", R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), C: T.Buffer((2, 8), "float32")):
        B = T.alloc_buffer((8,), "float32")
        for i in range(2):
            for j in range(8 - i * 4):
                with T.block("B"):
                    vj = T.axis.spatial(8, j)
                    B[vj] = A[vj] + T.float32(1)
            for j in range(8):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vj]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), C: T.Buffer((2, 8), "float32")):
        with T.block("root"):
            B = T.decl_buffer((8,), "float32")
            for i in range(2):
                for j in range(8 - i * 4):
                    with T.block("B"):
                        vj = T.axis.spatial(8, j)
                        B[vj] = A[vj] + T.float32(1)
                for j in range(8):
                    with T.block("C"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        C[vi, vj] = B[vj]
  )");
}

TEST(PlaceAllocations, APredicateOfTheWriterKeepsTheBufferOutside) {
  check_pass("place_allocations", R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((7,), "float32")
        for i in range(5):
            for j in range(7):
                with T.block("B"):
                    vj = T.axis.spatial(7, j)
                    T.where(i < 1)
                    B[vj] = A[vj]
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vj]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((5, 7), "float32")):
        with T.block("root"):
            B = T.decl_buffer((7,), "float32")
            for i in range(5):
                for j in range(7):
                    with T.block("B"):
                        vj = T.axis.spatial(7, j)
                        T.where(i < 1)
                        B[vj] = A[vj]
                for j in range(7):
                    with T.block("C"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        C[vi, vj] = B[vj]
  )");
}

// The guard of the last tile is on both sides; windows of neighbouring iterations overlap.
TEST(PlaceAllocations, WhatAnIterationWritesItselfGoesInsideOfTheLoop) {
  check_pass("place_allocations", R"(
    @T.prim_func
    def main(A: T.Buffer((12,), "float32"), C: T.Buffer((10,), "float32")):
        B = T.alloc_buffer((12,), "float32")
        for i in range(3):
            for j in range(6):
                with T.block("B"):
                    vj = T.axis.spatial(12, i * 4 + j)
                    T.where(i * 4 + j < 12)
                    B[vj] = A[vj] * T.float32(2)
            for j in range(4):
                with T.block("C"):
                    vj = T.axis.spatial(10, i * 4 + j)
                    T.where(i * 4 + j < 10)
                    C[vj] = B[vj] + B[vj + 2]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((12,), "float32"), C: T.Buffer((10,), "float32")):
        with T.block("root"):
            for i in range(3):
                B = T.decl_buffer((12,), "float32")
                for j in range(6):
                    with T.block("B"):
                        vj = T.axis.spatial(12, i * 4 + j)
                        T.where(i * 4 + j < 12)
                        B[vj] = A[vj] * T.float32(2)
                for j in range(4):
                    with T.block("C"):
                        vj = T.axis.spatial(10, i * 4 + j)
                        T.where(i * 4 + j < 10)
                        C[vj] = B[vj] + B[vj + 2]
  )");
}

// The result of lower_init for a sum that is computed anew for each i.
TEST(PlaceAllocations, ASumWithItsStartInAnIterationGoesInsideOfTheLoop) {
  check_pass("place_allocations", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((3, 5), "float32")):
        Y = T.alloc_buffer((5,), "float32")
        for i in range(3):
            for j, k in T.grid(5, 7):
                with T.block("Y"):
                    vj, vk = T.axis.remap("SR", [j, k])
                    if vk == 0:
                        Y[vj] = T.float32(0)
                    Y[vj] = Y[vj] + A[vj, vk]
            for j in range(5):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = Y[vj]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((3, 5), "float32")):
        with T.block("root"):
            for i in range(3):
                Y = T.decl_buffer((5,), "float32")
                for j, k in T.grid(5, 7):
                    with T.block("Y"):
                        vj, vk = T.axis.remap("SR", [j, k])
                        if vk == 0:
                            Y[vj] = T.float32(0)
                        Y[vj] = Y[vj] + A[vj, vk]
                for j in range(5):
                    with T.block("C"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        C[vi, vj] = Y[vj]
  )");
}

// T.reads and T.writes of the block around do not keep B outside of the loop, whose iterations run at the same
// time.
TEST(PlaceAllocations, RegionsOfABlockAroundAreNoUse) {
  check_pass("place_allocations", R"(
    @T.prim_func
    def main(A: T.Buffer((12,), "float32"), C: T.Buffer((3,), "float32")):
        B = T.alloc_buffer((2,), "float32")
        with T.block("both"):
            T.reads(A[0:12], B[0:2])
            T.writes(B[0:2], C[0:3])
            for i in T.parallel(3):
                for j in range(2):
                    with T.block("B"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        B[vj] = A[vi * 4 + vj]
                with T.block("C"):
                    vi = T.axis.spatial(3, i)
                    C[vi] = B[0] + B[1]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((12,), "float32"), C: T.Buffer((3,), "float32")):
        with T.block("root"):
            with T.block("both"):
                T.reads(A[0:12])
                T.writes(C[0:3])
                for i in T.parallel(3):
                    B = T.decl_buffer((2,), "float32")
                    for j in range(2):
                        with T.block("B"):
                            vi, vj = T.axis.remap("SS", [i, j])
                            B[vj] = A[vi * 4 + vj]
                    with T.block("C"):
                        vi = T.axis.spatial(3, i)
                        C[vi] = B[0] + B[1]
  )");
}

TEST(PlaceAllocations, WhatASumOnlyReadsGoesInsideOfItsLoop) {
  check_pass("place_allocations", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7,), "float32")):
        Y = T.alloc_buffer((5, 7), "float32")
        for k in range(5):
            for j in range(7):
                with T.block("Y"):
                    vk, vj = T.axis.remap("SS", [k, j])
                    Y[vk, vj] = A[vk, vj]
            for j in range(7):
                with T.block("B"):
                    vj, vk = T.axis.remap("SR", [j, k])
                    B[vj] = B[vj] + Y[vk, vj]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7,), "float32")):
        with T.block("root"):
            for k in range(5):
                Y = T.decl_buffer((5, 7), "float32")
                for j in range(7):
                    with T.block("Y"):
                        vk, vj = T.axis.remap("SS", [k, j])
                        Y[vk, vj] = A[vk, vj]
                for j in range(7):
                    with T.block("B"):
                        vj, vk = T.axis.remap("SR", [j, k])
                        B[vj] = B[vj] + Y[vk, vj]
  )");
}

TEST(PlaceAllocations, NothingToAllocate) {
  check_unchanged("place_allocations", R"(
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

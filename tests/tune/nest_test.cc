// Loops, stores and indices of programs as flat arrays.
#include "tilewright/tune/nest.h"

#include "nest_testing.h"

namespace tilewright::tune {
namespace {

TEST(Nest, quotients_and_remainders_of_a_fused_loop_are_terms) {
  const Nest nest = nest_of(module_of(R"(
def main(C: T.Buffer((32, 4), "float32")):
    for f in T.parallel(8):
        for i in range(16):
            with T.block("C"):
                vi = T.axis.spatial(32, f // 4 * 16 + i)
                vj = T.axis.spatial(4, f % 4)
                C[vi, vj] = T.float32(0)
)"));
  ASSERT_EQ(nest.loops.size(), 2u);
  EXPECT_EQ(nest.loops[0].kind, tir::ForKind::kParallel);
  EXPECT_EQ(nest.loops[1].parent, 0);
  ASSERT_EQ(nest.stores.size(), 1u);
  const Access& access = nest.stores[0].accesses[0];
  EXPECT_EQ(access.indices[0].terms, (std::vector<Term>{{.loop = 0, .coef = 16, .extent = 2, .divisor = 4},
                                                        {.loop = 1, .coef = 1, .extent = 16}}));
  EXPECT_EQ(access.indices[1].terms, (std::vector<Term>{{.loop = 0, .coef = 1, .extent = 4}}));
  EXPECT_EQ(access.indices[0].span(), 31);
}

TEST(Nest, operations_by_kind) {
  const Nest nest = nest_of(module_of(R"(
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "int32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = C[vi] + A[vi] * A[vi] - T.exp(A[vi]) / T.max(A[vi], T.Cast("float32", B[vi] * 3))
)"));
  const Operations& found = nest.stores[0].operations;
  EXPECT_EQ(found.float_fma, 1);
  EXPECT_EQ(found.float_add, 1);
  EXPECT_EQ(found.float_mul, 0);
  EXPECT_EQ(found.float_div, 1);
  EXPECT_EQ(found.float_other, 1);
  EXPECT_EQ(found.math, 1);
  EXPECT_EQ(found.int_mul, 1);
  EXPECT_EQ(found.casts, 1);
  EXPECT_EQ(found.total(), 8);
}

TEST(Nest, neighbours_are_one_access) {
  const Nest nest = nest_of(module_of(R"(
def main(A: T.Buffer((10,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + A[vi + 1] + A[vi + 2]
)"));
  const NestStore& store = nest.stores[0];
  ASSERT_EQ(store.accesses.size(), 2u);
  EXPECT_EQ(store.accesses[0].stores, 1);
  EXPECT_EQ(store.accesses[1].loads, 3);
  EXPECT_EQ(store.accesses[1].spread, std::vector<double>{2});
}

TEST(Nest, local_memory_is_what_an_iteration_touches) {
  const Nest nest = nest_of(module_of(R"(
def main(A: T.Buffer((32, 64), "float32"), B: T.Buffer((32, 64), "float32")):
    L = T.alloc_buffer((32, 64))
    for i in range(32):
        for j in range(64):
            with T.block("L"):
                vi, vj = T.axis.remap("SS", [i, j])
                L[vi, vj] = A[vi, vj]
        for j in range(64):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = L[vi, vj]
)"));
  const NestBuffer& local = nest.buffers[0];
  EXPECT_TRUE(local.is_local);
  EXPECT_EQ(local.home, 0);
  EXPECT_EQ(local.extents, (std::vector<double>{1, 64}));
  EXPECT_FALSE(nest.buffers[1].is_local);
}

TEST(Nest, a_sum_is_set_once_for_all_of_its_terms) {
  const Nest nest = nest_of(module_of(R"(
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 8):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
)"));
  ASSERT_EQ(nest.stores.size(), 2u);
  EXPECT_EQ(nest.stores[0].share, 0.125);
  EXPECT_EQ(nest.stores[1].share, 1);
}

TEST(Nest, what_no_sum_of_loops_describes_may_be_anywhere) {
  const Nest nest = nest_of(module_of(R"(
def main(a: T.handle, I: T.Buffer((7,), "int32"), B: T.Buffer((7,), "float32")):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    for i in range(7):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            T.where(i < 5)
            B[vi] = A[I[vi]] + A[vi * vi]
)"));
  const NestStore& store = nest.stores[0];
  EXPECT_TRUE(store.is_guarded);
  for (size_t n = 1; n < store.accesses.size(); ++n) EXPECT_FALSE(store.accesses[n].indices[0].is_known);
  EXPECT_EQ(nest.buffers[1].extents, std::vector<double>{64});
}

}  // namespace
}  // namespace tilewright::tune

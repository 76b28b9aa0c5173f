// Buffers have one dimension.
#include "lower_testing.h"
#include "tilewright/ir/walk.h"

namespace tilewright::lower {
namespace {

TEST(FlattenBuffers, IndicesOfAllDimensionsBecomeOne) {
  check_pass("flatten_buffers", R"(
    @T.prim_func
    def main(n: T.int32):
        A = T.alloc_buffer((5, 7), "float32")
        B = T.alloc_buffer((7,), "float32")
        for i, j in T.grid(5, 7):
            A[i, j] = B[j]
  )",
             R"(
    @T.prim_func
    def main(n: T.int32):
        A = T.alloc_buffer((35,), "float32")
        B = T.alloc_buffer((7,), "float32")
        for i, j in T.grid(5, 7):
            A[i * 7 + j] = B[j]
  )");
}

TEST(FlattenBuffers, AccessesHaveOneIndexWhateverTheStrides) {
  const PrimFunc func = run_step("flatten_buffers", func_of(R"(
    @T.prim_func
    def main(a: T.handle, n: T.int32):
        A = T.match_buffer(a, (5, 7), "float32", strides=(16, 1), elem_offset=3, offset_factor=1)
        for i, j in T.grid(5, 7):
            A[i, j] = A[i, j] * T.float32(2)
  )"));
  ir::walk(
      func->body, [](const BufferLoadNode* load) { EXPECT_EQ(load->indices.size(), 1u); },
      [](const BufferStoreNode* store) {
        EXPECT_EQ(store->indices.size(), 1u);
        EXPECT_EQ(store->buffer->strides.size(), 0u);
      });
}

TEST(FlattenBuffers, FlatMemoryStays) {
  constexpr std::string_view kFlat = R"(
    @T.prim_func
    def main(n: T.int32):
        A = T.alloc_buffer((5,), "float32")
        for i in range(5):
            A[i] = T.float32(1)
  )";
  check_pass("flatten_buffers", kFlat, kFlat);
}

}  // namespace
}  // namespace tilewright::lower

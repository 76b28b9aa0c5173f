// The lines that rules fetch ahead.
#include <gmock/gmock.h>

#include "default_testing.h"

namespace tilewright::schedule {
namespace {

TEST(Vectorize, FetchesAheadWhatItTransposes) {
  constexpr std::string_view kTransposition = R"(
    @T.prim_func
    def main(A: T.Buffer((32, 64), "float32"), B: T.Buffer((64, 32), "float32")):
        for i, j in T.grid(64, 32):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vj, vi]
)";
  const auto fetches = [&](int64_t l2_bytes) {
    const Features features{.vector_bytes = 32, .num_vector_registers = 16, .l2_bytes = l2_bytes};
    return show(scheduled(kTransposition, features)).find("\"prefetch_ahead\"") != std::string::npos;
  };
  EXPECT_TRUE(fetches(8191));
  EXPECT_FALSE(fetches(8192));  // A has 8192 bytes
}

// The first of the blocks that work on a row, which reads it.
TEST(ReduceRows, FetchesRowsAhead) {
  constexpr std::string_view kNorm = R"(
    @T.prim_func
    def main(A: T.Buffer((7, 256), "float32"), B: T.Buffer((7, 256), "float32")):
        S = T.alloc_buffer((7,))
        M = T.alloc_buffer((7,))
        for i, k in T.grid(7, 256):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
        for i, k in T.grid(7, 256):
            with T.block("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = T.float32(-1)
                M[vi] = T.max(M[vi], A[vi, vk])
        for i, j in T.grid(7, 256):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * S[vi] + M[vi]
)";
  const auto num_hints = [&](std::string_view hint, int64_t l2_bytes, int64_t page_bytes = 4096) {
    const Features features{
        .vector_bytes = 32, .num_vector_registers = 16, .l2_bytes = l2_bytes, .page_bytes = page_bytes};
    const std::string text = show(scheduled(kNorm, features));
    int count = 0;
    for (size_t at = 0; (at = text.find(hint, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  for (const std::string_view hint : {"\"prefetch_ahead\"", "\"prefetch_writes\""}) {
    EXPECT_EQ(num_hints(hint, 7167), 1);
    EXPECT_EQ(num_hints(hint, 7168), 0);  // A and B have 7168 bytes
  }
  // what is a page ahead goes to L2
  EXPECT_EQ(num_hints("\"prefetch_level\"", 7167, 8192), 1);
  EXPECT_EQ(num_hints("\"prefetch_level\"", 7167, 16384), 0);
}

// Not where lines that are fetched to be written cost more than they give.
TEST(ReduceRows, FetchesNoWritesWhereThatCosts) {
  constexpr std::string_view kSums = R"(
    @T.prim_func
    def main(A: T.Buffer((7, 256), "float32"), B: T.Buffer((7, 256), "float32")):
        S = T.alloc_buffer((7,))
        for i, k in T.grid(7, 256):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
        for i, j in T.grid(7, 256):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * S[vi]
)";
  const auto fetches_writes = [&](bool gains) {
    const Features features{
        .vector_bytes = 32, .num_vector_registers = 16, .l2_bytes = 4096, .fetches_writes = gains};
    return show(scheduled(kSums, features)).find("\"prefetch_writes\"") != std::string::npos;
  };
  EXPECT_TRUE(fetches_writes(true));
  EXPECT_FALSE(fetches_writes(false));
}

// Maxima have no time for memory, exponentials have.  (Sums of whole numbers are the same in any order.)
TEST(ReduceRows, FetchesRowsWhileItComputes) {
  constexpr std::string_view kSoftmax = R"(
    @T.prim_func
    def main(A: T.Buffer((7, 256), "float32"), B: T.Buffer((7, 256), "float32")):
        M = T.alloc_buffer((7,))
        E = T.alloc_buffer((7, 256))
        S = T.alloc_buffer((7,))
        for i, k in T.grid(7, 256):
            with T.block("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = T.float32(-1)
                M[vi] = T.max(M[vi], A[vi, vk])
        for i, j in T.grid(7, 256):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = T.min(T.exp(A[vi, vj] - M[vi]), T.float32(0))
        for i, k in T.grid(7, 256):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + E[vi, vk]
        for i, j in T.grid(7, 256):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = E[vi, vj] * S[vi] + M[vi]
)";
  const Features features{.vector_bytes = 32, .num_vector_registers = 16, .l2_bytes = 4096};
  const std::string text = show(scheduled(kSoftmax, features));
  const size_t ahead = text.find("\"prefetch_ahead\"");
  ASSERT_NE(ahead, std::string::npos) << text;
  EXPECT_GT(ahead, text.rfind("T.max(")) << text;
  EXPECT_LT(ahead, text.find("T.exp(")) << text;
  EXPECT_EQ(text.find("\"prefetch_ahead\"", ahead + 1), std::string::npos) << text;
  EXPECT_GT(text.find("\"prefetch_writes\""), text.find("T.exp(")) << text;
}

// Vectors that follow each other, of an operand that does not stay near the core, for few tiles.
TEST(TileSum, FetchesAheadWhatItStreams) {
  const auto fetches = [](int rows, int64_t l2_bytes) {
    const std::string text = product_text(rows, 16, 64);
    const Features features{.vector_bytes = 32, .num_vector_registers = 16, .l2_bytes = l2_bytes};
    return show(scheduled(text, features)).find("\"prefetch_ahead\"") != std::string::npos;
  };
  EXPECT_TRUE(fetches(7, 4095));
  EXPECT_FALSE(fetches(7, 4096));    // B has 4096 bytes
  EXPECT_FALSE(fetches(127, 4095));  // many tiles read each vector
}

// D of C = sum + D, which is added to the sums of a tile: its rows to come are fetched by the tile before,
// but not where they stay near, nor what is the same for all rows.
TEST(TileSum, FetchesWhatItAdds) {
  const auto text = [](std::string_view added, int64_t l2_bytes) {
    const Features features{.vector_bytes = 32, .num_vector_registers = 16, .l2_bytes = l2_bytes};
    return show(scheduled(fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((35, 3), "float32"), B: T.Buffer((3, 16), "float32"), D: T.Buffer((35, 16), "float32"), C: T.Buffer((35, 16), "float32")):
        S = T.alloc_buffer((35, 16))
        for i, j, k in T.grid(35, 16, 3):
            with T.block("S"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    S[vi, vj] = T.float32(0)
                S[vi, vj] = S[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(35, 16):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = S[vi, vj] + {}
)",
                                      added),
                          features));
  };
  // D has 2,240 bytes, a row of it 64, a tile 5 rows
  EXPECT_THAT(text("D[vi, vj]", 4479),
              testing::HasSubstr("for i_0 in T.serial(7, annotations={\"prefetch_ahead\": T.int32(320)}):"));
  EXPECT_THAT(text("D[vi, vj]", 4480), testing::Not(testing::HasSubstr("prefetch_ahead")));
  EXPECT_THAT(text("D[0, vj]", 4479), testing::Not(testing::HasSubstr("prefetch_ahead")));
}

}  // namespace
}  // namespace tilewright::schedule

// What loops touch, and what comes from beyond caches.
#include "tilewright/tune/footprint.h"

#include "nest_testing.h"

namespace tilewright::tune {
namespace {

constexpr std::string_view kProduct = R"(
def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
    for i, j, k in T.grid(64, 64, 64):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

TEST(Footprint, boxes_of_a_product) {
  const Nest nest = nest_of(module_of(std::string(kProduct)));
  const target::Features features;
  const Footprints found(nest, features);
  // C, A, B; while no loop runs, k, j and k, all
  const auto elements = [&](size_t access) {
    std::vector<double> counts;
    for (const Box& box : found.of(0, access).boxes) counts.push_back(box.elements);
    return counts;
  };
  EXPECT_EQ(elements(0), (std::vector<double>{1, 1, 64, 4096}));
  EXPECT_EQ(elements(1), (std::vector<double>{1, 64, 64, 4096}));
  EXPECT_EQ(elements(2), (std::vector<double>{1, 64, 4096, 4096}));
  EXPECT_EQ(found.of(0, 1).boxes[1].lines, 4);   // a row of 256 bytes
  EXPECT_EQ(found.of(0, 2).boxes[1].lines, 64);  // a column
  EXPECT_EQ(found.of(0, 2).boxes[2].lines, 256);
  EXPECT_EQ(found.bytes_inside(-1), 3 * 64 * 64 * 4);
  EXPECT_EQ(found.bytes_inside(1), 64 * (1 + 4 + 64));
}

TEST(Footprint, columns_of_rows_of_a_page_share_a_set) {
  const Nest nest = nest_of(module_of(R"(
def main(A: T.Buffer((64, 1024), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = A[vi, 0]
)"));
  target::Features features;  // 64 sets of 8 lines
  const Box box = Footprints(nest, features).of(0, 1).boxes.back();
  EXPECT_EQ(box.lines, 64);
  EXPECT_EQ(box.crowded, 64 * 64);
}

TEST(Footprint, neighbours_share_lines) {
  const Nest nest = nest_of(module_of(R"(
def main(A: T.Buffer((66,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = A[vi] + A[vi + 2]
)"));
  EXPECT_EQ(Footprints(nest, {}).of(0, 1).boxes.back().lines, 5);  // 264 bytes
}

// Ten times over 4,096 numbers, 256 lines.
TEST(Traffic, what_fits_comes_once_and_what_does_not_each_time) {
  const Nest nest = nest_of(module_of(R"(
def main(A: T.Buffer((4096,), "float32"), B: T.Buffer((1000,), "float32")):
    for r, i in T.grid(1000, 4096):
        with T.block("B"):
            vr, vi = T.axis.remap("SR", [r, i])
            B[vr] = B[vr] + A[vi]
)"));
  const Footprints found(nest, {});
  const auto lines = [&](double num_bytes) { return found.traffic(0, 1, num_bytes, false).lines; };
  EXPECT_EQ(lines(1 << 20), 0);            // the whole program stays
  EXPECT_EQ(lines((16 << 10) + 64), 256);  // A and a number of B
  EXPECT_EQ(lines(1 << 10), 256 * 1000);
}

TEST(Traffic, of_a_product_in_tiles) {
  const Nest nest = nest_of(module_of(std::string(kProduct)));
  const Footprints found(nest, {});
  // 32 KiB keep one iteration of i: B comes once, rows of A and C once
  EXPECT_EQ(found.traffic(0, 2, 32 << 10, false).lines, 256);
  // 8 KiB keep one iteration of j: B comes for each i
  EXPECT_EQ(found.traffic(0, 2, 8 << 10, false).lines, 256 * 64);
  EXPECT_EQ(found.traffic(0, 1, 8 << 10, false).lines, 256);
}

}  // namespace
}  // namespace tilewright::tune

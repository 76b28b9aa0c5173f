// How wide vectors are, by the features and the name of a processor and by the target.
#include "tilewright/target/vector_width.h"

#include <gtest/gtest.h>

#include "tilewright/target/target.h"

namespace tilewright::target {
namespace {

using Widths = std::pair<int64_t, int64_t>;

Widths of(const std::string& triple, const std::string& cpu, std::vector<std::string> features,
          const std::string& target = "llvm") {
  const VectorWidth width = vector_width({triple, cpu, std::move(features)}, parse_target(target));
  return {width.bits, width.least_register_bits};
}

TEST(VectorWidth, OfX86IsTheWidestThatIsFast) {
  EXPECT_EQ(of("x86_64-linux-gnu", "", {}), Widths(128, 0));
  EXPECT_EQ(of("i686-linux-gnu", "", {"avx"}), Widths(256, 0));
  EXPECT_EQ(of("x86_64-linux-gnu", "", {"avx", "avx512f"}), Widths(256, 0));
  EXPECT_EQ(of("x86_64-linux-gnu", "", {"avx", "avx512bw", "avx512dq", "avx512f", "avx512vl"}),
            Widths(512, 0));
  EXPECT_EQ(of("x86_64-linux-gnu", "", {"avx"}, "llvm -vector-width=128"), Widths(128, 0));
  EXPECT_EQ(of("x86_64-linux-gnu", "", {"avx"}, "llvm -vector-width=512"), Widths(256, 0));
}

TEST(VectorWidth, OfSveIsThatOfTheCoreOrOfTheTarget) {
  EXPECT_EQ(of("aarch64-linux-gnu", "neoverse-v1", {"sve"}), Widths(256, 256));
  EXPECT_EQ(of("aarch64-linux-gnu", "neoverse-v2", {"sve"}), Widths(128, 0));
  EXPECT_EQ(of("aarch64-linux-gnu", "generic", {"sve"}), Widths(128, 0));
  EXPECT_EQ(of("aarch64-linux-gnu", "generic", {"sve"}, "llvm -vector-width=512"), Widths(512, 512));
  EXPECT_EQ(of("aarch64-linux-gnu", "neoverse-v1", {"sve"}, "llvm -vector-width=128"), Widths(128, 0));
  // -mattr=-sve
  EXPECT_EQ(of("aarch64-linux-gnu", "neoverse-v1", {"neon"}), Widths(128, 0));
}

TEST(VectorWidth, OfRvvIsWhatFeaturesPromiseOrTheTarget) {
  EXPECT_EQ(of("riscv64-linux-gnu", "", {"zvl128b"}), Widths(128, 0));
  EXPECT_EQ(of("riscv64-linux-gnu", "", {"zvl128b", "zvl256b"}), Widths(256, 256));
  EXPECT_EQ(of("riscv64-linux-gnu", "", {"zvl128b"}, "llvm -vector-width=1024"), Widths(1024, 1024));
  // half a register, but features still promise what LLVM counts on
  EXPECT_EQ(of("riscv64-linux-gnu", "", {"zvl128b", "zvl256b"}, "llvm -vector-width=128"), Widths(128, 256));
  EXPECT_EQ(of("riscv64-linux-gnu", "", {}), Widths(128, 0));
}

TEST(VectorWidth, OfOthersIsThatOfTheirVectors) {
  EXPECT_EQ(of("armv7-linux-gnueabihf", "", {"neon"}), Widths(128, 0));
  EXPECT_EQ(of("wasm32-unknown-unknown", "", {"simd128"}, "llvm -vector-width=256"), Widths(128, 0));
}

}  // namespace
}  // namespace tilewright::target

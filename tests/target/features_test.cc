// What is known of processors.
#include "tilewright/target/features.h"

#include <gtest/gtest.h>

#include <set>

#include "tilewright/support/error.h"
#include "tilewright/target/cores.h"
#include "tilewright/target/target.h"

namespace tilewright::target {
namespace {

Features of(const std::string& triple, const std::string& cpu, int64_t vector_bits,
            std::vector<std::string> features = {}, const std::string& target = "llvm") {
  return features_of({triple, cpu, std::move(features), vector_bits, false}, parse_target(target)).features;
}

TEST(Cores, TheTableIsSortedAndWhole) {
  std::string_view last;
  for (const Core& core : all_cores()) {
    EXPECT_LT(last, core.name);
    last = core.name;
    EXPECT_EQ(find_core(core.name), &core);
    EXPECT_FALSE(core.source.empty()) << core.name;
    EXPECT_EQ(core.l1_bytes % (core.l1_ways * 64), 0) << core.name;
    EXPECT_GT(core.l2_bytes, core.l1_bytes) << core.name;
  }
  EXPECT_EQ(find_core("zen99"), nullptr);
}

TEST(Features, RegistersAreThoseOfTheArchitecture) {
  EXPECT_EQ(of("x86_64-linux-gnu", "haswell", 256, {"avx2"}).num_vector_registers, 16);
  EXPECT_EQ(of("x86_64-linux-gnu", "znver4", 512, {"avx512f"}).num_vector_registers, 32);
  EXPECT_EQ(of("aarch64-linux-gnu", "cortex-a72", 128).num_vector_registers, 32);
  EXPECT_EQ(of("riscv64-linux-gnu", "generic-rv64", 256, {"zve32f"}).num_vector_registers, 32);
  EXPECT_EQ(of("riscv64-linux-gnu", "generic-rv64", 128).num_vector_registers, 8);
}

TEST(Features, ProductsOfBytesArePartOfWideSve) {
  const auto has = [](int64_t bits, std::vector<std::string> features) {
    const DotInstructions dots = of("aarch64-linux-gnu", "generic", bits, std::move(features)).dots;
    return dots.signed_bytes && dots.unsigned_bytes;
  };
  EXPECT_TRUE(has(256, {"sve"}));
  EXPECT_TRUE(has(128, {"dotprod"}));
  EXPECT_FALSE(has(128, {"sve"}));
}

TEST(Features, MasksAreInstructionsOfAvxOfWideSveAndOfRvv) {
  EXPECT_TRUE(of("x86_64-linux-gnu", "haswell", 256, {"avx"}).has_masks);
  EXPECT_FALSE(of("x86_64-linux-gnu", "x86-64", 128).has_masks);
  EXPECT_TRUE(of("aarch64-linux-gnu", "neoverse-v1", 256, {"sve"}).has_masks);
  EXPECT_FALSE(of("aarch64-linux-gnu", "neoverse-v2", 128, {"sve"}).has_masks);
  EXPECT_TRUE(of("riscv64-linux-gnu", "generic-rv64", 128, {"v"}).has_masks);
  EXPECT_FALSE(of("riscv64-linux-gnu", "generic-rv64", 128).has_masks);
}

TEST(Features, CachesAreThoseOfTheCoreUnlessTheTargetSaysOtherwise) {
  EXPECT_EQ(of("aarch64-linux-gnu", "neoverse-v1", 128).l1_bytes, 64 << 10);
  EXPECT_EQ(of("aarch64-linux-gnu", "neoverse-v1", 128).l1_ways, 4);
  EXPECT_EQ(of("x86_64-linux-gnu", "haswell", 256).l2_bytes, 256 << 10);
  EXPECT_EQ(of("x86_64-linux-gnu", "haswell", 256, {}, "llvm -l2_cache_size_bytes=1048576").l2_bytes,
            1 << 20);
}

TEST(Features, EachFieldIsPartOfTheKeyOfCode) {
  std::set<std::string> keys{Features().str()};
  const auto add = [&](const Features& features) { EXPECT_TRUE(keys.insert(features.str()).second); };
  std::apply(
      [&](const auto&... field) {
        const auto change = [&](auto member) {
          Features other;
          other.*member = static_cast<std::decay_t<decltype(other.*member)>>(!(other.*member));
          add(other);
        };
        (change(field.member), ...);
      },
      Features::fields());
  Features other;
  other.dots.bfloats = true;
  add(other);
}

TEST(Targets, ValuesOutOfRangeAreRefusedWhereTheTargetIsWritten) {
  const auto refused = [](const std::string& text) -> std::string {
    try {
      parse_target(text);
    } catch (const UserError& error) {
      return error.text();
    }
    return "";
  };
  EXPECT_EQ(refused("llvm -num-cores=0"), "target llvm: -num-cores must be 1 to 1024, but is 0");
  EXPECT_EQ(refused("c -l1_cache_size_bytes=1000"),
            "target c: -l1_cache_size_bytes must be 1024 to 1073741824 bytes, but is 1000");
  EXPECT_EQ(refused("llvm -fp-contract=on"),
            "target llvm: -fp-contract is \"on\", expected \"fast\" or \"off\"");
}

}  // namespace
}  // namespace tilewright::target

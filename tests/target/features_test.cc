// Features of processors by name, and those of this machine.
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

// The manual's rates, at the width of the target's vectors.
TEST(Features, RatesAreThoseOfTheCoreForVectorsOfTheTarget) {
  const Rates wide = of("x86_64-linux-gnu", "znver4", 512).rates,
              narrow = of("x86_64-linux-gnu", "znver4", 256).rates;
  EXPECT_EQ(wide.fma_per_cycle, 1);
  EXPECT_EQ(narrow.fma_per_cycle, 2);
  EXPECT_EQ(wide.loads_per_cycle, 1);
  EXPECT_EQ(wide.stores_per_cycle, 0.5);
  EXPECT_EQ(of("aarch64-linux-gnu", "cortex-a72", 128).rates, (Rates{.fma_per_cycle = 1,
                                                                     .fma_latency = 3,
                                                                     .loads_per_cycle = 1,
                                                                     .stores_per_cycle = 0.5,
                                                                     .issue_width = 3}));
}

TEST(Features, RatesThatNoManualHasAreThoseOfTheCompilersModel) {
  const Rates model{
      .fma_per_cycle = 3, .fma_latency = 7, .loads_per_cycle = 5, .stores_per_cycle = 6, .issue_width = 9};
  const auto known = [&](const std::string& cpu) {
    return features_of({"aarch64-linux-gnu", cpu, {}, 128, false, model}, parse_target("llvm"));
  };
  EXPECT_EQ(known("cortex-a53").features.rates, model);
  EXPECT_EQ(known("cortex-a53").sources.at("fma_latency"), "LLVM's scheduling model of cortex-a53");
  EXPECT_EQ(known("cortex-a53").features.l1_ways, 4);
  EXPECT_EQ(known("cortex-x77").features.rates, model);
  EXPECT_NE(known("neoverse-n1").features.rates, model);
}

TEST(Features, WorkAndDistancesFollowFromCyclesAndBytes) {
  const Features wide = of("x86_64-linux-gnu", "skylake-avx512", 512),
                 narrow = of("aarch64-linux-gnu", "cortex-a72", 128);
  EXPECT_EQ(wide.min_parallel_work(), wide.parallel_cycles * 2 * 16);
  EXPECT_EQ(narrow.min_parallel_work(), narrow.parallel_cycles * 4);
  EXPECT_EQ(wide.far_fetch_bytes(), 8192);  // 400 cycles of 20 bytes
  EXPECT_EQ(wide.near_fetch_bytes(), 2048);
  EXPECT_EQ(narrow.near_fetch_bytes(), 1024);
  EXPECT_EQ(of("aarch64-linux-gnu", "apple-m1", 128).line_bytes, 128);
}

// Each of them changed, one after the other.
template <class Owner, class Change>
void change_each_field(const Owner& owner, Change change) {
  const auto one = [&](auto member) {
    Owner other = owner;
    other.*member = static_cast<std::decay_t<decltype(other.*member)>>(!(other.*member));
    change(other);
  };
  std::apply([&](const auto&... field) { (one(field.member), ...); }, Owner::fields());
}

TEST(Features, EachFieldIsPartOfTheKeyOfCode) {
  std::set<std::string> keys{Features().str()};
  const auto add = [&](const Features& features) { EXPECT_TRUE(keys.insert(features.str()).second); };
  change_each_field(Features(), add);
  Features other;
  change_each_field(Rates(), [&](const Rates& rates) { other.rates = rates, add(other); });
  other = Features();
  change_each_field(DotInstructions(), [&](const DotInstructions& dots) { other.dots = dots, add(other); });
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

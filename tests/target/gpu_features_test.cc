// What is known of GPUs by architecture, and what targets say.
#include "tilewright/target/gpu_features.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/support/error.h"
#include "tilewright/target/target.h"

namespace tilewright::target {
namespace {

GpuFeatures of(std::string_view target) { return gpu_features_of(parse_target(target)).features; }

std::string source_of(std::string_view target, std::string_view name) {
  const KnownGpuFeatures known = gpu_features_of(parse_target(target));
  for (const FeatureRow& row : known.features.rows(known.sources)) {
    if (row.name == name) return row.source;
  }
  return "no such row";
}

TEST(GpuFeatures, AreThoseOfTheComputeCapability) {
  const GpuFeatures h100 = of("cuda -arch=sm_90a"), t4 = of("cuda -arch=sm_75");
  EXPECT_EQ(h100.max_threads_per_sm, 2048);
  EXPECT_EQ(h100.max_blocks_per_sm, 32);
  EXPECT_EQ(h100.most_shared_bytes_per_block, 227 << 10);
  EXPECT_EQ(h100.shared_bytes_per_block, 48 << 10);
  EXPECT_TRUE(h100.tensor_cores.float8);
  EXPECT_EQ(t4.max_threads_per_sm, 1024);
  EXPECT_TRUE(t4.tensor_cores.float16);
  EXPECT_FALSE(t4.tensor_cores.bfloat16);
  EXPECT_FALSE(t4.tensor_cores.int8);
  EXPECT_FALSE(of("cuda -arch=sm_70").tensor_cores.float16);
  EXPECT_EQ(h100.tensor_fma_per_cycle_per_sm, 2048);
  EXPECT_EQ(of("cuda -arch=sm_61").tensor_fma_per_cycle_per_sm, 0);
  EXPECT_EQ(of("cuda"), t4);
  EXPECT_EQ(source_of("cuda -arch=sm_75", "max_threads_per_sm"),
            "CUDA C++ Programming Guide, compute capability 7.5");
  EXPECT_EQ(source_of("cuda -arch=sm_75", "num_sms"), "NVIDIA's whitepaper of T4");
}

TEST(GpuFeatures, OfUnknownCapabilitiesAreThoseOfTheOneBefore) {
  EXPECT_EQ(of("cuda -arch=sm_88"), of("cuda -arch=sm_87"));
  EXPECT_EQ(of("cuda -arch=sm_35"), of("cuda -arch=sm_37"));
  EXPECT_EQ(of("cuda -arch=sm_121"), of("cuda -arch=sm_120"));
}

TEST(GpuFeatures, AttributesGoBeforeTables) {
  const std::string target =
      "cuda -arch=sm_80 -max_num_threads=512 -max_shared_memory_per_block=166912 -num-cores=42"
      " -max_threads_per_multiprocessor=1536 -registers_per_block=32768 -thread_warp_size=64"
      " -max_shared_memory_per_multiprocessor=200000 -l2_cache_size_bytes=4096 -allow_tf32=1";
  const GpuFeatures features = of(target);
  EXPECT_EQ(features.max_threads_per_block, 512);
  EXPECT_EQ(features.shared_bytes_per_block, 166912);
  EXPECT_EQ(features.most_shared_bytes_per_block, 166912);
  EXPECT_EQ(features.num_sms, 42);
  EXPECT_EQ(features.max_threads_per_sm, 1536);
  EXPECT_EQ(features.registers_per_block, 32768);
  EXPECT_EQ(features.warp_size, 64);
  EXPECT_EQ(features.shared_bytes_per_sm, 200000);
  EXPECT_EQ(features.l2_bytes, 4096);
  EXPECT_EQ(features.allow_tf32, 1);
  EXPECT_EQ(of("cuda -arch=sm_80").allow_tf32, 0);
  EXPECT_EQ(source_of(target, "num_sms"), "-num-cores");
  EXPECT_EQ(of("opencl -max_num_threads=64 -max_threads_per_block=128").max_threads_per_block, 128);
}

TEST(GpuFeatures, OfOtherKindsAreCommonOnes) {
  EXPECT_EQ(of("opencl"), GpuFeatures());
  EXPECT_EQ(source_of("opencl", "warp_size"), "a common GPU");
  EXPECT_EQ(of("metal").max_threads_per_block, 1024);
  EXPECT_TRUE(of("metal").has_warp_shuffle);
  EXPECT_EQ(of("opencl -max_threads_per_block=4096").max_threads_per_sm, 4096);
}

TEST(GpuFeatures, CopiesAreAsynchronousFromCapability8On) {
  EXPECT_TRUE(of("cuda -arch=sm_80").has_async_copies);
  EXPECT_TRUE(of("cuda -arch=sm_90a").has_async_copies);
  EXPECT_FALSE(of("cuda -arch=sm_75").has_async_copies);
  EXPECT_FALSE(of("opencl").has_async_copies);
}

TEST(GpuFeatures, TagsHaveThoseOfTheirArchitecture) {
  for (std::string_view tag : target_tags()) {
    const ir::Target target = parse_target(tag);
    if (is_gpu(target)) EXPECT_GE(gpu_features_of(target).features.num_sms, 1) << tag;
  }
}

TEST(GpuFeatures, CountBlocksThatFit) {
  const GpuFeatures a100 = of("cuda -arch=sm_80");
  EXPECT_EQ(a100.blocks_per_sm(256, 32, 0), 8);         // threads
  EXPECT_EQ(a100.blocks_per_sm(256, 128, 0), 2);        // registers
  EXPECT_EQ(a100.blocks_per_sm(32, 16, 0), 32);         // blocks
  EXPECT_EQ(a100.blocks_per_sm(256, 32, 48 << 10), 3);  // shared memory
  EXPECT_EQ(a100.blocks_per_sm(33, 16, 0), 32);         // two warps
  EXPECT_EQ(a100.blocks_per_sm(2048, 16, 0), 0);
  EXPECT_EQ(a100.blocks_per_sm(1024, 128, 0), 0);
  EXPECT_EQ(a100.blocks_per_sm(32, 256, 0), 0);
  EXPECT_EQ(a100.blocks_per_sm(32, 16, 200 << 10), 0);
}

TEST(GpuFeatures, AreATableOfNamedFields) {
  const std::vector<FeatureRow> rows = GpuFeatures().rows();
  for (const FeatureRow& row : rows) EXPECT_FALSE(row.doc.empty()) << row.name;
  EXPECT_EQ(rows.front().name, "warp_size");
  EXPECT_EQ(rows.back().name, "float8");
  const std::string text = GpuFeatures().str();
  EXPECT_EQ(std::ranges::count(text, ' '), static_cast<std::ptrdiff_t>(rows.size()));
  EXPECT_NE(text, of("cuda").str());
}

std::string error_of(std::string_view target) {
  try {
    of(target);
  } catch (const UserError& error) {
    return error.render();
  }
  return "no error";
}

TEST(GpuFeatures, OfOtherTargetsAreRefused) {
  EXPECT_EQ(error_of("llvm"), "error: target llvm is no GPU");
  for (const char* arch : {"ampere", "sm_", "sm_9x"})
    EXPECT_EQ(error_of(std::string("cuda -arch=") + arch),
              std::string("error: target cuda: -arch is \"") + arch +
                  "\", expected the name of an architecture\nhelp: write for example -arch=sm_80");
}

}  // namespace
}  // namespace tilewright::target

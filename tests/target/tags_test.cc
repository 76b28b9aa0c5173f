// Names of machines stand for targets.
#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/support/error.h"
#include "tilewright/target/target.h"

namespace tilewright::target {
namespace {

TEST(TargetTags, ATagIsACommandLine) {
  EXPECT_EQ(parse_target("nvidia/tesla-p100")->str(),
            "cuda -arch=sm_60 -max_shared_memory_per_block=49152 -max_threads_per_block=1024 "
            "-registers_per_block=65536 -thread_warp_size=32");
  EXPECT_EQ(parse_target("raspberry-pi/4b-aarch64")->str(),
            "llvm -mattr=+neon -mcpu=cortex-a72 -mtriple=aarch64-linux-gnu -num-cores=4");
  EXPECT_EQ(parse_target(R"({"tag": "native"})")->str(), "llvm -mcpu=native");
}

TEST(TargetTags, OptionsMayFollow) {
  EXPECT_EQ(parse_target("native --num-cores 2")->str(), "llvm -mcpu=native -num-cores=2");
  EXPECT_EQ(parse_target("nvidia/nvidia-a100 -max_shared_memory_per_block=166912")
                ->attrs.get_int("max_shared_memory_per_block", 0),
            166912);
}

TEST(TargetTags, EveryTagIsATargetAndTheyAreSorted) {
  const std::vector<std::string_view> tags = target_tags();
  EXPECT_TRUE(std::is_sorted(tags.begin(), tags.end()));
  for (std::string_view tag : tags) EXPECT_NO_THROW(parse_target(tag)) << tag;
}

TEST(TargetTags, UnknownTagsNameTheNearest) {
  try {
    parse_target("nvidia/tesla-p10");
    ADD_FAILURE();
  } catch (const UserError& error) {
    EXPECT_EQ(error.render(),
              "error: unknown target tag \"nvidia/tesla-p10\"\nhelp: did you mean nvidia/tesla-p100, "
              "nvidia/tesla-p40 or nvidia/tesla-k80?");
  }
}

}  // namespace
}  // namespace tilewright::target

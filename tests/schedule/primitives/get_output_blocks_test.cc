// get_output_blocks: the blocks that write parameters.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(GetOutputBlocks, ThoseThatWriteParameters) {
  Schedule sch(module_of(kChain));
  const std::vector<BlockRef> blocks = sch.call("get_output_blocks", "root").blocks();
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(sch.get(blocks[0])->name_hint, "C");
}

}  // namespace
}  // namespace tilewright::schedule

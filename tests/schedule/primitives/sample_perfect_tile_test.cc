// sample_perfect_tile: factors whose product is the extent of a loop.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(SamplePerfectTile, DecisionsAreRecordedAndReplayed) {
  check_schedule(kDouble, [](Schedule& sch) {
    const LoopRef i = sch.call("get_loops", "B").loops()[0];
    const std::vector<ExprRef> tile = sch.call("sample_perfect_tile", i, 3, 16).exprs();
    int64_t product = 1;
    for (ExprRef factor : tile) product *= sch.get(factor);
    EXPECT_EQ(product, 128);
    EXPECT_LE(sch.get(tile.back()), 16);
    sch.call("split", i, Factors(tile.begin(), tile.end()));
  });
}

}  // namespace
}  // namespace tilewright::schedule

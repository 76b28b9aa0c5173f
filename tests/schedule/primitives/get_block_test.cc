// get_block: blocks by name.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(GetBlock, MissingAndAmbiguousNames) {
  check_refused(kMatmul, [](Schedule& sch) { sch.call("get_block", "X"); }, R"(
    error: get_block: the module has no block "X"
    help: the names are root, Y
  )");
  check_refused(kMatmul, [](Schedule& sch) { sch.call("get_block", "Y", "mein"); }, R"(
    error: get_block: the module has no function "mein"
    help: did you mean main?
  )");
}

}  // namespace
}  // namespace tilewright::schedule

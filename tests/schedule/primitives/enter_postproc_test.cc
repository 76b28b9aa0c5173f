// enter_postproc: a mark behind which a trace can be cut.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(EnterPostproc, WhatFollowsCanBeLeftOut) {
  const IRModule module = module_of(kChain);
  Schedule sch(module);
  sch.call("parallel", sch.call("get_loops", "B").loops()[0]);
  const IRModule marked = sch.module();
  sch.call("enter_postproc");
  EXPECT_EQ(show(sch.module()), show(marked));
  sch.call("vectorize", sch.call("get_loops", "C").loops()[1]);
  Schedule whole(module), part(module);
  sch.trace().apply_to(whole);
  EXPECT_EQ(show(whole.module()), show(sch.module()));
  sch.trace().without_postproc().apply_to(part);
  EXPECT_EQ(show(part.module()), show(marked));
}

}  // namespace
}  // namespace tilewright::schedule

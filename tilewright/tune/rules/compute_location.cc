// compute_location: a block that others read and that has its own loops still is computed at a sampled place: where it
// is, in a loop around its reader, or in the place of what is read.
#include "tilewright/schedule/default/cpu/shape.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tune/rule.h"

namespace tilewright::tune {
namespace {
namespace steps = schedule::steps;

OrReason<std::vector<Schedule>> apply(const Schedule& sch, BlockRef block, const Features&) {
  const OrReason<schedule::BlockShape> shape = schedule::shape_of(sch, block);
  if (!shape) return shape.reason();
  Schedule design = sch;
  const size_t num_loops = steps::get_loops(design, block).size();
  if (num_loops != shape->block->iter_vars.size())
    return Reason(Reason::kForm, "another rule has given it {} loops", num_loops);
  if (design.call("get_consumers", block).blocks().empty())
    return Reason(Reason::kForm, "no block reads {}", shape->output()->name);
  try {
    const schedule::LoopRef place = design.call("sample_compute_location", block).loop();
    design.call("compute_at", block, place, true);
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::kInternal) throw;
    return Reason(Reason::kRefused, "{}", error.text());
  }
  return std::vector<Schedule>{std::move(design), sch};
}

}  // namespace

extern constinit const RuleInfo compute_location_info{
    "compute_location", "a block that others read is computed at a sampled place", 25, &apply};
}  // namespace tilewright::tune

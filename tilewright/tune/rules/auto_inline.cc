// auto_inline: a block that works element by element is computed where it is read.
#include "tilewright/schedule/default/cpu/shape.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tune/rule.h"

namespace tilewright::tune {
namespace {
namespace steps = schedule::steps;

OrReason<std::vector<Schedule>> apply(const Schedule& sch, BlockRef block, const Features&) {
  const OrReason<schedule::BlockShape> shape = schedule::shape_of(sch, block);
  if (!shape) return shape.reason();
  if (shape->is_reduction()) return Reason(Reason::kForm, "it is a reduction");
  if (shape->is_expensive())
    return Reason(Reason::kCost, "its functions would be called for each reader again");
  Schedule inlined = sch;
  try {
    steps::compute_inline(inlined, block);
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::kInternal) throw;
    return Reason(Reason::kRefused, "{}", error.text());
  }
  return std::vector<Schedule>{std::move(inlined)};
}

}  // namespace

extern constinit const RuleInfo auto_inline_info{
    "auto_inline", "a block that works element by element is computed where it is read", 0, &apply};
}  // namespace tilewright::tune

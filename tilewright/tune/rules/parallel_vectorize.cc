// parallel_vectorize: a block that works element by element gets threads and vectors of sampled width.
#include "tilewright/schedule/default/cpu/shape.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tune/rule.h"

namespace tilewright::tune {
namespace {
namespace steps = schedule::steps;
using schedule::LoopRef;

constexpr int64_t kMostLanes = 64;

OrReason<std::vector<Schedule>> apply(const Schedule& sch, BlockRef block, const Features& features) {
  const OrReason<schedule::BlockShape> shape = schedule::shape_of(sch, block);
  if (!shape) return shape.reason();
  if (shape->is_reduction()) return Reason(Reason::kForm, "it is a reduction");
  Schedule design = sch;
  const std::vector<LoopRef> loops = steps::get_loops(design, block);
  if (loops.size() != shape->block->iter_vars.size() || loops.empty())
    return Reason(Reason::kForm, "another rule has given it {} loops", loops.size());
  try {
    const std::vector<schedule::ExprRef> sizes =
        design.call("sample_perfect_tile", loops.back(), 2, kMostLanes).exprs();
    const std::vector<LoopRef> parts =
        steps::split(design, loops.back(), schedule::Factors(sizes.begin(), sizes.end()));
    steps::vectorize(design, parts[1]);
    std::vector<LoopRef> outer(loops.begin(), loops.end() - 1);
    outer.push_back(parts[0]);
    const LoopRef all = outer.size() > 1 ? steps::fuse(design, outer) : outer[0];
    if (features.num_cores > 1) steps::parallel(design, all);
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::kInternal) throw;
    return Reason(Reason::kRefused, "{}", error.text());
  }
  return std::vector<Schedule>{std::move(design)};
}

}  // namespace

extern constinit const RuleInfo parallel_vectorize_info{
    "parallel_vectorize", "a block that works element by element gets threads and vectors", 30, &apply};
}  // namespace tilewright::tune

// parallel_vectorize: a block that works element by element gets threads, and tiles that are written out: rows of
// vectors of sampled numbers, so that neighbouring rows share what they read.
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tune/rule.h"
#include "tilewright/tune/samples.h"

namespace tilewright::tune {
namespace {
namespace steps = schedule::steps;
using schedule::LoopRef;

constexpr int64_t kMostRows = 8, kMostVectors = 4;

Schedule design_of(Schedule sch, const schedule::BlockShape& shape, const std::vector<LoopRef>& loops,
                   const Features& features) {
  const int64_t most_lanes = std::max<int64_t>(1, features.vector_bytes / shape.output()->dtype.num_bytes());
  const auto extent = [&](size_t n) { return schedule::extent_of(sch, loops[n]); };
  const size_t last = loops.size() - 1;
  const schedule::ExprRef lanes = sample_lanes(sch, most_lanes, true);
  const schedule::ExprRef vectors =
      sample_count(sch, std::min(kMostVectors, (extent(last) - 1) / most_lanes + 1), extent(last), 1);
  const std::vector<LoopRef> columns = steps::split(sch, loops[last], {schedule::None{}, vectors, lanes});
  std::vector<LoopRef> outer(loops.begin(), loops.end() - 1), inner;
  if (last > 0) {
    const schedule::ExprRef rows =
        sample_count(sch, std::min(kMostRows, extent(last - 1)), extent(last - 1), 1);
    const std::vector<LoopRef> parts = steps::split(sch, outer.back(), {schedule::None{}, rows});
    outer.back() = parts[0];
    inner.push_back(parts[1]);
  }
  outer.push_back(columns[0]);
  inner.insert(inner.end(), columns.begin() + 1, columns.end());
  std::vector<LoopRef> order = outer;
  order.insert(order.end(), inner.begin(), inner.end());
  steps::reorder(sch, order);
  schedule::expand(sch, inner);
  const LoopRef all = outer.size() > 1 ? steps::fuse(sch, outer) : outer[0];
  if (features.num_cores > 1) steps::parallel(sch, all);
  return sch;
}

OrReason<std::vector<Schedule>> apply(const Schedule& sch, BlockRef block, const Features& features) {
  const OrReason<schedule::BlockShape> shape = schedule::shape_of(sch, block);
  if (!shape) return shape.reason();
  if (shape->is_reduction()) return Reason(Reason::kForm, "it is a reduction");
  for (size_t axis = 0; axis < shape->block->iter_vars.size(); ++axis) {
    if (shape->extent(axis) == 0) return schedule::open_extent(*shape, axis);
  }
  Schedule start = sch;
  const std::vector<LoopRef> loops = steps::get_loops(start, block);
  if (loops.size() != shape->block->iter_vars.size() || loops.empty())
    return Reason(Reason::kForm, "another rule has given it {} loops", loops.size());
  try {
    return std::vector<Schedule>{design_of(start, *shape, loops, features)};
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::kInternal) throw;
    return Reason(Reason::kRefused, "{}", error.text());
  }
}

}  // namespace

extern constinit const RuleInfo parallel_vectorize_info{
    "parallel_vectorize", "a block that works element by element gets threads and vectors", 30, &apply};
}  // namespace tilewright::tune

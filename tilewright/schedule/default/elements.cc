// Element by element blocks, and how loops become parallel.
#include "tilewright/arith/analyzer.h"
#include "tilewright/schedule/default/rules.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

constexpr int64_t kExpensiveWork = 16;  // multiply-adds that exp and the like count for
constexpr int64_t kItersPerCore = 4;    // of a parallel loop, so that cores that are slower get less
constexpr int64_t kMinVector = 4;       // elements, below which a vector is not worth its set-up

// All accesses are of the same elements in the same order: A[i, j] + B[i, j].
bool is_flat(const BlockShape& shape) {
  const auto& axes = shape.block->iter_vars;
  auto is_identity = [&](const Buffer& buffer, const std::vector<PrimExpr>& indices) {
    if (indices.size() != axes.size()) return false;
    for (size_t n = 0; n < axes.size(); ++n) {
      const bool is_axis =
          indices[n].as<VarNode>() == axes[n]->var.get() || (is_zero(indices[n]) && is_one(buffer->shape[n]));
      if (!is_axis || !arith::Analyzer().can_prove_equal(buffer->shape[n], axes[n]->dom->extent))
        return false;
    }
    return true;
  };
  if (!is_identity(shape.output(), shape.store->indices)) return false;
  for (const BufferLoadNode* load : shape.loads) {
    bool is_scalar = true;
    for (const PrimExpr& extent : load->buffer->shape) is_scalar &= is_one(extent);
    if (!is_scalar && !is_identity(load->buffer, load->indices)) return false;
  }
  return true;
}

}  // namespace

int64_t extent_of(const Schedule& sch, LoopRef loop) {
  int64_t extent;
  return as_const_int(sch.state().node(sch.state()[loop]).loop()->extent, &extent) ? extent : 0;
}

std::vector<LoopRef> parallelize(Schedule& sch, std::vector<LoopRef> loops, size_t num_candidates,
                                 const Machine& machine) {
  size_t count = 0;
  int64_t iterations = 1;
  while (count < num_candidates && iterations < kItersPerCore * machine.num_cores) {
    const int64_t extent = extent_of(sch, loops[count]);
    // a loop of unknown extent is parallel by itself: with others it would be divided by that extent
    if (extent == 0 && iterations > 1) break;
    iterations = product(iterations, extent == 0 ? kLikelyExtent : extent);
    ++count;
    if (extent == 0) break;
  }
  if (count == 0 || iterations < 2) return loops;
  const std::vector<LoopRef> first(loops.begin(), loops.begin() + static_cast<long>(count));
  const LoopRef fused = count == 1 ? first[0] : sch.call("fuse", first).loop();
  sch.call("parallel", fused);
  loops.erase(loops.begin(), loops.begin() + static_cast<long>(count));
  loops.insert(loops.begin(), fused);
  return loops;
}

bool vectorize_elements(Schedule& sch, const BlockShape& shape, const Machine& machine) {
  std::vector<LoopRef> loops = sch.call("get_loops", shape.ref).loops();
  if (loops.empty()) return false;
  const int64_t lanes = machine.vector_bytes / std::max<int64_t>(1, shape.output()->dtype.num_bytes());
  bool has_vectors = true;
  if (is_flat(shape)) {
    if (loops.size() > 1) loops = {sch.call("fuse", loops).loop()};
  } else {
    const std::optional<size_t> column = shape.last_axis();
    if (!column) return false;
    const std::vector<LoopRef> inner = loops_of_axis(sch, shape.ref, *column, loops);
    if (inner.empty()) return false;
    if (!is_same(sch, inner[0], loops.back())) {
      std::erase_if(loops, [&](LoopRef loop) { return is_same(sch, loop, inner[0]); });
      loops.push_back(inner[0]);
      sch.call("reorder", loops);
    }
    for (const BufferLoadNode* load : shape.loads)
      has_vectors &=
          along(load->buffer, load->indices, shape.block->iter_vars[*column]->var) != Along::kStrided;
  }
  const int64_t extent = extent_of(sch, loops.back());
  if (has_vectors && extent >= kMinVector) {
    int64_t width = lanes;
    while (width / 2 >= extent) width /= 2;
    const std::vector<LoopRef> parts = sch.call("split", loops.back(), Factors{None{}, width}).loops();
    loops.back() = parts[0];
    sch.call("vectorize", parts[1]);
  }
  const int64_t work = product(shape.num_instances(), shape.is_expensive() ? kExpensiveWork : 1);
  if (machine.num_cores > 1 && work >= kMinParallelWork)
    parallelize(sch, loops, std::max<size_t>(1, loops.size() - 1), machine);
  return true;
}

}  // namespace tilewright::schedule

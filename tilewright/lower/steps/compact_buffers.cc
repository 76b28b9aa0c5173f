// Shrinks buffers to the region that is touched during their lifetime.
//   A = alloc((128, 128)) inside a loop over i, used as A[i * 4 + j, k] for j < 4, k < 128
//   ->  A = alloc((4, 128)), A[j, k]
// Rows that storage_align separates get strides.
// Registers (scope "local") that vectorized loops touch hold whole vectors: the last dimension is rounded up.
// What threads share is touched by all of them: their variables take all values.
// The touched region is the interval hull, dimension by dimension, of all accesses while the loops inside the
// allocation run.  A dimension whose hull has no constant bound keeps its extent.  Buffers whose address is
// taken, or that have strides, are not changed.  A ramp counts from its first to its last element; a buffer
// with other vector indices is not changed.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "tilewright/arith/int_set.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/annotations.h"
#include "tilewright/lower/common/ramps.h"
#include "tilewright/lower/common/surroundings.h"
#include "tilewright/lower/common/thread_axes.h"
#include "tilewright/lower/step.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/uses.h"

namespace tilewright::lower {
namespace {

using arith::Analyzer;
using arith::Domains;
using arith::Interval;
using arith::IntervalRegion;

// Finds the touched region of one buffer inside its allocation.
class Touched {
 public:
  /// `learns`: conditions around accesses bound what they touch.  `around`: variables from outside that take all values
  /// of their domains.
  Touched(const BufferNode* buffer, Analyzer& analyzer, bool learns, Domains around)
      : buffer_(buffer), analyzer_(analyzer), learns_(learns), domains_(std::move(around)) {}

  /// The hull of all accesses; nullopt if the buffer is never used, or used without indices.
  std::optional<IntervalRegion> region_in(const Stmt& body) {
    visit(body.get());
    if (escapes_) return std::nullopt;
    // united here, where no branch is assumed to be taken: max(i, j) is not j for all iterations
    std::optional<IntervalRegion> united;
    for (const IntervalRegion& region : regions_)
      united = united ? arith::hull(*united, region, analyzer_) : region;
    return united;
  }
  /// The lanes of the vectorized loops that run along the last dimension; 1 if there are none.
  int64_t lanes() const { return lanes_; }

 private:
  void visit(const Object* node) {
    const ObjectRef ref(node);
    if (const auto* loop = ref.as<ForNode>()) return visit_loop(loop);
    if (const auto* branch = ref.as<IfThenElseNode>()) return visit_branch(branch);
    if (const auto* let = ref.as<LetStmtNode>()) return visit_let(let);
    if (const auto* let = ref.as<LetNode>()) return visit_let(let);
    if (const auto* load = ref.as<BufferLoadNode>(); load && load->buffer.get() == buffer_)
      access(load->indices);
    if (const auto* store = ref.as<BufferStoreNode>(); store && store->buffer.get() == buffer_)
      access(store->indices);
    if (const auto* var = ref.as<VarNode>(); var && var == buffer_->data.get()) escapes_ = true;
    if (const auto* view = ref.as<DeclBufferNode>(); view && view->buffer->data.get() == buffer_->data.get())
      escapes_ = true;
    for_each_child(node, this, [](void* self, const Object* child, bool is_leaf_use) {
      // an access uses the elements of its buffer, not its address
      if (!is_leaf_use || ObjectRef(child).as<VarNode>()) static_cast<Touched*>(self)->visit(child);
    });
  }

  void visit_loop(const ForNode* loop) {
    visit(loop->min.get());
    visit(loop->extent.get());
    const VarNode* var = loop->loop_var.get();
    domains_[var] = {loop->min, loop->min + loop->extent - 1};
    int64_t extent;
    if (loop->for_kind == ForKind::kVectorized && as_const_int(loop->extent, &extent)) vectors_[var] = extent;
    {
      const auto scope = analyzer_.enter();
      learn_range(loop, analyzer_);
      visit(loop->body.get());
    }
    domains_.erase(var);
  }

  void visit_branch(const IfThenElseNode* branch) {
    visit(branch->condition.get());
    {
      const auto scope = analyzer_.enter();
      if (learns_) learn_condition(branch->condition, analyzer_);
      visit(branch->then_case.get());
    }
    if (branch->else_case) visit(branch->else_case.get());
  }

  // A let variable has the range of its value.
  template <class Let>
  void visit_let(const Let* let) {
    visit(let->value.get());
    if (let->var->dtype.is_integral())
      domains_[let->var.get()] = arith::eval_interval(let->value, domains_, analyzer_);
    visit(let->body.get());
    domains_.erase(let->var.get());
  }

  void access(const std::vector<PrimExpr>& indices) {
    arith::Region point;
    for (const PrimExpr& index : indices) {
      const std::optional<Range> range = range_of(index);
      if (!range) {
        escapes_ = true;
        return;
      }
      point.push_back(*range);
    }
    if (!indices.empty())
      walk(indices.back(), [&](const VarNode* var) {
        if (auto vector = vectors_.find(var); vector != vectors_.end())
          lanes_ = std::max(lanes_, vector->second);
      });
    IntervalRegion region = arith::eval_region(point, domains_, analyzer_);
    for (size_t axis = 0; axis < region.size(); ++axis) {
      const PrimExpr& begin = point[axis]->min;
      const auto is_varied = [&](const VarNode* var) { return domains_.count(var) > 0; };
      // the same place in all iterations, also where a divisor of unknown sign leaves no bounds
      if (!tir::uses_any(begin, is_varied)) region[axis] = {begin, begin + point[axis]->extent - 1};
    }
    for (Interval& dimension : region) {
      if (is_read_from_memory(dimension.min) || is_read_from_memory(dimension.max))
        dimension = Interval::everything();
    }
    regions_.push_back(std::move(region));
  }

  // The range of elements of an index: a single element, or from the first to the last of an increasing ramp.
  static std::optional<Range> range_of(const PrimExpr& index) {
    if (index->dtype.is_scalar()) return make_range(index, imm(1, index->dtype));
    const auto* ramp = index.as<RampNode>();
    int64_t stride;
    if (!ramp || !as_const_int(ramp->stride, &stride) || stride < 0) return std::nullopt;
    return make_range(ramp->base, imm(stride * (ramp->lanes - 1) + 1, ramp->base->dtype));
  }

  // Y[B[0]] is a different element whenever B changes.
  static bool is_read_from_memory(const PrimExpr& bound) {
    bool found = false;
    if (bound)
      walk(
          bound, [&](const BufferLoadNode*) { found = true; },
          [&](const CallNode* call) { found |= !is_pure(call->op); });
    return found;
  }

  const BufferNode* buffer_;
  Analyzer& analyzer_;
  bool learns_;
  Domains domains_;                                      // of loops and lets
  std::vector<IntervalRegion> regions_;                  // of each access, where its branch is taken
  std::unordered_map<const VarNode*, int64_t> vectors_;  // vectorized loops and their lanes
  int64_t lanes_ = 1;
  bool escapes_ = false;
};

struct Compact {
  Buffer buffer;
  std::vector<PrimExpr> begin;  // subtracted from each index
};

class Compactor {
 public:
  Stmt run(const Stmt& body) {
    return rewrite(
        body,
        [&](auto& self, const ForNode* node) -> Stmt {
          const bool is_thread = kernel_axis(node) && is_thread_axis(node->thread_tag);
          if (is_thread) threads_[node->loop_var.get()] = {node->min, node->min + node->extent - 1};
          For loop = rewrite_loop(self, node, analyzer);
          if (is_thread) threads_.erase(node->loop_var.get());
          return loop;
        },
        [&](auto& self, const AllocBufferNode* node) -> Stmt { return allocation(self, node); },
        [&](auto& self, const BufferLoadNode* node) -> PrimExpr {
          BufferLoad load = self.children(node);
          const Compact* compact = find(node->buffer.get());
          return compact ? BufferLoad(BufferLoadNode::make(compact->buffer, moved(load->indices, *compact),
                                                           load->predicate))
                         : load;
        },
        [&](auto& self, const BufferStoreNode* node) -> Stmt {
          BufferStore store = self.children(node);
          const Compact* compact = find(node->buffer.get());
          return compact
                     ? BufferStore(BufferStoreNode::make(compact->buffer, store->value,
                                                         moved(store->indices, *compact), store->predicate))
                     : store;
        });
  }

  Analyzer analyzer;

 private:
  template <class Self>
  Stmt allocation(Self& self, const AllocBufferNode* node) {
    const Buffer& buffer = node->buffer;
    if (buffer->strides.empty() && !buffer->shape.empty()) {
      Touched touched(buffer.get(), analyzer, true, all_values_of(buffer));
      std::optional<IntervalRegion> region = touched.region_in(node->body);
      if (region) {
        bound_without_conditions(buffer, node->body, *region);
        resize(buffer, *region, buffer->scope() == "local" ? touched.lanes() : 1);
        align(buffer, node->annotations.get(kStorageAlign));
      }
    }
    Stmt body = self(node->body);
    const Compact* compact = find(buffer.get());
    if (!compact && body == node->body) return Stmt(node);
    return AllocBufferNode::make(compact ? compact->buffer : buffer, node->annotations, body);
  }

  Domains all_values_of(const Buffer& buffer) const { return is_shared(buffer) ? threads_ : Domains(); }

  // Dimensions without a constant bound take that of what conditions do not leave out: the lanes of a tile,
  // where a condition says that they end with an image of unknown width.
  void bound_without_conditions(const Buffer& buffer, const Stmt& body, IntervalRegion& region) {
    int64_t most;
    const auto is_constant = [&](const Interval& interval) { return constant_extent(interval, &most); };
    if (std::all_of(region.begin(), region.end(), is_constant)) return;
    const std::optional<IntervalRegion> all =
        Touched(buffer.get(), analyzer, false, all_values_of(buffer)).region_in(body);
    if (!all) return;
    for (size_t axis = 0; axis < region.size(); ++axis) {
      if (!is_constant(region[axis]) && is_constant((*all)[axis])) region[axis] = (*all)[axis];
    }
  }

  void resize(const Buffer& buffer, const IntervalRegion& touched, int64_t lanes) {
    Compact compact;
    std::vector<PrimExpr> shape;
    bool is_changed = false;
    for (size_t axis = 0; axis < buffer->shape.size(); ++axis) {
      const PrimExpr& whole = buffer->shape[axis];
      int64_t most = 0;
      if (!constant_extent(touched[axis], &most) || !is_less(most, whole)) {
        shape.push_back(whole);
        compact.begin.push_back(imm(0, whole->dtype));
        continue;
      }
      is_changed = true;
      shape.push_back(imm(most, whole->dtype));
      compact.begin.push_back(cast(whole->dtype, touched[axis].min));
    }
    int64_t last;
    if (as_const_int(shape.back(), &last) && last % lanes != 0) {
      shape.back() = imm((last / lanes + 1) * lanes, shape.back()->dtype);
      is_changed = true;
    }
    if (!is_changed) return;
    compact.buffer = with(buffer, [&](BufferNode& changed) { changed.shape = std::move(shape); });
    compacts_[buffer.get()] = std::move(compact);
  }

  static constexpr int64_t kMaxStride = std::numeric_limits<int32_t>::max();  // fits in all index types

  static int64_t checked_stride(const Buffer& buffer, int64_t stride, int64_t more) {
    if (more > kMaxStride - stride)
      throw UserError("storage_align: the rows of buffer {} would be more than {} elements apart",
                      buffer->name, kMaxStride)
          .help("take smaller factors");
    return stride + more;
  }

  // Sets strides as storage_align requires: at least the compact stride, of the form factor * n + offset.
  void align(const Buffer& buffer, const ObjectRef& wishes) {
    if (!wishes) return;
    const Compact* compact = find(buffer.get());
    const Buffer& sized = compact ? compact->buffer : buffer;
    std::vector<PrimExpr> strides(sized->shape.size());
    int64_t stride = 1, extent;
    for (size_t axis = strides.size(); axis-- > 0;) {
      for (const ObjectRef& item : wishes.as<ArrayNode>()->items) {
        const std::vector<ObjectRef>& wish = item.as<ArrayNode>()->items;
        const auto number = [&](size_t n) { return wish[n].as<IntImmNode>()->value; };
        if (number(1) != static_cast<int64_t>(axis)) continue;
        const int64_t factor = number(2), missing = (number(3) % factor - stride % factor) % factor;
        stride = checked_stride(buffer, stride, missing < 0 ? missing + factor : missing);
      }
      strides[axis] = imm(stride, sized->shape[axis]->dtype);
      if (!as_const_int(sized->shape[axis], &extent)) return;
      if (extent > 0 && stride > kMaxStride / extent) checked_stride(buffer, stride, kMaxStride);
      stride *= extent;
    }
    Compact aligned{with(sized, [&](BufferNode& changed) { changed.strides = strides; }), {}};
    for (size_t axis = 0; axis < strides.size(); ++axis)
      aligned.begin.push_back(compact ? compact->begin[axis] : imm(0, sized->shape[axis]->dtype));
    compacts_[buffer.get()] = std::move(aligned);
  }

  bool constant_extent(const Interval& interval, int64_t* most) {
    if (!interval.is_bounded()) return false;
    const arith::ConstBounds bounds =
        analyzer.const_bounds(analyzer.simplify(interval.max - interval.min + 1));
    *most = std::max<int64_t>(bounds.max, 1);
    return bounds.max != arith::kPosInf;
  }

  static bool is_less(int64_t extent, const PrimExpr& whole) {
    const auto* number = whole.as<IntImmNode>();
    return !number || extent < number->value;
  }

  std::vector<PrimExpr> moved(const std::vector<PrimExpr>& indices, const Compact& compact) {
    std::vector<PrimExpr> result;
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      const auto* ramp = indices[axis].as<RampNode>();
      const PrimExpr first = ramp ? ramp->base : indices[axis];
      const PrimExpr own = analyzer.simplify(first - compact.begin[axis]);
      result.push_back(ramp ? PrimExpr(with_base(ramp, own)) : own);
    }
    return result;
  }

  const Compact* find(const BufferNode* buffer) const {
    auto found = compacts_.find(buffer);
    return found == compacts_.end() ? nullptr : &found->second;
  }

  Domains threads_;  // of the loops over threads around the statement
  std::unordered_map<const BufferNode*, Compact> compacts_;
};

PrimFunc compact_buffers(const PrimFunc& func) {
  Compactor compactor;
  for (const Buffer& buffer : func->buffers) {
    if (!buffer) continue;
    for (const PrimExpr& extent : buffer->shape) {
      if (!is<IntImmNode>(extent)) compactor.analyzer.require(extent >= imm(0, extent->dtype));
    }
  }
  Stmt body = compactor.run(func->body);
  return body == func->body ? func : with(func, [&](PrimFuncNode& changed) { changed.body = body; });
}

}  // namespace

extern constinit const StepInfo compact_buffers_info = {
    .name = "compact_buffers",
    .doc =
        "each buffer is only as large as what is touched while it lives; rows are as far apart "
        "as `storage_align` says",
    .uses = kManyDimensions,
    .without = kBlocks,
    .run = without_options<compact_buffers>,
};

}  // namespace tilewright::lower

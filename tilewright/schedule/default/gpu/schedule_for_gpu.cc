// The rules for GPUs in the order in which they are tried.
#include <algorithm>

#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/default/gpu/rules.h"
#include "tilewright/schedule/default/inlining.h"
#include "tilewright/schedule/steps.h"

namespace tilewright::schedule {
namespace {

// True if `shape` adds up products of two factors, which depend on different spatial axes: each is read again for
// many results.
bool is_product(const BlockShape& shape) {
  const auto* sum = shape.store->value.as<AddNode>();
  if (!shape.is_reduction() || !sum || !is<MulNode>(sum->b)) return false;
  const auto depends = [&](const BufferLoadNode* load, size_t axis) {
    return along(shape, load, axis) != Along::kStays;
  };
  for (size_t axis = 0; axis < shape.block->iter_vars.size(); ++axis) {
    if (shape.block->iter_vars[axis]->iter_type != IterType::kSpatial || shape.extent(axis) == 1) continue;
    for (const BufferLoadNode* load : shape.loads) {
      if (!depends(load, axis)) return true;
    }
  }
  return false;
}

class GpuRules {
 public:
  GpuRules(Schedule& sch, const std::string& func_name, const GpuFeatures& features)
      : sch_(sch), features_(features), blocks_(outer_blocks(sch, func_name)) {}
  /// Of a plain function.
  void apply();
  /// Of any other one.
  void leave_to_one_thread(const Reason& reason);
  std::vector<Attempt> attempts;

 private:
  bool attempt(std::string_view name, BlockRef block, const Rule& rule);
  bool is_done(BlockRef block) const { return std::ranges::find(done_, block) != done_.end(); }
  std::vector<std::vector<BlockShape>> runs() const;
  bool reduces_rows(const std::vector<BlockShape>& shapes);
  void reduce_rows();
  using TileRule = std::optional<Reason> (*)(Schedule&, const BlockShape&, const std::optional<BlockShape>&,
                                             const GpuFeatures&);
  bool tile_by(std::string_view name, TileRule tile, const BlockShape& sum,
               std::optional<BlockShape> epilogue);
  void tile(const BlockShape& sum);
  void inline_paddings();
  void share(BlockRef block);

  Schedule& sch_;
  const GpuFeatures& features_;
  std::vector<BlockRef> blocks_;  // of the function as it was
  std::vector<BlockRef> done_;    // those of them that have their schedule
};

bool GpuRules::attempt(std::string_view name, BlockRef block, const Rule& rule) {
  const Block node = sch_.get(block);
  note(&attempts, name, node, try_rule(sch_, rule));
  return attempts.back().is_applied();
}

// Blocks of known forms that follow each other, products of matrices being apart.
std::vector<std::vector<BlockShape>> GpuRules::runs() const {
  std::vector<std::vector<BlockShape>> found(1);
  for (BlockRef block : blocks_) {
    if (!sch_.is_alive(block)) continue;
    OrReason<BlockShape> shape = shape_of(sch_, block);
    if (shape && !is_done(block) && !is_product(*shape))
      found.back().push_back(std::move(*shape));
    else if (!found.back().empty())
      found.emplace_back();
  }
  if (found.back().empty()) found.pop_back();
  return found;
}

bool GpuRules::reduces_rows(const std::vector<BlockShape>& shapes) {
  const auto rule = [&](Schedule& copy) { return reduce_rows_by_threads(copy, shapes, features_); };
  if (!attempt("rows", shapes.back().ref, rule)) return false;
  for (const BlockShape& shape : shapes) done_.push_back(shape.ref);
  return true;
}

// All blocks of a run in one kernel, or else each sum with what is made of it, or alone.
void GpuRules::reduce_rows() {
  for (const std::vector<BlockShape>& run : runs()) {
    const auto is_sum = [](const BlockShape& shape) { return shape.is_reduction(); };
    const auto first = std::ranges::find_if(run, is_sum);
    if (first == run.end() || reduces_rows(run)) continue;
    for (const BlockShape& shape : run) {
      if (shape.is_reduction() && run.size() > 1) reduces_rows({shape});
    }
  }
}

// By one of the rules for products, without the epilogue where a step with it is refused.
bool GpuRules::tile_by(std::string_view name, TileRule tile, const BlockShape& sum,
                       std::optional<BlockShape> epilogue) {
  const auto rule = [&](Schedule& copy) { return tile(copy, sum, epilogue, features_); };
  if (attempt(name, sum.ref, rule)) return true;
  if (!epilogue || attempts.back().reason->kind != Reason::kRefused) return false;
  epilogue.reset();
  return attempt(name, sum.ref, rule);
}

// A product of matrices, with the block that alone reads it if that works element by element.
void GpuRules::tile(const BlockShape& sum) {
  const std::vector<BlockShape> all = shapes_of(sch_, blocks_);
  const std::vector<const BlockShape*> readers = readers_of(all, sum);
  std::optional<BlockShape> epilogue;
  if (readers.size() == 1 && !readers[0]->is_reduction() && !is_done(readers[0]->ref)) epilogue = *readers[0];
  if (tile_by("tensor_cores", multiply_by_tensor_cores, sum, epilogue) ||
      tile_by("tiles", tile_product, sum, epilogue))
    done_.push_back(sum.ref);
  else
    reduces_rows({sum});
}

// Blocks that no other rule takes.
void GpuRules::share(BlockRef block) {
  if (const OrReason<BlockShape> shape = shape_of(sch_, block)) {
    const auto columns = [&](Schedule& copy) { return reduce_columns(copy, *shape, features_); };
    const auto squares = [&](Schedule& copy) { return transpose_in_shared_memory(copy, *shape, features_); };
    if (shape->is_reduction() ? attempt("columns", block, columns) : attempt("transpose", block, squares))
      return;
  }
  if (!shape_of(sch_, block) && sch_.get(block)->init &&
      attempt("choose", block, [&](Schedule& copy) { return choose_by_threads(copy, block, features_); }))
    return;
  for (const Sharing sharing :
       {Sharing::kAllLoops, Sharing::kSomeLoops, Sharing::kRunsApart, Sharing::kLoopsApart}) {
    const auto rule = [&](Schedule& copy) { return share_elements(copy, block, features_, sharing); };
    if (attempt("threads", block, rule)) return;
  }
  attempt("one_thread", block, [&](Schedule& copy) { return run_in_one_thread(copy, block); });
}

// What is padded for a reduction alone is padded where its threads read it.
void GpuRules::inline_paddings() {
  const std::vector<BlockShape> all = shapes_of(sch_, blocks_);
  for (const BlockShape& shape : all) {
    const std::vector<const BlockShape*> readers = readers_of(all, shape);
    if (!is_padding(shape) || readers.size() != 1 || is_done(shape.ref) || is_done(readers[0]->ref)) continue;
    attempt("inline", shape.ref, [&](Schedule& copy) {
      steps::compute_inline(copy, shape.ref);
      return std::nullopt;
    });
  }
}

void GpuRules::apply() {
  for (BlockRef block : blocks_) require_plan(sch_, block);
  inline_elements(sch_, blocks_, [](const BlockShape&, const BlockShape&) { return false; }, &attempts);
  reduce_rows();
  for (const BlockShape& shape : shapes_of(sch_, blocks_)) {
    if (!is_done(shape.ref) && is_product(shape)) tile(shape);
  }
  inline_paddings();
  for (BlockRef block : blocks_) {
    if (!sch_.is_alive(block)) continue;
    remove_plan(sch_, block);
    if (!is_done(block)) share(block);
  }
}

void GpuRules::leave_to_one_thread(const Reason& reason) {
  for (BlockRef block : blocks_) {
    const std::vector<LoopRef> loops = steps::get_loops(sch_, block);
    // the nest of a block before
    if (!loops.empty() &&
        sch_.state().node(sch_.state()[loops[0]]).loop()->for_kind == ForKind::kThreadBinding)
      continue;
    note(&attempts, "threads", sch_.get(block), reason);
    attempt("one_thread", block, [&](Schedule& copy) { return run_in_one_thread(copy, block); });
  }
}

// True if somebody has bound loops of `func`.
bool has_threads(const PrimFunc& func) {
  bool found = false;
  walk(func->body, [&](const ForNode* loop) { found |= loop->for_kind == ForKind::kThreadBinding; });
  return found;
}

}  // namespace

std::vector<Attempt> schedule_for_gpu(Schedule& sch, const std::string& func_name,
                                      const GpuFeatures& features) {
  for (const State::Func& func : sch.state().funcs()) {
    if (func.name->name_hint != func_name || !func.func) continue;
    if (has_threads(func.func))
      return {{func_name, std::string(kAnyRule), Reason(Reason::kForm, "its loops are bound to threads")}};
    const std::optional<Reason> why = why_not_plain(func.func);
    if (!func.func->body.as<BlockRealizeNode>()) return {{func_name, std::string(kAnyRule), why}};
    GpuRules rules(sch, func_name, features);
    if (why)
      rules.leave_to_one_thread(*why);
    else
      rules.apply();
    return std::move(rules.attempts);
  }
  return {};
}

DefaultSchedule schedule_for_gpu(const std::string& name, const PrimFunc& func, const GpuFeatures& features) {
  Schedule sch(ir::with_function(ir::IRModuleNode::make(), name, func), {.errors = ErrorDetail::kFast});
  std::vector<Attempt> attempts = schedule_for_gpu(sch, name, features);
  return {ir::ref_as<PrimFuncNode>(sch.module()->functions[0]), sch.trace(), std::move(attempts)};
}

}  // namespace tilewright::schedule

// The rules in the order in which they are tried.
#include "tilewright/schedule/default/default.h"

#include <algorithm>

#include "tilewright/ir/services.h"
#include "tilewright/schedule/default/cpu/packed_rows.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/cpu/sum_plan.h"
#include "tilewright/schedule/default/cpu/tile_groups.h"
#include "tilewright/schedule/default/inlining.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/block_roles.h"

namespace tilewright::schedule {
namespace {

class Rules {
 public:
  Rules(Schedule& sch, std::string func_name, const Features& features)
      : sch_(sch), func_name_(std::move(func_name)), features_(features) {}
  void apply();
  void schedule_blocks();
  std::vector<Panels> wanted_panels();
  std::vector<Attempt> attempts;

 private:
  std::vector<BlockShape> shapes() const { return shapes_of(sch_, blocks_); }
  bool leaves_sums();
  bool tiles_attention();
  void reduces_rows();
  std::vector<std::vector<BlockShape>> runs() const;
  void vectorize(const BlockShape& shape);
  bool chooses(BlockRef block);
  void leave(BlockRef block, const Reason& reason);
  void parallelize(BlockRef block);
  void tile(const BlockShape& sum);
  void note_instructions(const BlockShape& sum);
  bool tiles_winograd(const BlockShape& sum);
  void tiles_pool();
  bool tiles_groups(const BlockShape& parts);
  bool attempt(std::string_view name, const Block& block, const Rule& rule);
  bool is_done(const BlockShape& shape) const;

  Schedule& sch_;
  std::string func_name_;
  const Features& features_;
  bool is_packing_free_ = false;  // operands may have any layout
  std::vector<BlockRef> blocks_;  // of the function as it was: not copies and inits that rules make
  std::vector<BlockRef> done_;    // those of them that have their schedule
  std::vector<std::pair<BlockRef, Reason>> no_rows_;  // why reduce_rows does not take sums
};

// The only reader of a sum, if it works element by element.
std::optional<BlockShape> epilogue_of(const std::vector<BlockShape>& shapes, const BlockShape& sum) {
  const std::vector<const BlockShape*> readers = readers_of(shapes, sum);
  if (readers.size() != 1 || readers[0]->is_reduction()) return std::nullopt;
  return *readers[0];
}

// The block that makes the rows of matrix tiles, if no other block reads them.
std::optional<BlockRef> maker_of_rows(const std::vector<BlockShape>& shapes, const BlockShape& sum,
                                      const Features& features) {
  const OrReason<SumPlan> plan = plan_sum(sum, features);
  if (!plan || !can_pack_rows(sum, *plan)) return std::nullopt;
  for (const BlockShape& shape : shapes) {
    if (can_make_rows(shape, *plan) && readers_of(shapes, shape).size() == 1) return shape.ref;
  }
  return std::nullopt;
}

// The only reader of sums of groups, if it adds them.
OrReason<BlockShape> sum_of_groups(const std::vector<BlockShape>& shapes, const BlockShape& parts,
                                   const Features& features) {
  const std::vector<const BlockShape*> readers = readers_of(shapes, parts);
  if (readers.size() != 1)
    return Reason(Reason::kOther, "{} blocks read {}, not one that adds groups", readers.size(),
                  parts.output()->name);
  const OrReason<GroupPlan> plan = plan_groups(parts, *readers[0], features);
  if (!plan) return plan.reason();
  return *readers[0];
}

// The buffer in panels, if one block alone reads it.
std::optional<Reason> transform_reads(Schedule& sch, const std::string& func_name, const Panels& panels) {
  std::optional<std::pair<BlockRef, int64_t>> reader;
  for (BlockRef block : outer_blocks(sch, func_name)) {
    const std::vector<BufferRegion>& reads = sch.get(block)->reads;
    for (size_t n = 0; n < reads.size(); ++n) {
      if (reads[n]->buffer != panels.buffer) continue;
      if (reader) return Reason(Reason::kForm, "several blocks read {}", panels.buffer->name);
      reader = {block, static_cast<int64_t>(n)};
    }
  }
  if (!reader) return Reason(Reason::kForm, "no block reads {}", panels.buffer->name);
  steps::transform_layout(sch, reader->first, steps::read_buffer(reader->second),
                          panel_map(panels.buffer, panels.layout));
  return std::nullopt;
}

}  // namespace

bool Rules::is_done(const BlockShape& shape) const {
  return std::find(done_.begin(), done_.end(), shape.ref) != done_.end();
}

bool Rules::attempt(std::string_view name, const Block& block, const Rule& rule) {
  note(&attempts, name, block, try_rule(sch_, rule));
  return attempts.back().is_applied();
}

bool Rules::tiles_attention() {
  if (blocks_.empty()) return false;
  const std::vector<BlockShape> all = shapes();
  return attempt("tile_attention", sch_.get(blocks_.back()), [&](Schedule& copy) -> std::optional<Reason> {
    if (all.size() == blocks_.size()) return tile_attention(copy, all, features_);
    return Reason(Reason::kOther, "{} of {} blocks are not one store", blocks_.size() - all.size(),
                  blocks_.size());
  });
}

// Blocks of known forms that follow each other.
std::vector<std::vector<BlockShape>> Rules::runs() const {
  std::vector<std::vector<BlockShape>> found;
  bool is_open = false;
  for (BlockRef block : blocks_) {
    if (!sch_.is_alive(block)) continue;
    OrReason<BlockShape> shape = shape_of(sch_, block);
    if (!shape || is_done(*shape)) {
      is_open = false;
      continue;
    }
    if (!is_open) found.emplace_back();
    is_open = true;
    found.back().push_back(std::move(*shape));
  }
  return found;
}

void Rules::tiles_pool() {
  const std::vector<BlockShape> all = shapes();
  const BlockShape* rows = block_in_role(all, kPoolRows);
  if (!rows) return;
  std::vector<BlockRef> done;
  const bool is_applied = attempt("tile_pool", rows->block, [&](Schedule& copy) {
    const OrReason<std::vector<BlockRef>> tiled = tile_pool(copy, all, features_);
    if (tiled) done = *tiled;
    return tiled.why_not();
  });
  if (is_applied) done_.insert(done_.end(), done.begin(), done.end());
}

// Schedules blocks that follow each other and reduce contiguous elements.  The reasons why others are not
// scheduled so are noted only if no other rule takes their sums.
void Rules::reduces_rows() {
  for (const std::vector<BlockShape>& run : runs()) {
    const auto product = std::find_if(run.begin(), run.end(), [&](const BlockShape& shape) {
      return shape.is_reduction() && needs_tiles(shape, features_, is_packing_free_);
    });
    const bool is_of_sums =
        std::any_of(run.begin(), run.end(), [](const BlockShape& shape) { return shape.is_reduction(); });
    std::optional<Reason> reason;
    if (product != run.end())
      reason = Reason(Reason::kForm, "block {} next to it is a product, which register tiles compute",
                      product->block->name_hint);
    else if (!is_of_sums)
      reason = Reason(Reason::kOther, "nothing is added up");
    else
      reason = try_rule(sch_, [&](Schedule& copy) { return reduce_rows(copy, run, features_); });
    if (!reason || reason->kind == Reason::kRefused || !is_of_sums)
      note(&attempts, "reduce_rows", run.back().block, reason);
    for (const BlockShape& shape : run) {
      if (!reason) done_.push_back(shape.ref);
      if (reason && reason->kind != Reason::kRefused && shape.is_reduction())
        no_rows_.emplace_back(shape.ref, *reason);
    }
  }
}

bool Rules::tiles_winograd(const BlockShape& sum) {
  std::vector<BlockRef> done;
  const std::vector<BlockShape> all = shapes();
  for (const bool may_have_strips : {true, false}) {
    const bool is_applied = attempt("tile_winograd", sum.block, [&](Schedule& copy) {
      const OrReason<std::vector<BlockRef>> tiled = tile_winograd(copy, all, sum, features_, may_have_strips);
      if (tiled) done = *tiled;
      return tiled.why_not();
    });
    if (is_applied) done_.insert(done_.end(), done.begin(), done.end());
    // a step that is refused may do without strips
    if (is_applied || attempts.back().reason->kind != Reason::kRefused) return is_applied;
  }
  return false;
}

// Sums of groups with what adds them, and an epilogue.
bool Rules::tiles_groups(const BlockShape& parts) {
  const std::vector<BlockShape> all = shapes();
  const OrReason<BlockShape> sum = sum_of_groups(all, parts, features_);
  if (!sum) {
    note(&attempts, "tile_groups", parts.block, sum.reason());
    return false;
  }
  std::optional<BlockShape> epilogue = epilogue_of(all, *sum);
  const auto rule = [&](Schedule& copy) { return tile_groups(copy, parts, *sum, epilogue, features_); };
  bool is_applied = attempt("tile_groups", parts.block, rule);
  if (!is_applied && epilogue) {
    epilogue.reset();
    is_applied = attempt("tile_groups", parts.block, rule);
  }
  if (!is_applied) return false;
  done_.push_back(parts.ref);
  done_.push_back(sum->ref);
  if (epilogue) done_.push_back(epilogue->ref);
  return true;
}

void Rules::tile(const BlockShape& sum) {
  if (tiles_winograd(sum) || tiles_groups(sum)) return;
  done_.push_back(sum.ref);
  const std::vector<BlockShape> all = shapes();
  const std::optional<BlockShape> epilogue = epilogue_of(all, sum);
  std::optional<BlockRef> maker = maker_of_rows(all, sum, features_);
  const auto rule = [&](const std::optional<BlockShape>& with) {
    return attempt("tile_sum", sum.block,
                   [&](Schedule& copy) { return tile_sum(copy, sum, with, features_, {.maker = maker}); });
  };
  const auto is_applied = [&] {
    if (!epilogue || is_done(*epilogue) || !rule(epilogue)) return rule(std::nullopt);
    done_.push_back(epilogue->ref);
    return true;
  };
  bool is_tiled = is_applied();
  if (maker && is_tiled) {
    done_.push_back(*maker);
  } else if (maker) {
    maker.reset();
    is_tiled = is_applied();
  }
  if (is_tiled) return note_instructions(sum);
  // the blocks around may have other rows: a sum can do without them
  if (attempt("reduce_rows", sum.block, [&](Schedule& copy) { return reduce_rows(copy, {sum}, features_); }))
    return;
  for (const auto& [block, reason] : no_rows_) {
    if (block == sum.ref) note(&attempts, "reduce_rows", sum.block, reason);
  }
  parallelize(sum.ref);
}

// The instructions that the tiles of `sum` use, and why not those that do more at once.
void Rules::note_instructions(const BlockShape& sum) {
  const OrReason<SumPlan> plan = plan_sum(sum, features_);
  if (!plan) return;
  note(&attempts, "dot_products", sum.block, plan->dot.why_not());
  note(&attempts, "matrix_tiles", sum.block, plan->matrix.why_not());
}

// Blocks of another form, and those that no rule takes, have at least their loops.
void Rules::parallelize(BlockRef block) {
  attempt("parallel", sch_.get(block),
          [&](Schedule& copy) { return parallelize_block(copy, block, features_); });
}

// Blocks of several stores that choose one of many terms.
bool Rules::chooses(BlockRef block) {
  std::vector<Buffer> temporary;
  for (const Buffer& buffer : sch_.get(steps::get_block(sch_, "root", func_name_))->alloc_buffers) {
    const bool is_read = std::any_of(blocks_.begin(), blocks_.end(), [&](BlockRef other) {
      if (other == block || !sch_.is_alive(other)) return false;
      const std::vector<BufferRegion>& reads = sch_.get(other)->reads;
      return std::any_of(reads.begin(), reads.end(),
                         [&](const BufferRegion& read) { return read->buffer == buffer; });
    });
    if (!is_read) temporary.push_back(buffer);
  }
  return attempt("choose", sch_.get(block),
                 [&](Schedule& copy) { return choose_best(copy, block, temporary, features_); });
}

void Rules::leave(BlockRef block, const Reason& reason) {
  note(&attempts, "vectorize", sch_.get(block), reason);
  parallelize(block);
}

void Rules::vectorize(const BlockShape& shape) {
  std::optional<Reason> no_vectors;
  const std::optional<Reason> refused = try_rule(sch_, [&](Schedule& copy) {
    no_vectors = vectorize_elements(copy, shape, features_);
    return std::nullopt;
  });
  note(&attempts, "vectorize", shape.block, refused ? refused : no_vectors);
  if (refused) parallelize(shape.ref);
}

// The rules for whole functions; false if nothing is left for the others.
bool Rules::leaves_sums() {
  blocks_ = outer_blocks(sch_, func_name_);
  for (BlockRef block : blocks_) require_plan(sch_, block);
  if (tiles_attention()) return false;
  inline_elements(
      sch_, blocks_,
      [&](const BlockShape& shape, const BlockShape& sum) {
        return is_padding_of_windows(shape, sum, features_);
      },
      &attempts);
  tiles_pool();
  reduces_rows();
  return true;
}

std::vector<Panels> Rules::wanted_panels() {
  std::vector<Panels> wanted;
  is_packing_free_ = true;
  if (!leaves_sums()) return wanted;
  const std::vector<BlockShape> all = shapes();
  for (const BlockShape& shape : all) {
    if (!shape.is_reduction() || is_done(shape)) continue;
    if (const OrReason<BlockShape> sum = sum_of_groups(all, shape, features_)) {
      const std::vector<Panels> panels = group_panels(shape, *sum, features_);
      wanted.insert(wanted.end(), panels.begin(), panels.end());
    } else if (const std::optional<Panels> panels = schedule::wanted_panels(shape, features_)) {
      wanted.push_back(*panels);
    }
  }
  return wanted;
}

void Rules::apply() {
  schedule_blocks();
  for (BlockRef block : blocks_) {
    if (sch_.is_alive(block)) remove_plan(sch_, block);
  }
}

void Rules::schedule_blocks() {
  if (!leaves_sums()) return;
  for (BlockRef block : blocks_) {
    if (!sch_.is_alive(block)) continue;
    const OrReason<BlockShape> shape = shape_of(sch_, block);
    if (shape && shape->is_reduction() && !is_done(*shape)) tile(*shape);
  }
  for (BlockRef block : blocks_) {
    if (!sch_.is_alive(block)) continue;
    const OrReason<BlockShape> shape = shape_of(sch_, block);
    if (!shape && !chooses(block))
      leave(block, shape.reason());
    else if (shape && !is_done(*shape))
      vectorize(*shape);
  }
}

namespace {

std::vector<Attempt> left_as_it_is(const std::string& func_name, const Reason& reason) {
  return {{func_name, std::string(kAnyRule), reason}};
}

}  // namespace

std::vector<Attempt> schedule_by_rules(Schedule& sch, const std::string& func_name,
                                       const Features& features) {
  for (const State::Func& func : sch.state().funcs()) {
    if (func.name->name_hint != func_name || !func.func) continue;
    if (const std::optional<Reason> why = why_not_plain(func.func)) return left_as_it_is(func_name, *why);
    Rules rules(sch, func_name, features);
    rules.apply();
    return std::move(rules.attempts);
  }
  return {};
}

DefaultSchedule schedule_by_rules(const std::string& name, const PrimFunc& func, const Features& features) {
  if (const std::optional<Reason> why = why_not_plain(func)) return {func, {}, left_as_it_is(name, *why)};
  // refusals are frequent here and only their text is kept, so that source places are not looked up
  Schedule sch(ir::with_function(ir::IRModuleNode::make(), name, func), {.errors = ErrorDetail::kFast});
  std::vector<Attempt> attempts = schedule_by_rules(sch, name, features);
  return {ir::ref_as<PrimFuncNode>(sch.module()->functions[0]), sch.trace(), std::move(attempts)};
}

PackedWeights pack_weights(const PrimFunc& func, const std::vector<bool>& is_weight,
                           const Features& features) {
  PackedWeights result{func, std::vector<PanelLayout>(func->params.size())};
  if (why_not_plain(func)) return result;
  const std::string name = "main";
  const Schedule plain(ir::with_function(ir::IRModuleNode::make(), name, func),
                       {.errors = ErrorDetail::kFast});
  Schedule probe = plain, sch = plain;
  for (const Panels& panels : Rules(probe, name, features).wanted_panels()) {
    const auto param = std::find(func->buffers.begin(), func->buffers.end(), panels.buffer);
    const auto place = static_cast<size_t>(param - func->buffers.begin());
    if (param == func->buffers.end() || !is_weight[place] || result.layouts[place].width != 0) continue;
    if (!try_rule(sch, [&](Schedule& copy) { return transform_reads(copy, name, panels); }))
      result.layouts[place] = panels.layout;
  }
  result.func = ir::ref_as<PrimFuncNode>(sch.module()->functions[0]);
  return result;
}

}  // namespace tilewright::schedule

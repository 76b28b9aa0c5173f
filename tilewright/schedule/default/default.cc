// The rules in the order in which they are tried.
#include "tilewright/schedule/default/default.h"

#include <algorithm>

#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/default/cpu/packed_rows.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/cpu/sum_plan.h"
#include "tilewright/schedule/default/cpu/tile_groups.h"
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
  std::vector<BlockShape> shapes() const;
  bool leaves_sums();
  std::vector<Buffer> read_elsewhere() const;
  void inline_elements();
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
  void note(std::string_view name, const Block& block, std::optional<Reason> reason);
  bool is_done(const BlockShape& shape) const;

  Schedule& sch_;
  std::string func_name_;
  const Features& features_;
  bool is_packing_free_ = false;  // operands may have any layout
  std::vector<BlockRef> blocks_;  // of the function as it was: not copies and inits that rules make
  std::vector<BlockRef> done_;    // those of them that have their schedule
  std::vector<std::pair<BlockRef, Reason>> no_rows_;  // why reduce_rows does not take sums
};

std::vector<const BlockShape*> readers_of(const std::vector<BlockShape>& shapes, const BlockShape& writer) {
  std::vector<const BlockShape*> found;
  for (const BlockShape& shape : shapes) {
    if (shape.ref != writer.ref && reads(shape, writer.output())) found.push_back(&shape);
  }
  return found;
}

// The expressions of one statement, at most: y = x + x doubles with every step that is inlined.
constexpr int64_t kMaxInlinedNodes = 1000;

int64_t num_nodes(const PrimExpr& expr) {
  int64_t count = 0;
  walk(expr, [&](const PrimExprNode*) { ++count; });
  return count;
}

// How many different elements of `buffer` one instance of `shape` reads, and how many loads do so.
std::pair<int64_t, int64_t> num_reads(const BlockShape& shape, const Buffer& buffer) {
  std::vector<const BufferLoadNode*> different;
  int64_t count = 0;
  for (const BufferLoadNode* load : shape.loads) {
    if (load->buffer != buffer) continue;
    ++count;
    auto is_same = [&](const BufferLoadNode* other) {
      return structural_equal(ObjectRef(load), ObjectRef(other));
    };
    if (std::none_of(different.begin(), different.end(), is_same)) different.push_back(load);
  }
  return {static_cast<int64_t>(different.size()), count};
}

// True if `reader` reads neighbours in the results of `shape`, which lie apart in what `shape` reads.
bool has_neighbours_apart(const BlockShape& shape, const BlockShape& reader) {
  const std::optional<size_t> own = shape.last_axis(), column = reader.last_axis();
  if (!own || !column) return false;
  const auto is_apart = [&](const BufferLoadNode* load) {
    return along(shape, load, *own) == Along::kStrided;
  };
  return std::ranges::any_of(shape.loads, is_apart) &&
         std::ranges::any_of(reader.loads, [&](const BufferLoadNode* load) {
           return load->buffer == shape.output() && along(reader, load, *column) == Along::kContiguous;
         });
}

// The reason why `reader` should load the results of `shape` and not compute them; nothing if it may.
std::optional<Reason> why_not_into(const BlockShape& shape, const BlockShape& reader,
                                   const Features& features) {
  const auto [num_elements, num_loads] = num_reads(reader, shape.output());
  if (num_elements == 1 && reader.is_reduction() && is_padding_of_windows(shape, reader, features))
    return std::nullopt;
  const std::string &name = reader.block->name_hint, &buffer = shape.output()->name;
  const bool is_computed_again = num_elements > 1 || reader.num_instances() > shape.num_instances();
  // blocks whose small axes are unrolled share loads between the values of these axes
  if (is_computed_again && (shape.is_expensive() || reader.is_reduction() || is_chosen_by_axis(reader)))
    return Reason(Reason::kCost, "block {} would compute about {} elements of {}, which has about {}, and {}",
                  name, product(num_elements, reader.num_instances()), buffer, shape.num_instances(),
                  shape.is_expensive()    ? "they call functions"
                  : reader.is_reduction() ? "it is a reduction"
                                          : "values of its small axis share them");
  if (is_computed_again && has_neighbours_apart(shape, reader))
    return Reason(Reason::kCost,
                  "block {} would collect about {} elements that lie apart, and {} has about {} side by side",
                  name, product(num_elements, reader.num_instances()), buffer, shape.num_instances());
  const int64_t nodes = num_nodes(reader.store->value) + product(num_nodes(shape.store->value), num_loads);
  if (nodes <= kMaxInlinedNodes) return std::nullopt;
  return Reason(Reason::kCost, "the value of block {} would have {} expressions, more than {}", name, nodes,
                kMaxInlinedNodes);
}

// True if rule tile_pool computes `shape` for many readers at once.
bool is_part_of_pool(const BlockShape& shape) {
  const std::string role = shape.block->annotations.get_string(kRole, "");
  return role == kPoolRows || role == kPoolStep;
}

// A value that is cheap, or needed once, is computed where it is read: no memory in between.  Nothing if
// `shape` has one, else the reason.
//
// kept  buffers that blocks of other forms read
std::optional<Reason> why_not_inlined(const std::vector<BlockShape>& shapes, const BlockShape& shape,
                                      const std::vector<Buffer>& kept, const Features& features) {
  if (shape.is_reduction()) return Reason(Reason::kOther, "it is a reduction");
  if (is_part_of_pool(shape)) return Reason(Reason::kOther, "it is a part of a pool");
  const std::vector<const BlockShape*> readers = readers_of(shapes, shape);
  if (readers.empty()) return Reason(Reason::kOther, "no block reads {}", shape.output()->name);
  const int64_t wish = shape.planned("inlined", kByRules);
  if (wish == 0) return Reason(Reason::kCost, "its plan keeps {} in memory", shape.output()->name);
  if (readers.size() > 1 && shape.is_expensive() && wish != 1)
    return Reason(Reason::kCost, "{} blocks read {}, and each would call its functions again", readers.size(),
                  shape.output()->name);
  for (const BlockShape* reader : readers) {
    if (std::optional<Reason> why = why_not_into(shape, *reader, features); why && wish != 1) return why;
  }
  if (std::find(kept.begin(), kept.end(), shape.output()) == kept.end()) return std::nullopt;
  return Reason(Reason::kForm, "a block that is not one store reads {}", shape.output()->name);
}

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

// The blocks of a function that are in no other one.
std::vector<BlockRef> outer_blocks(Schedule& sch, const std::string& func_name) {
  return steps::get_child_blocks(sch, steps::get_block(sch, "root", func_name));
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

std::vector<BlockShape> Rules::shapes() const {
  std::vector<BlockShape> found;
  for (BlockRef block : blocks_) {
    if (!sch_.is_alive(block)) continue;
    if (OrReason<BlockShape> shape = shape_of(sch_, block)) found.push_back(std::move(*shape));
  }
  return found;
}

bool Rules::is_done(const BlockShape& shape) const {
  return std::find(done_.begin(), done_.end(), shape.ref) != done_.end();
}

std::optional<Reason> try_rule(Schedule& sch, const Rule& rule) {
  Schedule copy = sch;
  try {
    if (std::optional<Reason> reason = rule(copy)) return reason;
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::kInternal) throw;
    return Reason(Reason::kRefused, "{}", error.text());
  }
  sch = std::move(copy);
  return std::nullopt;
}

void Rules::note(std::string_view name, const Block& block, std::optional<Reason> reason) {
  Attempt attempt{block->name_hint, std::string(name), std::move(reason)};
  // with and without an epilogue the reason is often the same
  const bool is_same = !attempts.empty() && attempts.back().block == attempt.block &&
                       attempts.back().rule == attempt.rule && attempts.back().reason == attempt.reason;
  if (!is_same) attempts.push_back(std::move(attempt));
}

bool Rules::attempt(std::string_view name, const Block& block, const Rule& rule) {
  note(name, block, try_rule(sch_, rule));
  return attempts.back().is_applied();
}

// The buffers that blocks of unknown form read, an unknown number of times.
std::vector<Buffer> Rules::read_elsewhere() const {
  std::vector<Buffer> found;
  for (BlockRef block : blocks_) {
    if (!sch_.is_alive(block) || shape_of(sch_, block)) continue;
    for (const BufferRegion& read : sch_.get(block)->reads) found.push_back(read->buffer);
  }
  return found;
}

void Rules::inline_elements() {
  const std::vector<Buffer> kept = read_elsewhere();
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    const std::vector<BlockShape> all = shapes();
    const size_t num_attempts = attempts.size();
    for (const BlockShape& shape : all) {
      std::optional<Reason> reason = why_not_inlined(all, shape, kept, features_);
      if (!reason)
        reason = try_rule(sch_, [&](Schedule& copy) {
          steps::compute_inline(copy, shape.ref);
          return std::nullopt;
        });
      is_changed = !reason;
      // after a change, blocks that were refused are tried again with the new shapes of their readers
      if (is_changed) attempts.resize(num_attempts);
      note("inline", shape.block, std::move(reason));
      if (is_changed) break;
    }
  }
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
      note("reduce_rows", run.back().block, reason);
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
    note("tile_groups", parts.block, sum.reason());
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
    if (block == sum.ref) note("reduce_rows", sum.block, reason);
  }
  parallelize(sum.ref);
}

// The instructions that the tiles of `sum` use, and why not those that do more at once.
void Rules::note_instructions(const BlockShape& sum) {
  const OrReason<SumPlan> plan = plan_sum(sum, features_);
  if (!plan) return;
  note("dot_products", sum.block, plan->dot.why_not());
  note("matrix_tiles", sum.block, plan->matrix.why_not());
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
  note("vectorize", sch_.get(block), reason);
  parallelize(block);
}

void Rules::vectorize(const BlockShape& shape) {
  std::optional<Reason> no_vectors;
  const std::optional<Reason> refused = try_rule(sch_, [&](Schedule& copy) {
    no_vectors = vectorize_elements(copy, shape, features_);
    return std::nullopt;
  });
  note("vectorize", shape.block, refused ? refused : no_vectors);
  if (refused) parallelize(shape.ref);
}

// The rules for whole functions; false if nothing is left for the others.
bool Rules::leaves_sums() {
  blocks_ = outer_blocks(sch_, func_name_);
  for (BlockRef block : blocks_) require_plan(sch_, block);
  if (tiles_attention()) return false;
  inline_elements();
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

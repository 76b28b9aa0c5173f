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

namespace tilewright::schedule {
namespace {

class Rules {
 public:
  Rules(Schedule& sch, std::string func_name, const Features& features)
      : sch_(sch), func_name_(std::move(func_name)), features_(features) {}
  void apply();
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
  void leave(BlockRef block, const std::string& why);
  void parallelize(BlockRef block);
  void tile(const BlockShape& sum);
  bool tiles_winograd(const BlockShape& sum);
  bool tiles_groups(const BlockShape& parts);
  bool attempt(std::string_view name, const BlockShape& shape, const std::function<bool(Schedule&)>& rule);
  bool is_done(const BlockShape& shape) const;

  Schedule& sch_;
  std::string func_name_;
  const Features& features_;
  bool is_packing_free_ = false;  // operands may have any layout
  std::vector<BlockRef> blocks_;  // of the function as it was: not copies and inits that rules make
  std::vector<BlockRef> done_;    // those of them that have their schedule
  std::vector<std::pair<BlockRef, std::string>> no_rows_;  // why reduce_rows does not take sums
};

std::vector<const BlockShape*> readers_of(const std::vector<BlockShape>& shapes, const BlockShape& writer) {
  std::vector<const BlockShape*> found;
  for (const BlockShape& shape : shapes) {
    if (shape.ref != writer.ref && reads(shape, writer.output())) found.push_back(&shape);
  }
  return found;
}

constexpr const char* kOtherForm = "the block has another form";

// Of one statement: y = x + x doubles with every step that is inlined.
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

// A value that is cheap, or needed once, is computed where it is read: no memory in between.
bool is_worth_inlining(const std::vector<BlockShape>& shapes, const BlockShape& shape,
                       const Features& features) {
  if (shape.is_reduction()) return false;
  const std::vector<const BlockShape*> readers = readers_of(shapes, shape);
  if (readers.empty() || (readers.size() > 1 && shape.is_expensive())) return false;
  const int64_t num_own = num_nodes(shape.store->value);
  for (const BlockShape* reader : readers) {
    const auto [num_elements, num_loads] = num_reads(*reader, shape.output());
    if (num_elements == 1 && reader->is_reduction() && is_padding_of_windows(shape, *reader, features))
      continue;
    const bool is_computed_again = num_elements > 1 || reader->num_instances() > shape.num_instances();
    if (is_computed_again && (shape.is_expensive() || reader->is_reduction())) return false;
    // written out for each value of small axes, all these share what they read
    if (is_computed_again && is_chosen_by_axis(*reader)) return false;
    if (num_nodes(reader->store->value) + product(num_own, num_loads) > kMaxInlinedNodes) return false;
  }
  return true;
}

// The only reader of a sum, if it works element by element.
std::optional<BlockShape> epilogue_of(const std::vector<BlockShape>& shapes, const BlockShape& sum) {
  const std::vector<const BlockShape*> readers = readers_of(shapes, sum);
  if (readers.size() != 1 || readers[0]->is_reduction()) return std::nullopt;
  return *readers[0];
}

// The block that makes the rows of matrix tiles, if nobody else reads them.
std::optional<BlockRef> maker_of_rows(const std::vector<BlockShape>& shapes, const BlockShape& sum,
                                      const Features& features) {
  const std::optional<SumPlan> plan = plan_sum(sum, features);
  if (!plan || !can_pack_rows(sum, *plan)) return std::nullopt;
  for (const BlockShape& shape : shapes) {
    if (can_make_rows(shape, *plan) && readers_of(shapes, shape).size() == 1) return shape.ref;
  }
  return std::nullopt;
}

// The only reader of sums of groups, if it adds them.
std::optional<BlockShape> sum_of_groups(const std::vector<BlockShape>& shapes, const BlockShape& parts,
                                        const Features& features) {
  const std::vector<const BlockShape*> readers = readers_of(shapes, parts);
  if (readers.size() != 1 || !plan_groups(parts, *readers[0], features)) return std::nullopt;
  return *readers[0];
}

// The blocks of a function that are in no other one.
std::vector<BlockRef> outer_blocks(Schedule& sch, const std::string& func_name) {
  return steps::get_child_blocks(sch, steps::get_block(sch, "root", func_name));
}

// The buffer in panels, if one block alone reads it.
bool transform_reads(Schedule& sch, const std::string& func_name, const Panels& panels) {
  std::optional<std::pair<BlockRef, int64_t>> reader;
  for (BlockRef block : outer_blocks(sch, func_name)) {
    const std::vector<BufferRegion>& reads = sch.get(block)->reads;
    for (size_t n = 0; n < reads.size(); ++n) {
      if (reads[n]->buffer != panels.buffer) continue;
      if (reader) return false;
      reader = {block, static_cast<int64_t>(n)};
    }
  }
  if (!reader) return false;
  steps::transform_layout(sch, reader->first, steps::read_buffer(reader->second),
                          panel_map(panels.buffer, panels.layout));
  return true;
}

}  // namespace

std::vector<BlockShape> Rules::shapes() const {
  std::vector<BlockShape> found;
  for (BlockRef block : blocks_) {
    if (!sch_.is_alive(block)) continue;
    if (std::optional<BlockShape> shape = shape_of(sch_, block)) found.push_back(std::move(*shape));
  }
  return found;
}

bool Rules::is_done(const BlockShape& shape) const {
  return std::find(done_.begin(), done_.end(), shape.ref) != done_.end();
}

std::string why_not_applied(Schedule& sch, const std::function<bool(Schedule&)>& rule) {
  Schedule copy = sch;
  try {
    if (!rule(copy)) return kOtherForm;
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::kInternal) throw;
    return error.text();
  }
  sch = std::move(copy);
  return "";
}

bool Rules::attempt(std::string_view name, const BlockShape& shape,
                    const std::function<bool(Schedule&)>& rule) {
  std::string reason = why_not_applied(sch_, rule);
  const bool is_applied = reason.empty();
  attempts.push_back({shape.block->name_hint, std::string(name), std::move(reason)});
  return is_applied;
}

// What blocks of other forms read: nobody knows how often.
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
    for (const BlockShape& shape : all) {
      if (!is_worth_inlining(all, shape, features_) ||
          std::find(kept.begin(), kept.end(), shape.output()) != kept.end())
        continue;
      is_changed = attempt("inline", shape, [&](Schedule& copy) {
        steps::compute_inline(copy, shape.ref);
        return true;
      });
      if (is_changed) break;  // the shapes of readers are others now
    }
  }
}

bool Rules::tiles_attention() {
  const std::vector<BlockShape> all = shapes();
  if (all.size() != blocks_.size() || all.empty()) return false;
  const std::string reason =
      why_not_applied(sch_, [&](Schedule& copy) { return tile_attention(copy, all, features_); });
  if (reason == kOtherForm) return false;
  attempts.push_back({all.back().block->name_hint, "tile_attention", reason});
  return reason.empty();
}

// Blocks of known forms that follow each other.
std::vector<std::vector<BlockShape>> Rules::runs() const {
  std::vector<std::vector<BlockShape>> found;
  bool is_open = false;
  for (BlockRef block : blocks_) {
    if (!sch_.is_alive(block)) continue;
    std::optional<BlockShape> shape = shape_of(sch_, block);
    if (!shape) {
      is_open = false;
      continue;
    }
    if (!is_open) found.emplace_back();
    is_open = true;
    found.back().push_back(std::move(*shape));
  }
  return found;
}

// Of blocks that follow each other and reduce what is contiguous.
void Rules::reduces_rows() {
  for (const std::vector<BlockShape>& run : runs()) {
    if (std::any_of(run.begin(), run.end(), [&](const BlockShape& shape) {
          return shape.is_reduction() && needs_tiles(shape, features_, is_packing_free_);
        }))
      continue;
    const std::string why = why_no_row_sums(run, features_);
    const auto rule = [&](Schedule& copy) { return reduce_rows(copy, run, features_); };
    if (why.empty() && attempt("reduce_rows", run.back(), rule)) {
      for (const BlockShape& shape : run) done_.push_back(shape.ref);
      continue;
    }
    for (const BlockShape& shape : run) {
      if (!why.empty() && shape.is_reduction()) no_rows_.emplace_back(shape.ref, why);
    }
  }
}

bool Rules::tiles_winograd(const BlockShape& sum) {
  std::vector<BlockRef> done;
  const std::vector<BlockShape> all = shapes();
  for (const bool may_have_strips : {true, false}) {
    const std::string reason = why_not_applied(sch_, [&](Schedule& copy) {
      done = tile_winograd(copy, all, sum, features_, may_have_strips);
      return !done.empty();
    });
    if (reason == kOtherForm) return false;
    attempts.push_back({sum.block->name_hint, "tile_winograd", reason});
    if (!reason.empty()) continue;
    done_.insert(done_.end(), done.begin(), done.end());
    return true;
  }
  return false;
}

// Sums of groups with what adds them, and an epilogue.
bool Rules::tiles_groups(const BlockShape& parts) {
  const std::vector<BlockShape> all = shapes();
  const std::optional<BlockShape> sum = sum_of_groups(all, parts, features_);
  if (!sum) return false;
  std::optional<BlockShape> epilogue = epilogue_of(all, *sum);
  const auto rule = [&](Schedule& copy) { return tile_groups(copy, parts, *sum, epilogue, features_); };
  bool is_applied = attempt("tile_groups", parts, rule);
  if (!is_applied && epilogue) {
    epilogue.reset();
    is_applied = attempt("tile_groups", parts, rule);
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
    return attempt("tile_sum", sum, [&](Schedule& copy) {
      std::string why;
      if (!tile_sum(copy, sum, with, features_, {.maker = maker, .why = &why})) throw UserError("{}", why);
      return true;
    });
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
  if (is_tiled) return;
  for (const auto& [block, why] : no_rows_) {
    if (block == sum.ref) attempts.push_back({sum.block->name_hint, "reduce_rows", why});
  }
  parallelize(sum.ref);
}

// Blocks of another form, and those that no rule takes, have at least their loops.
void Rules::parallelize(BlockRef block) {
  const std::string reason =
      why_not_applied(sch_, [&](Schedule& copy) { return parallelize_block(copy, block, features_); });
  if (reason != kOtherForm) attempts.push_back({sch_.get(block)->name_hint, "parallel", reason});
}

void Rules::leave(BlockRef block, const std::string& why) {
  attempts.push_back({sch_.get(block)->name_hint, "vectorize", why});
  parallelize(block);
}

void Rules::vectorize(const BlockShape& shape) {
  std::string no_vectors;
  const std::string failure = why_not_applied(sch_, [&](Schedule& copy) {
    no_vectors = vectorize_elements(copy, shape, features_);
    return true;
  });
  attempts.push_back({shape.block->name_hint, "vectorize", failure.empty() ? no_vectors : failure});
  if (!failure.empty()) parallelize(shape.ref);
}

// The rules for whole functions; false if nothing is left for the others.
bool Rules::leaves_sums() {
  blocks_ = outer_blocks(sch_, func_name_);
  if (tiles_attention()) return false;
  inline_elements();
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
    if (const std::optional<BlockShape> sum = sum_of_groups(all, shape, features_)) {
      const std::vector<Panels> panels = group_panels(shape, *sum, features_);
      wanted.insert(wanted.end(), panels.begin(), panels.end());
    } else if (const std::optional<Panels> panels = schedule::wanted_panels(shape, features_)) {
      wanted.push_back(*panels);
    }
  }
  return wanted;
}

void Rules::apply() {
  if (!leaves_sums()) return;
  for (BlockRef block : blocks_) {
    if (!sch_.is_alive(block)) continue;
    const std::optional<BlockShape> shape = shape_of(sch_, block);
    if (shape && shape->is_reduction() && !is_done(*shape)) tile(*shape);
  }
  for (BlockRef block : blocks_) {
    if (!sch_.is_alive(block)) continue;
    std::string why;
    const std::optional<BlockShape> shape = shape_of(sch_, block, &why);
    if (!shape)
      leave(block, why);
    else if (!is_done(*shape))
      vectorize(*shape);
  }
}

namespace {

std::vector<Attempt> left_as_it_is(const std::string& func_name, const std::string& why) {
  return {{func_name, std::string(kAnyRule), why}};
}

}  // namespace

std::vector<Attempt> schedule_by_rules(Schedule& sch, const std::string& func_name,
                                       const Features& features) {
  for (const State::Func& func : sch.state().funcs()) {
    if (func.name->name_hint != func_name || !func.func) continue;
    if (const std::string why = why_not_plain(func.func); !why.empty()) return left_as_it_is(func_name, why);
    Rules rules(sch, func_name, features);
    rules.apply();
    return std::move(rules.attempts);
  }
  return {};
}

DefaultSchedule schedule_by_rules(const std::string& name, const PrimFunc& func, const Features& features) {
  if (const std::string why = why_not_plain(func); !why.empty()) return {func, {}, left_as_it_is(name, why)};
  // rules are refused often: nobody reads where
  Schedule sch(ir::with_function(ir::IRModuleNode::make(), name, func), {.errors = ErrorDetail::kFast});
  std::vector<Attempt> attempts = schedule_by_rules(sch, name, features);
  return {ir::ref_as<PrimFuncNode>(sch.module()->functions[0]), sch.trace(), std::move(attempts)};
}

PackedWeights pack_weights(const PrimFunc& func, const std::vector<bool>& is_weight,
                           const Features& features) {
  PackedWeights result{func, std::vector<PanelLayout>(func->params.size())};
  if (!why_not_plain(func).empty()) return result;
  const std::string name = "main";
  const Schedule plain(ir::with_function(ir::IRModuleNode::make(), name, func),
                       {.errors = ErrorDetail::kFast});
  Schedule probe = plain, sch = plain;
  for (const Panels& panels : Rules(probe, name, features).wanted_panels()) {
    const auto param = std::find(func->buffers.begin(), func->buffers.end(), panels.buffer);
    const auto place = static_cast<size_t>(param - func->buffers.begin());
    if (param == func->buffers.end() || !is_weight[place] || result.layouts[place].width != 0) continue;
    const std::string reason =
        why_not_applied(sch, [&](Schedule& copy) { return transform_reads(copy, name, panels); });
    if (reason.empty()) result.layouts[place] = panels.layout;
  }
  result.func = ir::ref_as<PrimFuncNode>(sch.module()->functions[0]);
  return result;
}

}  // namespace tilewright::schedule

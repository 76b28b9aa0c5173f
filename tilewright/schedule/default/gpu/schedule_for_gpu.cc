// The rules for GPUs in the order in which they are tried.
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/default/gpu/rules.h"
#include "tilewright/schedule/default/inlining.h"
#include "tilewright/schedule/steps.h"

namespace tilewright::schedule {
namespace {

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
  void share(BlockRef block);

  Schedule& sch_;
  const GpuFeatures& features_;
  std::vector<BlockRef> blocks_;  // of the function as it was
};

bool GpuRules::attempt(std::string_view name, BlockRef block, const Rule& rule) {
  const Block node = sch_.get(block);
  note(&attempts, name, node, try_rule(sch_, rule));
  return attempts.back().is_applied();
}

// Blocks that no other rule takes.
void GpuRules::share(BlockRef block) {
  for (const Sharing sharing : {Sharing::kAllLoops, Sharing::kSomeLoops}) {
    const auto rule = [&](Schedule& copy) { return share_elements(copy, block, features_, sharing); };
    if (attempt("threads", block, rule)) return;
  }
  attempt("one_thread", block, [&](Schedule& copy) { return run_in_one_thread(copy, block); });
}

void GpuRules::apply() {
  for (BlockRef block : blocks_) require_plan(sch_, block);
  // what is padded is padded where threads read it
  inline_elements(
      sch_, blocks_, [](const BlockShape& shape, const BlockShape&) { return is_padding(shape); }, &attempts);
  for (BlockRef block : blocks_) {
    if (!sch_.is_alive(block)) continue;
    remove_plan(sch_, block);
    share(block);
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

#include "tilewright/lower/functions/intrinsic_rules.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"
#include "tilewright/support/format.h"
#include "tilewright/support/near.h"
#include "tilewright/target/target.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

struct Entry {
  int level;
  IntrinsicRule rule;
};
// As the runtime's function registry.  It is never destroyed: rules of Python must not outlive the interpreter, which
// clears it when it ends.
struct Registry {
  std::mutex mutex;
  // {(operator, target): rules, highest level first}
  std::map<std::pair<std::string, std::string>, std::vector<Entry>> rules;
};
Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

std::vector<IntrinsicRule> rules_of(const std::string& op, std::string_view kind) {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  std::vector<IntrinsicRule> found;
  for (const std::string_view target : {kind, kAllTargets}) {
    const auto entries = known.rules.find({op, std::string(target)});
    if (entries == known.rules.end()) continue;
    for (const Entry& entry : entries->second) found.push_back(entry.rule);
  }
  return found;
}

bool are_there_rules() {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  return !known.rules.empty();
}

class Rewriter {
 public:
  explicit Rewriter(std::string_view kind) : kind_(kind) {}

  template <class Node>
  Ref<Node> rewritten(const Ref<Node>& root) {
    return ir::rewrite(root, [this](auto& self, const tir::CallNode* node) -> tir::PrimExpr {
      if (finished_.contains(node)) return tir::Call(node);
      return replaced(self.children(node));
    });
  }

 private:
  tir::PrimExpr replaced(const tir::Call& call) {
    const auto* op = call->op.as<ir::OpNode>();
    // a rule that makes a call of its own operator, by way of others or not, would never come to an end
    if (!op || std::find(active_.begin(), active_.end(), op->name) != active_.end()) return finish(call);
    for (const IntrinsicRule& rule : rules_of(op->name, kind_)) {
      const tir::PrimExpr made = rule(call);
      if (!made || made == tir::PrimExpr(call)) continue;
      if (made->dtype != call->dtype)
        throw UserError(call, "the rule of {} for target {} gives {} where the call has {}", op->name, kind_,
                        made->dtype.str(), call->dtype.str())
            .help("cast the result, or return the call itself where the rule does not apply");
      finish(call);
      active_.push_back(op->name);
      const tir::PrimExpr result = rewritten(made);
      active_.pop_back();
      return result;
    }
    return finish(call);
  }

  // Calls that stay as they are, also where they are arguments of what a rule makes.
  tir::PrimExpr finish(const tir::Call& call) {
    if (finished_.insert(call.get()).second) kept_.push_back(call);
    return call;
  }

  const std::string_view kind_;
  std::vector<std::string> active_;  // operators whose rules made what is rewritten
  std::unordered_set<const ir::Object*> finished_;
  std::vector<tir::Call> kept_;  // keeps the addresses
};

// The operator that was meant, if one has nearly that name.
std::string meant(std::string_view op) {
  std::vector<std::string_view> names;
  for (size_t n = 0; n < tir::kNumBuiltinOps; ++n) names.push_back(tir::kBuiltinOps[n].name);
  if (op.starts_with("tir.")) op.remove_prefix(4);
  const std::vector<std::string> near = nearest_names(op, names);
  return near.empty() ? "" : fmt::format("write tir.{} if that was meant, or ", near[0]);
}

void require_meaning(std::string_view kind, const tir::CallNode* call) {
  const auto* op = call->op.as<ir::OpNode>();
  if (!op || tir::find_builtin(op->name)) return;
  if (rules_of(op->name, kind).empty())
    throw UserError(call, "operator {} has no rule for target {}", op->name, kind)
        .help("{}say what a call of it is: tilewright.tir.register_intrin_rule(\"{}\", \"{}\", rule)",
              meant(op->name), op->name, kind);
  throw UserError(call, "the rules of operator {} for target {} leave a call of it", op->name, kind)
      .help("return an expression without {} for {}", op->name, call->dtype.str());
}

}  // namespace

void add_intrinsic_rule(const std::string& op, const std::string& target, int level, IntrinsicRule rule) {
  if (target != kAllTargets && !target::find_target_kind(target)) {
    std::vector<std::string_view> names = {kAllTargets};
    for (const target::TargetKind* kind : target::all_kinds()) names.push_back(kind->name);
    throw UserError("a rule of {}: there is no target \"{}\"", op, target)
        .help("{}", nearest_names_text(target, names));
  }
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  std::vector<Entry>& entries = known.rules[{op, target}];
  std::erase_if(entries, [&](const Entry& entry) { return entry.level == level; });
  const auto place =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.level < level; });
  entries.insert(place, {level, std::move(rule)});
}

void clear_intrinsic_rules() {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  known.rules.clear();
}

tir::PrimFunc with_intrinsic_rules(std::string_view kind, const std::string& name,
                                   const tir::PrimFunc& func) {
  try {
    const tir::PrimFunc rewritten = are_there_rules() ? Rewriter(kind).rewritten(func) : func;
    ir::walk(rewritten, [&](const tir::CallNode* call) { require_meaning(kind, call); });
    return rewritten;
  } catch (Error& error) {
    error.add_prefix(name);
    throw;
  }
}

}  // namespace tilewright::lower

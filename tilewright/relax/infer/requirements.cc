#include "tilewright/relax/infer/requirements.h"

#include <algorithm>
#include <unordered_set>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/tir/text.h"

namespace tilewright::relax {

// ---------------------------------------------------------------- texts

std::string with_escaped_braces(std::string_view text) {
  std::string result;
  for (char letter : text) {
    result += letter;
    if (letter == '{' || letter == '}') result += letter;
  }
  return result;
}

Requirements::Requirements(Call call, std::vector<Requirement>* open)
    : call_(std::move(call)), name_(name_of(call_)), open_(open) {}

std::string Requirements::Shown::operator()(std::string_view text) const {
  return places ? with_escaped_braces(text) : std::string(text);
}

// "7", "k", and with `places` "k = {}"
std::string Requirements::Shown::operator()(const PrimExpr& extent) const {
  const std::string text = tir::expr_text(extent);
  if (!places || is<IntImmNode>(extent)) return text;
  places->push_back(extent);
  constexpr size_t kLongest = 24;  // longer expressions are shown by their value alone
  return text.size() > kLongest ? "{}" : with_escaped_braces(text) + " = {}";
}

std::string Requirements::Shown::operator()(const Shape& shape) const {
  std::vector<std::string> texts;
  for (const PrimExpr& extent : shape) texts.push_back((*this)(extent));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

namespace {
std::string named(std::string_view name, const std::string& text) {
  return name.empty() ? text : fmt::format("{}: {}", name, text);
}
}  // namespace

void Requirements::refuse(const std::string& text) const {
  if (call_) fail(call_, "{}", text);
  throw UserError("{}", named(name_, text));
}

void Requirements::add(Requirement requirement) {
  requirement.format = named(name_, requirement.format);
  open_->push_back(std::move(requirement));
}

Answer Requirements::answer_of(const PrimExpr& condition) {
  if (int64_t truth; tir::as_const_int(condition, &truth)) return truth ? Answer::kYes : Answer::kNo;
  arith::Analyzer analyzer;
  if (analyzer.can_prove(condition)) return Answer::kYes;
  return analyzer.can_prove(tir::logical_not(condition)) ? Answer::kNo : Answer::kMaybe;
}

// ---------------------------------------------------------------- conditions

namespace {
PrimExpr is_extent_one(const PrimExpr& extent) { return tir::equal(as_extent(extent), extent_imm(1)); }
PrimExpr is_same_extent(const PrimExpr& a, const PrimExpr& b) {
  switch (equal_extents(a, b)) {
    case Answer::kYes: return tir::bool_imm(true);
    case Answer::kNo: return tir::bool_imm(false);
    default: return tir::equal(as_extent(a), as_extent(b));
  }
}
}  // namespace

PrimExpr may_broadcast(const PrimExpr& a, const PrimExpr& b) {
  return tir::logical_or(is_same_extent(a, b), tir::logical_or(is_extent_one(a), is_extent_one(b)));
}

PrimExpr is_same_shape(const Shape& a, const Shape& b) {
  PrimExpr all = tir::bool_imm(a.size() == b.size());
  for (size_t n = 0; n < std::min(a.size(), b.size()); ++n)
    all = tir::logical_and(all, is_same_extent(a[n], b[n]));
  return all;
}

PrimExpr broadcasts_to(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return tir::bool_imm(false);
  PrimExpr all = tir::bool_imm(true);
  for (size_t n = 1; n <= from.size(); ++n) {
    const PrimExpr &x = from[from.size() - n], &y = to[to.size() - n];
    all = tir::logical_and(all, tir::logical_or(is_same_extent(x, y), is_extent_one(x)));
  }
  return all;
}

// ---------------------------------------------------------------- statements

namespace {

using Dims = std::unordered_set<const Object*>;

Call stated(const Requirement& requirement, const Span& span) {
  std::vector<Expr> args{PrimValueNode::make(requirement.condition),
                         StringValueNode::make(requirement.format)};
  for (const PrimExpr& value : requirement.values) args.push_back(PrimValueNode::make(as_extent(value)));
  const Call call = call_op(kRequire, std::move(args), {}, span);
  return with(call, [](CallNode& typed) { typed.type = void_type(); });
}

class Stater {
 public:
  explicit Stater(const std::vector<Requirement>& more) {
    for (const Requirement& requirement : more) pending_.push_back({requirement, {}});
  }

  // dimensions `outer` are defined outside of the function
  Function of_function(const Function& func, Dims outer) {
    for (const Var& param : func->params) define(param->type, &outer);
    const Expr result = body(func->body, outer);
    if (result == func->body) return func;
    return with(func, [&](FunctionNode& changed) { changed.body = result; });
  }

 private:
  Expr body(const Expr& expr, const Dims& dims) {
    const auto* seq = expr.as<SeqExprNode>();
    return seq ? Expr(sequence(SeqExpr(seq), dims)) : expr;
  }

  struct Pending {
    Requirement requirement;
    Span span;
  };

  static bool is_statement(const Binding& binding) {
    const auto* call = binding->value.as<CallNode>();
    return call && op_of(call) && op_of(call)->name == kRequire;
  }

  // Collects the requirements of the calls of `seq` itself; branches collect their own.
  void collect(const SeqExpr& seq) {
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) {
        const auto* call = binding->value.as<CallNode>();
        if (!call || !op_of(call)) continue;
        if (is_statement(binding)) {
          if (const auto* condition = call->args[0].as<PrimValueNode>()) known_.push_back(condition->value);
          continue;
        }
        for (Requirement& requirement : requirements_of(Call(call)))
          pending_.push_back({std::move(requirement), call->span});
      }
    }
  }

  // True if the condition and the values that its text shows can be computed from `dims`.
  static bool has_values(const Requirement& requirement, const Dims& dims) {
    bool all = true;
    const auto check = [&](const tir::VarNode* var) { all &= dims.count(var) != 0; };
    walk(requirement.condition, check);
    for (const PrimExpr& value : requirement.values) walk(value, check);
    return all;
  }
  bool is_stated(const PrimExpr& condition) const {
    return std::any_of(known_.begin(), known_.end(),
                       [&](const PrimExpr& other) { return structural_equal(other, condition); });
  }

  // Returns the statements whose dimensions are all in `dims`.
  std::vector<Binding> ready(const Dims& dims, bool in_dataflow) {
    std::vector<Binding> result;
    std::vector<Pending> rest;
    for (Pending& pending : pending_) {
      const Requirement& requirement = pending.requirement;
      if (is_stated(requirement.condition)) continue;
      if (!has_values(requirement, dims)) {
        rest.push_back(std::move(pending));
        continue;
      }
      known_.push_back(requirement.condition);
      const Call call = stated(requirement, pending.span);
      const AnyVar var = in_dataflow ? AnyVar(DataflowVarNode::make("_", call->type))
                                     : AnyVar(VarNode::make("_", call->type));
      result.push_back(VarBindingNode::make(var, call));
    }
    pending_ = std::move(rest);
    return result;
  }

  SeqExpr sequence(const SeqExpr& seq, Dims dims) {
    const std::vector<PrimExpr> outer = known_;  // conditions that a branch states hold only in it
    collect(seq);
    std::vector<BindingBlock> blocks;
    bool changed = false;
    for (const BindingBlock& block : seq->blocks) {
      blocks.push_back(states(block, &dims));
      changed |= blocks.back() != block;
    }
    pending_.clear();
    known_ = outer;
    if (!changed) return seq;
    return with(seq, [&](SeqExprNode& node) { node.blocks = std::move(blocks); });
  }

  BindingBlock states(const BindingBlock& block, Dims* dims) {
    const bool in_dataflow = is<DataflowBlockNode>(block);
    // existing statements stay first: they refer to the user's operators, not to those that passes have made
    const auto first = std::find_if_not(block->bindings.begin(), block->bindings.end(), is_statement);
    std::vector<Binding> bindings(block->bindings.begin(), first);
    for (Binding& statement : ready(*dims, in_dataflow)) bindings.push_back(std::move(statement));
    bool changed = bindings.size() > static_cast<size_t>(first - block->bindings.begin());
    for (auto binding = first; binding != block->bindings.end(); ++binding) {
      bindings.push_back(inside(*binding, *dims));
      changed |= bindings.back() != *binding;
      if (const auto* cast = ObjectRef(*binding).as<MatchCastNode>()) define(cast->pattern, dims);
      for (Binding& statement : ready(*dims, in_dataflow)) {
        bindings.push_back(std::move(statement));
        changed = true;
      }
    }
    if (!changed) return block;
    return in_dataflow ? BindingBlock(DataflowBlockNode::make(std::move(bindings)))
                       : BindingBlock(PlainBlockNode::make(std::move(bindings)));
  }

  // Adds statements in the branches of an if, and in local functions.
  Binding inside(const Binding& binding, const Dims& dims) {
    const auto* bound = ObjectRef(binding).as<VarBindingNode>();
    const auto* branch = bound ? bound->value.as<IfNode>() : nullptr;
    const auto* inner = bound ? bound->value.as<FunctionNode>() : nullptr;
    if (!branch && !inner) return binding;
    std::vector<Pending> waiting;
    std::swap(waiting, pending_);
    Expr value = bound->value;
    if (branch) {
      const Expr yes = body(branch->true_branch, dims), no = body(branch->false_branch, dims);
      if (yes != branch->true_branch || no != branch->false_branch)
        value = with(If(branch), [&](IfNode& node) { node.true_branch = yes, node.false_branch = no; });
    } else {
      value = of_function(Function(inner), dims);
    }
    std::swap(waiting, pending_);
    if (value == bound->value) return binding;
    return with(VarBinding(bound), [&](VarBindingNode& node) { node.value = value; });
  }

  static void define(const Type& type, Dims* dims) {
    std::vector<const tir::VarNode*> defined;
    collect_defined_dims(type, &defined);
    dims->insert(defined.begin(), defined.end());
  }

  std::vector<Pending> pending_;
  std::vector<PrimExpr> known_;  // conditions stated before the current position
};

}  // namespace

namespace {
// Adds a requirement for each extent of the declared result that may or may not be that of the value.
void require_declared(const Type& given, const Type& declared, std::vector<Requirement>* open) {
  const auto *fields = given.as<TupleTypeNode>(), *wanted = declared.as<TupleTypeNode>();
  if (fields && wanted) {
    for (size_t n = 0; n < std::min(fields->elements.size(), wanted->elements.size()); ++n)
      require_declared(fields->elements[n], wanted->elements[n], open);
  }
  const Shape *own = known_shape(given.as<TensorTypeNode>()),
              *shape = known_shape(declared.as<TensorTypeNode>());
  if (own && shape && own->size() == shape->size())
    Requirements("", open).equal(*own, *shape, "result is {}, but {} is declared", *own, *shape);
}
}  // namespace

Function with_requirements(const Function& func, const std::vector<Requirement>& more) {
  std::vector<Requirement> all = more;
  const auto* seq = func->body.as<SeqExprNode>();
  const Type given = seq ? type_of(seq->body) : Type();
  if (given && func->ret_type) require_declared(given, func->ret_type, &all);
  return Stater(all).of_function(func, {});
}

}  // namespace tilewright::relax

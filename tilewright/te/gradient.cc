#include "tilewright/te/gradient.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"
#include "tilewright/support/format.h"
#include "tilewright/te/derivative.h"
#include "tilewright/te/operation.h"
#include "tilewright/te/solve_indices.h"
#include "tilewright/tir/text.h"

namespace tilewright::te {
namespace {

std::vector<IterVar> fresh_axes(const std::vector<IterVar>& axes, Substitution* map) {
  std::vector<IterVar> copies;
  for (const IterVar& axis : axes) {
    const Var var = make_var(axis->var->name_hint, axis->var->dtype);
    const Range dom = make_range(substitute(axis->dom->min, *map), substitute(axis->dom->extent, *map));
    (*map)[axis->var.get()] = var;
    copies.push_back(IterVarNode::make(var, dom, axis->iter_type));
  }
  return copies;
}

Indices vars_of(const std::vector<IterVar>& axes) {
  Indices vars;
  for (const IterVar& axis : axes) vars.push_back(axis->var);
  return vars;
}

PrimExpr both(const PrimExpr& a, const PrimExpr& b) { return !a ? b : !b ? a : logical_and(a, b); }

// What reverse mode sums up for one value of an operation: the terms of its reads.
struct Value {
  const TeComputeNode* op;
  size_t index;               // which result
  PrimExpr expr;              // of an element; of a reduction, of a term
  PrimExpr condition;         // for which terms there are; null for all
  PrimExpr factor;            // the derivative of the result by the term; null for 1
  std::vector<IterVar> axes;  // of the result, then those of terms
};

class Reverse {
 public:
  Reverse(const Tensor& output, const Tensor& head) : output_(output), head_(head) {
    const size_t prefix = head ? head.ndim() - output.ndim() : output.ndim();
    for (size_t n = 0; n < prefix; ++n) prefix_.push_back(head ? head.shape()[n] : output.shape()[n]);
  }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    std::unordered_set<const Object*> wanted;  // operations that depend on an input
    const std::vector<Operation> order = operations_of({output_->op});
    for (const Tensor& input : inputs) wanted.insert(input->op.get());
    for (const Operation& op : order) {
      for (const Tensor& read : inputs_of(op)) {
        if (wanted.contains(read->op.get())) wanted.insert(op.get());
      }
    }
    for (size_t n = order.size(); n-- > 0;) {
      const Operation& op = order[n];
      if (!wanted.contains(op.get())) continue;
      wanted_ = &wanted;
      for (const Tensor& result : outputs_of(op)) pass_back(op, result);
    }
    std::vector<Tensor> results;
    for (const Tensor& input : inputs) results.push_back(total(input));
    return results;
  }

 private:
  bool is_output(const Tensor& tensor) const { return key_of(tensor.get()) == key_of(output_.get()); }

  // The gradients of all that `op` reads, of what it computes as `result`.
  void pass_back(const Operation& op, const Tensor& result) {
    const TensorKey key = key_of(result.get());
    if (!is_output(result) && !parts_.contains(key)) return;
    const auto* compute = op.as<TeComputeNode>();
    if (inputs_of(op).empty()) return;
    if (is<TeScanNode>(op))
      throw Unsupported("te.gradient: {} is a scan, whose steps would have to run backwards", op->name)
          .help("write that as a te.scan of its own, or the steps as operators of relax");
    if (!compute)
      throw Unsupported("te.gradient: {} is computed by a statement of its own", op->name)
          .help("gradients are those of te.compute");
    const Value value = value_of(compute, result);
    std::vector<const ProducerLoadNode*> seen;
    walk(value.expr, [&](const ProducerLoadNode* load) {
      const auto* tensor = load->producer.as<TeTensorNode>();
      if (!wanted_->contains(tensor->op.get()) || !tensor->dtype.is_float()) return;
      const bool is_new = std::none_of(seen.begin(), seen.end(), [&](const ProducerLoadNode* other) {
        return ir::structural_equal(PrimExpr(other), PrimExpr(load));
      });
      if (!is_new) return;
      seen.push_back(load);
      add_part(value, load, result);
    });
  }

  Value value_of(const TeComputeNode* compute, const Tensor& result) {
    const auto index = static_cast<size_t>(result->value_index);
    const PrimExpr& body = compute->body[index];
    Value value{compute, index, body, nullptr, nullptr, compute->axis};
    const auto* reduce = body.as<ReduceNode>();
    if (!reduce) return value;
    const Kind kind = kind_of(reduce, compute);
    value.expr = reduce->source[0];
    value.condition = reduce->condition;
    for (const IterVar& axis : reduce->axis) value.axes.push_back(axis);
    if (kind == Kind::kMul) value.factor = product_of_others(compute, reduce)(vars_of(value.axes));
    if (kind == Kind::kMax || kind == Kind::kMin) {
      const PrimExpr largest = result(vars_of(compute->axis));
      const PrimExpr share = div(make_const(result.dtype(), 1),
                                 number_of_largest(compute, reduce, result)(vars_of(compute->axis)));
      value.factor = select(equal(value.expr, largest), share, make_const(result.dtype(), 0));
    }
    return value;
  }

  static Kind kind_of(const ReduceNode* reduce, const TeComputeNode* compute) {
    const auto* op = reduce->combiner->result[0].as<BinaryOpNode>();
    const bool is_plain =
        op && reduce->combiner->result.size() == 1 && is<VarNode>(op->a) && is<VarNode>(op->b);
    bool reads_init = false;
    for (const PrimExpr& init : reduce->init) walk(init, [&](const ProducerLoadNode*) { reads_init = true; });
    if (reads_init || (!reduce->init.empty() && op && op->kind != Kind::kAdd))
      throw Unsupported("te.gradient: the reduction {} has a starting value", compute->name)
          .help("add it in a te.compute of its own");
    if (is_plain && (op->kind == Kind::kAdd || op->kind == Kind::kMul || op->kind == Kind::kMax ||
                     op->kind == Kind::kMin))
      return op->kind;
    throw Unsupported("te.gradient: {} is none of the reductions sum, prod, max and min", compute->name);
  }

  // For each term of a product, the product of the others: right where terms are 0, too.
  static Tensor product_of_others(const TeComputeNode* compute, const ReduceNode* reduce) {
    Substitution outer, inner;
    std::vector<IterVar> axes = fresh_axes(compute->axis, &outer);
    inner = outer;
    const size_t own = axes.size();
    for (const IterVar& axis : fresh_axes(reduce->axis, &outer))
      axes.push_back(IterVarNode::make(axis->var, axis->dom, IterType::kSpatial));
    const std::vector<IterVar> terms = fresh_axes(reduce->axis, &inner);
    PrimExpr is_itself;
    for (size_t n = 0; n < terms.size(); ++n)
      is_itself = both(is_itself, equal(terms[n]->var, axes[own + n]->var));
    const PrimExpr value = substitute(reduce->source[0], inner);
    const PrimExpr condition = reduce->condition ? substitute(reduce->condition, inner) : nullptr;
    return made(compute->name + "_others", axes,
                prod(select(is_itself, make_const(value->dtype, 1), value), terms, condition));
  }

  // How many terms of a reduction by max or min are its result.
  static Tensor number_of_largest(const TeComputeNode* compute, const ReduceNode* reduce,
                                  const Tensor& result) {
    Substitution map;
    const std::vector<IterVar> axes = fresh_axes(compute->axis, &map), terms = fresh_axes(reduce->axis, &map);
    const PrimExpr value = substitute(reduce->source[0], map);
    const PrimExpr condition = reduce->condition ? substitute(reduce->condition, map) : nullptr;
    const PrimExpr one = make_const(value->dtype, 1), zero = make_const(value->dtype, 0);
    return made(compute->name + "_equal", axes,
                sum(select(equal(value, result(vars_of(axes))), one, zero), terms, condition));
  }

  static Tensor made(std::string name, std::vector<IterVar> axes, PrimExpr body) {
    const Operation op = TeComputeNode::make(std::move(name), std::move(axes),
                                             std::vector<PrimExpr>{std::move(body)}, AttrMap{});
    return outputs_of(op)[0];
  }

  // Of one read of a value: the sum of its derivatives over all axes for which it is the element at hand.
  void add_part(const Value& value, const ProducerLoadNode* read, const Tensor& result) {
    const PrimExpr slope = derivative(value.expr, read);
    if (!slope) return;
    const Tensor source = Tensor(ref_as<TeTensorNode>(read->producer));
    Substitution map;
    std::vector<IterVar> axes = fresh_axes(value.axes, &map);
    std::vector<IterVar> own = axes_over(source);
    Indices prefix;
    for (size_t n = 0; n < prefix_.size(); ++n) prefix.push_back(own[n]->var);
    std::vector<IndexEquation> equations;
    PrimExpr expr = substitute(slope, map);
    if (value.factor) expr = substitute(value.factor, map) * expr;
    if (is_output(result) && !head_) {
      for (size_t n = 0; n < prefix.size(); ++n) equations.emplace_back(axes[n]->var, prefix[n]);
    } else {
      Indices place = prefix;
      for (size_t n = 0; n < result.ndim(); ++n) place.push_back(axes[n]->var);
      const PrimExpr adjoint = is_output(result) ? head_(place) : total(result)(place);
      const auto* one = expr.as<FloatImmNode>();
      expr = one && one->value == 1 ? adjoint : adjoint * expr;
    }
    for (size_t n = 0; n < source.ndim(); ++n)
      equations.emplace_back(substitute(read->indices[n], map), own[prefix.size() + n]->var);
    SolvedIndices solved = solve_indices(std::move(equations), axes);
    std::vector<PrimExpr> conditions = solved.conditions;
    if (value.condition) conditions.push_back(substitute(substitute(value.condition, map), solved.values));
    parts_[key_of(source.get())].push_back(
        summed(source, std::move(own), solved.left, substitute(expr, solved.values), conditions));
  }

  std::vector<IterVar> axes_over(const Tensor& source) const {
    std::vector<IterVar> axes;
    Shape shape = prefix_;
    shape.insert(shape.end(), source.shape().begin(), source.shape().end());
    for (size_t n = 0; n < shape.size(); ++n)
      axes.push_back(IterVarNode::make(make_var(fmt::format("i{}", n), shape[n]->dtype),
                                       make_range(imm(0, shape[n]->dtype), shape[n]), IterType::kSpatial));
    return axes;
  }

  // The sum of `expr` over `left`, of those terms for which all conditions hold.
  Tensor summed(const Tensor& source, std::vector<IterVar> own, const std::vector<IterVar>& left,
                PrimExpr expr, const std::vector<PrimExpr>& conditions) const {
    arith::Analyzer analyzer;
    for (const IterVar& axis : own) analyzer.bind(axis->var, axis->dom);
    std::vector<IterVar> terms;
    for (const IterVar& axis : left) {
      terms.push_back(IterVarNode::make(axis->var, axis->dom, IterType::kReduce));
      analyzer.bind(axis->var, axis->dom);
    }
    PrimExpr condition;
    for (const PrimExpr& each : conditions) {
      if (!analyzer.can_prove(each)) condition = both(condition, each);
    }
    if (condition) condition = analyzer.simplify(condition);
    if (condition) {
      const auto inside = analyzer.assume(condition);
      expr = analyzer.simplify(expr);
    } else {
      expr = analyzer.simplify(expr);
    }
    expr = cast(source.dtype(), expr);
    const PrimExpr zero = make_const(source.dtype(), 0);
    if (!terms.empty()) {
      expr = sum(expr, terms, condition);
    } else if (condition) {
      expr = call(source.dtype(), "tir.if_then_else", {condition, expr, zero});
    }
    return made(source.name() + "_grad", std::move(own), expr);
  }

  // The gradient of `tensor`: the sum of its parts.
  Tensor total(const Tensor& tensor) {
    std::vector<Tensor>& parts = parts_[key_of(tensor.get())];
    if (is_output(tensor)) return head_ ? head_ : identity();
    std::vector<IterVar> axes = axes_over(tensor);
    if (parts.empty()) return made(tensor.name() + "_grad", axes, make_const(tensor.dtype(), 0));
    if (parts.size() > 1) {
      PrimExpr value = parts[0](vars_of(axes));
      for (size_t n = 1; n < parts.size(); ++n) value = value + parts[n](vars_of(axes));
      parts = {made(tensor.name() + "_grad", axes, value)};
    }
    return parts[0];
  }

  Tensor identity() const {
    std::vector<IterVar> axes = axes_over(output_);
    PrimExpr is_same;
    const size_t ndim = output_.ndim();
    for (size_t n = 0; n < ndim; ++n) is_same = both(is_same, equal(axes[n]->var, axes[ndim + n]->var));
    const PrimExpr one = make_const(output_.dtype(), 1);
    return made(output_.name() + "_grad", axes,
                is_same ? select(is_same, one, make_const(output_.dtype(), 0)) : one);
  }

  Tensor output_, head_;
  Shape prefix_;
  std::map<TensorKey, std::vector<Tensor>> parts_;  // never iterated
  const std::unordered_set<const Object*>* wanted_ = nullptr;
};

}  // namespace

std::vector<Tensor> gradient(const Tensor& output, const std::vector<Tensor>& inputs, const Tensor& head) {
  for (const Tensor& tensor : inputs) {
    if (!tensor.dtype().is_float())
      throw UserError("te.gradient: input {} is {}, expected floats", tensor.name(), tensor.dtype().str());
  }
  if (!output.dtype().is_float())
    throw UserError("te.gradient: {} is {}, expected floats", output.name(), output.dtype().str());
  if (head) {
    bool fits = head.ndim() >= output.ndim() && head.dtype() == output.dtype();
    for (size_t n = 0; fits && n < output.ndim(); ++n) {
      arith::Analyzer analyzer;
      fits = analyzer.can_prove_equal(head.shape()[head.ndim() - output.ndim() + n], output.shape()[n]);
    }
    if (!fits) {
      const auto text = [](const Tensor& tensor) {
        std::vector<std::string> extents;
        for (const PrimExpr& extent : tensor.shape()) extents.push_back(expr_text(extent));
        return fmt::format("{} [{}]", tensor.dtype().str(), fmt::join(extents, ", "));
      };
      throw UserError("te.gradient: the head is {}, and {} is {}", text(head), output.name(), text(output))
          .help("the last dimensions of the head are those of the output");
    }
  }
  return Reverse(output, head).run(inputs);
}

}  // namespace tilewright::te

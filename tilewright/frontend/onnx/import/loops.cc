#include "tilewright/frontend/onnx/import/loops.h"

#include <algorithm>

#include "tilewright/frontend/onnx/import/lists.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/branch_blocks.h"
#include "tilewright/relax/build/lift.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

/// A carried value: its type in any iteration, in which extents that iterations change are dimensions of their own.
struct Carried {
  std::string name;
  ir::Type type;
  std::vector<bool> changes;                 // per dimension of a tensor
  std::shared_ptr<const Contents> contents;  // of lists and optional values
};

class Loop {
 public:
  Loop(Importer& importer, const Node& node, const Repetition& given)
      : importer_(importer), node_(node), given_(given) {
    for (size_t n = 0; n < given.initial.size(); ++n)
      carried_.push_back(first(given.body.inputs.at(given.first_input + n).name, given.initial[n]));
  }

  std::vector<Expr> run() {
    // types only become more general, by one step for each dimension or list
    do {
      convert_body();
    } while (generalise());
    return results();
  }

 private:
  Carried first(const std::string& name, const Expr& value) const {
    Carried carried{name, relax::type_of(value), {}, either_contents(importer_, value, value)};
    if (carried.contents) carried.type = relax::object_type();
    if (const auto* tensor = carried.type.as<relax::TensorTypeNode>(); tensor && tensor->ndim > 0)
      carried.changes.resize(static_cast<size_t>(tensor->ndim));
    return carried;
  }

  void convert_body() {
    params_ = {relax::VarNode::make("iteration", relax::tensor_type({}, kInt64)),
               relax::VarNode::make("condition", relax::tensor_type({}, kBoolType))};
    for (const Carried& carried : carried_) {
      params_.push_back(relax::VarNode::make(carried.name, carried.type));
      if (carried.contents) importer_.set_contents(params_.back(), *carried.contents);
    }
    results_.clear();
    body_ = importer_.in_branch(given_.body, [&] { return converted(); }, params_);
  }

  Expr converted() {
    given_.define_inputs(params_[0], params_[1]);
    for (size_t n = 0; n < carried_.size(); ++n) importer_.define(carried_[n].name, params_[2 + n]);
    if (given_.convert)
      given_.convert();
    else
      importer_.convert_all(given_.body.nodes);
    std::vector<Expr> fields;
    if (given_.first_output == 0) fields.push_back(params_[1]);
    for (const ValueInfo& output : given_.body.outputs) {
      const Node as_input{"output", "", output.name, {output.name}, {}, {}};
      Expr value = importer_.value(as_input, 0);
      if (fields.empty()) {
        value = as_condition(value);
      } else {
        if (given_.keeps_shapes && results_.size() < carried_.size()) value = of_same_shape(value);
        results_.push_back(value);
      }
      fields.push_back(value);
    }
    return relax::TupleNode::make(std::move(fields));
  }

  // The next form of a carried value, which has the shape that it had before.
  Expr of_same_shape(const Expr& value) {
    const Carried& carried = carried_[results_.size()];
    const auto* now = carried.type.as<relax::TensorTypeNode>();
    const ir::Type whole = relax::type_of(value);
    const auto* next = whole.as<relax::TensorTypeNode>();
    const relax::Shape *p = now ? relax::known_shape(now) : nullptr,
                       *q = next ? relax::known_shape(next) : nullptr;
    if (!p || !q || p->size() != q->size() || now->dtype != next->dtype) return value;
    if (relax::equal_shapes(*p, *q) == relax::Answer::kYes) return value;
    importer_.require(node_, relax::is_same_shape(*p, *q),
                      "the state \"{}\" is {} before an iteration and {} after it", carried.name, *p, *q);
    return importer_.builder.emit_match_cast(value, carried.type);
  }

  Expr as_condition(const Expr& value) {
    if (!relax::dtype_of(value).is_bool())
      throw UserError("the condition that the body returns is {}, expected bool",
                      relax::type_text(relax::type_of(value)));
    return shape_of(node_, value).empty() ? value : importer_.reshaped(node_, value, {});
  }

  // Makes the types of carried values those of the values that the body returns, too; false if they were already.
  bool generalise() {
    bool changed = false;
    for (size_t n = 0; n < carried_.size(); ++n) {
      Carried& carried = carried_[n];
      const Expr &param = params_[2 + n], &next = results_[n];
      if (const auto contents = either_contents(importer_, param, next)) {
        changed |= !carried.contents || !is_same(*carried.contents, *contents);
        carried.contents = contents;
        carried.type = relax::object_type();
      } else {
        changed |= generalise(carried, relax::type_of(next));
      }
    }
    return changed;
  }

  static bool is_same(const Contents& a, const Contents& b) {
    const bool is_same_type = a.type == b.type || (a.type && b.type && structural_equal(a.type, b.type));
    const bool is_same_inner = (!a.inner && !b.inner) || (a.inner && b.inner && is_same(*a.inner, *b.inner));
    return a.is_optional == b.is_optional && is_same_type && is_same_inner;
  }

  bool generalise(Carried& carried, const ir::Type& next) {
    const auto *a = carried.type.as<relax::TensorTypeNode>(), *b = next.as<relax::TensorTypeNode>();
    const relax::Shape *p = a ? relax::known_shape(a) : nullptr, *q = b ? relax::known_shape(b) : nullptr;
    if (!p || !q || p->size() != q->size() || a->dtype != b->dtype)
      throw Unsupported("the carried value \"{}\" is {} in one iteration and {} in the next", carried.name,
                        relax::type_text(carried.type), relax::type_text(next))
          .help("carry values of one dtype and number of dimensions");
    relax::Shape shape = *p;
    bool changed = false;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (carried.changes[axis] || relax::equal_extents((*p)[axis], (*q)[axis]) == relax::Answer::kYes)
        continue;
      shape[axis] = new_extent();
      carried.changes[axis] = changed = true;
    }
    if (changed) carried.type = relax::tensor_type(shape, a->dtype);
    return changed;
  }

  ir::PrimExpr new_extent() {
    const ir::PrimExpr extent = importer_.new_size();
    importer_.facts.require(tir::operator<=(relax::extent_imm(0), extent));
    return extent;
  }

  std::vector<Expr> results() {
    relax::Lifted lifted = relax::lifted(params_, body_);
    lifted.function = relax::with_branches_outside(lifted.function);
    const Expr function = importer_.builder.add_func(lifted.function, "loop_body");
    const Expr none = relax::TupleNode::make(std::vector<Expr>{});
    const Expr whole = importer_.builder.emit(relax::call_op(
        "relax.loop", {function, given_.most ? given_.most : none, given_.condition ? given_.condition : none,
                       relax::TupleNode::make(given_.initial), relax::TupleNode::make(lifted.captured)}));
    std::vector<Expr> values;
    for (size_t n = 0; n < results_.size(); ++n) {
      const Expr value =
          importer_.builder.emit(relax::TupleGetItemNode::make(whole, static_cast<int64_t>(n)));
      if (n < carried_.size())
        values.push_back(final_value(carried_[n], value));
      else
        values.push_back(with_type(importer_, value, collected_type(relax::type_of(results_[n]))));
    }
    return values;
  }

  Expr final_value(const Carried& carried, const Expr& value) {
    if (carried.contents) {
      importer_.set_contents(value, *carried.contents);
      return value;
    }
    const auto* tensor = carried.type.as<relax::TensorTypeNode>();
    relax::Shape shape = *relax::known_shape(tensor);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (carried.changes[axis]) shape[axis] = new_extent();
    }
    return with_type(importer_, value, relax::tensor_type(shape, tensor->dtype));
  }

  // The type of collected values, where one iteration returns `type`; extents that the body computes get a dimension.
  ir::Type collected_type(const ir::Type& type) {
    const auto* tensor = type.as<relax::TensorTypeNode>();
    const relax::Shape* element = tensor ? relax::known_shape(tensor) : nullptr;
    if (!element)
      throw Unsupported("the body collects {}, expected a tensor of known shape", relax::type_text(type));
    const auto dims = importer_.builder.dims_in_scope();
    const bool counts = given_.known_most && !given_.condition;
    relax::Shape shape{counts ? tir::max(given_.known_most, relax::extent_imm(0)) : new_extent()};
    if (counts) shape[0] = importer_.facts.simplify(shape[0]);
    for (const ir::PrimExpr& extent : *element) {
      bool is_visible = true;
      walk(extent, [&](const tir::VarNode* dim) {
        is_visible &= std::find(dims.begin(), dims.end(), dim) != dims.end();
      });
      shape.push_back(is_visible ? extent : new_extent());
    }
    return relax::tensor_type(shape, tensor->dtype);
  }

  Importer& importer_;
  const Node& node_;
  const Repetition& given_;
  std::vector<Carried> carried_;
  std::vector<relax::Var> params_;
  std::vector<Expr> results_;  // that the body returns, without the condition
  relax::SeqExpr body_;
};

}  // namespace

void require_counts(const Graph& body, size_t num_inputs, size_t num_outputs) {
  if (body.inputs.size() == num_inputs && body.outputs.size() == num_outputs) return;
  throw UserError("the body has {} and {}, expected {} and {}", count_text(body.inputs.size(), "input"),
                  count_text(body.outputs.size(), "output"), num_inputs, num_outputs);
}

void define_results(Importer& importer, const Node& node, const std::vector<Expr>& values) {
  for (size_t n = 0; n < node.outputs.size(); ++n) {
    if (!node.outputs[n].empty()) importer.define(node.outputs[n], values[n]);
  }
}

std::vector<Expr> repeat(Importer& importer, const Node& node, const Repetition& repetition) {
  return Loop(importer, node, repetition).run();
}

}  // namespace tilewright::frontend::onnx

#include "tilewright/te/compute.h"

#include "tilewright/support/count_text.h"
#include "tilewright/te/shape.h"
#include "tilewright/tir/block_roles.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::te {
namespace {

Tensor output_of(const Operation& op, size_t value_index, const Shape& shape, DataType dtype) {
  return Ref<TeTensorNode>(TeTensorNode::make(op, static_cast<int64_t>(value_index), shape, dtype));
}

std::vector<IterVar> make_axes(const Shape& shape, const std::vector<std::string>& names) {
  std::vector<IterVar> axes;
  for (size_t n = 0; n < shape.size(); ++n) {
    Var var = make_var(n < names.size() ? names[n] : fmt::format("i{}", n), shape[n]->dtype);
    axes.push_back(
        IterVarNode::make(var, make_range(make_const_int(shape[n]->dtype, 0), shape[n]), IterType::kSpatial));
  }
  return axes;
}

// A reduction of one value by the binary operation `kind`.
PrimExpr reduce_one(Kind kind, PrimExpr identity, PrimExpr source, std::vector<IterVar> axes,
                    PrimExpr condition, PrimExpr init) {
  CommReducer combiner =
      comm_reducer([&](const std::vector<Var>& x,
                       const std::vector<Var>& y) { return std::vector<PrimExpr>{binary(kind, x[0], y[0])}; },
                   {std::move(identity)});
  std::vector<PrimExpr> inits;
  if (init) inits.push_back(cast(source->dtype, std::move(init)));
  return reduce(combiner, {std::move(source)}, std::move(axes), std::move(condition), std::move(inits))[0];
}

PrimExpr as_bool(PrimExpr value) {
  return value->dtype.is_bool() ? value : not_equal(value, make_const_int(value->dtype, 0));
}

}  // namespace

PrimExpr Tensor::at(Indices indices) const {
  TILEWRIGHT_CHECK(*this, "an element of no tensor");
  if (indices.size() != ndim())
    throw UserError("tensor {} has {}, but is read with {} ind{}", name(), count_text(ndim(), "dimension"),
                    indices.size(), indices.size() == 1 ? "ex" : "ices");
  return ProducerLoadNode::make(ObjectRef(*this), std::move(indices), dtype());
}

Tensor placeholder(Shape shape, DataType dtype, std::string name) {
  require_shape(shape, name);
  Operation op = TePlaceholderNode::make(std::move(name), shape, dtype);
  return output_of(op, 0, shape, dtype);
}

std::vector<Tensor> compute_many(Shape shape,
                                 const std::function<std::vector<PrimExpr>(const std::vector<Var>&)>& body,
                                 Named named) {
  require_shape(shape, named.name);
  std::vector<IterVar> axes = make_axes(shape, named.axis_names);
  std::vector<Var> vars;
  for (const IterVar& axis : axes) vars.push_back(axis->var);
  std::vector<PrimExpr> values = body(vars);
  TILEWRIGHT_CHECK(!values.empty(), "computation {} has no value", named.name);
  for (const PrimExpr& value : values) {
    TILEWRIGHT_CHECK(value, "computation {} has no value for an element", named.name);
    if (value->dtype.is_void())
      throw UserError("compute: the value of an element of {} is {}, expected a number", named.name,
                      tir::expr_text(value));
  }
  Operation op = TeComputeNode::make(std::move(named.name), std::move(axes), values, std::move(named.attrs));
  std::vector<Tensor> outputs;
  for (size_t n = 0; n < values.size(); ++n) outputs.push_back(output_of(op, n, shape, values[n]->dtype));
  return outputs;
}

Named in_role(std::string name, std::string_view role) {
  return {.name = std::move(name), .attrs = {{std::string(tir::kRole), tir::string_imm(std::string(role))}}};
}

Tensor compute(Shape shape, const ComputeBody& body, Named named) {
  return compute_many(
      std::move(shape), [&](const std::vector<Var>& axes) { return std::vector<PrimExpr>{body(axes)}; },
      std::move(named))[0];
}

void compute_detail::require_axes(size_t expected, size_t ndim) {
  if (expected != ndim)
    throw UserError("compute: the function takes {} axes, but the shape has {}", expected,
                    count_text(ndim, "dimension"));
}

IterVar reduce_axis(Range dom, std::string name) {
  Var var = make_var(std::move(name), dom->extent->dtype);
  return IterVarNode::make(var, std::move(dom), IterType::kReduce);
}

IterVar reduce_axis(PrimExpr extent, std::string name) {
  PrimExpr zero = make_const_int(extent->dtype, 0);
  return reduce_axis(make_range(zero, std::move(extent)), std::move(name));
}

CommReducer comm_reducer(
    const std::function<std::vector<PrimExpr>(const std::vector<Var>&, const std::vector<Var>&)>& combine,
    std::vector<PrimExpr> identity) {
  std::vector<Var> lhs, rhs;
  for (size_t n = 0; n < identity.size(); ++n) {
    const std::string suffix = identity.size() == 1 ? "" : std::to_string(n);
    lhs.push_back(make_var("x" + suffix, identity[n]->dtype));
    rhs.push_back(make_var("y" + suffix, identity[n]->dtype));
  }
  std::vector<PrimExpr> result = combine(lhs, rhs);
  if (result.size() != identity.size())
    throw UserError("reducer: {} combined values, but {} identities", result.size(), identity.size());
  for (size_t n = 0; n < result.size(); ++n) result[n] = cast(identity[n]->dtype, result[n]);
  return CommReducerNode::make(std::move(lhs), std::move(rhs), std::move(result), std::move(identity));
}

std::vector<PrimExpr> reduce(const CommReducer& combiner, std::vector<PrimExpr> source,
                             std::vector<IterVar> axes, PrimExpr condition, std::vector<PrimExpr> init) {
  if (source.size() != combiner->lhs.size())
    throw UserError("reduce: {} values for a reducer of {}", source.size(), combiner->lhs.size());
  for (size_t n = 0; n < source.size(); ++n) source[n] = cast(combiner->lhs[n]->dtype, source[n]);
  for (const IterVar& axis : axes) {
    if (!axis || axis->iter_type != IterType::kReduce)
      throw UserError("reduce: axis {} is not a reduction axis", axis ? axis->var->name_hint : "none")
          .help("make it with reduce_axis");
  }
  std::vector<PrimExpr> results;
  for (size_t n = 0; n < source.size(); ++n)
    results.push_back(ReduceNode::make(combiner, axes, source, condition, static_cast<int64_t>(n), init,
                                       combiner->lhs[n]->dtype));
  return results;
}

PrimExpr sum(PrimExpr source, std::vector<IterVar> axes, PrimExpr condition, PrimExpr init) {
  PrimExpr identity = make_const_int(source->dtype, 0);
  return reduce_one(Kind::kAdd, identity, std::move(source), std::move(axes), std::move(condition),
                    std::move(init));
}
PrimExpr prod(PrimExpr source, std::vector<IterVar> axes, PrimExpr condition, PrimExpr init) {
  PrimExpr identity = make_const_int(source->dtype, 1);
  return reduce_one(Kind::kMul, identity, std::move(source), std::move(axes), std::move(condition),
                    std::move(init));
}
PrimExpr max(PrimExpr source, std::vector<IterVar> axes, PrimExpr condition, PrimExpr init) {
  PrimExpr identity = min_value(source->dtype);
  return reduce_one(Kind::kMax, identity, std::move(source), std::move(axes), std::move(condition),
                    std::move(init));
}
PrimExpr min(PrimExpr source, std::vector<IterVar> axes, PrimExpr condition, PrimExpr init) {
  PrimExpr identity = max_value(source->dtype);
  return reduce_one(Kind::kMin, identity, std::move(source), std::move(axes), std::move(condition),
                    std::move(init));
}
PrimExpr any(PrimExpr source, std::vector<IterVar> axes, PrimExpr condition, PrimExpr init) {
  return reduce_one(Kind::kOr, bool_imm(false), as_bool(std::move(source)), std::move(axes),
                    std::move(condition), std::move(init));
}
PrimExpr all(PrimExpr source, std::vector<IterVar> axes, PrimExpr condition, PrimExpr init) {
  return reduce_one(Kind::kAnd, bool_imm(true), as_bool(std::move(source)), std::move(axes),
                    std::move(condition), std::move(init));
}

}  // namespace tilewright::te

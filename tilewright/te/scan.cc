#include "tilewright/te/scan.h"

#include <utility>

#include "tilewright/arith/analyzer.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/te/scan_cell.h"
#include "tilewright/tir/text.h"

namespace tilewright::te {
namespace {

void require_same(const PrimExpr& a, const PrimExpr& b, const std::string& what) {
  arith::Analyzer analyzer;
  if (!analyzer.can_prove_equal(a, b))
    throw UserError("te.scan: {}: {} and {}", what, expr_text(a), expr_text(b));
}

void require_one_kind(size_t n, const Tensor& other, const Tensor& state, std::string_view what) {
  if (other.ndim() != state.ndim() || state.ndim() == 0)
    throw UserError("te.scan: {} {} has {}, its state has {}", what, n, count_text(other.ndim(), "dimension"),
                    state.ndim())
        .help("dimension 0 of all three is the step");
  if (other.dtype() != state.dtype())
    throw UserError("te.scan: {} {} is {}, its state is {}", what, n, other.dtype().str(),
                    state.dtype().str());
  for (size_t dim = 1; dim < state.ndim(); ++dim)
    require_same(other.shape()[dim], state.shape()[dim],
                 fmt::format("dimension {} of {} {} is not that of its state", dim, what, n));
}

// The step is counted the same way by all states.
void require_steps(size_t n, const ScanSpec& spec) {
  const PrimExpr &steps = spec.state[n].shape()[0], &first = spec.init[n].shape()[0];
  require_same(spec.update[n].shape()[0], steps,
               fmt::format("update {} and its state differ in the number of steps", n));
  require_same(steps, spec.state[0].shape()[0],
               fmt::format("states {} and 0 differ in the number of steps", n));
  require_same(first, spec.init[0].shape()[0],
               fmt::format("inits {} and 0 differ in the number of steps", n));
  arith::Analyzer analyzer;
  if (analyzer.can_prove(first > cast(first->dtype, steps)))
    throw UserError("te.scan: init {} has {} steps, its state only {}", n, expr_text(first),
                    expr_text(steps));
  if (analyzer.can_prove(first < 1))
    throw UserError("te.scan: init {} has no step", n).help("the first update reads a step before it");
}

void require_different(size_t n, const ScanSpec& spec) {
  for (size_t other = 0; other < n; ++other) {
    if (key_of(spec.update[other].get()) == key_of(spec.update[n].get()))
      throw UserError("te.scan: {} is the update of states {} and {}", spec.update[n].name(), other, n)
          .help("one state is enough");
    if (key_of(spec.state[other].get()) == key_of(spec.state[n].get()))
      throw UserError("te.scan: {} stands for states {} and {}", spec.state[n].name(), other, n)
          .help("make a placeholder for each");
  }
}

void require_shapes(const ScanSpec& spec) {
  if (spec.update.empty()) throw UserError("te.scan: there is no update");
  if (spec.init.size() != spec.update.size() || spec.state.size() != spec.update.size())
    throw UserError("te.scan: {}, {} and {}", count_text(spec.init.size(), "init"),
                    count_text(spec.update.size(), "update"), count_text(spec.state.size(), "state"))
        .help("each state has one of each");
  for (size_t n = 0; n < spec.state.size(); ++n) {
    const Tensor& state = spec.state[n];
    if (!is<TePlaceholderNode>(state->op))
      throw UserError("te.scan: state {} is {}, which is computed", n, state.name())
          .help("a state is a te.placeholder of the update's shape");
    if (is<TePlaceholderNode>(spec.update[n]->op))
      throw UserError("te.scan: update {} is {}, which is an input", n, spec.update[n].name())
          .help("an update is a te.compute of the step");
    require_one_kind(n, spec.init[n], state, "init");
    require_one_kind(n, spec.update[n], state, "update");
    require_steps(n, spec);
    require_different(n, spec);
  }
}

// One for each dimension of the states but the step.
std::vector<IterVar> spatial_axes(const std::string& name, const std::vector<Tensor>& states) {
  std::vector<IterVar> axes;
  for (const Tensor& state : states) {
    for (size_t dim = 1; dim < state.ndim(); ++dim) {
      const PrimExpr& extent = state.shape()[dim];
      const Var var = make_var(fmt::format("{}.out{}.i{}", name, axes.size(), dim), extent->dtype);
      axes.push_back(IterVarNode::make(var, make_range(imm(0, extent->dtype), extent), IterType::kSpatial));
    }
  }
  return axes;
}

std::vector<Ref<TeTensorNode>> refs(const std::vector<Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

}  // namespace

std::vector<Tensor> scan(std::string name, ScanSpec spec) {
  require_shapes(spec);
  const PrimExpr& steps = spec.state[0].shape()[0];
  const PrimExpr first = cast(steps->dtype, spec.init[0].shape()[0]);
  const IterVar axis = IterVarNode::make(make_var(name + ".idx", steps->dtype),
                                         make_range(first, steps - first), IterType::kScan);
  std::vector<IterVar> spatial = spatial_axes(name, spec.state);
  const Operation op =
      TeScanNode::make(std::move(name), std::vector<IterVar>{axis}, std::move(spatial), refs(spec.init),
                       refs(spec.update), refs(spec.state), refs(spec.inputs), std::move(spec.attrs));
  cell_of(op.as<TeScanNode>());
  return outputs_of(op);
}

}  // namespace tilewright::te

#include "tilewright/te/scan.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/te/operation.h"
#include "tilewright/tir/text.h"

namespace tilewright::te {
namespace {

bool is_same(const PrimExpr& a, const PrimExpr& b) {
  arith::Analyzer analyzer;
  return analyzer.can_prove_equal(a, b);
}

void require_same(const std::string& name, const PrimExpr& a, const PrimExpr& b, const std::string& what) {
  if (!is_same(a, b)) throw UserError("{}: {}: {} and {}", name, what, expr_text(a), expr_text(b));
}

void require_one_kind(const std::string& name, size_t n, const Tensor& other, const Tensor& state,
                      std::string_view what) {
  if (other.ndim() != state.ndim() || state.ndim() == 0)
    throw UserError("{}: {} {} has {}, its state has {}", name, what, n,
                    count_text(other.ndim(), "dimension"), state.ndim())
        .help("dimension 0 of all three is the step");
  if (other.dtype() != state.dtype())
    throw UserError("{}: {} {} is {}, its state {}", name, what, n, other.dtype().str(), state.dtype().str());
  for (size_t dim = 1; dim < state.ndim(); ++dim)
    require_same(name, other.shape()[dim], state.shape()[dim],
                 fmt::format("dimension {} of {} {} is not that of its state", dim, what, n));
}

void require_shapes(const std::string& name, const ScanSpec& spec) {
  if (spec.update.empty()) throw UserError("{}: there is no update", name);
  if (spec.init.size() != spec.update.size() || spec.state.size() != spec.update.size())
    throw UserError("{}: {} for {} and {}", name, count_text(spec.init.size(), "init"),
                    count_text(spec.update.size(), "update"), count_text(spec.state.size(), "state"))
        .help("each state has one of each");
  for (size_t n = 0; n < spec.state.size(); ++n) {
    const Tensor& state = spec.state[n];
    if (!is<TePlaceholderNode>(state->op))
      throw UserError("{}: state {} is computed by {}, expected a te.placeholder", name, n, state.name());
    require_one_kind(name, n, spec.init[n], state, "init");
    require_one_kind(name, n, spec.update[n], state, "update");
    require_same(name, spec.update[n].shape()[0], state.shape()[0],
                 fmt::format("update {} and its state differ in the number of steps", n));
    require_same(name, state.shape()[0], spec.state[0].shape()[0],
                 fmt::format("states 0 and {} differ in the number of steps", n));
    require_same(name, spec.init[n].shape()[0], spec.init[0].shape()[0],
                 fmt::format("inits 0 and {} differ in the number of steps", n));
    for (size_t other = 0; other < n; ++other) {
      if (key_of(spec.update[other].get()) == key_of(spec.update[n].get()))
        throw UserError("{}: {} is the update of states {} and {}", name, spec.update[n].name(), other, n)
            .help("one state is enough");
      if (key_of(spec.state[other].get()) == key_of(state.get()))
        throw UserError("{}: {} stands for states {} and {}", name, state.name(), other, n)
            .help("make a placeholder for each");
    }
  }
}

// Which operations depend on a state of a scan.
class Cell {
 public:
  explicit Cell(const TeScanNode* scan) : scan_(scan) {
    for (const auto& state : scan->state) depends_[state->op.get()] = true;
    for (const auto& update : scan->update) updates_.insert(update->op.get());
  }

  bool depends(const Operation& op) {
    const auto found = depends_.find(op.get());
    if (found != depends_.end()) return found->second;
    bool does = updates_.contains(op.get());
    for (const Tensor& input : inputs_of(op)) does |= depends(input->op);
    if (does) cell_.push_back(op);
    depends_[op.get()] = does;
    return does;
  }

  std::vector<Operation> run() {
    for (const auto& update : scan_->update) depends(update->op);
    for (const auto& init : scan_->init) {
      const size_t size = cell_.size();
      if (depends(init->op) || cell_.size() != size)
        throw UserError("{}: init {} depends on a state", scan_->name, init->op->name);
    }
    for (const Operation& op : cell_) require_steps(op);
    return std::move(cell_);
  }

 private:
  void require_steps(const Operation& op) const {
    const auto* compute = op.as<TeComputeNode>();
    if (!compute)
      throw Unsupported("{}: {} depends on a state and is {}", scan_->name, op->name,
                        is<TeScanNode>(op) ? "a scan itself" : "computed by a statement of its own")
          .help("what a step computes is a te.compute");
    const PrimExpr& steps = scan_->state[0]->shape[0];
    if (compute->axis.empty() || !is_same(compute->axis[0]->dom->extent, steps))
      throw UserError("{}: {} depends on a state, but its dimension 0 is not the step, of which there are {}",
                      scan_->name, op->name, expr_text(steps));
    for (const PrimExpr& value : compute->body)
      walk(value, [&](const ProducerLoadNode* load) { require_earlier(compute, load); });
  }

  // A state is read at a step before, the rest of the cell at the same step.
  void require_earlier(const TeComputeNode* reader, const ProducerLoadNode* load) const {
    const auto* tensor = load->producer.as<TeTensorNode>();
    const auto found = depends_.find(tensor->op.get());
    if (found == depends_.end() || !found->second) return;
    const PrimExpr step = reader->axis[0]->var, &read = load->indices[0];
    const bool is_state = is<TePlaceholderNode>(tensor->op);
    arith::Analyzer analyzer;
    if (is_state ? analyzer.can_prove(read < step) : analyzer.can_prove_equal(read, step)) return;
    throw UserError(load, "{}: {} at step {} reads {} at step {}", scan_->name, reader->name, expr_text(step),
                    tensor->op->name, expr_text(read))
        .help("{}",
              is_state ? "a step can read states of those before it"
                       : "a step can read what the same step computes; keep what later ones need as a state");
  }

  const TeScanNode* scan_;
  std::unordered_map<const Object*, bool> depends_;
  std::unordered_set<const Object*> updates_;
  std::vector<Operation> cell_;
};

}  // namespace

std::vector<Tensor> scan(std::string name, ScanSpec spec) {
  require_shapes(name, spec);
  const Shape& shape = spec.state[0].shape();
  const PrimExpr first = cast(shape[0]->dtype, spec.init[0].shape()[0]);
  const IterVar axis = IterVarNode::make(make_var(name + ".idx", shape[0]->dtype),
                                         make_range(first, shape[0] - first), IterType::kScan);
  std::vector<IterVar> spatial;
  for (const Tensor& state : spec.state) {
    for (size_t dim = 1; dim < state.ndim(); ++dim) {
      const PrimExpr& extent = state.shape()[dim];
      spatial.push_back(IterVarNode::make(make_var(fmt::format("{}.i{}", name, dim), extent->dtype),
                                          make_range(imm(0, extent->dtype), extent), IterType::kSpatial));
    }
  }
  const auto refs = [](const std::vector<Tensor>& tensors) {
    return std::vector<Ref<TeTensorNode>>(tensors.begin(), tensors.end());
  };
  const Operation op =
      TeScanNode::make(std::move(name), std::vector<IterVar>{axis}, std::move(spatial), refs(spec.init),
                       refs(spec.update), refs(spec.state), refs(spec.inputs), std::move(spec.attrs));
  cell_of(op.as<TeScanNode>());
  return outputs_of(op);
}

std::vector<Operation> cell_of(const TeScanNode* scan) { return Cell(scan).run(); }

Range steps_of(const TeScanNode* scan) {
  const PrimExpr& steps = scan->state[0]->shape[0];
  const PrimExpr first = cast(steps->dtype, scan->init[0]->shape[0]);
  return make_range(first, steps - first);
}

void require_closed_cells(const std::vector<Operation>& order) {
  std::unordered_map<const Object*, const TeScanNode*> owner;  // of operations in cells, and states
  for (const Operation& op : order) {
    const auto* scan = op.as<TeScanNode>();
    if (!scan) continue;
    std::vector<Operation> inside = cell_of(scan);
    for (const auto& state : scan->state) inside.push_back(state->op);
    for (const Operation& each : inside) {
      const auto [found, is_new] = owner.emplace(each.get(), scan);
      if (!is_new)
        throw Unsupported("create_prim_func: {} is part of two scans, {} and {}", each->name,
                          found->second->name, scan->name)
            .help("write it once for each");
    }
  }
  for (const Operation& op : order) {
    const auto own = owner.find(op.get());
    for (const Tensor& input : inputs_of(op)) {
      const auto inside = owner.find(input->op.get());
      if (inside == owner.end() || inside->second == op.get()) continue;
      if (own != owner.end() && own->second == inside->second) continue;
      throw UserError("create_prim_func: {} reads {}, which exists only inside of the steps of {}", op->name,
                      input.name(), inside->second->name)
          .help("read a result of te.scan; what else is needed can be a further state");
    }
  }
}

}  // namespace tilewright::te

#include "tilewright/te/scan_cell.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/text.h"

namespace tilewright::te {
namespace {

std::string text_of(const ProducerLoadNode* load) {
  std::string indices;
  for (const PrimExpr& index : load->indices) indices += (indices.empty() ? "" : ", ") + expr_text(index);
  return fmt::format("{}[{}]", load->producer.as<TeTensorNode>()->op->name, indices);
}

// Which operations depend on a state of a scan, and which rows of them a step computes.
class Cell {
 public:
  explicit Cell(const TeScanNode* scan) : scan_(scan), steps_(steps_of(scan)) {
    for (const auto& state : scan->state) depends_[state->op.get()] = true;
    for (const auto& update : scan->update) updates_.insert(update->op.get());
  }

  std::vector<CellPart> run() {
    for (const auto& update : scan_->update) depends(update->op);
    for (const auto& init : scan_->init) {
      const size_t size = parts_.size();
      if (depends(init->op) || parts_.size() != size)
        throw UserError("te.scan: init {} depends on a state", init->op->name)
            .help("the first steps are computed before the others");
    }
    // readers first: they say which row they need
    for (size_t n = parts_.size(); n-- > 0;) place_reads(parts_[n]);
    return std::move(parts_);
  }

 private:
  bool depends(const Operation& op) {
    const auto found = depends_.find(op.get());
    if (found != depends_.end()) return found->second;
    const bool is_update = updates_.contains(op.get());
    bool does = is_update;
    for (const Tensor& input : inputs_of(op)) does |= depends(input->op);
    depends_[op.get()] = does;
    if (does) {
      places_[op.get()] = parts_.size();
      parts_.push_back({op});
      is_placed_.push_back(is_update);
    }
    return does;
  }

  void place_reads(const CellPart& part) {
    const auto* compute = part.op.as<TeComputeNode>();
    if (!compute)
      throw Unsupported("te.scan: {} depends on a state and is {}", part.op->name,
                        is<TeScanNode>(part.op) ? "a scan itself" : "computed by a statement of its own")
          .help("what a step computes is a te.compute");
    for (const PrimExpr& value : compute->body) {
      arith::Analyzer analyzer;
      bind_axes(part, compute, value, analyzer);
      find_conditional(value);
      walk(value, [&](const ProducerLoadNode* load) { place_read(part, compute, load, analyzer); });
    }
  }

  void bind_axes(const CellPart& part, const TeComputeNode* compute, const PrimExpr& value,
                 arith::Analyzer& analyzer) const {
    for (const IterVar& axis : compute->axis) analyzer.bind(axis->var, axis->dom);
    const IterVar& row = compute->axis[part.dim];
    const PrimExpr lag = imm(part.lag, row->var->dtype);
    analyzer.bind(row->var, make_range(cast(row->var->dtype, steps_->min) - lag,
                                       cast(row->var->dtype, steps_->extent)));
    walk(value, [&](const ReduceNode* reduce) {
      for (const IterVar& axis : reduce->axis) analyzer.bind(axis->var, axis->dom);
    });
  }

  void place_read(const CellPart& reader, const TeComputeNode* compute, const ProducerLoadNode* load,
                  arith::Analyzer& analyzer) {
    const auto* tensor = load->producer.as<TeTensorNode>();
    const auto found = depends_.find(tensor->op.get());
    if (found == depends_.end() || !found->second) return;
    const Var& row = compute->axis[reader.dim]->var;
    if (is<TePlaceholderNode>(tensor->op)) {
      require_earlier(reader, load, analyzer.simplify(load->indices[0]), row + imm(reader.lag, row->dtype),
                      analyzer);
      return;
    }
    CellPart& part = parts_[places_.at(tensor->op.get())];
    for (size_t dim = 0; dim < load->indices.size(); ++dim) {
      const bool is_placed = is_placed_[places_.at(tensor->op.get())];
      if (is_placed && dim != part.dim) continue;
      int64_t ahead = 0;
      const PrimExpr& index = load->indices[dim];
      if (!as_const_int(analyzer.simplify(index - cast(index->dtype, row)), &ahead)) continue;
      const int64_t lag = reader.lag - ahead;
      if (is_placed && lag != part.lag) continue;
      part.dim = dim;
      part.lag = lag;
      is_placed_[places_.at(tensor->op.get())] = true;
      return;
    }
    throw UserError(load, "te.scan: {} at {} reads {}, of which the step computes another row", compute->name,
                    row->name_hint, text_of(load))
        .help("a step keeps one row of what it computes; what later steps need is a state");
  }

  // A state is read at a step before that which is computed, and not before the first.
  void require_earlier(const CellPart& reader, const ProducerLoadNode* load, const PrimExpr& read,
                       const PrimExpr& step, arith::Analyzer& analyzer) const {
    if (!analyzer.can_prove(cast(step->dtype, read) < step))
      throw UserError(load, "te.scan: {} at step {} reads {}, which is not computed yet", reader.op->name,
                      expr_text(step), text_of(load))
          .help("a step reads states of the steps before it, as state[t - 1, ...]");
    if (conditional_.contains(load)) return;
    const Var& row = reader.op.as<TeComputeNode>()->axis[reader.dim]->var;
    const PrimExpr earliest = analyzer.simplify(
        substitute(read, {{row.get(), cast(row->dtype, steps_->min) - imm(reader.lag, row->dtype)}}));
    if (analyzer.can_prove(earliest < 0))
      throw UserError(load, "te.scan: {} reads {}, which is step {} where the first is computed, {}",
                      reader.op->name, text_of(load), expr_text(earliest), expr_text(steps_->min))
          .help("give an init of more steps");
  }

  // Reads that happen only where something holds.
  void find_conditional(const PrimExpr& value) {
    const auto add = [&](const PrimExpr& part) {
      walk(part, [&](const ProducerLoadNode* load) { conditional_.insert(load); });
    };
    walk(
        value,
        [&](const SelectNode* select) {
          add(select->true_value);
          add(select->false_value);
        },
        [&](const CallNode* call) {
          if (is_call_of(call, "tir.if_then_else")) add(PrimExpr(call));
        },
        [&](const ReduceNode* reduce) {
          if (!reduce->condition || is_one(reduce->condition)) return;
          for (const PrimExpr& term : reduce->source) add(term);
        });
  }

  const TeScanNode* scan_;
  const Range steps_;
  std::unordered_map<const Object*, bool> depends_;
  std::unordered_set<const Object*> updates_;
  std::unordered_map<const Object*, size_t> places_;  // in parts_
  std::vector<CellPart> parts_;
  std::vector<bool> is_placed_;  // by part: its row is known
  std::unordered_set<const Object*> conditional_;
};

}  // namespace

std::vector<CellPart> cell_of(const TeScanNode* scan) { return Cell(scan).run(); }

Range steps_of(const TeScanNode* scan) {
  const PrimExpr& steps = scan->state[0]->shape[0];
  const PrimExpr first = cast(steps->dtype, scan->init[0]->shape[0]);
  return make_range(first, steps - first);
}

void require_closed_cells(const std::vector<Operation>& order) {
  std::unordered_map<const Object*, const TeScanNode*> owner;  // of operations in cells, and states
  const auto own = [&](const Operation& op, const TeScanNode* scan) {
    const auto [found, is_new] = owner.emplace(op.get(), scan);
    if (!is_new)
      throw Unsupported("create_prim_func: {} is part of two scans, {} and {}", op->name, found->second->name,
                        scan->name)
          .help("write it once for each");
  };
  for (const Operation& op : order) {
    const auto* scan = op.as<TeScanNode>();
    if (!scan) continue;
    for (const CellPart& part : cell_of(scan)) own(part.op, scan);
    for (const auto& state : scan->state) own(state->op, scan);
  }
  for (const Operation& op : order) {
    const auto reader = owner.find(op.get());
    for (const Tensor& input : inputs_of(op)) {
      const auto inside = owner.find(input->op.get());
      if (inside == owner.end() || inside->second == op.get()) continue;
      if (reader != owner.end() && reader->second == inside->second) continue;
      throw UserError("create_prim_func: {} reads {}, which exists only inside of the steps of {}", op->name,
                      input.name(), inside->second->name)
          .help("read a result of te.scan; what else is needed can be a further state");
    }
  }
}

}  // namespace tilewright::te

#include "tilewright/relax/memory/alias_plan.h"

#include <algorithm>

#include "tilewright/relax/graph/type_util.h"

namespace tilewright::relax {
namespace {

const VarBaseNode* var_of(const Expr& expr) { return expr.as<VarBaseNode>(); }

std::optional<ProgramCall> program_of(const IRModule& module, const Binding& binding) {
  const auto* call = is<VarBindingNode>(binding) ? binding->value.as<CallNode>() : nullptr;
  if (!call || op_name(call) != "relax.call_tir") return std::nullopt;
  const auto* callee = call->args[0].as<GlobalVarNode>();
  const auto* inputs = call->args[1].as<TupleNode>();
  const auto func = callee ? ref_as<tir::PrimFuncNode>(module->find(callee->name_hint)) : tir::PrimFunc();
  if (!func || !inputs || (call->args.size() > 2 && !is<ShapeExprNode>(call->args[2]))) return std::nullopt;
  const size_t num_tensors = inputs->elements.size() + output_types(call).size();
  if (func->buffers.size() < num_tensors) return std::nullopt;
  for (size_t n = 0; n < func->buffers.size(); ++n) {
    if (static_cast<bool>(func->buffers[n]) != (n < num_tensors)) return std::nullopt;
  }
  const bool has_one_output = call->type_args.size() == 1 && is<TensorTypeNode>(call->type_args[0]);
  return ProgramCall{call, callee->name_hint, func, inputs->elements, has_one_output};
}

class Planner {
 public:
  Planner(const IRModule& module, const DataflowBlock& block, const NumUses& num_uses)
      : module_(module), block_(block), num_other_uses_(num_uses) {}

  AliasPlan run() {
    for (size_t b = 0; b < block_->bindings.size(); ++b) look_at(b);
    // outer concats are placed before those that are parts of them
    for (size_t b = block_->bindings.size(); b-- > 0;) place_concat(b);
    for (size_t b = 0; b < block_->bindings.size(); ++b) place_slices(b);
    return std::move(plan_);
  }

 private:
  struct Use {
    size_t binding = 0, input = 0;
  };

  void look_at(size_t b) {
    const Binding& binding = block_->bindings[b];
    binding_of_[binding->var.get()] = b;
    if (const auto* item = binding->value.as<TupleGetItemNode>()) {
      if (const VarBaseNode* tuple = var_of(item->tuple)) items_[tuple].push_back(b);
    }
    std::optional<ProgramCall> program = program_of(module_, binding);
    if (!program) return;
    for (size_t n = 0; n < program->inputs.size(); ++n) {
      const VarBaseNode* var = var_of(program->inputs[n]);
      if (!var) continue;
      uses_[var].push_back({b, n});
      --num_other_uses_[var];
    }
    plan_.programs.emplace(b, std::move(*program));
  }

  // True if every use of `var`, a variable of this block, is in a program that can read
  // a part of a larger tensor.
  bool is_read_by_programs(const AnyVar& var, size_t axis) {
    if (!is<DataflowVarNode>(var) || num_other_uses_[var.get()] != 0) return false;
    const std::vector<Use>& uses = uses_[var.get()];
    return std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
      return takes_part(plan_.programs.at(use.binding).func, use.input, axis);
    });
  }

  // True if the program that computes `part` may write it into a larger tensor.
  bool can_be_placed(const Expr& part, size_t axis) {
    const VarBaseNode* var = var_of(part);
    const auto binding = var ? binding_of_.find(var) : binding_of_.end();
    if (binding == binding_of_.end() || plan_.places.count(var)) return false;
    const auto program = plan_.programs.find(binding->second);
    if (program == plan_.programs.end() || !program->second.has_one_output) return false;
    // the program has only constant inputs: its result would become a constant, which
    // no program may write into
    if (std::none_of(program->second.inputs.begin(), program->second.inputs.end(), var_of)) return false;
    return takes_part(program->second.func, program->second.inputs.size(), axis) &&
           is_read_by_programs(AnyVar(var), axis);
  }

  bool lies_in(const Expr& value, const VarBaseNode* tensor) const {
    const auto place = plan_.places.find(var_of(value));
    return place != plan_.places.end() && place->second.tensor == tensor;
  }

  void place_concat(size_t b) {
    const auto found = plan_.programs.find(b);
    if (found == plan_.programs.end() || found->second.call->args.size() > 2) return;
    const ProgramCall& program = found->second;
    const std::optional<ConcatProgram> concat = concat_of(program.func);
    if (!concat) return;
    const VarBaseNode* var = block_->bindings[b]->var.get();
    const auto outer = plan_.places.find(var);
    if (outer != plan_.places.end() && outer->second.axis != concat->axis) return;
    const Place place =
        outer != plan_.places.end() ? outer->second : Place{var, concat->axis, 0, concat->extent};
    PlacedConcat planned{place, *concat, {}};
    std::set<const VarBaseNode*> taken;
    int64_t num_placed = 0, placed = 0;
    const Shape* whole = known_shape(block_->bindings[b]->var);
    for (const ConcatPart& part : concat->parts) {
      const Expr& input = program.inputs[part.param];
      // the whole is allocated where a part is computed: all its other extents must be known there
      const Shape* shape = known_shape(input);
      if (!whole || !shape || !equal_but_along(*shape, *whole, concat->axis)) return;
      const bool is_placed = can_be_placed(input, concat->axis) && taken.insert(var_of(input)).second;
      // copying from a tensor to itself would stall on stores that have just been made nearby
      if (!is_placed && (taken.count(var_of(input)) || lies_in(input, place.tensor))) return;
      if (!is_placed && dtype_of(input).is_void()) return;  // unknown dtype: no program can copy it
      planned.is_placed.push_back(is_placed);
      if (is_placed) ++num_placed, placed += part.extent;
    }
    // copying costs as much as the concat did, and one call for each copied part
    const auto num_copied = static_cast<int64_t>(concat->parts.size()) - num_placed;
    if (num_placed < num_copied || placed * 2 < concat->extent) return;
    for (size_t n = 0; n < concat->parts.size(); ++n) {
      const ConcatPart& part = concat->parts[n];
      if (planned.is_placed[n])
        plan_.places[var_of(program.inputs[part.param])] = {place.tensor, place.axis,
                                                            place.begin + part.begin, place.extent};
    }
    plan_.num_writes[place.tensor] +=
        static_cast<int>(concat->parts.size()) - (outer != plan_.places.end() ? 1 : 0);
    plan_.concats.emplace(b, std::move(planned));
  }

  void place_slices(size_t b) {
    const auto found = plan_.programs.find(b);
    if (found == plan_.programs.end() || found->second.inputs.size() != 1) return;
    const ProgramCall& program = found->second;
    const VarBaseNode* source = var_of(program.inputs[0]);
    const std::vector<Slice> slices = slices_of(program.func);
    const AnyVar& var = block_->bindings[b]->var;
    if (!source || slices.empty() || plan_.places.count(var.get()) || program.call->args.size() > 2) return;
    std::vector<std::pair<AnyVar, size_t>> outputs;  // a variable, and the index of the output
    std::vector<size_t> bindings{b};
    if (program.has_one_output) {
      outputs.emplace_back(var, 0);
    } else {
      if (!is<DataflowVarNode>(var) ||
          num_other_uses_[var.get()] != static_cast<int>(items_[var.get()].size()))
        return;
      for (size_t item : items_[var.get()]) {
        const Binding& binding = block_->bindings[item];
        outputs.emplace_back(binding->var, binding->value.as<TupleGetItemNode>()->index);
        bindings.push_back(item);
      }
    }
    const auto outer = plan_.places.find(source);
    for (const auto& [output, n] : outputs) {
      const bool fits = outer == plan_.places.end() || outer->second.axis == slices[n].axis;
      if (!fits || !is_read_by_programs(output, slices[n].axis)) return;
    }
    for (const auto& [output, n] : outputs) {
      Place place{source, slices[n].axis, slices[n].begin, slices[n].whole};
      if (outer != plan_.places.end()) place = outer->second, place.begin += slices[n].begin;
      plan_.places[output.get()] = place;
    }
    plan_.dropped.insert(bindings.begin(), bindings.end());
  }

  const IRModule& module_;
  const DataflowBlock& block_;
  NumUses num_other_uses_;  // uses other than as inputs of programs of the block
  AliasPlan plan_;
  std::unordered_map<const VarBaseNode*, size_t> binding_of_;
  std::unordered_map<const VarBaseNode*, std::vector<Use>> uses_;
  std::unordered_map<const VarBaseNode*, std::vector<size_t>> items_;
};

}  // namespace

AliasPlan plan_aliases(const IRModule& module, const DataflowBlock& block, const NumUses& num_uses) {
  return Planner(module, block, num_uses).run();
}

}  // namespace tilewright::relax

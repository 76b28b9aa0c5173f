// Writes the parts of a concat directly into its result, and reads slices of a tensor in place: no copies.
//   a = call_tir(f, (x,), (5, 7)); b = call_tir(g, (y,), (5, 3)); c = call_tir(concat, (a, b), (5, 10))
//   ->  c0 = call_tir(f_in_10, (x,), (5, 10), tir_vars=[0])
//       c = call_tir_inplace(g_in_10, (y, c0), inplace_indices=[1], (5, 10), tir_vars=[7])
//   a = call_tir(split, (x,), ..)[0]; b = call_tir(f, (a,), ..)
//   ->  b = call_tir(f_of_10, (x,), .., tir_vars=[0])
// A part is placed if one program of the module computes it alone and only programs of the module read it;
// they then read it in place, too.  Concats of concats share one tensor.  Parts that cannot be placed are
// copied into the result if others can.  Functions that write into arguments already are left alone.
// docs/decisions/0015
#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/build/te_call.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/memory/alias_plan.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

/// Rewrites a block according to its plan.
class Rewriter {
 public:
  Rewriter(BlockBuilder& functions, const DataflowBlock& block, AliasPlan& plan)
      : functions_(functions), block_(block), plan_(plan) {}

  DataflowBlock run() {
    for (const auto& [b, concat] : plan_.concats) {
      if (concat.place.tensor == block_->bindings[b]->var.get())
        wholes_[concat.place.tensor] = block_->bindings[b]->var;
    }
    for (size_t b = 0; b < block_->bindings.size(); ++b) {
      const Binding& binding = block_->bindings[b];
      if (plan_.dropped.count(b)) continue;
      const auto concat = plan_.concats.find(b);
      const auto program = plan_.programs.find(b);
      if (concat != plan_.concats.end())
        copy_others(concat->second, program->second);
      else if (program == plan_.programs.end())
        bindings_.push_back(binding);
      else
        add_call(program->second, binding->var, place_of_var(binding->var.get()), binding);
    }
    return DataflowBlockNode::make(std::move(bindings_));
  }

 private:
  const Place* place_of_var(const VarBaseNode* var) const {
    const auto found = plan_.places.find(var);
    return found == plan_.places.end() ? nullptr : &found->second;
  }

  // Copies the parts that no program writes directly into the result.
  void copy_others(const PlacedConcat& concat, const ProgramCall& program) {
    for (size_t n = 0; n < concat.is_placed.size(); ++n) {
      if (concat.is_placed[n]) continue;
      const ConcatPart& part = concat.program.parts[n];
      const Expr& input = program.inputs[part.param];
      const te::Tensor from = te_placeholder(input, 0);
      const TeCall copy = make_te_call({input}, {from}, {from});
      const Call call = call_tir(GlobalVar(GlobalVarNode::make("copy")), copy, program.call->span);
      Place place = concat.place;
      place.begin += part.begin;
      const AnyVar var = DataflowVar(DataflowVarNode::make("lv", Type(copy.outputs[0])));
      add_call({call.get(), "copy", copy.func, copy.inputs, true}, var, &place, Binding());
    }
  }

  // The current variable of the larger tensor `tensor`; null before anything is written to it.
  Expr now(const VarBaseNode* tensor) const {
    const auto written = now_.find(tensor);
    if (written != now_.end()) return written->second;
    return wholes_.count(tensor) ? Expr() : Expr(tensor);
  }

  // Emits `program` on the larger tensors that it reads and writes; `before` if it has none.
  void add_call(const ProgramCall& program, const AnyVar& var, const Place* output, const Binding& before) {
    std::vector<PartOf> parts;
    std::vector<const VarBaseNode*> tensors;
    Shape numbers;
    if (program.call->args.size() > 2) numbers = *known_shape(program.call->args[2]);
    const auto add_part = [&](size_t param, const Place& place, bool is_written) {
      const auto known = std::find(tensors.begin(), tensors.end(), place.tensor);
      const auto tensor = static_cast<size_t>(known - tensors.begin());
      if (known == tensors.end()) tensors.push_back(place.tensor);
      parts.push_back({param, place.axis, place.extent, tensor, is_written});
      numbers.push_back(extent_imm(place.begin));
    };
    for (size_t n = 0; n < program.inputs.size(); ++n) {
      const VarBaseNode* input = program.inputs[n].as<VarBaseNode>();
      if (const Place* place = input ? place_of_var(input) : nullptr) add_part(n, *place, false);
    }
    if (output) add_part(program.inputs.size(), *output, true);
    if (parts.empty()) {
      bindings_.push_back(before);
      return;
    }
    std::vector<Expr> inputs;
    for (size_t n = 0; n < program.inputs.size(); ++n) {
      const auto part =
          std::find_if(parts.begin(), parts.end(), [&](const PartOf& each) { return each.param == n; });
      if (part == parts.end())
        inputs.push_back(program.inputs[n]);
      else if (place_of(parts, part->tensor) == n)
        inputs.push_back(now(tensors[part->tensor]));
    }
    const Expr before_write = output ? now(output->tensor) : Expr();
    if (before_write) inputs.push_back(before_write);
    const auto num_inputs = static_cast<int64_t>(inputs.size());
    std::vector<Expr> args{callee(program, parts), Tuple(TupleNode::make(std::move(inputs))),
                           shape_expr(numbers)};
    std::vector<Type> types = program.call->type_args;
    if (output) types = {wholes_.at(output->tensor)->type};
    AttrMap attrs = program.call->attrs;
    if (before_write)
      attrs.set("inplace_indices", ArrayNode::make(std::vector<ObjectRef>{extent_imm(num_inputs - 1)}));
    const Expr op = OpNode::make(before_write ? "relax.call_tir_inplace" : "relax.call_tir");
    const Type type = output ? types[0] : program.call->type;
    const Call call =
        CallNode::make(op, std::move(args), std::move(attrs), std::move(types), type, program.call->span);
    AnyVar result = var;
    if (output) {
      const bool is_last = --plan_.num_writes.at(output->tensor) == 0;
      result = is_last ? wholes_.at(output->tensor)
                       : AnyVar(DataflowVar(DataflowVarNode::make(var->name_hint, type)));
      now_[output->tensor] = result;
    }
    bindings_.push_back(VarBindingNode::make(result, Expr(call), call->span));
  }

  Expr callee(const ProgramCall& program, const std::vector<PartOf>& parts) {
    return functions_.add_func(over_parts(program.func, parts), name_of(program, parts));
  }
  static std::string name_of(const ProgramCall& program, const std::vector<PartOf>& parts) {
    const PartOf& last = parts.back();
    return fmt::format("{}_{}_{}", program.name, last.is_written ? "in" : "of", last.extent);
  }

  BlockBuilder& functions_;
  const DataflowBlock& block_;
  AliasPlan& plan_;
  std::unordered_map<const VarBaseNode*, AnyVar> wholes_;  // tensors that parts are written into
  std::unordered_map<const VarBaseNode*, Expr> now_;
  std::vector<Binding> bindings_;
};

bool writes_into_arguments(const Function& func) {
  bool found = false;
  walk(func, [&](const CallNode* call) {
    const std::string_view name = op_name(call);
    found |= name == "relax.call_tir_inplace" || name == "relax.call_inplace_packed";
  });
  return found;
}

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  BlockBuilder functions(module);
  std::vector<std::pair<std::string, Function>> changed;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const Function func = ref_as<FunctionNode>(module->functions[n]);
    if (!func || func->attrs.contains("Primitive") || writes_into_arguments(func)) continue;
    const NumUses num_uses = count_uses(func);
    const Function placed = rewrite(func, [&](auto&, const DataflowBlockNode* node) -> DataflowBlock {
      const DataflowBlock block(node);
      AliasPlan plan = plan_aliases(module, block, num_uses);
      return plan.is_empty() ? block : Rewriter(functions, block, plan).run();
    });
    if (placed != func) changed.emplace_back(module->global_vars[n]->name_hint, placed);
  }
  if (changed.empty()) return module;
  IRModule result = functions.get();
  for (auto& [name, func] : changed) result = with_function(result, name, func);
  return result;
}

}  // namespace

extern constinit const PassInfo alias_slices_info =
    module_pass<run>("alias_slices", "Writes parts of concats in place, and reads slices in place.", 2);

}  // namespace tilewright::relax

#include "tilewright/relax/infer/device_solver.h"

#include <algorithm>

#include "tilewright/relax/graph/devices.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/loop_types.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

std::string_view operator_name(const CallNode* call) {
  const auto* op = call->op.as<OpNode>();
  return op ? std::string_view(op->name) : std::string_view();
}

std::string name_or(const Expr& expr, std::string otherwise) {
  const auto* var = expr.as<VarBaseNode>();
  return var ? var->name_hint : otherwise;
}

}  // namespace

DeviceSolver::DeviceSolver(const IRModule& module, const VDevices& devices, bool is_strict, size_t otherwise)
    : module_(module), devices_(devices), is_strict_(is_strict) {
  std::vector<const FunctionNode*> funcs;
  for (const BaseFunc& func : module->functions) {
    if (const auto* graph = func.as<FunctionNode>()) funcs.push_back(graph);
  }
  for (const FunctionNode* func : funcs) declare(func);
  for (const FunctionNode* func : funcs) visit_function(func);
  for (const auto& [leaf, device] : hints_) {
    if (leaf != npos && places_[root(leaf)].device == npos) places_[root(leaf)].device = device;
  }
  for (const auto& [leaf, sources] : computed_) {
    for (const size_t source : sources) {
      if (source == npos || places_[root(leaf)].device != npos) continue;
      places_[root(leaf)].device = places_[root(source)].device;
    }
  }
  for (Place& place : places_) {
    if (place.device == npos) place.device = otherwise;
  }
}

// ---------------------------------------------------------------- groups

size_t DeviceSolver::root(size_t leaf) const {
  while (places_[leaf].parent != leaf) leaf = places_[leaf].parent = places_[places_[leaf].parent].parent;
  return leaf;
}

DeviceSolver::Leaves DeviceSolver::new_leaves(const Type& type, const std::string& name, const Expr& where) {
  Leaves leaves;
  for (const TensorTypeNode* tensor : tensors_in(type)) {
    const size_t device = tensor->device.empty() ? npos : devices_.find(tensor->device, where);
    leaves.push_back(places_.size());
    places_.push_back({places_.size(), device, name});
  }
  return leaves;
}

void DeviceSolver::unite(const Argument& a, const Argument& b, const Expr& where, std::string_view what) {
  if (a.leaf == npos || b.leaf == npos) return;
  const size_t first = root(a.leaf), second = root(b.leaf);
  Place &p = places_[first], &q = places_[second];
  if (p.device != npos && q.device != npos && p.device != q.device) {
    if (!is_strict_) return;
    const std::string &here = devices_[p.device].name, &there = devices_[q.device].name;
    throw UserError(where, "{}: {} is on {}, {} on {}", what, a.name, here, b.name, there)
        .help("bring both to one device with R.to_vdevice(..., \"{}\")", here);
  }
  if (first == second) return;
  if (p.device == npos) {
    p.device = q.device;
    p.name = q.name;
  }
  q.parent = first;
}

void DeviceSolver::unite_all(const Leaves& a, const Leaves& b, std::string_view name, const Expr& where,
                             std::string_view what) {
  if (a.size() != b.size()) return;  // a value whose type is not known
  for (size_t n = 0; n < a.size(); ++n) {
    const auto named = [&](size_t leaf, std::string_view otherwise) {
      return Argument{
          leaf, leaf == npos || places_[leaf].name.empty() ? std::string(otherwise) : places_[leaf].name};
    };
    unite(named(a[n], "a value"), named(b[n], name), where, what);
  }
}

// ---------------------------------------------------------------- functions

void DeviceSolver::declare(const FunctionNode* func) {
  if (results_.count(func)) return;
  for (const Var& param : func->params)
    leaves_[param.get()] = new_leaves(param->type, param->name_hint, param);
  const Type ret = func->ret_type ? func->ret_type : type_of(func->body);
  results_[func] = new_leaves(ret, "the declared result", Function(func));
}

void DeviceSolver::visit_function(const FunctionNode* func) {
  const Leaves made = visit_sequence(func->body);
  unite_all(made, results_.at(func), "the declared result", Function(func), "result of a function");
}

DeviceSolver::Leaves DeviceSolver::visit_sequence(const Expr& body) {
  const auto* seq = body.as<SeqExprNode>();
  if (!seq) return visit(body);
  for (const BindingBlock& block : seq->blocks) {
    for (const Binding& binding : block->bindings) visit_binding(binding);
  }
  return visit(seq->body);
}

void DeviceSolver::visit_binding(const Binding& binding) {
  const AnyVar& var = binding->var;
  const Leaves declared = leaves_[var.get()] = new_leaves(var->type, var->name_hint, binding->value);
  const Leaves made = visit(binding->value);
  if (made.size() != declared.size()) return;
  const std::string says = fmt::format("the declared {}", var->name_hint);
  for (size_t n = 0; n < made.size(); ++n)
    unite({made[n], name_or(binding->value, "the value")}, {declared[n], says}, binding->value,
          var->name_hint);
}

const FunctionNode* DeviceSolver::function_called(const Expr& callee) const {
  const auto* global = callee.as<GlobalVarNode>();
  return global ? module_->find(global->name_hint).as<FunctionNode>() : nullptr;
}

// ---------------------------------------------------------------- expressions

DeviceSolver::Leaves DeviceSolver::visit(const Expr& expr) {
  if (const auto* var = expr.as<VarBaseNode>()) {
    const auto known = leaves_.find(var);
    return known == leaves_.end() ? Leaves() : known->second;
  }
  if (const auto* call = expr.as<CallNode>()) return leaves_[call] = visit_call(call);
  if (const auto* tuple = expr.as<TupleNode>()) {
    Leaves all;
    for (const Expr& element : tuple->elements) {
      const Leaves part = visit(element);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
  if (const auto* item = expr.as<TupleGetItemNode>()) {
    const Leaves all = visit(item->tuple);
    const auto* type = type_of(item->tuple).as<TupleTypeNode>();
    size_t begin = 0;
    for (int64_t n = 0; type && n < item->index; ++n)
      begin += tensors_in(type->elements[static_cast<size_t>(n)]).size();
    const size_t count = type ? tensors_in(type->elements[static_cast<size_t>(item->index)]).size() : 0;
    if (begin + count > all.size()) return {};
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    return {first, first + static_cast<std::ptrdiff_t>(count)};
  }
  if (const auto* node = expr.as<IfNode>()) return visit_if(node);
  if (is<SeqExprNode>(expr)) return visit_sequence(expr);
  if (const auto* func = expr.as<FunctionNode>()) {
    declare(func);
    visit_function(func);
    return {};
  }
  return Leaves(tensors_in(type_of(expr)).size(), npos);  // a constant is wherever it is used
}

DeviceSolver::Leaves DeviceSolver::visit_if(const IfNode* node) {
  visit(node->cond);
  const Leaves then = visit_sequence(node->true_branch), otherwise = visit_sequence(node->false_branch);
  unite_all(then, otherwise, "the other branch's", If(node), "if");
  return then;
}

DeviceSolver::Leaves DeviceSolver::visit_call(const CallNode* call) {
  if (const auto* global = call->op.as<GlobalVarNode>()) {
    if (const FunctionNode* callee = function_called(call->op))
      return visit_graph_call(call, callee, global->name_hint);
    return visit_operator(call);  // a loop program
  }
  const std::string_view name = operator_name(call);
  if (name == "relax.to_vdevice" || name == "relax.hint_on_device")
    return visit_moved(call, name == "relax.hint_on_device");
  if (name == kLoop) return visit_loop(call);
  return name.empty() || mixes_devices(name) ? visit_mixed(call) : visit_operator(call);
}

std::vector<DeviceSolver::Argument> DeviceSolver::arguments(const CallNode* call, size_t first) {
  std::vector<Argument> all;
  const auto add = [&](const Expr& expr, size_t n) {
    for (const size_t leaf : visit(expr)) all.push_back({leaf, name_or(expr, fmt::format("argument {}", n))});
  };
  for (size_t n = first; n < call->args.size(); ++n) {
    const auto* tuple = call->args[n].as<TupleNode>();
    for (size_t field = 0; tuple && field < tuple->elements.size(); ++field)
      add(tuple->elements[field], field);
    if (!tuple) add(call->args[n], n);
  }
  return all;
}

// All that an operator or a loop program reads and writes is on one device.
DeviceSolver::Leaves DeviceSolver::visit_operator(const CallNode* call) {
  const auto* global = call->op.as<GlobalVarNode>();
  const auto* callee = call->args.empty() ? nullptr : call->args[0].as<GlobalVarNode>();
  const std::string_view op = operator_name(call);
  const std::string what = global   ? global->name_hint
                           : callee ? callee->name_hint
                                    : std::string(op.substr(op.find('.') + 1));
  const std::vector<Argument> args = arguments(call, 0);
  const Type type =
      call->type ? call->type : Type(call->type_args.empty() ? object_type() : tuple_type(call->type_args));
  Leaves results = new_leaves(type, "", Call(call));
  const auto given = [&](const Argument& arg) { return arg.leaf != npos; };
  auto first = std::find_if(args.begin(), args.end(), [&](const Argument& arg) {
    return given(arg) && places_[root(arg.leaf)].device != npos;
  });
  if (first == args.end()) first = std::find_if(args.begin(), args.end(), given);
  for (const Argument& arg : args) unite(*first, arg, Call(call), what);
  for (const size_t result : results) {
    if (first != args.end())
      unite(*first, {result, "the result"}, Call(call), what);
    else
      unite({results[0], "result 0"}, {result, "another"}, Call(call), what);
  }
  return results;
}

DeviceSolver::Leaves DeviceSolver::visit_moved(const CallNode* call, bool is_hint) {
  const std::string name = call->attrs.get_string("dst_vdevice", "");
  const size_t device = is_hint ? devices_.find_device(name, Call(call)) : devices_.find(name, Call(call));
  const Leaves source = visit(call->args.at(0));
  if (is_hint && source.size() == 1) hints_.emplace_back(source[0], device);
  places_.push_back({places_.size(), device, ""});
  return {places_.size() - 1};
}

DeviceSolver::Leaves DeviceSolver::visit_graph_call(const CallNode* call, const FunctionNode* callee,
                                                    const std::string& name) {
  for (size_t n = 0; n < call->args.size() && n < callee->params.size(); ++n) {
    const Leaves given = visit(call->args[n]), &expected = leaves_.at(callee->params[n].get());
    for (size_t leaf = 0; leaf < given.size() && given.size() == expected.size(); ++leaf)
      unite({given[leaf], name_or(call->args[n], fmt::format("argument {}", n))},
            {expected[leaf], fmt::format("parameter {}", callee->params[n]->name_hint)}, Call(call),
            fmt::format("call of {}", name));
  }
  return results_.at(callee);
}

// The body takes a number, the condition, and then what is carried and what is captured; it returns the condition, what is
// carried and what is collected.
DeviceSolver::Leaves DeviceSolver::visit_loop(const CallNode* call) {
  const FunctionNode* body = function_called(call->args.at(0));
  if (!body) return visit_mixed(call);
  visit(call->args[1]);
  visit(call->args[2]);
  const Leaves carried = visit(call->args[3]), captured = visit(call->args[4]);
  Leaves given = carried, params, returned = results_.at(body);
  given.insert(given.end(), captured.begin(), captured.end());
  for (size_t n = 2; n < body->params.size(); ++n) {
    const Leaves& param = leaves_.at(body->params[n].get());
    params.insert(params.end(), param.begin(), param.end());
  }
  unite_all(given, params, "a parameter of the body", Call(call), "loop");
  const auto* type = body->ret_type.as<TupleTypeNode>();
  const size_t num_conditions = type && !type->elements.empty() ? tensors_in(type->elements[0]).size() : 0;
  if (returned.size() < num_conditions + carried.size()) return {};
  returned.erase(returned.begin(), returned.begin() + static_cast<std::ptrdiff_t>(num_conditions));
  unite_all(carried, {returned.begin(), returned.begin() + static_cast<std::ptrdiff_t>(carried.size())},
            "what an iteration returns", Call(call), "loop");
  return returned;
}

// Calls of functions that the compiler does not know: results without a device have that of the first argument.
DeviceSolver::Leaves DeviceSolver::visit_mixed(const CallNode* call) {
  Leaves sources;
  for (const Argument& arg : arguments(call, 0)) sources.push_back(arg.leaf);
  const Leaves results = new_leaves(call->type ? call->type : object_type(), "", Call(call));
  for (const size_t result : results) computed_.emplace_back(result, sources);
  return results;
}

// ---------------------------------------------------------------- answers

std::vector<std::string> DeviceSolver::names_of(const Leaves& leaves) const {
  std::vector<std::string> names;
  for (const size_t leaf : leaves) {
    const size_t device = leaf == npos ? npos : places_[root(leaf)].device;
    names.push_back(device == npos ? "" : devices_[device].name);
  }
  return names;
}

Type DeviceSolver::type_of_var(const VarBaseNode* var) const {
  const auto known = leaves_.find(var);
  return known == leaves_.end() ? var->type : with_devices(var->type, names_of(known->second));
}

Type DeviceSolver::type_of_call(const CallNode* call, const Type& type) const {
  const auto known = leaves_.find(call);
  if (known == leaves_.end() || known->second.size() != tensors_in(type).size()) return type;
  return with_devices(type, names_of(known->second));
}

Type DeviceSolver::type_of_result(const FunctionNode* func) const {
  const auto known = results_.find(func);
  if (known == results_.end() || !func->ret_type) return func->ret_type;
  return with_devices(func->ret_type, names_of(known->second));
}

size_t DeviceSolver::device_of_argument(const CallNode* call) const {
  const auto* var = call->args.at(0).as<VarBaseNode>();
  const auto known = leaves_.find(var);
  if (known == leaves_.end() || known->second.size() != 1) return npos;
  return places_[root(known->second[0])].device;
}

}  // namespace tilewright::relax

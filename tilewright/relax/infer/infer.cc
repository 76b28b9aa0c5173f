#include "tilewright/relax/infer/infer.h"

#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/graph/devices.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/support/count_text.h"
#include "tilewright/tir/text.h"

namespace tilewright::relax {
namespace {

// Maps plain dimensions of `pattern` to the extents of `given`.  Extents in function types are compared by
// node.
void bind_dims(const Type& pattern, const Type& given, Substitution* dims);

void bind_extents(const Shape& pattern, const Shape& given, Substitution* dims) {
  for (size_t n = 0; n < std::min(pattern.size(), given.size()); ++n) {
    if (is<tir::VarNode>(pattern[n])) dims->try_emplace(pattern[n].get(), given[n]);
  }
}

void bind_dims(const Type& pattern, const Type& given, Substitution* dims) {
  if (!pattern || !given || pattern->kind != given->kind) return;
  if (const auto* tensor = pattern.as<TensorTypeNode>()) {
    const Shape *a = known_shape(tensor), *b = known_shape(given.as<TensorTypeNode>());
    if (a && b) bind_extents(*a, *b, dims);
  } else if (const auto* shape = pattern.as<ShapeTypeNode>()) {
    bind_extents(shape->values, given.as<ShapeTypeNode>()->values, dims);
  } else if (const auto* prim = pattern.as<PrimTypeNode>()) {
    const PrimExpr& value = given.as<PrimTypeNode>()->value;
    if (is<tir::VarNode>(prim->value) && value) dims->try_emplace(prim->value.get(), value);
  } else if (const auto* tuple = pattern.as<TupleTypeNode>()) {
    const auto& fields = given.as<TupleTypeNode>()->elements;
    for (size_t n = 0; n < std::min(fields.size(), tuple->elements.size()); ++n)
      bind_dims(tuple->elements[n], fields[n], dims);
  }
}

// `type` with the callee's dimensions replaced; dimensions that no argument determines become unknown.
Type instantiate(const Type& type, const Substitution& dims, const std::vector<const tir::VarNode*>& params) {
  std::vector<const tir::VarNode*> unbound;
  for (const tir::VarNode* var : params) {
    if (!dims.count(var)) unbound.push_back(var);
  }
  Type erased = type;
  if (!unbound.empty()) {
    std::vector<const tir::VarNode*> bound;
    for (const tir::VarNode* var : params) {
      if (dims.count(var)) bound.push_back(var);
    }
    erased = erase_unknown_dims(type, bound);
  }
  return substitute(erased, dims);
}

std::vector<Type> arg_types(const CallNode* call) {
  std::vector<Type> types;
  for (const Expr& arg : call->args) types.push_back(type_of(arg) ? type_of(arg) : object_type());
  return types;
}

// The type of the callee of a call: a global name, a variable, a function, a registered function.
Type callee_type(const Expr& op, const IRModuleNode* module) {
  if (const auto* global = op.as<GlobalVarNode>()) {
    if (module) {
      const BaseFunc func = module->find(global->name_hint);
      if (const auto* graph = func.as<FunctionNode>()) return function_type(graph);
      if (const auto* external = func.as<ExternFuncNode>()) return external->type;
    }
    return global->type;
  }
  if (const auto* func = op.as<FunctionNode>()) return function_type(func);
  return type_of(op);
}

// `call` with types for the literals among its arguments, because operators read the types of arguments.
Call with_typed_literals(const Call& call) {
  auto lacks_type = [](const Expr& arg) {
    const auto* node = arg.as<RelaxExprNode>();
    return node && !node->type && type_of(arg);
  };
  if (std::none_of(call->args.begin(), call->args.end(), lacks_type)) return call;
  return with(call, [&](CallNode& typed) {
    auto set_type = [](auto literal) -> Expr {
      const Type type = type_of(literal);
      return with(literal, [&](auto& node) { node.type = type; });
    };
    for (Expr& arg : typed.args) {
      if (!lacks_type(arg)) continue;
      if (is<ConstantNode>(arg))
        arg = set_type(ref_as<ConstantNode>(arg));
      else if (is<TupleNode>(arg))
        arg = set_type(ref_as<TupleNode>(arg));
      else if (is<ShapeExprNode>(arg))
        arg = set_type(ref_as<ShapeExprNode>(arg));
      else if (is<PrimValueNode>(arg))
        arg = set_type(ref_as<PrimValueNode>(arg));
    }
  });
}

// `call` with the types of the graph functions that it names, because operators read the types of arguments.
Call with_typed_functions(const Call& call, const IRModuleNode* module) {
  auto type_of_function = [&](const Expr& arg) -> Type {
    const auto* global = module ? arg.as<GlobalVarNode>() : nullptr;
    const BaseFunc func = global ? module->find(global->name_hint) : BaseFunc();
    return is<FunctionNode>(func) ? Type(function_type(func.as<FunctionNode>())) : Type();
  };
  if (std::none_of(call->args.begin(), call->args.end(), type_of_function)) return call;
  return with(call, [&](CallNode& typed) {
    for (Expr& arg : typed.args) {
      if (const Type type = type_of_function(arg))
        arg = with(ref_as<GlobalVarNode>(arg), [&](GlobalVarNode& node) { node.type = type; });
    }
  });
}

// The type of a loop program that is called directly: it returns nothing, its outputs are among its
// arguments.  Extents of buffers are compared when it runs, unless they are constant.
CallableType loop_program_type(const tir::PrimFuncNode* func) {
  std::vector<Type> params;
  for (const tir::Buffer& buffer : func->buffers) {
    const bool is_fixed = buffer && constant_extents(buffer->shape);
    if (!buffer)
      params.push_back(object_type());
    else if (is_fixed)
      params.push_back(tensor_type(extents(*constant_extents(buffer->shape)), buffer->dtype));
    else
      params.push_back(tensor_type_of_ndim(static_cast<int64_t>(buffer->shape.size()), buffer->dtype));
  }
  return CallableTypeNode::make(std::move(params), func->ret_type ? func->ret_type : void_type(), false,
                                false);
}

// Checks extents of the result: R.eye(-5) states one, others compute one from their arguments.
void require_extents(const Type& type, const Call& call) {
  const auto* tensor = type.as<TensorTypeNode>();
  const Shape* shape = tensor ? known_shape(tensor) : nullptr;
  if (!shape) return;
  for (const PrimExpr& extent : *shape) {
    if (const auto* constant = extent.as<IntImmNode>(); constant && constant->value < 0)
      throw UserError(call, "{}: the result would be {}, with a negative extent", op_detail::what_of(call),
                      shape_text(*shape));
  }
}

// The type of a result, on the device of the arguments.
Type on_device_of_arguments(const Type& type, const Call& call, std::string_view op) {
  if (mixes_devices(op)) return type;
  std::string first, device;
  for (const Expr& arg : call->args) {
    for_each_tensor(arg, [&](const TensorTypeNode* tensor, std::string_view name) {
      if (tensor->device.empty()) return;
      const std::string shown = name.empty() ? "a value" : std::string(name);
      if (!device.empty() && device != tensor->device)
        throw UserError(call, "{}: {} is on {}, {} on {}", op_detail::what_of(call), first, device, shown,
                        tensor->device)
            .help("bring both to one device, e.g. R.to_vdevice({}, \"{}\")", shown, device);
      first = shown;
      device = tensor->device;
    });
  }
  return device.empty() ? type : with_default_device(type, device);
}

Type infer_call(const Call& call, const IRModuleNode* module) {
  if (const auto* op = call->op.as<OpNode>()) {
    const OpInfo& info = lookup_op(op->name);
    require_arg_count(call);
    Requirements require(call);
    const Type type = info.infer(with_typed_functions(with_typed_literals(call), module), require);
    require_extents(type, call);
    return on_device_of_arguments(type, call, op->name);
  }
  const auto* global = call->op.as<GlobalVarNode>();
  const BaseFunc program = global && module ? module->find(global->name_hint) : BaseFunc();
  const Type callee = is<tir::PrimFuncNode>(program)
                          ? Type(loop_program_type(program.as<tir::PrimFuncNode>()))
                          : callee_type(call->op, module);
  const auto* function = callee.as<CallableTypeNode>();
  if (callee && !function && !is<ObjectTypeNode>(callee))
    throw UserError(call, "{} is {}, which cannot be called", callee_name(call->op), type_text(callee));
  if (!call->type_args.empty())
    return call->type_args.size() == 1 ? call->type_args[0] : Type(tuple_type(call->type_args));
  if (!function) return object_type();
  return infer_result(function, arg_types(call.get()), call,
                      fmt::format("call of {}", callee_name(call->op)));
}

Type infer_item(const TupleGetItemNode* item) {
  const Type type = type_of(item->tuple);
  if (is<ObjectTypeNode>(type)) return object_type();
  const auto* tuple = type.as<TupleTypeNode>();
  if (!tuple) throw UserError(item, "element {} of {}, which is not a tuple", item->index, type_text(type));
  const auto count = static_cast<int64_t>(tuple->elements.size());
  if (item->index < 0 || item->index >= count)
    throw UserError(item, "element {} of a tuple with {}", item->index, count_text(count, "element"));
  return tuple->elements[static_cast<size_t>(item->index)];
}

Type infer_if(const IfNode* node) {
  const Type cond = type_of(node->cond);
  const auto* tensor = cond.as<TensorTypeNode>();
  const auto* prim = cond.as<PrimTypeNode>();
  const bool is_scalar =
      (tensor && tensor->ndim <= 0 && (tensor->dtype.is_bool() || tensor->dtype.is_void())) ||
      (prim && prim->dtype.is_bool());
  if (cond && !is<ObjectTypeNode>(cond) && !is_scalar)
    throw UserError(node->cond, "the condition of an if is {}, expected a bool scalar", type_text(cond));
  return common_type(type_of(node->true_branch), type_of(node->false_branch));
}

}  // namespace

std::string callee_name(const Expr& op) {
  if (const auto* global = op.as<GlobalVarNode>()) return global->name_hint;
  if (const VarBaseNode* var = op.as<VarBaseNode>()) return var->name_hint;
  return "a function";
}

Type infer_result(const CallableTypeNode* callee, const std::vector<Type>& args, const Expr& where,
                  std::string_view what) {
  if (callee->is_opaque) return callee->ret ? callee->ret : object_type();
  if (args.size() != callee->params.size())
    throw UserError(where, "{}: {} given, expected {}", what, count_text(args.size(), "argument"),
                    callee->params.size());
  Substitution dims;
  std::vector<const tir::VarNode*> params;
  for (size_t n = 0; n < args.size(); ++n) {
    bind_dims(callee->params[n], args[n], &dims);
    collect_defined_dims(callee->params[n], &params);
  }
  for (size_t n = 0; n < args.size(); ++n) {
    const Type expected = instantiate(callee->params[n], dims, params);
    if (is_subtype(args[n], expected) == Answer::kNo)
      throw UserError(where, "{}: argument {} is {}, expected {}", what, n, type_text(args[n]),
                      type_text(expected));
  }
  return instantiate(callee->ret ? callee->ret : object_type(), dims, params);
}

CallableType type_with_bound(const CallableTypeNode* callee, const std::vector<Type>& bound) {
  const size_t num_open = callee->params.size() - bound.size();
  std::vector<Type> open(callee->params.begin(),
                         callee->params.begin() + static_cast<std::ptrdiff_t>(num_open));
  Substitution dims;
  std::vector<const tir::VarNode*> known;
  for (size_t n = 0; n < bound.size(); ++n) {
    bind_dims(callee->params[num_open + n], bound[n], &dims);
    collect_defined_dims(callee->params[num_open + n], &known);
  }
  for (Type& type : open) type = instantiate(type, dims, known);
  return CallableTypeNode::make(std::move(open),
                                instantiate(callee->ret ? callee->ret : object_type(), dims, known),
                                callee->is_pure, false);
}

CallableType function_type(const FunctionNode* func) {
  std::vector<Type> params;
  for (const Var& param : func->params) params.push_back(param->type ? param->type : object_type());
  const Type ret = func->ret_type ? func->ret_type : type_of(func->body);
  return CallableTypeNode::make(std::move(params), ret ? ret : object_type(), func->is_pure, false);
}

std::vector<Requirement> requirements_of(const Call& call) {
  std::vector<Requirement> open;
  if (const OpInfo* info = op_of(call.get())) {
    Requirements require(call, &open);
    info->infer(with_typed_literals(call), require);
  }
  return open;
}

Type infer_type(const Expr& expr, const IRModuleNode* module) {
  if (const auto* call = expr.as<CallNode>()) return infer_call(Call(call), module);
  if (const auto* item = expr.as<TupleGetItemNode>()) return infer_item(item);
  if (const auto* node = expr.as<IfNode>()) return infer_if(node);
  if (const auto* seq = expr.as<SeqExprNode>()) {
    const Type type = type_of(seq->body);
    return type ? type : object_type();
  }
  if (const auto* func = expr.as<FunctionNode>()) return function_type(func);
  if (is<GlobalVarNode>(expr)) {
    const Type type = callee_type(expr, module);
    return type ? type : object_type();
  }
  if (const Type type = type_of(expr)) return type;
  if (is<PrimExprNode>(expr))
    throw UserError(expr, "{} is a scalar expression, not a graph value",
                    tir::expr_text(ref_as<PrimExprNode>(expr)))
        .help("wrap it as R.prim_value(...)");
  return object_type();
}

}  // namespace tilewright::relax

#include "tilewright/relax/build/te_call.h"

#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/te/create_prim_func.h"
#include "tilewright/te/extern.h"
#include "tilewright/te/operation.h"

namespace tilewright::relax {
namespace {

// Appends the variables that the computations of `tensor` use but do not bind, in order of first use.
void collect_free_vars(const te::Tensor& tensor, std::vector<ObjectRef>* seen_ops,
                       std::vector<tir::Var>* free) {
  const ObjectRef op = tensor->op;
  if (std::find(seen_ops->begin(), seen_ops->end(), op) != seen_ops->end()) return;
  seen_ops->push_back(op);
  const auto* compute = tensor->op.as<te::TeComputeNode>();
  std::vector<const Object*> bound;
  auto use = [&](const tir::VarNode* var) {
    const tir::Var ref(var);
    if (std::find(bound.begin(), bound.end(), var) == bound.end() &&
        std::find(free->begin(), free->end(), ref) == free->end())
      free->push_back(ref);
  };
  if (!compute) {
    for (const te::Tensor& input : te::inputs_of(tensor->op)) collect_free_vars(input, seen_ops, free);
    if (const auto* external = tensor->op.as<te::TeExternNode>()) te::for_each_use(external, use);
    return;
  }
  auto read = [&](const tir::ProducerLoadNode* load) {
    collect_free_vars(te::Tensor(ref_as<te::TeTensorNode>(load->producer)), seen_ops, free);
    for (const PrimExpr& index : load->indices) walk(index, use);
    return true;
  };
  for (const tir::IterVar& axis : compute->axis) {
    walk(axis->dom, use);
    bound.push_back(axis->var.get());
  }
  auto reduce = [&](const tir::ReduceNode* node) {
    for (const tir::IterVar& axis : node->axis) bound.push_back(axis->var.get());
    for (const auto* list : {&node->combiner->lhs, &node->combiner->rhs}) {
      for (const tir::Var& var : *list) bound.push_back(var.get());
    }
  };
  for (const PrimExpr& value : compute->body)
    walk(value, reduce, [&](const tir::LetNode* let) { bound.push_back(let->var.get()); }, read, use);
}

std::string letter_name(size_t position) {
  return position < 26 ? std::string(1, static_cast<char>('A' + position))
                       : fmt::format("input_{}", position);
}

// `output`, copied if it is an input or returned twice: a program needs a new tensor for each output.
te::Tensor as_new_output(const te::Tensor& output, const std::vector<te::Tensor>& earlier) {
  const bool is_new = !is<te::TePlaceholderNode>(output->op) &&
                      std::none_of(earlier.begin(), earlier.end(), [&](const te::Tensor& other) {
                        return other->op == output->op && other->value_index == output->value_index;
                      });
  if (is_new) return output;
  return te::compute(output.shape(),
                     [&](const std::vector<tir::Var>& axes) { return output.at({axes.begin(), axes.end()}); },
                     {.name = "T_copy"});
}

// The tensors of an argument: itself, the fields of a tuple; none for a shape or scalar.
std::vector<Expr> tensors_of(const Expr& arg) {
  if (const auto* tuple = arg.as<TupleNode>()) {
    std::vector<Expr> tensors;  // a tuple of scalars is an attribute
    for (const Expr& element : tuple->elements) {
      if (is<TensorTypeNode>(type_of(element))) tensors.push_back(element);
    }
    return tensors;
  }
  const Type type = type_of(arg);
  if (is<TensorTypeNode>(type)) return {arg};
  const auto* fields = type.as<TupleTypeNode>();
  std::vector<Expr> items;
  for (size_t n = 0; fields && n < fields->elements.size(); ++n)
    items.push_back(TupleGetItemNode::make(arg, static_cast<int64_t>(n), fields->elements[n]));
  return items;
}

}  // namespace

te::Tensor te_placeholder(const Expr& value, size_t position) {
  const Type type = type_of(value);
  const auto* tensor = type.as<TensorTypeNode>();
  if (!tensor) throw UserError(value, "argument {} is {}, expected a tensor", position, type_text(type));
  const Shape* shape = known_shape(tensor);
  if (!shape || tensor->dtype.is_void())
    throw Unsupported(value, "argument {} is {}: its {} is known only at run time", position, type_text(type),
                      shape ? "dtype" : "shape")
        .help("bind it with R.match_cast");
  return te::placeholder(*shape, tensor->dtype, letter_name(position));
}

TeCall make_te_call(const std::vector<Expr>& inputs, const std::vector<te::Tensor>& placeholders,
                    std::vector<te::Tensor> outputs) {
  TeCall result;
  result.inputs = inputs;
  for (size_t n = 0; n < outputs.size(); ++n)
    outputs[n] = as_new_output(
        outputs[n], std::vector<te::Tensor>(outputs.begin(), outputs.begin() + static_cast<long>(n)));

  std::vector<ObjectRef> args(placeholders.begin(), placeholders.end());
  args.insert(args.end(), outputs.begin(), outputs.end());
  std::vector<const tir::VarNode*> said;  // extents of arguments
  for (const ObjectRef& arg : args) {
    for (const PrimExpr& extent : arg.as<te::TeTensorNode>()->shape) {
      if (const auto* var = extent.as<tir::VarNode>()) said.push_back(var);
    }
  }
  std::vector<ObjectRef> seen;
  std::vector<tir::Var> used;
  auto use = [&](const tir::VarNode* var) {
    if (std::find(used.begin(), used.end(), tir::Var(var)) == used.end()) used.push_back(tir::Var(var));
  };
  for (const ObjectRef& arg : args) {
    for (const PrimExpr& extent : arg.as<te::TeTensorNode>()->shape) walk(extent, use);
  }
  for (const te::Tensor& output : outputs) collect_free_vars(output, &seen, &used);
  for (const tir::Var& var : used) {
    if (std::find(said.begin(), said.end(), var.get()) != said.end()) continue;
    args.push_back(var);
    result.extra.push_back(var);
  }
  // the program gets new variables: functions must not share those of the graph
  Substitution fresh;
  for (const tir::Var& var : used) fresh[var.get()] = tir::make_var(var->name_hint, var->dtype);
  result.func = substitute(te::create_prim_func(args, {.global_symbol = "", .index_dtype = kInt64}), fresh);
  for (const te::Tensor& output : outputs) {
    Shape shape;
    for (const PrimExpr& extent : output.shape())
      shape.push_back(is<tir::VarNode>(extent) ? extent : arith::simplify(extent));
    result.outputs.push_back(tensor_type(std::move(shape), output.dtype()));
  }
  return result;
}

TeCall lower_call(const Call& call, const OpInfo& info) {
  std::vector<Expr> inputs;
  std::vector<te::Tensor> placeholders;
  LowerInput input{call, {}};
  for (const Expr& arg : call->args) {
    std::vector<te::Tensor> tensors;
    for (const Expr& value : tensors_of(arg)) {
      tensors.push_back(te_placeholder(value, inputs.size()));
      inputs.push_back(value);
      placeholders.push_back(tensors.back());
    }
    input.args.push_back(std::move(tensors));
  }
  return make_te_call(inputs, placeholders, info.lower(input));
}

namespace {

// An attribute as an argument of a runtime function.
Expr attribute_value(const ObjectRef& attr) {
  if (const auto* text = attr.as<StringImmNode>()) return StringValueNode::make(text->value);
  if (const auto* list = attr.as<ArrayNode>()) {
    Shape numbers;
    for (const ObjectRef& item : list->items) numbers.push_back(ref_as<PrimExprNode>(item));
    return shape_expr(numbers);
  }
  return PrimValueNode::make(ref_as<PrimExprNode>(attr));
}

bool is_known_tensor(const Type& type) {
  const auto* tensor = type.as<TensorTypeNode>();
  return tensor && known_shape(tensor) && !tensor->dtype.is_void();
}

}  // namespace

Call runtime_call(const Call& call, const OpInfo& info) {
  std::vector<Expr> args;
  for (const Expr& arg : call->args) {
    const std::vector<Expr> tensors = tensors_of(arg);
    args.insert(args.end(), tensors.begin(), tensors.end());
    if (tensors.empty()) args.push_back(arg);
  }
  for (const ir::OptionInfo& option : info.attrs()) {
    if (option.type != "dtype" && call->attrs.contains(option.name))
      args.push_back(attribute_value(call->attrs.get(option.name)));
  }
  const auto* tuple = call->type.as<TupleTypeNode>();
  const bool writes_outputs =
      tuple ? std::all_of(tuple->elements.begin(), tuple->elements.end(), is_known_tensor)
            : is_known_tensor(call->type);
  const Expr function = ExternFuncNode::make(std::string(info.packed));
  std::vector<Type> types{call->type};
  if (writes_outputs) {
    Expr op = OpNode::make("relax.call_dps_packed");
    return CallNode::make(op, std::vector<Expr>{function, TupleNode::make(std::move(args))}, AttrMap{},
                          std::move(types), call->type, call->span);
  }
  args.insert(args.begin(), function);
  Expr op = OpNode::make("relax.call_pure_packed");
  return CallNode::make(op, std::move(args), AttrMap{}, std::move(types), call->type, call->span);
}

Call call_tir(const GlobalVar& func, const TeCall& call, Span span) {
  std::vector<Expr> args{func, Tuple(TupleNode::make(call.inputs))};
  if (!call.extra.empty()) args.push_back(shape_expr(call.extra));
  std::vector<Type> types(call.outputs.begin(), call.outputs.end());
  Expr op = OpNode::make("relax.call_tir");
  return CallNode::make(op, std::move(args), AttrMap{}, std::move(types), Type(), std::move(span));
}

Call BlockBuilder::call_te(const std::string& name, const TeFunction& func, const std::vector<Expr>& args) {
  std::vector<Expr> inputs;
  std::vector<te::Tensor> placeholders;
  for (const Expr& arg : args) {
    inputs.push_back(normalize_operand(arg));
    placeholders.push_back(te_placeholder(inputs.back(), placeholders.size()));
  }
  const std::vector<te::Tensor> outputs = func(placeholders);
  if (outputs.empty()) throw UserError("{}: the function returned no tensor", name);
  const TeCall call = make_te_call(inputs, placeholders, outputs);
  return ref_as<CallNode>(normalize(call_tir(add_func(call.func, name), call)));
}

}  // namespace tilewright::relax

// R.loop: one instruction, whose body is a function value.
#include <algorithm>

#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/loop_types.h"
#include "tilewright/relax/vm/function_compiler.h"
#include "tilewright/support/error.h"

namespace tilewright::relax::vm {
namespace {

Type body_type(const Expr& body, const IRModule& module) {
  const auto* global = body.as<GlobalVarNode>();
  const auto func = global ? ref_as<FunctionNode>(module->find(global->name_hint)) : Function();
  return func ? Type(function_type(func.get())) : type_of(body);
}

}  // namespace

rt::Register FunctionCompiler::loop(const CallNode* call) {
  const Type type = body_type(call->args[0], module_);
  const auto* body = type.as<CallableTypeNode>();
  if (!body || body->is_opaque)
    throw Unsupported(call, "loop: the body is a function of unknown type")
        .help("name a function of the module");
  const LoopTypes types = loop_types(Call(call), body);
  rt::FunctionBuilder::Loop loop{unless_absent(call->args[1]), unless_absent(call->args[2]), {}, {}, {}};
  for (const Type& element : types.elements) loop.empty.push_back(empty_result(element));
  loop.carried = fields(call->args[3]);
  loop.captured = fields(call->args[4]);
  return code_.loop(value(call->args[0]), loop);
}

// What the loop returns for a value to collect if it has no iterations: a tensor of extent 0 with the extents
// of `element` as far as they are known here; the others are 0, too.
rt::Operand FunctionCompiler::empty_result(const Type& element) {
  const auto* tensor = element.as<TensorTypeNode>();
  if (!tensor || tensor->dtype.is_void()) return rt::none();
  const Shape* shape = known_shape(tensor);
  rt::Operands dims = shape
                          ? sizes(*shape)
                          : rt::Operands(static_cast<size_t>(std::max<int64_t>(tensor->ndim, 0)), rt::imm(0));
  dims.insert(dims.begin(), rt::imm(0));
  code_.on_device(device_of_type(element));
  return code_.new_tensor(tensor->dtype, dims);
}

rt::Operand FunctionCompiler::unless_absent(const Expr& arg) {
  return is_void(type_of(arg)) ? rt::none() : operand(arg);
}

rt::Operands FunctionCompiler::fields(const Expr& tuple) {
  if (const auto* written = tuple.as<TupleNode>()) return operands(written->elements);
  const rt::Register whole = value(tuple);
  rt::Operands result;
  const Type type = type_of(tuple);
  for (size_t n = 0; n < type.as<TupleTypeNode>()->elements.size(); ++n)
    result.push_back(code_.get_item(whole, static_cast<uint32_t>(n)));
  return result;
}

}  // namespace tilewright::relax::vm

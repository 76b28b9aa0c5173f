// Replaces calls that get memory for their outputs by an allocation of each output and a call that writes to
// it.
//   lv = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor((5, 7), "float32"))
//   ->  lv = R.builtin.alloc_tensor(R.shape([5, 7]), R.dtype("float32"), R.prim_value(0), R.str("global"))
//       cls.exp(x, lv)
// where the number is that of the device in the module's list.
// Likewise R.call_dps_packed("f", ...) becomes R.call_packed("f", ...); its function remains declared pure.
// An output of R.call_tir_inplace that overwrites an argument becomes that argument; tir_vars are passed
// last.  These calls have effects: functions that are changed have no dataflow blocks afterwards.
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/infer/vdevices.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/memory/memory_ops.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

class Rewriter {
 public:
  explicit Rewriter(const VDevices& devices) : devices_(devices) {}

  // The bindings that replace `binding`, whose value is `call`.
  std::vector<Binding> run(const Binding& binding, const CallNode* call) {
    bindings_.clear();
    std::vector<Expr> args = inputs(call);
    const std::vector<Expr> outputs = this->outputs(binding, call, &args);
    if (call->args.size() > 2) {
      const Shape* numbers = known_shape(call->args[2]);
      TILEWRIGHT_CHECK(numbers, "call_tir: tir_vars is not a shape");
      for (const PrimExpr& number : *numbers) args.push_back(int_value(number));
    }
    bindings_.push_back(effect(call_for_effect(call->args[0], std::move(args), call->span)));
    if (is_single(call)) {
      if (outputs[0].get() != binding->var.get()) add(binding->var, outputs[0], binding->span);
    } else {
      add(binding->var, TupleNode::make(outputs, call->type, call->span), binding->span);
    }
    return std::move(bindings_);
  }

 private:
  void add(const AnyVar& var, const Expr& value, const Span& span) {
    bindings_.push_back(bind(var, value, span));
  }

  static bool is_single(const CallNode* call) {
    return call->type_args.size() == 1 && !is<TupleTypeNode>(call->type_args[0]);
  }

  // The arguments of the call, with tuples flattened.
  std::vector<Expr> inputs(const CallNode* call) {
    const auto* tuple = call->args[1].as<TupleNode>();
    std::vector<Expr> result;
    for (const Expr& given : tuple ? tuple->elements : std::vector<Expr>{call->args[1]}) {
      const Type type = type_of(given);
      const auto* fields = type.as<TupleTypeNode>();
      if (!fields && !tuple)
        throw Unsupported(call, "{}: args is {}, a tuple of unknown length", op_name(call).substr(6),
                          type_text(type));
      if (!fields) result.push_back(given);
      for (size_t n = 0; fields && n < fields->elements.size(); ++n) {
        const AnyVar item = VarNode::make("arg", fields->elements[n], call->span);
        add(item, TupleGetItemNode::make(given, static_cast<int64_t>(n), item->type), call->span);
        result.push_back(item);
      }
    }
    return result;
  }

  // The outputs; those with their own memory are allocated and appended to `args`.
  std::vector<Expr> outputs(const Binding& binding, const CallNode* call, std::vector<Expr>* args) {
    const std::vector<TensorType> types = output_types(call);
    const std::vector<int64_t> arguments = output_arguments(call);
    std::vector<Expr> result;
    for (size_t n = 0; n < types.size(); ++n) {
      if (arguments[n] >= 0) {
        result.push_back(args->at(static_cast<size_t>(arguments[n])));
        continue;
      }
      const Shape* shape = known_shape(types[n].get());
      if (!shape)
        throw Unsupported(call, "an output of unknown shape")
            .help("give the output's shape, or bind it with R.match_cast");
      AnyVar var = binding->var;
      if (!is_single(call))
        var = VarNode::make(fmt::format("{}_{}", var->name_hint, n), types[n], call->span);
      const auto device = static_cast<int64_t>(devices_.of_type(types[n], Call(call)));
      const std::vector<Expr> described{shape_expr(*shape), dtype_value(types[n]->dtype),
                                        int_value(extent_imm(device)), text_value("global")};
      add(var, memory_call(kBuiltinAllocTensor, described, call->span), binding->span);
      result.push_back(var);
    }
    for (size_t n = 0; n < types.size(); ++n) {
      if (arguments[n] < 0) args->push_back(result[n]);
    }
    return result;
  }

  const VDevices& devices_;
  std::vector<Binding> bindings_;
};

const CallNode* call_with_outputs(const Binding& binding) {
  const auto* call = is<VarBindingNode>(binding) ? binding->value.as<CallNode>() : nullptr;
  return call && writes_outputs(op_name(call)) ? call : nullptr;
}

// Declares `func` pure: registered functions write only its own memory, which R.call_packed does not state.
Function said_pure(const Function& func) {
  if (!func->is_pure) return func;
  return with(func,
              [](FunctionNode& changed) { changed.attrs.set("relax.force_pure", tir::bool_imm(true)); });
}

Function rewritten(const Function& func, const VDevices& devices) {
  bool found = false, calls_registered = false;
  walk(func, [&](const CallNode* call) {
    found |= writes_outputs(op_name(call));
    calls_registered |= op_name(call) == "relax.call_dps_packed";
  });
  if (!found) return func;
  const Function plain = to_non_dataflow(calls_registered ? said_pure(func) : func);
  return rewrite(plain, [&](auto& self, const PlainBlockNode* node) -> PlainBlock {
    const PlainBlock block = self.children(node);
    std::vector<Binding> bindings;
    for (const Binding& binding : block->bindings) {
      const CallNode* call = call_with_outputs(binding);
      if (!call) {
        bindings.push_back(binding);
        continue;
      }
      for (Binding& part : Rewriter(devices).run(binding, call)) bindings.push_back(std::move(part));
    }
    return bindings == block->bindings ? block : PlainBlockNode::make(std::move(bindings));
  });
}

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  const VDevices devices(module);
  return map_functions<FunctionNode>(module, [&](const Function& func) { return rewritten(func, devices); });
}

}  // namespace

extern constinit const PassInfo call_tir_rewrite_info =
    module_pass<run>("call_tir_rewrite", "Allocates outputs; calls write into their arguments.");

}  // namespace tilewright::relax

// Says of each tensor in types on which device it is, and turns hints into moves where they are needed.
//   x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32", "llvm:0")
//   lv = R.add(x, y); lv1 = R.hint_on_device(lv, R.device("cuda")); gv = R.exp(lv1)
//   ->  x: R.Tensor((2, 3), "float32", "llvm:0")
//       lv: R.Tensor(.., "llvm:0") = R.add(x, y); lv1: R.Tensor(.., "cuda:0") = R.to_vdevice(lv, "cuda:0")
// A value whose type names no device is on that of the values that it is computed from or with; a hint decides where
// nothing else does.  Values that nothing places stay without a device; compiling puts them on the first.
#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/graph/devices.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/device_solver.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

bool is_call_of(const CallNode* call, std::string_view name) {
  const auto* op = call->op.as<OpNode>();
  return op && op->name == name;
}

class Realizer {
 public:
  Realizer(const IRModule& module, const VDevices& devices, bool is_strict, size_t otherwise)
      : devices_(devices), solver_(module, devices, is_strict, otherwise) {}

  // The same object if it says all already.
  Function run(const Function& func) const {
    Substitution vars;
    walk(
        func, [&](const VarNode* var) { add(var, &vars); },
        [&](const DataflowVarNode* var) { add(var, &vars); });
    bool has_moves = false;
    walk(func, [&](const CallNode* call) {
      has_moves |= is_call_of(call, "relax.hint_on_device") || !is_same(call);
    });
    if (vars.empty() && !has_moves && solver_.type_of_result(func.get()) == func->ret_type) return func;
    return rewritten(func, vars);
  }

 private:
  template <class V>
  void add(const V* var, Substitution* vars) const {
    const Type type = solver_.type_of_var(var);
    if (type == var->type || vars->count(var)) return;
    (*vars)[var] = with(var, [&](V& node) { node.type = type; });
  }

  bool is_same(const CallNode* call) const {
    return solver_.type_of_call(call, call->type) == call->type &&
           types_of_outputs(call) == call->type_args && moved(call) == Call(call);
  }

  std::vector<Type> types_of_outputs(const CallNode* call) const {
    if (call->type_args.empty()) return {};
    const Type all = call->type_args.size() == 1 ? call->type_args[0] : Type(tuple_type(call->type_args));
    const Type placed = solver_.type_of_call(call, all);
    if (call->type_args.size() == 1) return {placed};
    return placed.as<TupleTypeNode>()->elements;
  }

  // A hint or move with the device's name in the list; a hint on a value that is there already is the value.
  Expr moved(const CallNode* call) const {
    const bool is_hint = is_call_of(call, "relax.hint_on_device");
    if (!is_hint && !is_call_of(call, "relax.to_vdevice")) return Expr(call);
    const std::string written = call->attrs.get_string("dst_vdevice", "");
    const size_t device =
        is_hint ? devices_.find_device(written, Call(call)) : devices_.find(written, Call(call));
    const size_t from = solver_.device_of_argument(call);
    if (is_hint && (from == device || is<ConstantNode>(call->args[0]))) return call->args[0];
    if (!is_hint && written == devices_[device].name) return Expr(call);
    return with(call, [&](CallNode& node) {
      if (is_hint) node.op = OpNode::make("relax.to_vdevice");
      node.attrs.set("dst_vdevice", tir::string_imm(devices_[device].name));
    });
  }

  Function rewritten(const Function& func, const Substitution& vars) const {
    return rewrite(
        func,
        [&](auto& self, const FunctionNode* node) -> Expr {
          if (node == func.get()) {
            for (const auto& [from, to] : vars) self.replace_uses(from, to);
          }
          const Type ret = solver_.type_of_result(node);
          return with(self.children(node), [&](FunctionNode& changed) {
            changed.ret_type = ret;
            changed.type = nullptr;
          });
        },
        [&](auto& self, const CallNode* node) -> Expr {
          const Expr value = moved(node);
          const auto* source = value.template as<CallNode>();
          if (!source) return self(value);
          const Call call = self.children(source);
          return with(call, [&](CallNode& changed) {
            if (node->type) changed.type = solver_.type_of_call(node, node->type);
            changed.type_args = types_of_outputs(node);
          });
        },
        [&](auto& self, const MatchCastNode* node) -> Binding {
          const MatchCast cast = self.children(node);
          return with(cast, [&](MatchCastNode& changed) {
            changed.pattern = with_declared_devices(cast->pattern, cast->var->type);
          });
        },
        [&](auto& self, const TupleNode* node) -> Expr { return untyped(self.children(node)); },
        [&](auto& self, const TupleGetItemNode* node) -> Expr { return untyped(self.children(node)); },
        [&](auto& self, const IfNode* node) -> Expr { return untyped(self.children(node)); },
        [&](auto& self, const SeqExprNode* node) -> Expr { return untyped(self.children(node)); });
  }

  // Without a type, so that it is inferred anew.
  template <class T>
  static T untyped(const T& expr) {
    return with(expr, [](auto& changed) { changed.type = nullptr; });
  }

  const VDevices& devices_;
  const DeviceSolver solver_;
};

struct Options {
  bool strict = true;
  std::string default_device;
  static constexpr auto fields() {
    return std::tuple{
        field<&Options::strict>("strict",
                                "false: an operator may read values on different devices; what it reads is "
                                "copied when it runs"),
        field<&Options::default_device>(
            "default_device", "where values are that nothing places, e.g. \"llvm:0\"; empty: nowhere")};
  }
};

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  const VDevices devices(module);
  if (!devices.is_used()) return module;
  const size_t otherwise = options.default_device.empty()
                               ? DeviceSolver::npos
                               : devices.find(options.default_device, module->functions.front());
  const Realizer realizer(module, devices, options.strict, otherwise);
  const IRModule placed =
      map_functions<FunctionNode>(module, [&](const Function& func) { return realizer.run(func); });
  return map_functions<FunctionNode>(placed, [&](const Function& func) {
    return func->type ? func : BlockBuilder(placed).normalize_function(func);
  });
}

}  // namespace

extern constinit const PassInfo realize_vdevice_info = module_pass<run, Options>(
    "realize_vdevice", "Puts each tensor on a device; hints become moves where they are needed.");

}  // namespace tilewright::relax

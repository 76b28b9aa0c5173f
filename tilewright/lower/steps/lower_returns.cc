// T.ret(n + 1)  ->  the value is stored for the caller, and the function returns 0, its status:
//   T.poke(result, 0, code); T.poke(result, 8, T.int64(n + 1)); T.ret(0)
// `result`, a pointer to a TilewrightAny, is a free variable; split_functions makes it a parameter.
#include <cstddef>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/step.h"
#include "tilewright/runtime/kernel_abi.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

const CallNode* return_of(const StmtNode* stmt) {
  const auto* evaluate = Stmt(stmt).as<EvaluateNode>();
  const auto* call = evaluate ? evaluate->value.as<CallNode>() : nullptr;
  return is_call_of(call, "tir.ret") ? call : nullptr;
}

Stmt evaluated(std::string_view op, std::vector<PrimExpr> args) {
  return EvaluateNode::make(call(kInt32, op, std::move(args)));
}

class Returns {
 public:
  explicit Returns(const PrimFunc& func) : func_(func) {}

  Stmt lowered(const CallNode* node) const {
    const PrimExpr value = node->args.at(0);
    const DataType dtype = value->dtype;
    check(node, dtype);
    const int64_t code = dtype.is_float()  ? kTilewrightFloat
                         : dtype.is_bool() ? kTilewrightBool
                                           : kTilewrightInt;
    const Var number = make_var("number", dtype.is_float() ? DataType::float_(64) : kInt64);
    const Stmt stores = seq({stored(offsetof(TilewrightAny, type_index), imm(code)),
                             stored(offsetof(TilewrightAny, v_int64), number), evaluated("ret", {imm(0)})});
    return LetStmtNode::make(tir::cast(number->dtype, value), number,
                             seq({too_large(dtype, number), stores}));
  }

 private:
  void check(const CallNode* node, DataType dtype) const {
    if (!dtype.is_scalar() || dtype.is_handle() || dtype.is_void())
      throw Unsupported(node, "{} is returned, supported are integers, floats and bool", dtype.str())
          .help("write it to a buffer that is an argument");
    const auto* declared = func_->ret_type.as<PrimTypeNode>();
    if (declared && !declared->dtype.is_void() && declared->dtype != dtype)
      throw UserError(node, "{} is returned, but the function is declared to return {}", dtype.str(),
                      declared->dtype.str());
  }

  Stmt stored(size_t offset, const PrimExpr& value) const {
    return evaluated("poke", {result_, imm(static_cast<int64_t>(offset), kInt64), value});
  }

  // Callers receive a signed 64-bit integer.
  static Stmt too_large(DataType dtype, const Var& number) {
    if (!dtype.is_uint() || dtype.bits < 64) return EvaluateNode::make(imm(0));
    const Stmt error = evaluated("raise_error", {string_imm("ValueError"),
                                                 string_imm("the result, an uint64, does not fit in int64")});
    return IfThenElseNode::make(PrimExpr(number) < 0, error);
  }

  const PrimFunc& func_;
  const Var result_ = make_var("result", DataType::handle());
};

// All iterations of such a loop run, in no order, so none can end it.
void refuse_in_unordered(const ForNode* loop) {
  if (loop->for_kind == ForKind::kSerial || loop->for_kind == ForKind::kUnrolled) return;
  ir::walk(loop->body, [&](const EvaluateNode* node) {
    if (const CallNode* call = return_of(node))
      throw Unsupported(call, "T.ret in a loop whose iterations are unordered, over {}",
                        loop->loop_var->name_hint)
          .help("make the loop serial");
  });
}

PrimFunc lower_returns(const PrimFunc& func) {
  ir::walk(func->body, [](const ForNode* loop) { refuse_in_unordered(loop); });
  const Returns returns(func);
  const Stmt body = rewrite(func->body, [&](auto& self, const EvaluateNode* node) -> Stmt {
    const CallNode* call = return_of(node);
    return call ? returns.lowered(call) : self.children(node);
  });
  return body == func->body ? func : with(func, [&](PrimFuncNode& changed) { changed.body = body; });
}

}  // namespace

extern constinit const StepInfo lower_returns_info = {
    .name = "lower_returns",
    .doc =
        "numbers that are returned (`T.ret`) are stored for the caller; what a function "
        "returns is a status",
    .ends = kReturns,
    .run = without_options<lower_returns>,
};

}  // namespace tilewright::lower

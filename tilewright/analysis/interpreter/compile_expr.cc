// Expressions other than accesses and calls.
#include "tilewright/analysis/interpreter/compiler.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::analysis {
namespace {

void require_supported(DataType dtype, const ObjectRef& where) {
  if (dtype.is_handle() || dtype.is_void()) return;
  if (dtype.is_scalable())
    throw Unsupported(where, "the interpreter does not support vectors of unknown length ({})", dtype.str());
  if (dtype.code == DataType::kComplex)
    throw Unsupported(where, "the interpreter does not support values of dtype {}", dtype.str());
}

// A literal of any dtype.
double float_value(const PrimExpr& expr) { return round_to(expr.as<FloatImmNode>()->value, expr->dtype); }

}  // namespace

int64_t Code::as_int(Frame& frame) const {
  Scalar scalar;
  lanes(frame, &scalar);
  return scalar.i;
}

double Code::as_float(Frame& frame) const {
  Scalar scalar;
  lanes(frame, &scalar);
  return scalar.f;
}

std::vector<CodePtr> Compiler::exprs(const std::vector<PrimExpr>& list) {
  std::vector<CodePtr> codes;
  for (const PrimExpr& item : list) codes.push_back(expr(item));
  return codes;
}

CodePtr Compiler::int_literal(DataType dtype, int64_t value) {
  return int_code(dtype, [value](Frame&) { return value; });
}

CodePtr Compiler::expr(const PrimExpr& expr) {
  require_supported(expr->dtype, expr);
  if (const auto* var = expr.as<tir::VarNode>()) return variable(var);
  if (const auto* literal = expr.as<IntImmNode>())
    return int_literal(expr->dtype, tir::wrap_int(literal->value, expr->dtype));
  if (expr.as<FloatImmNode>())
    return float_code(expr->dtype, [value = float_value(expr)](Frame&) { return value; });
  if (const auto* op = expr.as<BinaryOpNode>()) return binary(op);
  if (const auto* node = expr.as<BufferLoadNode>()) return load(node);
  if (const auto* node = expr.as<tir::CallNode>()) return call(node);
  if (const auto* node = expr.as<CastNode>()) return cast(node);
  if (const auto* node = expr.as<LetNode>()) return let(node);
  if (const auto* node = expr.as<SelectNode>())
    return select(node->condition, node->true_value, node->false_value, true, expr->dtype);
  if (const auto* node = expr.as<NotNode>()) {
    CodePtr value = this->expr(node->a);
    if (expr->dtype.is_scalar())
      return int_code(expr->dtype,
                      [value = std::move(value)](Frame& frame) -> int64_t { return !value->as_int(frame); });
    return lanes_code(expr->dtype, [value = std::move(value)](Frame& frame, Scalar* out) {
      const Lanes lanes(*value, frame);
      for (size_t n = 0; n < lanes.size(); ++n) out[n] = int_scalar(!lanes[n].i);
    });
  }
  if (expr.as<RampNode>() || expr.as<BroadcastNode>() || expr.as<ShuffleNode>()) return vector(expr);
  if (expr.as<ReduceNode>() || expr.as<ProducerLoadNode>())
    throw UserError(expr, "{} belongs to a tensor expression", expr_text(expr))
        .help("lower it first with te.create_prim_func");
  throw UserError(expr, "{} is not a value that can be computed", expr_text(expr));
}

CodePtr Compiler::variable(const tir::VarNode* var) {
  const size_t slot = slot_of(var);
  if (!var->dtype.is_scalar()) {
    return lanes_code(var->dtype, [slot, count = var->dtype.lanes](Frame& frame, Scalar* out) {
      std::copy_n(&frame.slots[slot], count, out);
    });
  }
  if (var->dtype.is_float())
    return float_code(var->dtype, [slot](Frame& frame) { return frame.slots[slot].f; });
  if (var->dtype.is_handle())
    return lanes_code(var->dtype, [slot](Frame& frame, Scalar* out) { *out = frame.slots[slot]; });
  return int_code(var->dtype, [slot](Frame& frame) { return frame.slots[slot].i; });
}

namespace {

// The operators of index arithmetic, without a function call per operation.
template <class Op>
CodePtr direct(DataType dtype, CodePtr a, CodePtr b, Op op) {
  if (dtype.bits == 64)
    return int_code(dtype, [a = std::move(a), b = std::move(b), op](Frame& frame) {
      return op(a->as_int(frame), b->as_int(frame));
    });
  return int_code(dtype, [a = std::move(a), b = std::move(b), op](Frame& frame) {
    return static_cast<int64_t>(static_cast<int32_t>(op(a->as_int(frame), b->as_int(frame))));
  });
}

}  // namespace

CodePtr Compiler::int_operator(const BinaryOpNode* op, CodePtr a, CodePtr b) {
  const DataType dtype = op->a->dtype;
  const Kind kind = op->kind;
  if (dtype.is_int() && (dtype.bits == 32 || dtype.bits == 64)) {
    auto wrap = [](auto f) {
      return [f](int64_t x, int64_t y) {
        return static_cast<int64_t>(f(static_cast<uint64_t>(x), static_cast<uint64_t>(y)));
      };
    };
    if (kind == Kind::kAdd)
      return direct(op->dtype, std::move(a), std::move(b),
                    wrap([](uint64_t x, uint64_t y) { return x + y; }));
    if (kind == Kind::kSub)
      return direct(op->dtype, std::move(a), std::move(b),
                    wrap([](uint64_t x, uint64_t y) { return x - y; }));
    if (kind == Kind::kMul)
      return direct(op->dtype, std::move(a), std::move(b),
                    wrap([](uint64_t x, uint64_t y) { return x * y; }));
    if (kind == Kind::kLT)
      return int_code(op->dtype, [a = std::move(a), b = std::move(b)](Frame& frame) -> int64_t {
        return a->as_int(frame) < b->as_int(frame);
      });
  }
  if (kind == Kind::kAnd)
    return int_code(op->dtype, [a = std::move(a), b = std::move(b)](Frame& frame) -> int64_t {
      return a->as_int(frame) && b->as_int(frame);
    });
  if (kind == Kind::kOr)
    return int_code(op->dtype, [a = std::move(a), b = std::move(b)](Frame& frame) -> int64_t {
      return a->as_int(frame) || b->as_int(frame);
    });
  return int_code(op->dtype,
                  [a = std::move(a), b = std::move(b), kind, dtype,
                   where = site(ObjectRef(op))](Frame& frame) -> int64_t {
                    const int64_t x = a->as_int(frame), y = b->as_int(frame);
                    if (auto value = int_binary(kind, x, y, dtype)) return *value;
                    if (frame.speculative) return 0;
                    throw UserError(where->node, "{}: {} is divided by zero{}",
                                    expr_text(ref_as<PrimExprNode>(where->node)), x, where->at(frame));
                  });
}

CodePtr Compiler::binary(const BinaryOpNode* op) {
  CodePtr a = expr(op->a), b = expr(op->b);
  const DataType dtype = op->a->dtype;
  if (!dtype.is_scalar()) return vector_operator(op, std::move(a), std::move(b));
  if (!dtype.is_float()) return int_operator(op, std::move(a), std::move(b));
  const Kind kind = op->kind;
  if (op->dtype.is_bool())
    return int_code(op->dtype, [a = std::move(a), b = std::move(b), kind](Frame& frame) {
      return float_compare(kind, a->as_float(frame), b->as_float(frame));
    });
  if (dtype == kFloat32 && kind == Kind::kAdd)
    return float_code(dtype, [a = std::move(a), b = std::move(b)](Frame& frame) {
      return static_cast<double>(static_cast<float>(a->as_float(frame) + b->as_float(frame)));
    });
  if (dtype == kFloat32 && kind == Kind::kMul)
    return float_code(dtype, [a = std::move(a), b = std::move(b)](Frame& frame) {
      return static_cast<double>(static_cast<float>(a->as_float(frame) * b->as_float(frame)));
    });
  return float_code(dtype, [a = std::move(a), b = std::move(b), kind, dtype](Frame& frame) {
    const double x = a->as_float(frame);
    return float_binary(kind, x, b->as_float(frame), dtype);
  });
}

CodePtr Compiler::vector_operator(const BinaryOpNode* op, CodePtr a, CodePtr b) {
  const DataType element = op->a->dtype.element();
  const Kind kind = op->kind;
  const bool gives_bool = op->dtype.is_bool();
  return lanes_code(op->dtype, [a = std::move(a), b = std::move(b), kind, element, gives_bool,
                                where = site(ObjectRef(op))](Frame& frame, Scalar* out) {
    const Lanes x(*a, frame), y(*b, frame);
    for (size_t n = 0; n < x.size(); ++n) {
      if (element.is_float()) {
        out[n] = gives_bool ? int_scalar(float_compare(kind, x[n].f, y[n].f))
                            : float_scalar(float_binary(kind, x[n].f, y[n].f, element));
        continue;
      }
      const auto value = int_binary(kind, x[n].i, y[n].i, element);
      if (!value && !frame.speculative)
        throw UserError(where->node, "{}: {} is divided by zero in lane {}{}",
                        expr_text(ref_as<PrimExprNode>(where->node)), x[n].i, n, where->at(frame));
      out[n] = int_scalar(value.value_or(0));
    }
  });
}

CodePtr Compiler::cast(const CastNode* cast) {
  CodePtr value = expr(cast->value);
  const DataType from = cast->value->dtype.element(), to = cast->dtype.element();
  auto convert_one = [from, to, where = site(ObjectRef(cast))](const Scalar& scalar, Frame& frame) {
    const auto converted = convert(scalar, from, to);
    if (!converted && !frame.speculative)
      throw UserError(where->node, "{}: {} does not fit in {}{}",
                      expr_text(ref_as<PrimExprNode>(where->node)), scalar.f, to.str(), where->at(frame));
    return converted.value_or(Scalar());
  };
  return lanes_code(cast->dtype, [value = std::move(value), convert_one](Frame& frame, Scalar* out) {
    const Lanes lanes(*value, frame);
    for (size_t n = 0; n < lanes.size(); ++n) out[n] = convert_one(lanes[n], frame);
  });
}

// T.Select evaluates both values, T.if_then_else only the selected one; with a vector condition both evaluate
// both.
CodePtr Compiler::select(const PrimExpr& condition, const PrimExpr& then_value, const PrimExpr& else_value,
                         bool evaluates_both, DataType dtype) {
  CodePtr test = expr(condition), yes = expr(then_value), no = expr(else_value);
  if (condition->dtype.is_scalar()) {
    return lanes_code(dtype, [test = std::move(test), yes = std::move(yes), no = std::move(no),
                              evaluates_both](Frame& frame, Scalar* out) {
      const bool chosen = test->as_int(frame);
      if (evaluates_both) {
        ++frame.speculative;
        const Lanes unused(chosen ? *no : *yes, frame);
        --frame.speculative;
      }
      (chosen ? yes : no)->lanes(frame, out);
    });
  }
  return lanes_code(
      dtype, [test = std::move(test), yes = std::move(yes), no = std::move(no)](Frame& frame, Scalar* out) {
        const Lanes chosen(*test, frame);
        size_t count = 0;
        for (size_t n = 0; n < chosen.size(); ++n) count += chosen[n].i != 0;
        // a value that no lane selects is not used
        frame.speculative += count == 0;
        const Lanes a(*yes, frame);
        frame.speculative -= count == 0;
        frame.speculative += count == chosen.size();
        const Lanes b(*no, frame);
        frame.speculative -= count == chosen.size();
        for (size_t n = 0; n < chosen.size(); ++n) out[n] = chosen[n].i ? a[n] : b[n];
      });
}

CodePtr Compiler::let(const LetNode* let) {
  CodePtr value = expr(let->value);
  const size_t slot = new_slot(let->var.get());
  CodePtr body = expr(let->body);
  return lanes_code(let->dtype,
                    [value = std::move(value), body = std::move(body), slot](Frame& frame, Scalar* out) {
                      const Lanes lanes(*value, frame);
                      for (size_t n = 0; n < lanes.size(); ++n) frame.slots[slot + n] = lanes[n];
                      body->lanes(frame, out);
                    });
}

CodePtr Compiler::vector(const PrimExpr& expr) {
  if (const auto* ramp = expr.as<RampNode>()) {
    CodePtr base = this->expr(ramp->base), stride = this->expr(ramp->stride);
    const DataType element = expr->dtype.element();
    return lanes_code(expr->dtype, [base = std::move(base), stride = std::move(stride), element,
                                    count = ramp->lanes](Frame& frame, Scalar* out) {
      const Lanes first(*base, frame), step(*stride, frame);
      for (size_t n = 0; n < static_cast<size_t>(count); ++n) {
        for (size_t m = 0; m < first.size(); ++m) {
          if (element.is_float())
            out[n * first.size() + m] =
                float_scalar(round_to(first[m].f + static_cast<double>(n) * step[m].f, element));
          else
            out[n * first.size() + m] =
                int_scalar(tir::wrap_int(first[m].i + static_cast<int64_t>(n) * step[m].i, element));
        }
      }
    });
  }
  if (const auto* broadcast = expr.as<BroadcastNode>()) {
    CodePtr value = this->expr(broadcast->value);
    return lanes_code(expr->dtype,
                      [value = std::move(value), count = broadcast->lanes](Frame& frame, Scalar* out) {
                        const Lanes lanes(*value, frame);
                        for (size_t n = 0; n < static_cast<size_t>(count) * lanes.size(); ++n)
                          out[n] = lanes[n % lanes.size()];
                      });
  }
  const auto* shuffle = expr.as<ShuffleNode>();
  std::vector<int64_t> picked;
  int64_t total = 0;
  for (const PrimExpr& part : shuffle->vectors) total += part->dtype.lanes;
  for (const PrimExpr& index : shuffle->indices) {
    int64_t lane = -1;
    if (!as_const_int(index, &lane) || lane < 0 || lane >= total)
      throw UserError(index, "shuffle: {} is not one of the {} lanes", expr_text(index), total);
    picked.push_back(lane);
  }
  return lanes_code(expr->dtype, [vectors = exprs(shuffle->vectors), picked](Frame& frame, Scalar* out) {
    std::vector<Scalar> all;
    for (const CodePtr& part : vectors) {
      const Lanes lanes(*part, frame);
      for (size_t n = 0; n < lanes.size(); ++n) all.push_back(lanes[n]);
    }
    for (size_t n = 0; n < picked.size(); ++n) out[n] = all[static_cast<size_t>(picked[n])];
  });
}

}  // namespace tilewright::analysis

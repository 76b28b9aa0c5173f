// Expands functions that machines lack into arithmetic: ldexp, q_multiply_shift, q_multiply_shift_per_axis,
// and pow for the exponents -1, 1, 2, 3 and 4, for which products are accurate to one unit in the last place.
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

DataType with_bits_of(int bits, DataType lanes_of) { return DataType::int_(bits, lanes_of.lanes); }

PrimExpr number(const PrimExpr& like, int64_t value) { return make_const_int(like->dtype, value); }

PrimExpr clamped(const PrimExpr& x, int64_t low, int64_t high) {
  return tir::min(tir::max(x, number(x, low)), number(x, high));
}

// 2 ** n as float64, for n of int64 from -1022 to 1023, made from the bits of its exponent.
PrimExpr power_of_two(const PrimExpr& n) {
  const PrimExpr bits = call(n->dtype, "tir.shift_left", {n + number(n, 1023), number(n, 52)});
  return call(DataType::float_(64, n->dtype.lanes), "tir.reinterpret", {bits});
}

// One of several factors 2 ** n with which x * 2 ** n is rounded only once: as in musl's scalbn, small
// factors keep the 53 bits of x.
PrimExpr next_step(const PrimExpr& n) {
  return select(n > number(n, 1023), number(n, 1023), select(n < number(n, -1022), number(n, -969), n));
}

// ldexp(x, n) = x * 2 ** n
PrimExpr spelled_ldexp(const CallNode* node) {
  const PrimExpr& x = node->args[0];
  const DataType wide = DataType::float_(64, x->dtype.lanes);
  PrimExpr n = tir::cast(with_bits_of(64, x->dtype), node->args[1]);
  // a float64 represents the product of any float32 with any relevant power exactly
  if (x->dtype.bits < 64)
    return tir::cast(node->dtype, tir::cast(wide, x) * power_of_two(clamped(n, -400, 400)));
  n = clamped(n, -2200, 2200);
  const PrimExpr first = next_step(n), second = next_step(n - first);
  const PrimExpr rest = clamped(n - first - second, -1022, 1023);
  return x * power_of_two(first) * power_of_two(second) * power_of_two(rest);
}

// x * y / 2 ** shift to the nearest, halves upwards
PrimExpr multiplied_and_shifted(const CallNode* node, PrimExpr x, const PrimExpr& shift) {
  const DataType wide = with_bits_of(64, node->dtype);
  const PrimExpr by = tir::max(tir::cast(wide, shift), make_const_int(wide, 0));
  const PrimExpr one = make_const_int(wide, 1);
  int64_t known;
  const PrimExpr half = as_const_int(by, &known)
                            ? make_const_int(wide, known > 0 && known < 64 ? int64_t{1} << (known - 1) : 0)
                            : call(wide, "tir.shift_right", {call(wide, "tir.shift_left", {one, by}), one});
  const PrimExpr product = std::move(x) * tir::cast(wide, node->args[1]);
  return tir::cast(node->dtype, call(wide, "tir.shift_right", {product + half, by}));
}

// pow(x, 3) = x * x * x; null for exponents that are not small constants.
PrimExpr spelled_power(const CallNode* node) {
  const PrimExpr& x = node->args[0];
  const auto* many = node->args[1].as<BroadcastNode>();
  const auto* exponent = (many ? many->value : node->args[1]).as<FloatImmNode>();
  if (!exponent || !x->dtype.is_float() || x->dtype.bits < 32) return nullptr;
  if (exponent->value == -1) return div(tir::make_const(x->dtype, 1), x);
  if (exponent->value == 1) return x;
  if (exponent->value == 2) return x * x;
  if (exponent->value == 3) return x * x * x;
  if (exponent->value == 4) return x * x * (x * x);
  return nullptr;
}

PrimExpr spelled(const CallNode* node) {
  const auto* op = node->op.as<OpNode>();
  if (!op) return nullptr;
  const DataType wide = with_bits_of(64, node->dtype);
  const auto& args = node->args;
  if (op->name == "tir.ldexp") return spelled_ldexp(node);
  if (op->name == "tir.pow") return spelled_power(node);
  if (op->name == "tir.q_multiply_shift")
    return multiplied_and_shifted(node, tir::cast(wide, args[0]), args[2] + args[3]);
  if (op->name != "tir.q_multiply_shift_per_axis") return nullptr;
  PrimExpr x = tir::cast(wide, args[0]);
  const PrimExpr shifted = call(wide, "tir.shift_left", {x, clamped(tir::cast(wide, args[2]), 0, 31)});
  return multiplied_and_shifted(
      node, select(tir::cast(kBoolType.with_lanes(wide.lanes), args[5]), shifted, x), args[3] + args[4]);
}

PrimFunc spell_out_calls(const PrimFunc& func) {
  return rewrite(func, [](auto& self, const CallNode* node) -> PrimExpr {
    const Call inner = self.children(node);
    const PrimExpr arithmetic = spelled(inner.get());
    return arithmetic ? arithmetic : PrimExpr(inner);
  });
}

}  // namespace

extern constinit const StepInfo spell_out_calls_info = {
    .name = "spell_out_calls",
    .doc =
        "`ldexp`, `q_multiply_shift`, `q_multiply_shift_per_axis` and small constant powers "
        "are arithmetic",
    .ends = kMissingCalls,
    .run = without_options<spell_out_calls>,
};

}  // namespace tilewright::lower

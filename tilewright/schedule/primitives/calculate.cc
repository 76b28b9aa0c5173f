// calculate: a number made of sampled ones.
#include <algorithm>

#include "tilewright/schedule/core/primitive.h"
#include "tilewright/tir/arithmetic.h"

namespace tilewright::schedule {
namespace {

struct Args {
  std::string operation;
  Factor a, b;
  static constexpr std::string_view kRequired[] = {"operation", "a", "b"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::operation>("operation", "\"+\", \"-\", \"*\", \"//\", \"%\", \"min\" or \"max\""),
        field<&Args::a>("a", "a number or a sampled value"),
        field<&Args::b>("b", "a number or a sampled value")};
  }
};

// Nothing if the result is no 64-bit integer.
std::optional<int64_t> calculated(const std::string& operation, int64_t a, int64_t b) {
  int64_t result = 0;
  if (operation == "+" && !__builtin_add_overflow(a, b, &result)) return result;
  if (operation == "-" && !__builtin_sub_overflow(a, b, &result)) return result;
  if (operation == "*" && !__builtin_mul_overflow(a, b, &result)) return result;
  const bool is_whole = b != 0 && (b != -1 || a != INT64_MIN);
  if (operation == "//" && is_whole) return floordiv_int(a, b);
  if (operation == "%" && is_whole) return floormod_int(a, b);
  if (operation == "min") return std::min(a, b);
  if (operation == "max") return std::max(a, b);
  return std::nullopt;
}

ExprRef apply(State& state, const Args& args) {
  constexpr std::string_view kKnown[] = {"+", "-", "*", "//", "%", "min", "max"};
  if (std::find(std::begin(kKnown), std::end(kKnown), args.operation) == std::end(kKnown))
    throw UserError("there is no operation \"{}\"", args.operation).help("it is one of + - * // % min max");
  const std::optional<int64_t> a = state[args.a], b = state[args.b];
  if (!a || !b) throw UserError("an operand of {} is None", args.operation);
  const std::optional<int64_t> result = calculated(args.operation, *a, *b);
  if (!result) throw UserError("{} {} {} is no 64-bit integer", *a, args.operation, *b);
  return state.new_expr_ref(*result);
}

}  // namespace

extern constinit const PrimitiveInfo calculate_info = query<apply>("calculate", R"(
A number made of sampled ones.  In Python v * 2 and the like call it where a step takes them.

    v0 = sch.sample_categorical([2, 4], [0.5, 0.5])
    v1 = sch.calculate("*", v0, 8)                                                   # 16 or 32, with v0

operation  rounds down where it divides, as in Python
a, b       numbers or sampled values
Returns    the integer, as a value that split and others take
Raises     UserError if the operation is none of these, or divides by 0, or if the result has more than 64 bits.
)");
}  // namespace tilewright::schedule

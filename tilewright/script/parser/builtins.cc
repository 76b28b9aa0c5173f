// Python's built-in functions over Python values and expressions.
#include <cmath>

#include "tilewright/script/parser/parser.h"

namespace tilewright::script {
namespace {

Value minimum(Parser& parser, Args& args, bool is_min) {
  std::vector<const Arg*> given = args.rest(0);
  std::vector<Value> values;
  args.done();
  if (given.size() == 1) {
    values = parser.to_sequence(given[0]->value, given[0]->place, "the only argument").items;
  } else {
    for (const Arg* arg : given) values.push_back(arg->value);
  }
  if (values.empty()) throw UserError(args.span, "{} of nothing", args.function);
  Value result = values[0];
  for (size_t n = 1; n < values.size(); ++n) {
    if (result.is_number() && values[n].is_number()) {
      const Value is_less = parser.compare("<", values[n], result, args.place);
      const Value is_greater = parser.compare(">", values[n], result, args.place);
      if (*(is_min ? is_less : is_greater).get<bool>()) result = values[n];
    } else {
      result = parser.binary_node(is_min ? ir::Kind::kMin : ir::Kind::kMax, result, values[n], args.place);
    }
  }
  return result;
}

const Arg& only_argument(Args& args) {
  const Arg& arg = args.need(0, "x");
  args.done();
  return arg;
}

Value absolute(Parser& parser, Args& args) {
  const Arg& arg = only_argument(args);
  if (arg.value.is_number()) {
    const bool negative = *parser.compare("<", arg.value, Value(0), arg.place).get<bool>();
    return negative ? parser.unary("-", arg.value, arg.place) : arg.value;
  }
  Args call = args;
  return call_tir_function(parser, "abs", call);
}

Value length(Parser& parser, Args& args) {
  const Arg& arg = only_argument(args);
  if (const auto* text = arg.value.get<std::string>()) return static_cast<int64_t>(text->size());
  return static_cast<int64_t>(parser.to_sequence(arg.value, arg.place, "the argument of len").items.size());
}

Value convert(Parser& parser, Args& args, std::string_view name) {
  const Arg& arg = only_argument(args);
  if (const auto* text = arg.value.get<std::string>(); text && name == "float") {
    for (auto [word, value] : {std::pair{"inf", INFINITY}, {"-inf", -INFINITY}, {"nan", NAN}}) {
      if (*text == word) return static_cast<double>(value);
    }
  }
  if (!arg.value.is_number())
    throw UserError(args.span, "{}(...) takes a Python number, found {}", name, describe(arg.value))
        .help("convert expressions with T.cast(x, dtype)");
  if (name == "bool") return parser.to_flag(arg.value, arg.place, "the argument");
  if (name == "float") return parser.binary_op("*", arg.value, Value(1.0), arg.place);
  const auto* real = arg.value.get<double>();
  if (!real) return parser.binary_op("+", arg.value, Value(0), arg.place);
  if (!(*real > -9e18 && *real < 9e18)) throw UserError(args.span, "int({}) does not fit in 64 bits", *real);
  return static_cast<int64_t>(*real);
}

Value range_list(Parser& parser, Args& args) {
  std::vector<int64_t> bounds;
  for (const Arg* arg : args.rest(0))
    bounds.push_back(parser.to_int(arg->value, arg->place, "an argument of range"));
  args.done();
  if (bounds.empty() || bounds.size() > 3)
    throw UserError(args.span, "range takes 1 to 3 arguments, found {}", bounds.size());
  if (bounds.size() == 1) bounds.insert(bounds.begin(), 0);
  const int64_t step = bounds.size() == 3 ? bounds[2] : 1;
  if (step == 0) throw UserError(args.span, "range with step 0");
  Sequence list;
  for (int64_t n = bounds[0]; step > 0 ? n < bounds[1] : n > bounds[1];) {
    if (list.items.size() >= 100000) throw UserError(args.span, "the list has more than 100000 elements");
    list.items.emplace_back(n);
    if (__builtin_add_overflow(n, step, &n)) break;
  }
  return list;
}

}  // namespace

bool is_python_builtin(std::string_view name) {
  for (std::string_view known :
       {"min", "max", "abs", "len", "int", "float", "bool", "range", "list", "tuple"}) {
    if (name == known) return true;
  }
  return false;
}

Value call_python_builtin(Parser& parser, std::string_view name, Args& args) {
  if (name == "min" || name == "max") return minimum(parser, args, name == "min");
  if (name == "abs") return absolute(parser, args);
  if (name == "len") return length(parser, args);
  if (name == "range") return range_list(parser, args);
  if (name == "list" || name == "tuple") {
    const Arg& arg = only_argument(args);
    return Sequence{parser.to_sequence(arg.value, arg.place, "the argument").items, name == "tuple"};
  }
  return convert(parser, args, name);
}

}  // namespace tilewright::script

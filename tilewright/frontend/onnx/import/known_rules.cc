// Evaluates nodes that compute shapes at import time: a table of element-wise rules, reductions and moves of
// elements.
#include <algorithm>
#include <bit>
#include <numeric>

#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {
namespace {

using ir::PrimExpr;

/// A node whose inputs are all known.
struct Work {
  Importer& importer;
  const Node& node;
  std::vector<Known> inputs;
  DataType result = kInt64;  // dtype of the result
  arith::Analyzer& facts = importer.facts;

  DataType dtype() const { return inputs.at(0).dtype; }
};

constexpr int64_t kMostDivisor = 1 << 16;

bool is_exact(const Element& element) { return std::has_single_bit(static_cast<uint64_t>(element.divisor)); }

PrimExpr scaled(const PrimExpr& value, int64_t by) { return by == 1 ? value : tir::operator*(value, by); }

/// a / divisor and b / divisor
struct Aligned {
  PrimExpr a, b;
  int64_t divisor;
};
std::optional<Aligned> aligned(const Element& a, const Element& b) {
  if (a.value->dtype.is_bool() || b.value->dtype.is_bool()) return std::nullopt;
  if (a.divisor == b.divisor) return Aligned{a.value, b.value, a.divisor};
  if (!is_exact(a) || !is_exact(b)) return std::nullopt;
  const int64_t divisor = std::max(a.divisor, b.divisor);
  return Aligned{scaled(a.value, divisor / a.divisor), scaled(b.value, divisor / b.divisor), divisor};
}

// ---- one element of the result from one of each input

using Elements = std::span<const Element>;
using Result = std::optional<Element>;
using Combine = Result (*)(Work& work, Elements args);

template <PrimExpr (*kOp)(PrimExpr, PrimExpr)>
Result sum(Work&, Elements args) {
  Element total = args[0];
  for (const Element& arg : args.subspan(1)) {
    const std::optional<Aligned> both = aligned(total, arg);
    if (!both || !is_exact(total)) return std::nullopt;
    total = {kOp(both->a, both->b), both->divisor};
  }
  return total;
}

template <PrimExpr (*kOp)(PrimExpr, PrimExpr)>
Result extreme(Work&, Elements args) {
  Element best = args[0];
  for (const Element& arg : args.subspan(1)) {
    const std::optional<Aligned> both = aligned(best, arg);
    if (!both) return std::nullopt;
    best = {kOp(both->a, both->b), both->divisor};
  }
  return best;
}

Result product(Work&, Elements args) {
  if (!is_exact(args[0]) || !is_exact(args[1]) || args[0].divisor * args[1].divisor > kMostDivisor)
    return std::nullopt;
  return Element{tir::operator*(args[0].value, args[1].value), args[0].divisor * args[1].divisor};
}

Result real_quotient(Elements args) {
  int64_t by;
  if (!is_exact(args[0]) || !is_exact(args[1]) || !tir::as_const_int(args[1].value, &by) || by < 1)
    return std::nullopt;
  const int64_t common = std::gcd(by, args[1].divisor);
  const int64_t divisor = args[0].divisor * (by / common);
  if (divisor > kMostDivisor) return std::nullopt;
  return Element{scaled(args[0].value, args[1].divisor / common), divisor};
}

Result quotient(Work& work, Elements args) {
  if (work.dtype().is_float()) return real_quotient(args);
  if (tir::is_zero(args[1].value)) throw UserError("an integer is divided by 0");
  const auto whole = truncated_quotient(work.facts, args[0].value, args[1].value);
  return whole ? Result(Element{*whole}) : std::nullopt;
}

Result remainder(Work& work, Elements args) {
  if (work.dtype().is_float() || tir::is_zero(args[1].value)) return std::nullopt;
  const PrimExpr zero = relax::extent_imm(0);
  const bool has_signs = !work.facts.can_prove(tir::operator<=(zero, args[0].value)) ||
                         !work.facts.can_prove(tir::operator<=(zero, args[1].value));
  if (has_signs && int_attr(work.node, "fmod", 0)) return std::nullopt;
  return Element{tir::floormod(args[0].value, args[1].value)};
}

Result negative(Work&, Elements args) { return Element{tir::operator-(args[0].value), args[0].divisor}; }

Result absolute(Work&, Elements args) {
  return Element{tir::max(args[0].value, tir::operator-(args[0].value)), args[0].divisor};
}

Result rounded_down(Work&, Elements args) { return Element{tir::floordiv(args[0].value, args[0].divisor)}; }

Result rounded_up(Work&, Elements args) {
  return Element{tir::floordiv(tir::operator+(args[0].value, args[0].divisor - 1), args[0].divisor)};
}

// `condition` as a constant if it is the same for all extents
Element decided(Work& work, const PrimExpr& condition) {
  if (work.facts.can_prove(condition)) return {tir::bool_imm(true)};
  if (work.facts.can_prove(tir::logical_not(condition))) return {tir::bool_imm(false)};
  return {condition};
}

template <PrimExpr (*kOp)(PrimExpr, PrimExpr)>
Result comparison(Work& work, Elements args) {
  const std::optional<Aligned> both = aligned(args[0], args[1]);
  return both ? Result(decided(work, kOp(both->a, both->b))) : std::nullopt;
}

template <PrimExpr (*kOp)(PrimExpr, PrimExpr)>
Result logical(Work& work, Elements args) {
  return decided(work, kOp(args[0].value, args[1].value));
}

Result inverted(Work& work, Elements args) { return decided(work, tir::logical_not(args[0].value)); }

Result chosen(Work&, Elements args) {
  if (args[0].is_number()) return tir::is_zero(args[0].value) ? args[2] : args[1];
  const std::optional<Aligned> both = aligned(args[1], args[2]);
  if (!both) return std::nullopt;
  return Element{tir::select(args[0].value, both->a, both->b), both->divisor};
}

Result converted_element(Work& work, Elements args) {
  const Element& from = args[0];
  const bool to_bool = work.result.is_bool(), from_bool = work.dtype().is_bool();
  if (to_bool) return from_bool ? from : decided(work, tir::not_equal(from.value, relax::extent_imm(0)));
  if (from_bool) return Element{tir::select(from.value, relax::extent_imm(1), relax::extent_imm(0))};
  if (work.result.is_float() || from.divisor == 1) return from;
  const auto whole = truncated_quotient(work.facts, from.value, relax::extent_imm(from.divisor));
  return whole ? Result(Element{*whole}) : std::nullopt;
}

/// The dtype of the result.
enum class Gives : uint8_t { kFirst, kSecond, kBool, kTo };

struct ElementRule {
  std::string_view op;
  Combine combine;
  Gives gives = Gives::kFirst;
};
constexpr ElementRule kElementRules[] = {
    {"Abs", absolute},
    {"Add", sum<(&tir::operator+)>},
    {"And", logical<tir::logical_and>, Gives::kBool},
    {"Cast", converted_element, Gives::kTo},
    {"Ceil", rounded_up},
    {"Div", quotient},
    {"Equal", comparison<tir::equal>, Gives::kBool},
    {"Floor", rounded_down},
    {"Greater", comparison<(&tir::operator>)>, Gives::kBool},
    {"GreaterOrEqual", comparison<(&tir::operator>=)>, Gives::kBool},
    {"Less", comparison<(&tir::operator<)>, Gives::kBool},
    {"LessOrEqual", comparison<(&tir::operator<=)>, Gives::kBool},
    {"Max", extreme<tir::max>},
    {"Min", extreme<tir::min>},
    {"Mod", remainder},
    {"Mul", product},
    {"Neg", negative},
    {"Not", inverted, Gives::kBool},
    {"Or", logical<tir::logical_or>, Gives::kBool},
    {"Sub", sum<(&tir::operator-)>},
    {"Sum", sum<(&tir::operator+)>},
    {"Where", chosen, Gives::kSecond},
};

int64_t count_of(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// Broadcasting as in numpy; nullopt if the shapes do not fit.
std::optional<std::vector<int64_t>> common_shape(const std::vector<Known>& inputs) {
  std::vector<int64_t> shape;
  for (const Known& input : inputs) {
    while (shape.size() < input.shape.size()) shape.insert(shape.begin(), 1);
    const size_t skipped = shape.size() - input.shape.size();
    for (size_t n = 0; n < input.shape.size(); ++n) {
      int64_t& extent = shape[skipped + n];
      if (extent == 1)
        extent = input.shape[n];
      else if (input.shape[n] != 1 && input.shape[n] != extent)
        return std::nullopt;
    }
  }
  return shape;
}

// The element of `input` at `position` of `shape`, which it broadcasts to.
size_t place_in(const Known& input, const std::vector<int64_t>& shape, int64_t position) {
  int64_t place = 0, step = 1;
  for (size_t n = 1; n <= shape.size(); ++n) {
    const int64_t extent = shape[shape.size() - n], index = position % extent;
    position /= extent;
    if (n > input.shape.size()) continue;
    const int64_t own = input.shape[input.shape.size() - n];
    if (own != 1) place += index * step;
    step *= own;
  }
  return static_cast<size_t>(place);
}

std::optional<Known> by_elements(Work& work, const ElementRule& rule) {
  const auto shape = common_shape(work.inputs);
  if (!shape || count_of(*shape) > kMostKnown) return std::nullopt;
  switch (rule.gives) {
    case Gives::kFirst: work.result = work.dtype(); break;
    case Gives::kSecond: work.result = work.inputs.at(1).dtype; break;
    case Gives::kBool: work.result = kBoolType; break;
    case Gives::kTo: work.result = dtype_of(int_attr(work.node, "to", 0), "attribute \"to\""); break;
  }
  if (work.result != kInt64 && work.result != kInt32 && work.result != kBoolType && work.result != kFloat32 &&
      work.result != kFloat64)
    return std::nullopt;
  Known known{work.result, *shape, {}, &work.node};
  for (int64_t n = 0; n < count_of(*shape); ++n) {
    std::vector<Element> args;
    for (const Known& input : work.inputs) args.push_back(input.elements[place_in(input, *shape, n)]);
    Result element = rule.combine(work, args);
    if (!element) return std::nullopt;
    element->value = work.facts.simplify(element->value);
    known.elements.push_back(*std::move(element));
  }
  return known;
}

// ---- reductions

struct ReduceRule {
  std::string_view op;
  Combine combine;
};
constexpr ReduceRule kReduceRules[] = {
    {"ReduceMax", extreme<tir::max>},
    {"ReduceMin", extreme<tir::min>},
    {"ReduceProd", product},
    {"ReduceSum", sum<(&tir::operator+)>},
};

std::optional<std::vector<bool>> reduced_axes(const Work& work) {
  const size_t ndim = work.inputs[0].shape.size();
  std::vector<int64_t> axes = ints_attr(work.node, "axes", {});
  if (work.inputs.size() > 1) {
    for (const Element& axis : work.inputs[1].elements) {
      if (!tir::as_const_int(axis.value, &axes.emplace_back())) return std::nullopt;
    }
  }
  const bool is_all = axes.empty() && !int_attr(work.node, "noop_with_empty_axes", 0);
  std::vector<bool> reduced(ndim, is_all);
  for (int64_t axis : axes) reduced[static_cast<size_t>(checked_axis(axis, ndim))] = true;
  return reduced;
}

std::optional<Known> reduced(Work& work, const ReduceRule& rule) {
  const auto axes = reduced_axes(work);
  const Known& from = work.inputs[0];
  if (!axes || from.elements.empty()) return std::nullopt;
  std::vector<int64_t> kept, all;  // the shapes without the axes, and with extents of 1 there
  for (size_t n = 0; n < from.shape.size(); ++n) {
    all.push_back((*axes)[n] ? 1 : from.shape[n]);
    if (!(*axes)[n]) kept.push_back(from.shape[n]);
  }
  const Known frame{from.dtype, all, {}, nullptr};
  std::vector<Result> totals(static_cast<size_t>(count_of(all)));
  for (size_t n = 0; n < from.elements.size(); ++n) {
    Result& total = totals[place_in(frame, from.shape, static_cast<int64_t>(n))];
    const Element args[] = {total.value_or(from.elements[n]), from.elements[n]};
    total = total ? rule.combine(work, args) : Result(from.elements[n]);
    if (!total) return std::nullopt;
  }
  Known known{from.dtype, int_attr(work.node, "keepdims", 1) ? all : kept, {}, &work.node};
  for (const Result& total : totals)
    known.elements.push_back({work.facts.simplify(total->value), total->divisor});
  return known;
}

// ---- moves of elements: the node is evaluated on the numbers of elements instead of the elements

struct MoveRule {
  std::string_view op;
  std::vector<size_t> (*moved)(size_t num_inputs);  // the inputs whose elements it moves
};
std::vector<size_t> the_first(size_t) { return {0}; }
std::vector<size_t> first_and_third(size_t count) {
  return count > 2 ? std::vector<size_t>{0, 2} : std::vector<size_t>{0};
}
std::vector<size_t> all_of_them(size_t count) {
  std::vector<size_t> inputs(count);
  std::iota(inputs.begin(), inputs.end(), size_t{0});
  return inputs;
}
constexpr MoveRule kMoveRules[] = {
    {"Concat", all_of_them},
    {"Expand", the_first},
    {"Flatten", the_first},
    {"Gather", the_first},
    {"GatherElements", the_first},
    {"GatherND", the_first},
    {"Pad", first_and_third},
    {"Reshape", the_first},
    {"Scatter", first_and_third},
    {"ScatterElements", first_and_third},
    {"ScatterND", first_and_third},
    {"Slice", the_first},
    {"Split", the_first},
    {"Squeeze", the_first},
    {"Tile", the_first},
    {"Transpose", the_first},
    {"Unsqueeze", the_first},
};

/// The node with the numbers of elements as inputs.
struct Moved {
  Node node;
  std::vector<Element> elements{{relax::extent_imm(0)}};  // number 0 is Pad's default value
  DataType dtype = DataType::void_();
};

std::optional<Moved> with_numbers(const Work& work, const MoveRule& rule) {
  Moved moved{work.node};
  const std::vector<size_t> inputs = rule.moved(work.inputs.size());
  for (size_t n : inputs) {
    const Known& from = work.inputs[n];
    if (moved.dtype.is_void()) moved.dtype = from.dtype;
    if (from.dtype != moved.dtype) return std::nullopt;
    const runtime::Tensor numbers = runtime::Tensor::empty(from.shape, kInt64);
    for (size_t k = 0; k < from.elements.size(); ++k)
      numbers.data_as<int64_t>()[k] = static_cast<int64_t>(moved.elements.size() + k);
    moved.elements.insert(moved.elements.end(), from.elements.begin(), from.elements.end());
    moved.node.inputs[n] = fmt::format("{} of {}", n, work.node.shown());
    work.importer.define_constant(moved.node.inputs[n], numbers);
  }
  for (size_t n = 0; n < work.inputs.size(); ++n) {
    const bool is_moved = std::find(inputs.begin(), inputs.end(), n) != inputs.end();
    if (!is_moved && !tensor_of(work.inputs[n])) return std::nullopt;
  }
  return moved;
}

bool move(Work& work, const MoveRule& rule) {
  if (string_attr(work.node, "reduction", "none") != "none") return false;
  std::optional<Moved> moved = with_numbers(work, rule);
  if (!moved) return false;
  for (std::string& output : moved->node.outputs) {
    if (!output.empty()) output = fmt::format("{} of {}", output, work.node.shown());
  }
  work.importer.convert(moved->node);
  std::vector<std::pair<std::string, Known>> results;
  for (size_t n = 0; n < moved->node.outputs.size(); ++n) {
    if (moved->node.outputs[n].empty()) continue;
    const auto numbers = work.importer.elements(moved->node.outputs[n]);
    if (!numbers) return false;
    Known known{moved->dtype, numbers->shape, {}, &work.node};
    for (const Element& number : numbers->elements)
      known.elements.push_back(
          moved->elements.at(static_cast<size_t>(number.value.as<ir::IntImmNode>()->value)));
    results.emplace_back(work.node.outputs[n], std::move(known));
  }
  for (auto& [name, known] : results) work.importer.define_known(name, std::move(known));
  return true;
}

template <class Rule, size_t kCount>
const Rule* find_rule(const Rule (&rules)[kCount], const std::string& op) {
  const auto* found =
      std::find_if(std::begin(rules), std::end(rules), [&](const Rule& rule) { return rule.op == op; });
  return found == std::end(rules) ? nullptr : found;
}

}  // namespace

bool compute_known(Importer& importer, const Node& node) {
  const std::string op = node.op();
  const ElementRule* elements = find_rule(kElementRules, op);
  const ReduceRule* reduction = find_rule(kReduceRules, op);
  const MoveRule* moves = find_rule(kMoveRules, op);
  if (!elements && !reduction && !moves) return false;
  // early forms say the same in other words
  if (const ConverterRow* row = find_converter(op, node.opset); node.opset > 0 && row && row->until < 7)
    return false;
  if (std::none_of(node.inputs.begin(), node.inputs.end(),
                   [&](const std::string& name) { return importer.is_expression(name); }))
    return false;
  Work work{importer, node, {}};
  for (size_t n = 0; n < node.inputs.size(); ++n) {
    std::optional<Known> input = importer.elements(node.inputs[n]);
    const bool is_left_out = node.inputs[n].empty() && moves;
    if (!input && !is_left_out) return false;
    work.inputs.push_back(is_left_out ? Known{kInt64, {0}, {}, nullptr} : *std::move(input));
  }
  if (moves) return move(work, *moves);
  const std::optional<Known> known = elements ? by_elements(work, *elements) : reduced(work, *reduction);
  if (!known) return false;
  importer.define_known(node.outputs.at(0), *known);
  return true;
}

}  // namespace tilewright::frontend::onnx

// Det, Einsum.  Source: onnx.ai/onnx/operators, opset 11 to 22.
#include <algorithm>

#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

void determinant(Importer& importer, const Node& node) {
  importer.emit(node, "relax.det", {importer.value(node, 0)});
}

/// The subscripts of Einsum: one list of letters for each operand; "..." stands for any number of dimensions.
struct Subscripts {
  std::vector<std::string> operands;
  std::string result;
  bool has_result = false;
};
constexpr std::string_view kDots = "...";

Subscripts subscripts_of(const std::string& equation) {
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text), [](char c) { return c != ' '; });
  const size_t arrow = text.find("->");
  Subscripts subscripts{{""}, "", arrow != std::string::npos};
  if (subscripts.has_result) subscripts.result = text.substr(arrow + 2);
  for (char c : text.substr(0, arrow)) {
    if (c == ',')
      subscripts.operands.emplace_back();
    else
      subscripts.operands.back() += c;
  }
  return subscripts;
}

// Letters that `text` does not use.
std::string free_letters(const std::string& text) {
  std::string free;
  for (char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")) {
    if (text.find(c) == std::string::npos) free += c;
  }
  return free;
}

// Without "->" the result has the dimensions of "...", then the letters that occur once, in order.
std::string implied_result(const Subscripts& subscripts) {
  std::string all, result(kDots);
  for (const std::string& own : subscripts.operands) all += own;
  std::sort(all.begin(), all.end());
  for (char c : all) {
    if (c != '.' && std::count(all.begin(), all.end(), c) == 1) result += c;
  }
  return result;
}

// `own` with `letters` for "...".
std::string with_letters(const std::string& own, const std::string& letters) {
  const size_t dots = own.find(kDots);
  return dots == std::string::npos ? own : own.substr(0, dots) + letters + own.substr(dots + kDots.size());
}

// The same equation with letters for "...": the dimensions it stands for are aligned at the last.
std::string spelled_out(const Node& node, const std::string& equation, const std::vector<Expr>& operands) {
  Subscripts subscripts = subscripts_of(equation);
  if (equation.find(kDots) == std::string::npos || subscripts.operands.size() != operands.size())
    return equation;
  if (!subscripts.has_result) subscripts.result = implied_result(subscripts);
  const std::string free = free_letters(equation);
  std::vector<size_t> counts;
  size_t most = 0;
  for (size_t n = 0; n < operands.size(); ++n) {
    const std::string& own = subscripts.operands[n];
    const size_t ndim = shape_of(node, operands[n]).size();
    const bool has_dots = own.find(kDots) != std::string::npos;
    const size_t named = own.size() - (has_dots ? kDots.size() : 0);
    if (named > ndim || (!has_dots && named != ndim))
      throw UserError("operand {} has {}, but its subscripts are \"{}\"", n, count_text(ndim, "dimension"),
                      own);
    counts.push_back(has_dots ? ndim - named : 0);
    most = std::max(most, counts.back());
  }
  if (most > free.size())
    throw Unsupported("\"...\" of \"{}\" stands for {}, for which no letters are left", equation,
                      count_text(most, "dimension"));
  std::string text;
  for (size_t n = 0; n < operands.size(); ++n)
    text +=
        (n > 0 ? "," : "") + with_letters(subscripts.operands[n], free.substr(most - counts[n], counts[n]));
  return text + "->" + with_letters(subscripts.result, free.substr(0, most));
}

void einsum(Importer& importer, const Node& node) {
  std::vector<Expr> operands;
  for (size_t n = 0; n < node.inputs.size(); ++n) operands.push_back(importer.value(node, n));
  const std::string equation = spelled_out(node, string_attr(node, "equation", ""), operands);
  importer.emit(node, "relax.einsum", {relax::TupleNode::make(operands)}, {{"subscripts", attr(equation)}});
}

constexpr AttributeRule kEinsum[] = {
    {"equation", Attribute::kString, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};

constexpr ConverterRow kRows[] = {
    {"Det", determinant, 1, 1, {}, 1, 11},
    {"Einsum", einsum, 1, kAnyNumber, kEinsum, 1, 12},
};

}  // namespace

extern constinit const ConverterTable linear_algebra_info = {kRows};

}  // namespace tilewright::frontend::onnx

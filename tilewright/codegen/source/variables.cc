// Variables: their properties, collected before a function is printed, and their definitions.
#include <fmt/format.h>

#include <cctype>
#include <string_view>

#include "tilewright/codegen/source/printer.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::codegen {

SourcePrinter::SourcePrinter(const PrimFuncNode* func, Names names) : func_(func), names_(std::move(names)) {
  collect_uses();
}

void SourcePrinter::collect_uses() {
  auto points_to = [&](const Buffer& buffer) {
    const VarNode* data = buffer->data.get();
    ++uses_[data];
    auto [known, is_new] = pointees_.emplace(data, buffer->dtype);
    if (!is_new && known->second != buffer->dtype) known->second = DataType::void_();
  };
  // a function that receives a pointer may write through it
  auto escapes = [&](const CallNode* node) {
    for (const PrimExpr& arg : node->args) {
      if (const auto* var = arg.as<VarNode>()) written_.insert(var);
      if (const auto* element = arg.as<BufferLoadNode>()) {
        const auto* op = node->op.as<OpNode>();
        if (op && op->name == "tir.address_of") written_.insert(element->buffer->data.get());
      }
    }
  };
  walk(
      func_->body, [&](const BufferLoadNode* node) { points_to(node->buffer); },
      [&](const BufferStoreNode* node) {
        points_to(node->buffer);
        written_.insert(node->buffer->data.get());
      },
      [&](const CallNode* node) { escapes(node); }, [&](const VarNode* var) { ++uses_[var]; });
}

DataType SourcePrinter::pointee(const VarNode* var) const {
  auto found = pointees_.find(var);
  if (found != pointees_.end()) return found->second;
  const auto* pointer = var->type_annotation.as<PointerTypeNode>();
  const auto* element = pointer ? pointer->element_type.as<PrimTypeNode>() : nullptr;
  return element ? element->dtype : DataType::void_();
}

std::string SourcePrinter::declaration(const VarNode* var, const std::string& name,
                                       std::string_view qualifier) const {
  if (!var->dtype.is_handle()) return type_name(var->dtype) + " " + name;
  const DataType element = pointee(var);
  const std::string type = element.is_void() ? "void" : memory_type_name(element);
  return fmt::format("{}{}* {}{}", is_written(var) || element.is_void() ? "" : "const ", type, qualifier,
                     name);
}

bool SourcePrinter::is_used(const VarNode* var, int definitions) const {
  auto found = uses_.find(var);
  return found != uses_.end() && found->second > definitions;
}

void SourcePrinter::define(const VarNode* var, const PrimExpr& value) {
  std::string code = text(value);
  if (is_data(value)) data_vars_.insert(var);
  const std::string name = names_.declare(var);
  const std::string left = declaration(var, name, "");
  line(fmt::format("{}{} = {};", var->dtype.is_handle() ? "" : "const ", left, code));
  if (!is_used(var, 1)) line("(void)" + name + ";");
}

// ---- text

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // `??` begins a trigraph
    if (c == '"' || c == '\\' || c == '?')
      result += std::string("\\") + c;
    else if (c == '\n')
      result += "\\n";
    else if (byte < 32 || byte > 126)
      result += fmt::format("\\{:03o}", byte);
    else
      result += c;
  }
  return result + "\"";
}

namespace {

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// True if the space at `at` is beside an operator that binds more than a sum: "a * b", "a % 32".
bool is_between_factors(const std::string& line, size_t at) {
  const auto is_operator = [&](size_t place) {
    return place > 0 && place + 1 < line.size() &&
           std::string_view("*/%").find(line[place]) != std::string_view::npos && line[place - 1] == ' ' &&
           line[place + 1] == ' ';
  };
  return is_operator(at - 1) || is_operator(at + 1);
}

// The position at which to break a line that is too long: the space inside the fewest parentheses, the last
// of these.
size_t break_of(const std::string& line, size_t width) {
  size_t best = std::string::npos;
  int depth = 0, best_depth = 0;
  bool in_text = false;
  for (size_t at = line.find_first_not_of(' '); at < width; ++at) {
    const char c = line[at];
    if (c == '\\') ++at;  // skip the escaped character
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    // not inside a type, nor before the block
    const bool is_in_type = at > 1 && is_of_name(line[at + 1]) &&
                            !std::isdigit(static_cast<unsigned char>(line[at + 1])) &&
                            (is_of_name(line[at - 1]) || (line[at - 1] == '*' && line[at - 2] != ' '));
    const bool may_break = c == ' ' && !is_in_type && line.compare(at + 1, 1, "{") != 0;
    // products stay together as if they were in parentheses
    const int level = depth + (at > 0 && is_between_factors(line, at) ? 1 : 0);
    if (may_break && (best == std::string::npos || at * 2 < width || level <= best_depth))
      best = at, best_depth = level;
  }
  return best;
}

}  // namespace

std::string wrapped(const std::string& line) {
  constexpr size_t kWidth = 100;
  std::string result, rest = line;
  const std::string indent(line.find_first_not_of(' ') + 4, ' ');
  while (rest.size() > kWidth) {
    const size_t at = break_of(rest, kWidth);
    // text after `//` stays on its line
    if (at == std::string::npos || rest.find("//") < at) break;
    result += rest.substr(0, at) + "\n";
    rest = indent + rest.substr(at + 1);
  }
  return result + rest + "\n";
}

}  // namespace tilewright::codegen

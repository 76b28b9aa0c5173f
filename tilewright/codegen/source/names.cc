#include "tilewright/codegen/source/names.h"

#include <algorithm>

#include "tilewright/support/error.h"

namespace tilewright::codegen {
namespace {

// Keywords of C99, C++ (CUDA, Metal) and OpenCL C, sorted.
constexpr std::string_view kKeywords[] = {
    "_Bool",    "_Complex", "_Imaginary", "alignas",  "alignof",  "and",       "asm",      "auto",
    "bitand",   "bitor",    "bool",       "break",    "case",     "catch",     "char",     "class",
    "compl",    "const",    "constant",   "continue", "decltype", "default",   "delete",   "device",
    "do",       "double",   "else",       "enum",     "explicit", "export",    "extern",   "false",
    "float",    "for",      "friend",     "global",   "goto",     "half",      "if",       "inline",
    "int",      "kernel",   "local",      "long",     "mutable",  "namespace", "new",      "noexcept",
    "not",      "nullptr",  "operator",   "or",       "private",  "protected", "public",   "register",
    "restrict", "return",   "short",      "signed",   "sizeof",   "static",    "struct",   "switch",
    "template", "this",     "thread",     "throw",    "true",     "try",       "typedef",  "typename",
    "uint",     "union",    "unsigned",   "using",    "virtual",  "void",      "volatile", "wchar_t",
    "while",    "xor",
};

bool is_keyword(std::string_view name) {
  return std::binary_search(std::begin(kKeywords), std::end(kKeywords), name);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// An identifier similar to `hint`: other characters become `_`, and names reserved for the printed text get a
// `v`.
std::string legal(std::string_view hint) {
  std::string name;
  for (char c : hint) name += is_letter(c) || is_digit(c) ? c : '_';
  const bool is_ours = name.starts_with("tw_") || name.starts_with('_');
  if (name.empty() || is_digit(name[0]) || is_ours || is_keyword(name)) name = "v" + name;
  return name;
}

}  // namespace

bool is_identifier(std::string_view name) {
  const bool has_legal_characters =
      std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
  return !name.empty() && !is_digit(name[0]) && has_legal_characters && !is_keyword(name);
}

Names::Names(std::set<std::string, std::less<>> reserved) : used_(std::move(reserved)) {}

void Names::leave() {
  for (const std::string& name : blocks_.back()) used_.erase(name);
  blocks_.pop_back();
}

std::string Names::declare(std::string_view hint) {
  const std::string base = legal(hint);
  std::string name = base;
  for (int n = 1; !used_.insert(name).second; ++n) name = base + "_" + std::to_string(n);
  blocks_.back().push_back(name);
  return name;
}

void Names::take_back() {
  used_.erase(blocks_.back().back());
  blocks_.back().pop_back();
}

const std::string& Names::declare(const tir::VarNode* var) { return names_[var] = declare(var->name_hint); }

const std::string& Names::of(const tir::VarNode* var) const {
  auto found = names_.find(var);
  if (found == names_.end())
    throw UserError(var, "variable {} is used, but nothing defines it", var->name_hint);
  return found->second;
}

}  // namespace tilewright::codegen

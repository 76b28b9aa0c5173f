// Parsing in tests: programs from text, and the whole text of an error.
#pragma once
#include <gtest/gtest.h>

#include "tilewright/ir/services.h"
#include "tilewright/script/parse.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::script {

inline Ref<Source> source_of(std::string text) { return Ref<Source>(new Source("f.py", std::move(text))); }

/// The text without its first line end and the indentation of its first line.
inline std::string dedent(std::string_view text) {
  if (text.starts_with('\n')) text.remove_prefix(1);
  const size_t width = std::min(text.find_first_not_of(' '), text.size());
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line.remove_prefix(std::min(width, std::min(line.find_first_not_of(' '), line.size())));
    out.append(line).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  while (out.ends_with("\n\n")) out.pop_back();
  if (out == "\n") out.clear();
  return out;
}

inline ir::ObjectRef parse_text(std::string_view text, const ParseOptions& options = {}) {
  return parse(source_of(dedent(text)), options);
}

inline tir::PrimFunc parse_func(std::string_view text, const ParseOptions& options = {}) {
  return ir::ref_as<tir::PrimFuncNode>(parse_text(text, options));
}

/// Parsed without the check that the program is well formed.
inline tir::PrimFunc parse_func_unchecked(std::string_view text) {
  ParseOptions options;
  options.check_well_formed = false;
  return parse_func(text, options);
}

/// The error that the user sees when `text` is refused.
inline std::string error_of(std::string_view text, const ParseOptions& options = {}) {
  try {
    ir::ObjectRef result = parse_text(text, options);
    return "no error: " + ir::repr(result);
  } catch (const Error& error) {
    return error.render();
  }
}

/// Compares with the expected text, which is dedented and loses its last line end.
inline void expect_error(std::string_view program, std::string_view expected) {
  std::string text = dedent(expected);
  while (text.ends_with("\n")) text.pop_back();
  EXPECT_EQ(error_of(program), text);
}

inline void expect_equal(const ir::ObjectRef& a, const ir::ObjectRef& b) {
  auto mismatch = ir::first_mismatch(a, b);
  EXPECT_FALSE(mismatch) << mismatch->path << ": " << mismatch->reason << "\n"
                         << ir::repr(mismatch->a) << "\n"
                         << ir::repr(mismatch->b);
}

/// Both texts mean the same program.
inline void expect_same(std::string_view a, std::string_view b) {
  expect_equal(parse_text(a), parse_text(b));
}

}  // namespace tilewright::script

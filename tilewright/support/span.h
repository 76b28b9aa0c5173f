// Source locations in a user's program text.
#pragma once
#include <cstdint>
#include <string>

#include "tilewright/support/ref.h"

namespace tilewright {

/// A piece of program text.  Lines of `text` are numbered from `first_line` (a decorated Python function
/// starts somewhere inside its file).
struct Source final : RefCounted {
  Source(std::string name, std::string text, uint32_t first_line = 1, uint32_t first_column = 0)
      : name(std::move(name)), text(std::move(text)), first_line(first_line), first_column(first_column) {}
  std::string name;  // file name as the user knows it
  std::string text;
  uint32_t first_line;
  uint32_t first_column;  // columns that dedenting cut from every line; added back when columns are shown

  /// The text of line `line` (numbered as in the file) without its newline; empty if out of range.
  std::string line_text(uint32_t line) const;
};

/// A range in a source.  Lines are numbered as in the file, from 1; columns count from 0; the end is
/// exclusive. Line 0: unknown.
struct Span {
  Ref<Source> source;
  uint32_t line = 0, column = 0, end_line = 0, end_column = 0;
  explicit operator bool() const { return source && line > 0; }
  /// The range from the start of this span to the end of `last`.
  Span to(const Span& last) const;
};

}  // namespace tilewright

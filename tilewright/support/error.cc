#include "tilewright/support/error.h"

#include <algorithm>

#include "tilewright/support/utf8.h"

namespace tilewright {

std::string Source::line_text(uint32_t line) const {
  if (line < first_line) return {};
  size_t begin = 0;
  for (uint32_t n = first_line; n < line; ++n) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) return {};
    ++begin;
  }
  size_t end = text.find('\n', begin);
  return text.substr(begin, end == std::string::npos ? end : end - begin);
}

Span Span::to(const Span& last) const {
  if (!*this) return last;
  if (!last) return *this;
  Span joined = *this;
  joined.end_line = last.end_line;
  joined.end_column = last.end_column;
  return joined;
}

namespace {

// Spans count columns in bytes; the caret line needs code points, or non-ASCII names before the caret would
// shift it.
size_t num_code_points(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string shown_line(const Source& source, uint32_t number) {
  std::string line = source.line_text(number);
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

// Appends a line without a caret, unless it is blank (the end of the text, for example).
void append_neighbour(std::string& out, const Source& source, uint32_t number) {
  const std::string line = shown_line(source, number);
  if (line.find_first_not_of(' ') != std::string::npos) out += fmt::format("\n{:>4} | {}", number, line);
}

// "   7 |     B[vi] = A[vi + 1]" and below it the carets.
void append_excerpt(std::string& out, const Span& span) {
  const std::string line = shown_line(*span.source, span.line);
  const size_t begin = std::min<size_t>(span.column, line.size());
  size_t end = span.end_line == span.line ? std::min<size_t>(span.end_column, line.size()) : line.size();
  if (end <= begin) end = std::min(begin + 1, std::max(line.size(), begin + 1));
  const size_t lead = num_code_points(std::string_view(line).substr(0, begin));
  const size_t width =
      std::max<size_t>(1, num_code_points(std::string_view(line).substr(begin, end - begin)));
  out += fmt::format("\n{:>4} | {}\n     | {}{}", span.line, line, std::string(lead, ' '),
                     std::string(width, '^'));
}

const char* heading(Error::Kind kind) {
  switch (kind) {
    case Error::Kind::kUser: return "error: ";
    case Error::Kind::kUnsupported: return "unsupported: ";
    case Error::Kind::kInternal: return "internal error: ";
  }
  return "";
}

}  // namespace

void Error::set_default_span(const Span& span) {
  if (!message_.span) message_.span = span;
  rendered_.clear();
}

void Error::add_prefix(std::string_view prefix) {
  message_.text = fmt::format("{}: {}", prefix, message_.text);
  rendered_.clear();
}

void Error::add_note(Span span, std::string text) {
  notes_.push_back({std::move(text), std::move(span)});
  rendered_.clear();
}

void Error::show_neighbours() {
  shows_neighbours_ = true;
  rendered_.clear();
}

const std::string& Error::render() const {
  if (!rendered_.empty()) return rendered_;
  std::string out = heading(kind_) + message_.text;
  if (message_.span) {
    const Span& span = message_.span;
    out += fmt::format("\n  {}:{}:{}", span.source->name, span.line,
                       span.column + span.source->first_column + 1);
    if (shows_neighbours_) append_neighbour(out, *span.source, span.line - 1);
    append_excerpt(out, span);
    if (shows_neighbours_) append_neighbour(out, *span.source, span.line + 1);
  }
  for (const Note& note : notes_) {
    out += "\nnote: " + note.text;
    if (note.span) append_excerpt(out, note.span);
  }
  if (!help_.empty()) out += "\nhelp: " + help_;
  if (kind_ == Kind::kInternal)
    out += "\nhelp: this is a bug in tilewright; please report it with the script that shows it";
  rendered_ = printable(out);  // it may contain raw bytes of files
  return rendered_;
}

const char* Error::what() const noexcept {
  try {
    return render().c_str();
  } catch (...) {
    return message_.text.c_str();
  }
}

}  // namespace tilewright

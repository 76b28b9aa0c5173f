// The lexer: text to tokens, by the lexical rules of Python that TVMScript uses (indentation, line joining,
// comments, strings).  It raises no error: text that is no token becomes a kInvalid token, so that a reader
// of a whole file may skip it.
#pragma once
#include <string_view>
#include <vector>

#include "tilewright/support/span.h"

namespace tilewright::script {

/// A range of bytes of the text.
struct Place {
  uint32_t begin = 0, end = 0;
  Place to(Place last) const { return {begin, last.end}; }
};

/// A source with the starts of its lines: converts places to spans.
class Text {
 public:
  /// Raises UserError when the text has 2^31 bytes or more.
  explicit Text(Ref<Source> source);
  const Ref<Source>& source() const { return source_; }
  std::string_view all() const { return source_->text; }
  std::string_view at(Place place) const { return all().substr(place.begin, place.end - place.begin); }
  Span span(Place place) const;

 private:
  uint32_t line_of(uint32_t offset) const;  // index into line_starts_
  Ref<Source> source_;
  std::vector<uint32_t> line_starts_;
};

enum class TokenKind : uint8_t {
  kName,
  kInt,
  kFloat,
  kString,
  kOp,
  kNewline,
  kIndent,
  kDedent,
  kEnd,
  kInvalid
};

struct Token {
  TokenKind kind;
  Place place;
  const char* problem = nullptr;  // the error of a kInvalid token
};

/// True if `text` is one identifier.
bool is_name(std::string_view text);

/// All tokens, ending with kEnd.  The indentation of the first line is the outermost one.
std::vector<Token> tokenize(const Text& text);

}  // namespace tilewright::script

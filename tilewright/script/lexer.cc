#include "tilewright/script/lexer.h"

#include <algorithm>

#include "tilewright/support/error.h"

namespace tilewright::script {

Text::Text(Ref<Source> source) : source_(std::move(source)) {
  const std::string& text = source_->text;
  TILEWRIGHT_CHECK(text.size() < size_t{1} << 31, "{}: the program has {} bytes, more than 2**31",
                   source_->name, text.size());
  line_starts_.push_back(0);
  for (size_t n = 0; n < text.size(); ++n) {
    if (text[n] == '\n') line_starts_.push_back(static_cast<uint32_t>(n + 1));
  }
}

uint32_t Text::line_of(uint32_t offset) const {
  auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<uint32_t>(next - line_starts_.begin() - 1);
}

Span Text::span(Place place) const {
  const uint32_t first = line_of(place.begin), last = line_of(place.end);
  return {source_, source_->first_line + first, place.begin - line_starts_[first], source_->first_line + last,
          place.end - line_starts_[last]};
}

namespace {

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

// longest first
constexpr std::string_view kOperators[] = {"**=", "//=", ">>=", "<<=", "...", "->", ":=", "**",
                                           "//",  ">>",  "<<",  "<=",  ">=",  "==", "!=", "+=",
                                           "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "@="};
constexpr std::string_view kSingles = "+-*/%@&|^~<>()[]{},:.;=";

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (true) {
      if (at_line_start_ && depth_ == 0) {
        at_line_start_ = false;
        if (!read_indentation()) continue;
      }
      skip_blanks();
      if (at_end()) break;
      read_token();
    }
    if (!tokens_.empty() && tokens_.back().kind != TokenKind::kNewline) push(TokenKind::kNewline, pos_);
    for (size_t n = 1; n < indents_.size(); ++n) push(TokenKind::kDedent, pos_);
    push(TokenKind::kEnd, pos_);
    return std::move(tokens_);
  }

 private:
  bool at_end() const { return pos_ >= text_.size(); }
  char peek(size_t ahead = 0) const { return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0'; }
  void push(TokenKind kind, size_t begin, const char* problem = nullptr) {
    tokens_.push_back({kind, {static_cast<uint32_t>(begin), static_cast<uint32_t>(pos_)}, problem});
  }

  // Skips spaces, form feeds, comments and a `\` before a line end.
  void skip_blanks() {
    while (!at_end()) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\f' || c == '\r')
        ++pos_;
      else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n')))
        pos_ += peek(1) == '\n' ? 2 : 3;
      else if (c == '#')
        skip_to_line_end();
      else
        break;
    }
  }
  void skip_to_line_end() {
    while (!at_end() && peek() != '\n') ++pos_;
  }

  // Measures the indentation of the line; false if the line is empty.
  bool read_indentation() {
    uint32_t column = 0;
    const size_t begin = pos_;
    for (;; ++pos_) {
      if (peek() == ' ')
        ++column;
      else if (peek() == '\t')
        column = column / 8 * 8 + 8;
      else if (peek() == '\f')
        column = 0;
      else
        break;
    }
    if (peek() == '\r') ++pos_;
    if (peek() == '#') skip_to_line_end();
    if (at_end()) return true;
    if (peek() == '\n') {
      ++pos_;
      at_line_start_ = true;
      return false;
    }
    if (indents_.empty()) {
      indents_.push_back(column);
    } else if (column > indents_.back()) {
      indents_.push_back(column);
      push(TokenKind::kIndent, begin);
    } else {
      while (indents_.size() > 1 && column < indents_.back()) {
        indents_.pop_back();
        push(TokenKind::kDedent, begin);
      }
      if (column != indents_.back())
        push(TokenKind::kInvalid, begin, "the indentation matches no outer level");
    }
    return true;
  }

  void read_token() {
    const size_t begin = pos_;
    const char c = peek();
    if (c == '\n') {
      ++pos_;
      if (depth_ > 0) return;
      at_line_start_ = true;
      return push(TokenKind::kNewline, begin);
    }
    if (const size_t prefix = string_prefix(); prefix != std::string_view::npos)
      return read_string(begin, prefix);
    if (is_name_start(c)) {
      while (is_name_part(peek())) ++pos_;
      return push(TokenKind::kName, begin);
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number(begin);
    read_operator(begin);
  }

  // The length of the letters before a quote ("r" of r"..."), or npos if no string starts here.
  size_t string_prefix() const {
    size_t n = 0;
    while (n < 2 && peek(n) && std::string_view("rRbBfFuU").find(peek(n)) != std::string_view::npos) ++n;
    return peek(n) == '"' || peek(n) == '\'' ? n : std::string_view::npos;
  }

  void read_string(size_t begin, size_t prefix) {
    pos_ += prefix;
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    pos_ += triple ? 3 : 1;
    while (!at_end()) {
      const char c = peek();
      if (c == '\\') {
        pos_ = std::min(pos_ + 2, text_.size());
      } else if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
        pos_ += triple ? 3 : 1;
        return push(TokenKind::kString, begin);
      } else if (c == '\n' && !triple) {
        break;
      } else {
        ++pos_;
      }
    }
    push(TokenKind::kInvalid, begin, "the string is never closed");
  }

  void read_number(size_t begin) {
    bool is_float = false;
    if (peek() == '0' && peek(1) && std::string_view("xXoObB").find(peek(1)) != std::string_view::npos) {
      pos_ += 2;
      while (is_name_part(peek())) ++pos_;
      return push(TokenKind::kInt, begin);
    }
    while (true) {
      const char c = peek();
      if (is_digit(c) || c == '_') {
        ++pos_;
      } else if (c == '.') {
        is_float = true;
        ++pos_;
      } else if ((c == 'e' || c == 'E') &&
                 (is_digit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && is_digit(peek(2))))) {
        is_float = true;
        pos_ += 2;
      } else {
        break;
      }
    }
    if (is_name_start(peek())) {
      while (is_name_part(peek())) ++pos_;
      return push(TokenKind::kInvalid, begin, "this is not a number");
    }
    push(is_float ? TokenKind::kFloat : TokenKind::kInt, begin);
  }

  void read_operator(size_t begin) {
    const std::string_view rest = text_.substr(pos_);
    for (std::string_view op : kOperators) {
      if (rest.starts_with(op)) {
        pos_ += op.size();
        return push(TokenKind::kOp, begin);
      }
    }
    const char c = text_[pos_++];
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    if (c != '\0' && kSingles.find(c) != std::string_view::npos) return push(TokenKind::kOp, begin);
    push(TokenKind::kInvalid, begin, "this character has no meaning here");
  }

  std::string_view text_;
  size_t pos_ = 0;
  size_t depth_ = 0;  // open brackets: line ends do not count inside
  bool at_line_start_ = true;
  std::vector<uint32_t> indents_;
  std::vector<Token> tokens_;
};

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && is_name_start(text[0]) && std::all_of(text.begin(), text.end(), is_name_part);
}

std::vector<Token> tokenize(const Text& text) { return Lexer(text.all()).run(); }

}  // namespace tilewright::script

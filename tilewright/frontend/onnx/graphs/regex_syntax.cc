// Source of the syntax: github.com/google/re2/wiki/Syntax.
#include "tilewright/frontend/onnx/graphs/regex_syntax.h"

#include <algorithm>

#include "tilewright/support/error.h"
#include "tilewright/support/utf8.h"

namespace tilewright::frontend::onnx {
namespace {

using Range = Pattern::Range;
using Ranges = std::vector<Range>;

constexpr uint32_t kLastCharacter = 0x10ffff;

// In order, with those that touch joined.
Ranges joined(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  Ranges result;
  for (const Range& range : ranges) {
    if (!result.empty() && range.first <= result.back().last + 1)
      result.back().last = std::max(result.back().last, range.last);
    else
      result.push_back(range);
  }
  return result;
}

// The other characters.
Ranges complement(const Ranges& ranges) {
  Ranges result;
  uint32_t next = 0;
  for (const Range& range : joined(ranges)) {
    if (range.first > next) result.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCharacter) result.push_back({next, kLastCharacter});
  return result;
}

Pattern set_of(Ranges ranges) { return {Pattern::kSet, joined(std::move(ranges)), {}, 0, 0}; }

class Parser {
 public:
  explicit Parser(std::string_view text) : all_(text), rest_(text) {}

  Pattern parse() {
    Pattern pattern = alternatives();
    if (!rest_.empty()) fail("has a \")\" without \"(\"");
    return pattern;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw UserError("pattern \"{}\" {}", all_, what).help("the syntax is RE2's");
  }
  [[noreturn]] void refuse(std::string_view what) const {
    throw Unsupported("pattern \"{}\" has {}", all_, what)
        .help("supported are characters, classes, groups, alternatives and repetitions");
  }

  bool take(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  uint32_t take_character() {
    const Character character = first_character(rest_);
    if (character.length == 0) fail("is not UTF-8");
    rest_.remove_prefix(character.length);
    return character.code;
  }

  Pattern alternatives() {
    constexpr int kMostDepth = 100;
    if (++depth_ > kMostDepth) refuse("groups inside of each other more than 100 deep");
    Pattern result{Pattern::kAlternatives, {}, {sequence()}, 0, 0};
    while (take("|")) result.parts.push_back(sequence());
    --depth_;
    return result;
  }

  Pattern sequence() {
    Pattern result;
    while (!rest_.empty() && rest_[0] != '|' && rest_[0] != ')') result.parts.push_back(repeated(part()));
    return result;
  }

  Pattern repeated(Pattern part) {
    int64_t least = 0, most = 0;
    while (repetition(&least, &most)) {
      take("?");  // the shortest or the longest: the same strings
      part = Pattern{Pattern::kRepeated, {}, {std::move(part)}, least, most};
    }
    return part;
  }

  bool repetition(int64_t* least, int64_t* most) {
    *least = rest_.starts_with('+');
    *most = rest_.starts_with('?') ? 1 : -1;
    if (take("*") || take("+") || take("?")) return true;
    const std::string_view before = rest_;
    if (!take("{") || !number(least)) return rest_ = before, false;  // a character like others
    *most = *least;
    if (take(",") && !number(most)) *most = -1;
    if (!take("}")) return rest_ = before, false;
    constexpr int64_t kMost = 1000;  // RE2's
    if (*least > kMost || *most > kMost || (*most >= 0 && *least > *most))
      fail("has a repetition out of range");
    return true;
  }
  bool number(int64_t* value) {
    size_t count = 0;
    for (*value = 0; count < rest_.size() && count < 9 && rest_[count] >= '0' && rest_[count] <= '9'; ++count)
      *value = 10 * *value + (rest_[count] - '0');
    rest_.remove_prefix(count);
    return count > 0;
  }

  Pattern part() {
    if (take("(")) return group();
    if (take("[")) return set_of(bracket());
    if (take(".")) return set_of(complement({{'\n', '\n'}}));
    if (take("^")) return {Pattern::kBegin, {}, {}, 0, 0};
    if (take("$")) return {Pattern::kEnd, {}, {}, 0, 0};
    if (take("\\")) {
      if (take("A")) return {Pattern::kBegin, {}, {}, 0, 0};
      if (take("z")) return {Pattern::kEnd, {}, {}, 0, 0};
      if (take("b")) return {Pattern::kEdge, {}, {}, 0, 0};
      if (take("B")) return {Pattern::kNoEdge, {}, {}, 0, 0};
      return set_of(escaped());
    }
    if (rest_[0] == '*' || rest_[0] == '+' || rest_[0] == '?') fail("repeats nothing");
    const uint32_t code = take_character();
    return set_of({{code, code}});
  }

  Pattern group() {
    if (take("?P<") || take("?<")) {
      const size_t end = rest_.find('>');
      if (end == std::string_view::npos) fail("has a group whose name does not end");
      rest_.remove_prefix(end + 1);
    } else if (!take("?:") && rest_.starts_with('?')) {
      refuse("flags, \"(?\"");
    }
    Pattern result = alternatives();
    if (!take(")")) fail("has a \"(\" without \")\"");
    return result;
  }

  static Ranges digits() { return {{'0', '9'}}; }
  static Ranges spaces() { return {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}; }
  static Ranges letters() { return {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}; }

  // What follows a backslash.
  Ranges escaped() {
    if (rest_.empty()) fail("ends with a backslash");
    if (take("d")) return digits();
    if (take("D")) return complement(digits());
    if (take("s")) return spaces();
    if (take("S")) return complement(spaces());
    if (take("w")) return letters();
    if (take("W")) return complement(letters());
    const uint32_t code = escaped_character();
    return {{code, code}};
  }
  uint32_t escaped_character() {
    constexpr std::string_view kNames = "aftnrv", kCodes = "\a\f\t\n\r\v";
    if (const size_t n = kNames.find(rest_[0]); n != std::string_view::npos) {
      rest_.remove_prefix(1);
      return static_cast<uint8_t>(kCodes[n]);
    }
    if (take("x")) return hexadecimal();
    const bool is_word = (rest_[0] >= '0' && rest_[0] <= '9') || (rest_[0] >= 'a' && rest_[0] <= 'z') ||
                         (rest_[0] >= 'A' && rest_[0] <= 'Z');
    if (is_word) refuse(std::string("\"\\") + rest_[0] + "\"");
    return take_character();
  }
  uint32_t hexadecimal() {
    const bool has_braces = take("{");
    uint32_t code = 0;
    size_t count = 0;
    while (count < (has_braces ? 6u : 2u) && !rest_.empty()) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const char digit = rest_[0] >= 'A' && rest_[0] <= 'F' ? static_cast<char>(rest_[0] + 32) : rest_[0];
      const size_t value = kDigits.find(digit);
      if (value == std::string_view::npos) break;
      code = code << 4 | static_cast<uint32_t>(value);
      rest_.remove_prefix(1);
      ++count;
    }
    const bool is_closed = has_braces ? count > 0 && take("}") : count == 2;
    if (!is_closed || code > kLastCharacter) fail("has a \"\\x\" that is no character");
    return code;
  }

  // What follows "[".
  Ranges bracket() {
    const bool is_negated = take("^");
    Ranges ranges;
    bool is_first = true;
    while (is_first || !take("]")) {
      is_first = false;
      if (rest_.empty()) fail("has a \"[\" without \"]\"");
      if (rest_.starts_with("[:")) refuse("a class of characters by name, \"[:\"");
      const Ranges added = take("\\") ? escaped() : single(take_character());
      ranges.insert(ranges.end(), added.begin(), added.end());
      const bool is_range = added.size() == 1 && added[0].first == added[0].last && rest_.size() > 1 &&
                            rest_[0] == '-' && rest_[1] != ']';
      if (!is_range) continue;
      rest_.remove_prefix(1);
      const Ranges last = take("\\") ? escaped() : single(take_character());
      if (last.size() != 1 || last[0].first != last[0].last || last[0].first < ranges.back().first)
        fail("has a range of characters that is none");
      ranges.back().last = last[0].last;
    }
    return is_negated ? complement(ranges) : ranges;
  }
  static Ranges single(uint32_t code) { return {{code, code}}; }

  std::string_view all_, rest_;
  int depth_ = 0;
};

}  // namespace

Pattern parse_pattern(std::string_view text) { return Parser(text).parse(); }

}  // namespace tilewright::frontend::onnx

#include "tilewright/script/printer/layout.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace tilewright::script {
namespace {

// A piece [begin, end) of the unbroken text.
struct Piece {
  size_t begin, end;
};

// The length of the string literal that starts at `at`; 1 if none does.
size_t token_length(std::string_view text, size_t at, size_t end) {
  if (text[at] != '"') return 1;
  size_t n = at + 1;
  while (n < end && text[n] != '"') n += text[n] == '\\' ? 2 : 1;
  return std::min(n + 1, end) - at;
}

bool is_open(char c) { return c == '(' || c == '[' || c == '{'; }
bool is_close(char c) { return c == ')' || c == ']' || c == '}'; }

// The operators at which a long expression is broken, loosest first.
constexpr std::string_view kOperators[][6] = {{" or "},
                                              {" and "},
                                              {" == ", " != ", " < ", " <= ", " > ", " >= "},
                                              {" + ", " - "},
                                              {" * ", " / ", " // ", " % "}};

class Wrapper {
 public:
  Wrapper(const std::string& text, size_t width, size_t step)
      : text_(text), width_(width), step_(step), moved_(text.size() + 1) {}

  std::string run() {
    size_t begin = 0;
    while (begin < text_.size()) {
      size_t end = text_.find('\n', begin);
      if (end == std::string::npos) end = text_.size();
      size_t indent = begin;
      while (indent < end && text_[indent] == ' ') ++indent;
      for (size_t n = begin; n < indent; ++n) moved_[n] = out_.size() + (n - begin);
      line({indent, end}, indent - begin, "");
      if (end < text_.size()) moved_[end] = out_.size() - 1;
      begin = end + 1;
    }
    if (!text_.empty() && text_.back() != '\n') out_.pop_back();
    moved_[text_.size()] = out_.size();
    return std::move(out_);
  }
  size_t moved(size_t offset) const { return moved_[offset]; }

 private:
  void copy(Piece piece) {
    for (size_t n = piece.begin; n < piece.end; ++n) {
      moved_[n] = out_.size();
      out_ += text_[n];
    }
  }
  std::string_view view(Piece piece) const {
    return std::string_view(text_).substr(piece.begin, piece.end - piece.begin);
  }
  bool fits(Piece piece, size_t indent, std::string_view tail) const {
    return indent + (piece.end - piece.begin) + tail.size() <= width_;
  }
  void plain(Piece piece, size_t indent, std::string_view tail) {
    out_.append(indent, ' ');
    copy(piece);
    out_ += tail;
    out_ += '\n';
  }

  // Appends one logical line, followed by `tail` (a comma).
  void line(Piece piece, size_t indent, std::string_view tail) {
    if (fits(piece, indent, tail) || text_[piece.begin] == '#') return plain(piece, indent, tail);
    for (std::string_view word : {"if ", "while "}) {
      if (view(piece).starts_with(word))
        return in_parentheses(piece, piece.begin + word.size(), 1, indent, tail);
    }
    const size_t assigned = assignment(piece);
    Piece bracket;
    if (view(piece).starts_with("def ") ? first_bracket(piece, &bracket)
                                        : last_bracket({assigned, piece.end}, &bracket))
      return split(piece, bracket, indent, tail);
    if (assigned == piece.begin) return operands(piece, indent, tail);
    in_parentheses(piece, assigned, 0, indent, tail);
  }

  // x = (
  //     long expression
  // )
  void in_parentheses(Piece piece, size_t from, size_t num_after, size_t indent, std::string_view tail) {
    const size_t to = piece.end - num_after;
    out_.append(indent, ' ');
    copy({piece.begin, from});
    out_ += "(\n";
    operands({from, to}, indent + step_, "");
    out_.append(indent, ' ');
    out_ += ')';
    copy({to, piece.end});
    out_ += tail;
    out_ += '\n';
  }

  // The start of the right side of an assignment; the start of the piece if it is none.
  size_t assignment(Piece piece) const {
    int depth = 0;
    for (size_t n = piece.begin; n < piece.end; n += token_length(text_, n, piece.end)) {
      if (is_open(text_[n]))
        ++depth;
      else if (is_close(text_[n]))
        --depth;
      else if (depth == 0 && view({n, piece.end}).starts_with(" = "))
        return n + 3;
    }
    return piece.begin;
  }

  bool first_bracket(Piece piece, Piece* bracket) const {
    size_t n = piece.begin;
    while (n < piece.end && !is_open(text_[n])) ++n;
    if (n == piece.end) return false;
    *bracket = {n + 1, closing(n, piece.end)};
    return bracket->begin < bracket->end;
  }

  // The last bracket of an expression that consists only of calls and accesses, e.g. f(x)[...] or
  // `for i in T.grid(...):`.
  bool last_bracket(Piece piece, Piece* bracket) const {
    bool found = false;
    for (size_t n = piece.begin; n < piece.end; n += token_length(text_, n, piece.end)) {
      if (is_open(text_[n])) {
        const size_t end = closing(n, piece.end);
        if (end > n + 1) *bracket = {n + 1, end}, found = true;
        n = end;
        if (n >= piece.end) break;
      } else if (operator_at(n, piece) > 0) {
        return false;
      }
    }
    return found;
  }

  size_t closing(size_t open, size_t end) const {
    int depth = 0;
    for (size_t n = open; n < end; n += token_length(text_, n, end)) {
      if (is_open(text_[n])) ++depth;
      if (is_close(text_[n]) && --depth == 0) return n;
    }
    return end;
  }

  // The length of the operator that starts at `n`; 0 if none does.
  size_t operator_at(size_t n, Piece piece, int level = -1) const {
    if (text_[n] != ' ') return 0;
    for (int l = 0; l < 5; ++l) {
      if (level >= 0 && l != level) continue;
      for (std::string_view sign : kOperators[l]) {
        if (!sign.empty() && view({n, piece.end}).starts_with(sign)) return sign.size();
      }
    }
    return 0;
  }

  void split(Piece piece, Piece bracket, size_t indent, std::string_view tail) {
    out_.append(indent, ' ');
    copy({piece.begin, bracket.begin});
    out_ += '\n';
    inside(bracket, indent + step_);
    plain({bracket.end, piece.end}, indent, tail);
  }

  // Appends the items of a bracket: on one line if they fit, else one on each line.
  void inside(Piece piece, size_t indent) {
    if (fits(piece, indent, "")) return plain(piece, indent, "");
    const std::vector<Piece> items = commas(piece);
    if (items.size() == 1) return operands(items[0], indent, text_[piece.end - 1] == ',' ? "," : "");
    // old Python allows no comma after the last item of a subscript
    const bool is_subscript =
        text_[piece.begin - 1] == '[' && piece.begin >= 2 &&
        (isalnum(static_cast<unsigned char>(text_[piece.begin - 2])) || text_[piece.begin - 2] == ']');
    for (size_t n = 0; n < items.size(); ++n)
      line(items[n], indent, n + 1 == items.size() && is_subscript ? "" : ",");
  }

  std::vector<Piece> commas(Piece piece) const {
    std::vector<Piece> items;
    int depth = 0;
    size_t begin = piece.begin;
    for (size_t n = piece.begin; n < piece.end; n += token_length(text_, n, piece.end)) {
      if (is_open(text_[n]))
        ++depth;
      else if (is_close(text_[n]))
        --depth;
      else if (text_[n] == ',' && depth == 0) {
        if (view({begin, n}).find("lambda") != std::string_view::npos &&
            view({begin, n}).find(": ") == std::string_view::npos)
          continue;
        items.push_back({begin, n});
        begin = std::min(n + 2, piece.end);
      }
    }
    if (begin < piece.end) items.push_back({begin, piece.end});
    return items;
  }

  // Appends an expression inside brackets, broken before its loosest operators.
  void operands(Piece piece, size_t indent, std::string_view tail) {
    if (fits(piece, indent, tail)) return plain(piece, indent, tail);
    for (int level = 0; level < 5; ++level) {
      const std::vector<Piece> parts = at_operators(piece, level);
      if (parts.size() < 2) continue;
      for (size_t n = 0; n < parts.size(); ++n) line(parts[n], indent, n + 1 == parts.size() ? tail : "");
      return;
    }
    Piece bracket;
    if (last_bracket(piece, &bracket)) return split(piece, bracket, indent, tail);
    plain(piece, indent, tail);
  }
  std::vector<Piece> at_operators(Piece piece, int level) const {
    std::vector<Piece> parts;
    int depth = 0;
    size_t begin = piece.begin;
    for (size_t n = piece.begin; n < piece.end; n += token_length(text_, n, piece.end)) {
      if (is_open(text_[n]))
        ++depth;
      else if (is_close(text_[n]))
        --depth;
      else if (depth == 0 && operator_at(n, piece, level) > 0) {
        parts.push_back({begin, n});
        begin = n + 1;
      }
    }
    parts.push_back({begin, piece.end});
    return parts;
  }

  const std::string& text_;
  const size_t width_, step_;
  std::vector<size_t> moved_;  // the new position of each character
  std::string out_;
};

}  // namespace

std::string wrap_lines(const std::string& text, size_t width, size_t indent_spaces,
                       std::vector<TextPlace>* places) {
  size_t longest = 0, start = 0;
  for (size_t n = 0; n <= text.size(); ++n) {
    if (n < text.size() && text[n] != '\n') continue;
    longest = std::max(longest, n - start);
    start = n + 1;
  }
  if (longest <= width) return text;
  Wrapper wrapper(text, width, indent_spaces);
  std::string wrapped = wrapper.run();
  for (TextPlace& place : *places) {
    if (place.end == place.begin) continue;
    const size_t last = wrapper.moved(place.end - 1);
    place.begin = wrapper.moved(place.begin);
    place.end = last + 1;
  }
  return wrapped;
}

std::string underline(const std::string& text, const std::vector<TextPlace>& places,
                      const std::vector<ObjectRef>& marked) {
  std::unordered_set<const ir::Object*> nodes;
  for (const ObjectRef& node : marked) nodes.insert(node.get());
  std::vector<bool> is_marked(text.size() + 1, false);
  for (const TextPlace& place : places) {
    if (nodes.contains(place.node))
      std::fill(is_marked.begin() + place.begin, is_marked.begin() + place.end, true);
  }
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out += text.substr(begin, end - begin);
    if (end < text.size()) out += '\n';
    size_t first = begin, last = end;
    while (first < last && (!is_marked[first] || text[first] == ' ')) ++first;
    while (last > first && !is_marked[last - 1]) --last;
    if (first < last) {
      if (out.back() != '\n') out += '\n';
      out.append(first - begin, ' ');
      for (size_t n = first; n < last; ++n) out += is_marked[n] ? '^' : ' ';
      if (end < text.size()) out += '\n';
    }
    begin = end + 1;
  }
  return out;
}

std::vector<PrintedProgram::Place> to_lines(const std::string& text, const std::vector<TextPlace>& places) {
  std::vector<size_t> starts{0};
  for (size_t n = 0; n < text.size(); ++n) {
    if (text[n] == '\n') starts.push_back(n + 1);
  }
  auto line_of = [&](size_t offset) {
    return static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), offset) - starts.begin());
  };
  std::vector<PrintedProgram::Place> result;
  for (const TextPlace& place : places) {
    const size_t line = line_of(place.begin), end_line = line_of(place.end);
    result.push_back({place.node, static_cast<uint32_t>(line),
                      static_cast<uint32_t>(place.begin - starts[line - 1]), static_cast<uint32_t>(end_line),
                      static_cast<uint32_t>(place.end - starts[end_line - 1])});
  }
  return result;
}

}  // namespace tilewright::script

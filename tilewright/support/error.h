// The three kinds of error, and how they are shown to people.  UserError: the user's program or input is
// wrong.  Unsupported: it is right, but tilewright cannot do it yet.  InternalError: a bug of tilewright; the
// message asks for the script.  STYLE.md has the rules for texts.
#pragma once
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/support/format.h"
#include "tilewright/support/span.h"

namespace tilewright {

/// One part of a message: a sentence and, if known, the source line it refers to.
struct Note {
  std::string text;
  Span span;
};

class Error : public std::exception {
 public:
  enum class Kind { kUser, kUnsupported, kInternal };
  Error(Kind kind, Span span, std::string text) : kind_(kind), message_{std::move(text), std::move(span)} {}

  Kind kind() const { return kind_; }
  const std::string& text() const { return message_.text; }
  const Span& span() const { return message_.span; }
  const std::vector<Note>& notes() const { return notes_; }
  const std::string& help_text() const { return help_; }

  /// Points at `span` unless the error already points somewhere: the innermost place wins.
  void set_default_span(const Span& span);
  /// Puts `prefix: ` before the text, e.g. the name of the primitive that failed.
  void add_prefix(std::string_view prefix);
  void add_note(Span span, std::string text);
  void set_help(std::string text) { help_ = std::move(text); }
  /// Also shows the lines before and after the line with the caret: for programs that are not in a file.
  void show_neighbours();

  /// The whole message as a user sees it: `error: ...`, place, line with caret, notes, help.  No newline at
  /// the end.
  const std::string& render() const;
  const char* what() const noexcept override;

 private:
  Kind kind_;
  Note message_;
  std::vector<Note> notes_;
  std::string help_;
  bool shows_neighbours_ = false;
  mutable std::string rendered_;
};

/// The span of a value, for errors; ir/ adds the overloads for nodes, found by argument-dependent lookup.
inline const Span& span_of(const Span& span) { return span; }

namespace error_detail {
template <class Self, Error::Kind kKind>
class Chained : public Error {
 public:
  /// An error without a place.
  template <class... Args>
  explicit Chained(fmt::format_string<Args...> text, Args&&... args)
      : Error(kKind, {}, fmt::format(text, std::forward<Args>(args)...)) {}
  /// An error at `where`, a Span or an IR node.
  template <class Where, class... Args>
    requires(!std::is_convertible_v<Where, std::string_view>)
  Chained(const Where& where, fmt::format_string<Args...> text, Args&&... args)
      : Error(kKind, span_of(where), fmt::format(text, std::forward<Args>(args)...)) {}

  template <class Where, class... Args>
  Self& note(const Where& where, fmt::format_string<Args...> text, Args&&... args) {
    add_note(span_of(where), fmt::format(text, std::forward<Args>(args)...));
    return static_cast<Self&>(*this);
  }
  template <class... Args>
  Self& help(fmt::format_string<Args...> text, Args&&... args) {
    set_help(fmt::format(text, std::forward<Args>(args)...));
    return static_cast<Self&>(*this);
  }
};
}  // namespace error_detail

/// The user's program, file or argument is wrong.  `throw UserError(node, "split: ... {}",
/// value).help("...")`.
class UserError final : public error_detail::Chained<UserError, Error::Kind::kUser> {
  using Chained::Chained;
};
/// The request is right but beyond what tilewright can do; the help line says what it can do instead.
class Unsupported final : public error_detail::Chained<Unsupported, Error::Kind::kUnsupported> {
  using Chained::Chained;
};
/// A bug of tilewright.
class InternalError final : public error_detail::Chained<InternalError, Error::Kind::kInternal> {
  using Chained::Chained;
};

/// For invariants that only a bug of tilewright can break: throws InternalError.
#define TILEWRIGHT_CHECK(condition, ...)                              \
  do {                                                                \
    if (!(condition)) throw ::tilewright::InternalError(__VA_ARGS__); \
  } while (false)

}  // namespace tilewright

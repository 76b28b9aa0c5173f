// Why a rule of the default schedules does not apply to a block.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "tilewright/support/error.h"

namespace tilewright::schedule {

/// Why a rule does not apply: a sentence with the values and the threshold that decided, and of which kind it
/// is.
struct Reason {
  enum class Kind {
    kOther,       // the rule is for other computations or machines; short texts leave it out
    kForm,        // the block reads, computes or writes in a way that the rule does not know
    kOpenExtent,  // an extent that decides is known only at run time
    kTooSmall,    // there are too few elements, terms or iterations
    kCost,        // another way is faster
    kRefused,     // a primitive refused a step of the rule
  };
  using enum Kind;

  Kind kind = kOther;
  std::string text;

  Reason() = default;
  template <class... Args>
  Reason(Kind kind, fmt::format_string<Args...> format, Args&&... args)
      : kind(kind), text(fmt::format(format, std::forward<Args>(args)...)) {}
  friend bool operator==(const Reason&, const Reason&) = default;
};

/// "other", "form", "open_extent", "too_small", "cost" or "refused".
std::string_view name_of(Reason::Kind kind);

/// "13 of 16 places (81 %)": how much of `whole` is used.
std::string share_text(int64_t used, int64_t whole);

/// A value, or why there is none.
template <class T>
class OrReason {
 public:
  OrReason() = default;  // no value, and an empty reason
  OrReason(T value) : data_(std::in_place_index<1>, std::move(value)) {}
  OrReason(Reason reason) : data_(std::in_place_index<0>, std::move(reason)) {}

  explicit operator bool() const { return data_.index() == 1; }
  T& operator*() { return std::get<1>(data_); }
  const T& operator*() const { return std::get<1>(data_); }
  T* operator->() { return &std::get<1>(data_); }
  const T* operator->() const { return &std::get<1>(data_); }
  /// The reason; only where there is no value.
  const Reason& reason() const { return std::get<0>(data_); }
  /// The reason, or nothing.
  std::optional<Reason> why_not() const { return *this ? std::nullopt : std::optional(reason()); }
  /// The value, or nothing.
  std::optional<T> value() const { return *this ? std::optional(**this) : std::nullopt; }

 private:
  std::variant<Reason, T> data_;
};

}  // namespace tilewright::schedule

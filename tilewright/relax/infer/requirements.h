// Requirements of an operator on the extents of its arguments, stated once, where its type is inferred:
//   require.equal(k, j, "x1 is {}, x2 is {}: contracted lengths {} and {} differ", x, y, k, j);
// Inference raises that text if the requirement is known to fail.  If it can be neither proved nor refuted,
// the graph checks it when it runs, before any loop program reads: with_requirements adds the statement
//   R.require(k == j, "matmul: x1 is [{}, {}], ...", n, k, ..)
#pragma once
#include <fmt/format.h>

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "tilewright/relax/graph/relax.h"
#include "tilewright/relax/graph/type_util.h"

namespace tilewright::relax {

/// The operator that checks a requirement at run time.
inline constexpr std::string_view kRequire = "relax.require";

// ---- conditions, folded to true or false where they can be decided
/// True if two shapes are equal.
PrimExpr is_same_shape(const Shape& a, const Shape& b);
/// True if two extents are equal or one of them is 1.
PrimExpr may_broadcast(const PrimExpr& a, const PrimExpr& b);
/// True if the extents `from` equal those of `to`, aligned at the last, or are 1.
PrimExpr broadcasts_to(const Shape& from, const Shape& to);

/// A condition on extents that must hold when the graph runs.
struct Requirement {
  PrimExpr condition;
  std::string format;            // the error if it does not hold, with {} for each of `values`
  std::vector<PrimExpr> values;  // extents
};

/// `text` as part of a Requirement's format: its braces do not stand for values.
std::string with_escaped_braces(std::string_view text);

template <class>
using AsText = std::string;
/// A format whose {} stand for arguments of types `Args`: strings, numbers, extents and shapes.
template <class... Args>
using RequirementText = fmt::format_string<AsText<Args>...>;

/// The requirements of one call.
class Requirements {
 public:
  /// Requirements known to fail raise at `call`; open ones are appended to `open`, unless it is null.
  explicit Requirements(Call call, std::vector<Requirement>* open = nullptr);
  /// The same without a call: error texts begin with `name`.
  explicit Requirements(std::string_view name, std::vector<Requirement>* open = nullptr)
      : name_(name), open_(open) {}

  /// Requires `a` and `b` to be equal.  `text` is the error if they are not; its {} stand for `args`:
  /// strings, numbers, extents and shapes.
  template <class... Args>
  void equal(const PrimExpr& a, const PrimExpr& b, RequirementText<Args...> text, const Args&... args) {
    const Answer answer = equal_extents(a, b);
    if (answer != Answer::kYes) decide(answer, tir::equal(as_extent(a), as_extent(b)), text, args...);
  }
  /// Requires each extent of `a` to equal that of `b`, and the numbers of dimensions to be equal.
  template <class... Args>
  void equal(const Shape& a, const Shape& b, RequirementText<Args...> text, const Args&... args) {
    const Answer answer = equal_shapes(a, b);
    if (answer != Answer::kYes) decide(answer, is_same_shape(a, b), text, args...);
  }
  /// Requires `condition`, a bool expression of extents.
  template <class... Args>
  void holds(const PrimExpr& condition, RequirementText<Args...> text, const Args&... args) {
    const Answer answer = answer_of(condition);
    if (answer != Answer::kYes) decide(answer, condition, text, args...);
  }

 private:
  // The text of an argument of a message: its value, or {} for extents that are known only when the graph
  // runs; these are appended to `places`.
  struct Shown {
    std::vector<PrimExpr>* places = nullptr;
    std::string operator()(std::string_view text) const;
    std::string operator()(const PrimExpr& extent) const;
    std::string operator()(const Shape& shape) const;
    template <std::integral T>
    std::string operator()(T number) const {
      return fmt::to_string(number);
    }
  };

  template <class... Args>
  static std::string message(const Shown& shown, fmt::string_view text, const Args&... args) {
    std::array<std::string, sizeof...(Args)> texts{shown(args)...};  // in this order
    return std::apply([&](auto&... each) { return fmt::vformat(text, fmt::make_format_args(each...)); },
                      texts);
  }
  template <class... Args>
  void decide(Answer answer, const PrimExpr& condition, fmt::string_view text, const Args&... args) {
    if (answer == Answer::kNo) refuse(message(Shown{}, text, args...));
    if (!open_) return;
    Requirement requirement{condition, {}, {}};
    requirement.format = message(Shown{&requirement.values}, text, args...);
    add(std::move(requirement));
  }
  [[noreturn]] void refuse(const std::string& text) const;
  void add(Requirement requirement);
  static Answer answer_of(const PrimExpr& condition);

  Call call_;
  std::string_view name_;
  std::vector<Requirement>* open_;
};

/// `func` with a statement for each requirement of its calls that inference left open, and for each of
/// `more`, at the first position where all its variables are defined.  A requirement that is stated already
/// is not stated again.  Returns the same object if there is nothing to add.
Function with_requirements(const Function& func, const std::vector<Requirement>& more = {});

}  // namespace tilewright::relax

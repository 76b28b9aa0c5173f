// What an operator needs of the extents of its arguments, stated once, where its type is inferred:
//   require.equal(k, j, "x1 is {}, x2 is {}: contracted lengths {} and {} differ", x, y, k, j);
// Inference raises that text when the extents say that it never holds.  When they say neither yes nor no, the
// graph asks when it runs, before any loop program reads: with_requirements states it as
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

/// The operator whose calls state requirements.
inline constexpr std::string_view kRequire = "relax.require";

// ---- conditions, as far as they can be decided true or false
/// Whether two shapes are equal.
PrimExpr is_same_shape(const Shape& a, const Shape& b);
/// Whether two extents are equal or one of them is 1.
PrimExpr may_broadcast(const PrimExpr& a, const PrimExpr& b);
/// Whether extents `from` are those of `to`, aligned at the last, or 1.
PrimExpr broadcasts_to(const Shape& from, const Shape& to);

/// A condition on extents that must hold when the graph runs.
struct Requirement {
  PrimExpr condition;
  std::string format;            // the error when it does not hold, with {} for each of `values`
  std::vector<PrimExpr> values;  // extents
};

/// `text` as part of a Requirement's format: its braces are no places for values.
std::string with_escaped_braces(std::string_view text);

template <class>
using AsText = std::string;
/// A format whose {} stand for arguments of types `Args`: texts, numbers, extents and shapes.
template <class... Args>
using RequirementText = fmt::format_string<AsText<Args>...>;

/// The requirements of one call.
class Requirements {
 public:
  /// Those that can be decided raise at `call`; the open ones are appended to `open`, unless it is null.
  explicit Requirements(Call call, std::vector<Requirement>* open = nullptr);
  /// The same of what has no call but a name, which texts open with.
  explicit Requirements(std::string_view name, std::vector<Requirement>* open = nullptr)
      : name_(name), open_(open) {}

  /// Requires `a` and `b` to be equal.  `text` says that they are not; its {} stand for `args`: texts,
  /// numbers, extents and shapes.
  template <class... Args>
  void equal(const PrimExpr& a, const PrimExpr& b, RequirementText<Args...> text, const Args&... args) {
    const Answer answer = equal_extents(a, b);
    if (answer != Answer::kYes) decide(answer, tir::equal(as_extent(a), as_extent(b)), text, args...);
  }
  /// Requires each extent of `a` to equal that of `b`; the number of dimensions, too.
  template <class... Args>
  void equal(const Shape& a, const Shape& b, RequirementText<Args...> text, const Args&... args) {
    const Answer answer = equal_shapes(a, b);
    if (answer != Answer::kYes) decide(answer, is_same_shape(a, b), text, args...);
  }
  /// Requires `condition`, a bool of extents.
  template <class... Args>
  void holds(const PrimExpr& condition, RequirementText<Args...> text, const Args&... args) {
    const Answer answer = answer_of(condition);
    if (answer != Answer::kYes) decide(answer, condition, text, args...);
  }

 private:
  // How arguments of a text are shown: as they are, or with {} for extents that are known when the graph
  // runs, which are appended to `places`.
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
/// `more`: as early as all its variables have values.  What is stated already is not stated again.  The same
/// object if there is nothing to add.
Function with_requirements(const Function& func, const std::vector<Requirement>& more = {});

}  // namespace tilewright::relax

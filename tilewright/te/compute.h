// Functions that build tensor expressions: placeholders, elementwise computations, reductions.
//   Tensor A = placeholder({n, m}, kFloat32, "A");
//   IterVar k = reduce_axis(m, "k");
//   Tensor C = compute({n}, [&](Var i) { return sum(A(i, k), {k}); }, {.name = "C"});
#pragma once
#include <functional>
#include <utility>

#include "tilewright/te/te.h"
#include "tilewright/tir/builder.h"

namespace tilewright::te {

using Shape = std::vector<PrimExpr>;
using Indices = std::vector<PrimExpr>;

/// One output of an operation, as a value to compute with.
class Tensor : public Ref<TeTensorNode> {
 public:
  Tensor() = default;
  Tensor(Ref<TeTensorNode> node) : Ref(std::move(node)) {}

  const Shape& shape() const { return get()->shape; }
  size_t ndim() const { return get()->shape.size(); }
  DataType dtype() const { return get()->dtype; }
  const std::string& name() const { return get()->op->name; }
  /// The element at `indices`, one per dimension.  Raises UserError when their number is not ndim().
  PrimExpr at(Indices indices) const;
  template <class... I>
    requires(std::is_convertible_v<I, PrimExpr> && ...)
  PrimExpr operator()(I&&... indices) const {
    return at(Indices{PrimExpr(std::forward<I>(indices))...});
  }
  PrimExpr operator()(Indices indices) const { return at(std::move(indices)); }
};

/// An input.  Raises UserError if a dimension is not an integer.
Tensor placeholder(Shape shape, DataType dtype = kFloat32, std::string name = "placeholder");

struct Named {
  std::string name = "compute";
  AttrMap attrs = {};                        // copied to the block
  std::vector<std::string> axis_names = {};  // default i0, i1, ...
};
/// The name of a computation whose block has `role` in a computation that rules of schedules treat as a whole
/// (tir/block_roles.h).
Named in_role(std::string name, std::string_view role);
using ComputeBody = std::function<PrimExpr(const std::vector<Var>&)>;
/// The tensor of `shape` whose element at the axes is `body(axes)`.
Tensor compute(Shape shape, const ComputeBody& body, Named named = {});
/// The same with several results per element: one tensor each.
std::vector<Tensor> compute_many(Shape shape,
                                 const std::function<std::vector<PrimExpr>(const std::vector<Var>&)>& body,
                                 Named named = {});

namespace compute_detail {
template <class F>
struct Arity : Arity<decltype(&F::operator())> {};
template <class R, class C, class... A>
struct Arity<R (C::*)(A...) const> : std::integral_constant<size_t, sizeof...(A)> {};
void require_axes(size_t expected, size_t ndim);
}  // namespace compute_detail

/// compute({n, m}, [&](Var i, Var j) { ... }): one parameter per dimension.
template <class F>
  requires(!std::is_invocable_v<F, const std::vector<Var>&> || compute_detail::Arity<F>::value == 0)
Tensor compute(Shape shape, const F& body, Named named = {}) {
  constexpr size_t kAxes = compute_detail::Arity<F>::value;
  return compute(
      std::move(shape),
      [&](const std::vector<Var>& axes) -> PrimExpr {
        compute_detail::require_axes(kAxes, axes.size());
        return [&]<size_t... I>(std::index_sequence<I...>) {
          return PrimExpr(body(axes[I]...));
        }(std::make_index_sequence<kAxes>{});
      },
      std::move(named));
}

/// An axis 0 .. extent - 1 to reduce over.
IterVar reduce_axis(PrimExpr extent, std::string name = "rv");
IterVar reduce_axis(Range dom, std::string name);

// ---- reductions of `source` over `axes`; a reduction must be the whole body of a computation
/// The combiner `combine(x, y)` of two lists of equal length; `identity` are its neutral elements.
CommReducer comm_reducer(
    const std::function<std::vector<PrimExpr>(const std::vector<Var>&, const std::vector<Var>&)>& combine,
    std::vector<PrimExpr> identity);
/// The results of reducing several values at once.  `condition` (may be null) selects
/// the elements that count.
std::vector<PrimExpr> reduce(const CommReducer& combiner, std::vector<PrimExpr> source,
                             std::vector<IterVar> axes, PrimExpr condition = {},
                             std::vector<PrimExpr> init = {});
PrimExpr sum(PrimExpr source, std::vector<IterVar> axes, PrimExpr condition = {}, PrimExpr init = {});
PrimExpr prod(PrimExpr source, std::vector<IterVar> axes, PrimExpr condition = {}, PrimExpr init = {});
PrimExpr max(PrimExpr source, std::vector<IterVar> axes, PrimExpr condition = {}, PrimExpr init = {});
PrimExpr min(PrimExpr source, std::vector<IterVar> axes, PrimExpr condition = {}, PrimExpr init = {});
PrimExpr any(PrimExpr source, std::vector<IterVar> axes, PrimExpr condition = {}, PrimExpr init = {});
PrimExpr all(PrimExpr source, std::vector<IterVar> axes, PrimExpr condition = {}, PrimExpr init = {});

}  // namespace tilewright::te

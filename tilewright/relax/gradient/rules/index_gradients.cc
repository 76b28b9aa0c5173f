// Elements chosen by indices: gradients are added at the positions that the elements came from.
#include <numeric>

#include "tilewright/relax/gradient/gradient.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

Value added_at(const Backward& b, const Value& indices, const Value& grad) {
  return apply("scatter_nd", {zeros(b.shape(0), b.dtype(0)), indices, grad},
               {{"reduction", attr(std::string("add"))}});
}

// The indices that take reads: those out of bounds are treated as mode says.
Value valid_indices(const Backward& b, const Value& indices, const PrimExpr& extent) {
  const std::string mode = b.call()->attrs.get_string("mode", "fast");
  if (mode == "fast") return indices;
  const DataType dtype = b.dtype(1);
  const Value count = cast(apply("shape_to_tensor", {shape_value({extent})}), dtype);
  const Value flat = reshape(indices, {num_elements(b.shape(1))});
  const Value one = cast(apply("shape_to_tensor", {shape_value({extent_imm(1)})}), dtype);
  const Value last = count - one;
  const Value valid = mode == "wrap" ? apply("floor_mod", {flat, count})
                                     : apply("minimum", {apply("maximum", {flat, -count}), last});
  return reshape(valid, b.shape(1));
}

// The indexed dimension is moved to the front, where scatter_nd needs it.
void of_take(Backward& b) {
  const Shape &shape = b.shape(0), &places = b.shape(1);
  const int64_t axis = b.call()->attrs.contains("axis") ? b.axis("axis", shape.size()) : 0;
  const auto num_places = static_cast<int64_t>(places.size());
  std::vector<int64_t> front(static_cast<size_t>(num_places)), back(shape.size());
  std::iota(front.begin(), front.end(), axis);
  Shape moved{shape[static_cast<size_t>(axis)]};
  for (int64_t dim = 0; dim < b.ndim(0); ++dim) {
    if (dim == axis) continue;
    front.push_back(dim < axis ? dim : dim - 1 + num_places);
    moved.push_back(shape[static_cast<size_t>(dim)]);
    back[static_cast<size_t>(dim)] = dim < axis ? dim + 1 : dim;
  }
  Shape at = places;
  at.push_back(extent_imm(1));
  const Value indices = reshape(valid_indices(b, b.x(1), moved[0]), at);
  const Value grad = axis == 0 ? b.grad() : permute(b.grad(), front);
  const Value sums = apply("scatter_nd", {zeros(moved, b.dtype(0)), indices, grad},
                           {{"reduction", attr(std::string("add"))}});
  b.add(0, axis == 0 ? sums : permute(sums, back));
}

void of_gather_elements(Backward& b) {
  b.add(0, apply("scatter_elements", {zeros(b.shape(0), b.dtype(0)), b.x(1), b.grad()},
                 {{"axis", b.call()->attrs.get("axis")}, {"reduction", attr(std::string("add"))}}));
}
void of_gather_nd(Backward& b) {
  if (b.call()->attrs.get_int("batch_dims", 0) != 0) b.refuse("batch_dims is not 0");
  b.add(0, added_at(b, b.x(1), b.grad()));
}
void of_index_tensor(Backward& b) {
  b.add(0,
        apply("index_put", {zeros(b.shape(0), b.dtype(0)), b.x(1), b.grad()}, {{"accumulate", attr(true)}}));
}

// ---- elements replaced or added

void require_update_or_add(const Backward& b, const std::string& reduction) {
  if (reduction != "update" && reduction != "add") b.refuse(fmt::format("reduction is \"{}\"", reduction));
}
void of_scatter_elements(Backward& b) {
  const AttrMap& attrs = b.call()->attrs;
  const std::string reduction = attrs.get_string("reduction", "update");
  require_update_or_add(b, reduction);
  const Value nothing = zeros(b.shape(2), b.dtype(0));
  b.add(0, reduction == "add"
               ? b.grad()
               : apply("scatter_elements", {b.grad(), b.x(1), nothing}, {{"axis", attrs.get("axis")}}));
  b.add(2, apply("gather_elements", {b.grad(), b.x(1)}, {{"axis", attrs.get("axis")}}));
}
void of_scatter_nd(Backward& b) {
  const std::string reduction = b.call()->attrs.get_string("reduction", "update");
  require_update_or_add(b, reduction);
  const Value nothing = zeros(b.shape(2), b.dtype(0));
  b.add(0, reduction == "add" ? b.grad() : apply("scatter_nd", {b.grad(), b.x(1), nothing}));
  b.add(2, apply("gather_nd", {b.grad(), b.x(1)}));
}
void of_index_put(Backward& b) {
  const bool is_added = b.call()->attrs.get_bool("accumulate", false);
  b.add(0, is_added ? b.grad() : apply("index_put", {b.grad(), b.x(1), b.number(0)}));
  b.add(2, apply("index_tensor", {b.grad(), b.x(1)}));
}
void of_slice_scatter(Backward& b) {
  const AttrMap axis{{"axis", b.call()->attrs.get("axis")}};
  const Value nothing = zeros(b.shape(1), b.dtype(0));
  b.add(0, apply("slice_scatter", {b.grad(), nothing, b.x(2), b.x(3), b.x(4)}, axis));
  auto one = [&](size_t n) {
    const auto* prim = type_of(b.x(n).expr).as<PrimTypeNode>();
    if (!prim || !prim->value) b.refuse("its bounds are known only at run time");
    return shape_value({as_extent(prim->value)});
  };
  const Value dim = shape_value({extent_imm(b.axis("axis", static_cast<size_t>(b.ndim(0))))});
  b.add(1, apply("strided_slice", {b.grad(), dim, one(2), one(3), one(4)}));
}

constexpr GradientRow kRows[] = {
    {"relax.take", of_take},
    {"relax.gather_elements", of_gather_elements},
    {"relax.gather_nd", of_gather_nd},
    {"relax.index_tensor", of_index_tensor},
    {"relax.scatter_elements", of_scatter_elements},
    {"relax.scatter_nd", of_scatter_nd},
    {"relax.index_put", of_index_put},
    {"relax.slice_scatter", of_slice_scatter},
};

}  // namespace

extern constinit const GradientTable index_gradients_info = gradient_table(kRows);

}  // namespace tilewright::relax

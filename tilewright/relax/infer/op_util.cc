#include "tilewright/relax/infer/op_util.h"

#include <algorithm>

#include "tilewright/relax/graph/type_util.h"
#include "tilewright/support/count_text.h"
#include "tilewright/te/topi/broadcast.h"
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::relax {

std::string_view name_of(const Call& call) { return op_detail::what_of(call); }

std::string arg_name(const Call& call, size_t n) {
  const OpInfo* info = op_of(call.get());
  const auto names = info ? arg_names(*info) : std::vector<std::string_view>{};
  return n < names.size() ? std::string(names[n]) : fmt::format("{}", n);
}

void require_arg_count(const Call& call) {
  const OpInfo* info = op_of(call.get());
  if (!info) return;
  const size_t most = arg_names(*info).size(), given = call->args.size();
  const size_t optional = static_cast<size_t>(std::count(info->args.begin(), info->args.end(), '?'));
  const bool open = info->args.ends_with('*');
  if (given >= most - optional && (given <= most || open)) return;
  std::string expected = fmt::format("{}", most - optional);
  if (open)
    expected += " or more";
  else if (optional)
    expected += fmt::format(" to {}", most);
  fail(call, "{} given, expected {} ({})", count_text(given, "argument"), expected, info->args);
}

const TensorTypeNode* tensor_arg(const Call& call, size_t n) {
  const Type type = type_of(call->args[n]);
  const auto* tensor = type.as<TensorTypeNode>();
  if (!tensor) fail(call, "{} is {}, expected a tensor", arg_name(call, n), type_text(type));
  return tensor;
}

std::vector<const TensorTypeNode*> tensors_arg(const Call& call, size_t n) {
  const Type type = type_of(call->args[n]);
  const auto* tuple = type.as<TupleTypeNode>();
  if (!tuple) fail(call, "{} is {}, expected a tuple of tensors", arg_name(call, n), type_text(type));
  std::vector<const TensorTypeNode*> tensors;
  for (size_t field = 0; field < tuple->elements.size(); ++field) {
    tensors.push_back(tuple->elements[field].as<TensorTypeNode>());
    if (!tensors.back())
      fail(call, "{}[{}] is {}, expected a tensor", arg_name(call, n), field,
           type_text(tuple->elements[field]));
  }
  return tensors;
}

const Shape* shape_arg(const Call& call, size_t n, int64_t* ndim, Shape* storage) {
  const Expr& arg = call->args[n];
  const Type type = type_of(arg);
  if (const auto* shape = type.as<ShapeTypeNode>()) {
    *ndim = shape->ndim;
    if (!shape->is_known) return nullptr;
    *storage = shape->values;
    return storage;
  }
  const auto* tuple = type.as<TupleTypeNode>();
  if (!tuple) fail(call, "{} is {}, expected a shape", arg_name(call, n), type_text(type));
  *ndim = static_cast<int64_t>(tuple->elements.size());
  storage->clear();
  for (const Type& element : tuple->elements) {
    const auto* prim = element.as<PrimTypeNode>();
    if (!prim || !prim->dtype.is_integral())
      fail(call, "{} is {}, expected integers", arg_name(call, n), type_text(type));
    if (!prim->value) return nullptr;
    storage->push_back(as_extent(prim->value));
  }
  return storage;
}

const PrimTypeNode* scalar_arg(const Call& call, size_t n) {
  const Type type = type_of(call->args[n]);
  const auto* prim = type.as<PrimTypeNode>();
  if (!prim) fail(call, "{} is {}, expected a scalar", arg_name(call, n), type_text(type));
  return prim;
}

void require_ndim(const Call& call, size_t n, int64_t ndim) {
  const TensorTypeNode* type = tensor_arg(call, n);
  if (type->ndim >= 0 && type->ndim != ndim)
    fail(call, "{} is {} with {}, expected {}", arg_name(call, n), short_text(type),
         count_text(type->ndim, "dimension"), ndim);
}

std::string short_text(const TensorTypeNode* type) { return short_type(Type(type)); }

int64_t normalize_axis(const Call& call, int64_t axis, int64_t ndim) {
  if (axis < -ndim || axis >= ndim)
    fail(call, "axis {} is outside of a tensor with {}", axis, count_text(ndim, "dimension"));
  return axis < 0 ? axis + ndim : axis;
}

std::vector<int64_t> normalize_axes(const Call& call, const std::vector<int64_t>& axes, int64_t ndim) {
  std::vector<int64_t> result;
  for (int64_t axis : axes) {
    const int64_t normal = normalize_axis(call, axis, ndim);
    if (std::find(result.begin(), result.end(), normal) != result.end())
      fail(call, "axis {} is given twice", axis);
    result.push_back(normal);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<double> numbers_attr(const Call& call, std::string_view name, const ObjectRef& value,
                                 std::vector<double> absent) {
  if (!value) return absent;
  std::vector<double> numbers;
  if (const auto* list = value.as<ArrayNode>()) {
    for (const ObjectRef& item : list->items) {
      if (const auto* real = item.as<FloatImmNode>())
        numbers.push_back(real->value);
      else if (const auto* number = item.as<IntImmNode>())
        numbers.push_back(static_cast<double>(number->value));
    }
  }
  if (numbers.size() != absent.size()) fail(call, "{} is not a list of {} numbers", name, absent.size());
  return numbers;
}

void require_indices(const Call& call, size_t n) {
  const TensorTypeNode* indices = tensor_arg(call, n);
  if (!indices->dtype.is_void() && !indices->dtype.is_integral())
    fail(call, "{} is {}, expected integers", arg_name(call, n), short_text(indices));
}

TensorType tensor_type_like(const TensorTypeNode* x, DataType dtype) {
  const Shape* shape = known_shape(x);
  return shape ? tensor_type(*shape, dtype) : tensor_type_of_ndim(x->ndim, dtype);
}

void require_float(const Call& call, size_t n) {
  const TensorTypeNode* x = tensor_arg(call, n);
  if (!x->dtype.is_void() && !x->dtype.is_float())
    throw UserError(call, "{}: {} is {}, expected a floating-point tensor", name_of(call), arg_name(call, n),
                    short_text(x))
        .help("cast it, e.g. R.astype({}, \"float32\")", arg_name(call, n));
}

DataType common_dtype(const Call& call, size_t a, size_t b) {
  const DataType x = tensor_arg(call, a)->dtype, y = tensor_arg(call, b)->dtype;
  if (x.is_void() || y.is_void()) return DataType::void_();
  if (x != y)
    throw UserError(call, "{}: {} is {}, but {} is {}", name_of(call), arg_name(call, a), x.str(),
                    arg_name(call, b), y.str())
        .help("cast one of them, e.g. R.astype({}, \"{}\")", arg_name(call, b), x.str());
  return x;
}

Shape broadcast_shapes(const Shape& a, const Shape& b, Requirements& require) {
  for (size_t n = 1; n <= std::min(a.size(), b.size()); ++n) {
    const PrimExpr &x = a[a.size() - n], &y = b[b.size() - n];
    require.holds(may_broadcast(x, y),
                  "the shapes {} and {} do not broadcast: {} against {} in dimension {} from the end", a, b,
                  x, y, n);
  }
  Shape result = topi::broadcast_shape(a, b);
  for (const PrimExpr& extent : result) {
    constexpr int kMostNodes = 2000;
    if (has_more_nodes(extent, kMostNodes))
      throw Unsupported("the extents of the broadcast shape have more than {} nodes", kMostNodes)
          .help("give them names: bind a value before this with R.match_cast");
  }
  return result;
}

void require_elements(const Call& call, size_t n, const Shape& shape, size_t dim, const Shape& at,
                      Requirements& require) {
  require.holds(
      tir::logical_or(tir::operator>=(as_extent(shape[dim]), 1), tir::equal(num_elements(at), extent_imm(0))),
      "dimension {} of {} {} has no elements for indices {}", dim, arg_name(call, n), shape, at);
}

void require_lines(const Shape& at, const Shape& shape, size_t axis, Requirements& require) {
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (dim != axis)
      require.holds(tir::operator<=(as_extent(at[dim]), as_extent(shape[dim])),
                    "indices is {}, which is larger than data {} in dimension {}", at, shape, dim);
  }
}

TensorType broadcast_type(const Call& call, const std::vector<size_t>& args, DataType dtype,
                          Requirements& require) {
  std::optional<Shape> shape = Shape{};
  int64_t ndim = 0;
  for (size_t n : args) {
    const TensorTypeNode* type = tensor_arg(call, n);
    ndim = type->ndim < 0 || ndim < 0 ? -1 : std::max(ndim, type->ndim);
    const Shape* mine = known_shape(type);
    if (!mine)
      shape.reset();
    else if (shape)
      shape = broadcast_shapes(*shape, *mine, require);
  }
  return shape ? tensor_type(std::move(*shape), dtype) : tensor_type_of_ndim(ndim, dtype);
}

}  // namespace tilewright::relax

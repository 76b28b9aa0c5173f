// Rearranges elements: padding, splitting, sorting, space to depth.  Source: onnx.ai/onnx/operators, opset 7
// to 22.
#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/support/count_text.h"
#include "tilewright/te/topi/broadcast.h"

namespace tilewright::frontend::onnx {
namespace {

// ---- shapes that grow

// Matches the extents of the input and of the requested shape from the last dimension on.
void expand(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  const relax::Shape target = importer.require_known(node, 1), from = shape_of(node, x);
  const size_t num_matched = std::min(from.size(), target.size());
  for (size_t n = 1; n <= num_matched; ++n) {
    const ir::PrimExpr &own = from[from.size() - n], &wanted = target[target.size() - n];
    importer.require(
        node, relax::may_broadcast(own, wanted),
        "the input is {}, which does not expand to {}: {} against {} in dimension {} from the end", from,
        target, own, wanted, n);
  }
  importer.emit(node, "relax.broadcast_to", {x, relax::shape_expr(topi::broadcast_shape(from, target))});
}

// With symbolic repeats: inserts a dimension for the repetitions before each dimension.
void tile(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  const relax::Shape repeats = importer.require_known(node, 1), from = shape_of(node, x);
  if (const auto numbers = relax::constant_extents(repeats))
    return importer.emit(node, "relax.tile", {x}, {{"repeats", attr(*numbers)}});
  if (repeats.size() != from.size())
    throw UserError("{} repeats for {}", repeats.size(), count_text(from.size(), "dimension"));
  relax::Shape apart, repeated, result;
  for (size_t n = 0; n < from.size(); ++n) {
    apart.insert(apart.end(), {relax::extent_imm(1), from[n]});
    repeated.insert(repeated.end(), {repeats[n], from[n]});
    result.push_back(importer.facts.simplify(tir::operator*(repeats[n], from[n])));
  }
  const Expr all = importer.bind(node, "relax.broadcast_to",
                                 {importer.reshaped(node, x, apart), relax::shape_expr(repeated)});
  importer.define(node.outputs.at(0), importer.reshaped(node, all, result));
}

/// The elements that Pad adds before and after each dimension; negative numbers remove elements.
struct Padding {
  relax::Shape before, after;
};

Padding padding_of(Importer& importer, const Node& node, size_t ndim) {
  const relax::Shape pads =
      node.find("pads") ? relax::extents(ints_attr(node, "pads", {})) : importer.require_known(node, 1);
  std::vector<int64_t> axes(ndim);
  for (size_t n = 0; n < ndim; ++n) axes[n] = static_cast<int64_t>(n);
  if (importer.has_input(node, 3)) axes = importer.require_ints(node, 3);
  if (pads.size() != 2 * axes.size())
    throw UserError("{} pads for {}, expected {}", pads.size(), count_text(axes.size(), "dimension"),
                    2 * axes.size());
  Padding padding{relax::Shape(ndim, relax::extent_imm(0)), relax::Shape(ndim, relax::extent_imm(0))};
  for (size_t n = 0; n < axes.size(); ++n) {
    const auto axis = static_cast<size_t>(checked_axis(axes[n], ndim));
    padding.before[axis] = pads[n], padding.after[axis] = pads[n + axes.size()];
  }
  return padding;
}

// Removes the elements for negative numbers first, and sets these numbers to 0.
Expr cropped(Importer& importer, const Node& node, const Expr& x, std::vector<int64_t>* before,
             std::vector<int64_t>* after) {
  const relax::Shape shape = shape_of(node, x);
  relax::Shape axes, begin, end, steps;
  for (size_t n = 0; n < shape.size(); ++n) {
    const int64_t first = std::min<int64_t>((*before)[n], 0), last = std::min<int64_t>((*after)[n], 0);
    if (first == 0 && last == 0) continue;
    const ir::PrimExpr removed = relax::extent_imm(-first - last);
    importer.require(node, tir::operator<=(removed, shape[n]),
                     "the pads remove {} elements of {} in dimension {}", removed, shape[n],
                     relax::extent_imm(static_cast<int64_t>(n)));
    axes.push_back(relax::extent_imm(static_cast<int64_t>(n)));
    begin.push_back(relax::extent_imm(-first));
    end.push_back(arith::simplify(tir::operator+(shape[n], last)));
    steps.push_back(relax::extent_imm(1));
    (*before)[n] -= first, (*after)[n] -= last;
  }
  if (axes.empty()) return x;
  return importer.bind(node, "relax.strided_slice",
                       {x, relax::shape_expr(axes), relax::shape_expr(begin), relax::shape_expr(end),
                        relax::shape_expr(steps)});
}

void pad_by_numbers(Importer& importer, const Node& node, Expr x, std::vector<int64_t> before,
                    std::vector<int64_t> after, const std::string& mode) {
  ir::ObjectRef value = attr(float_attr(node, "value", 0));
  if (importer.has_input(node, 2)) {
    const std::vector<ir::PrimExpr> numbers = literals(importer, node, 2);
    if (!numbers.empty()) value = numbers[0];
  }
  x = cropped(importer, node, x, &before, &after);
  std::vector<int64_t> width;
  for (size_t n = 0; n < before.size(); ++n) {
    width.push_back(before[n]);
    width.push_back(after[n]);
  }
  const bool is_same = std::all_of(width.begin(), width.end(), [](int64_t extent) { return extent == 0; });
  if (is_same) return importer.define(node.outputs.at(0), x);
  importer.emit(node, "relax.nn.pad", {x},
                {{"pad_width", attr(width)},
                 {"pad_mode", attr(mode == "edge"   ? "replicate"
                                   : mode == "wrap" ? "circular"
                                                    : mode)},
                 {"pad_value", value}});
}

// The source index of the element at `index` of a padded dimension; outside, elements are mirrored or
// repeated.
ir::PrimExpr source_index(const ir::PrimExpr& index, const ir::PrimExpr& extent, const std::string& mode) {
  const ir::PrimExpr zero = relax::extent_imm(0), one = relax::extent_imm(1),
                     last = tir::operator-(extent, one);
  if (mode == "wrap") return tir::floormod(index, extent);
  if (mode == "edge") return tir::min(tir::max(index, zero), last);
  if (mode == "constant") return index;
  const ir::PrimExpr period = tir::operator*(last, 2);
  const ir::PrimExpr in_period = tir::floormod(index, tir::max(period, one));
  return tir::min(in_period, tir::operator-(period, in_period));
}

// One dimension with symbolic padding.  Negative numbers remove elements first.
struct PaddedDim {
  ir::PrimExpr first;          // first element that is kept
  ir::PrimExpr kept;           // number of elements that are kept
  ir::PrimExpr before, after;  // number of elements added before and after them
  PaddedDim(const ir::PrimExpr& extent, const ir::PrimExpr& pad_before, const ir::PrimExpr& pad_after) {
    const ir::PrimExpr zero = relax::extent_imm(0);
    const auto without = [&](const ir::PrimExpr& pad) { return tir::max(tir::operator-(zero, pad), zero); };
    first = without(pad_before);
    kept = tir::operator-(tir::operator-(extent, first), without(pad_after));
    before = tir::max(pad_before, zero), after = tir::max(pad_after, zero);
  }
};

void require_padding(Importer& importer, const Node& node, const std::vector<PaddedDim>& dims,
                     const relax::Shape& result, const std::string& mode) {
  const ir::PrimExpr zero = relax::extent_imm(0);
  for (size_t n = 0; n < dims.size(); ++n) {
    const PaddedDim& dim = dims[n];
    importer.require(node, tir::operator<=(zero, result[n]), "pads leave {} elements of dimension {}",
                     result[n], n);
    const ir::PrimExpr most = tir::max(dim.before, dim.after), is_plain = tir::equal(most, zero);
    if (mode == "reflect")
      importer.require(node, tir::logical_or(is_plain, tir::operator<(most, dim.kept)),
                       "dimension {} of {} elements cannot be mirrored by {}", n, dim.kept, most);
    else if (mode != "constant")
      importer.require(node, tir::logical_or(is_plain, tir::operator<(zero, dim.kept)),
                       "dimension {} has no elements to repeat", n);
  }
}

// Pads by symbolic amounts, as one loop program.
void pad_by_extents(Importer& importer, const Node& node, const Expr& x, const Padding& padding,
                    const std::string& mode) {
  relax::Shape result;
  std::vector<PaddedDim> dims;
  const relax::Shape from = shape_of(node, x);
  for (size_t n = 0; n < from.size(); ++n) {
    dims.emplace_back(from[n], padding.before[n], padding.after[n]);
    result.push_back(importer.facts.simplify(
        tir::operator+(from[n], tir::operator+(padding.before[n], padding.after[n]))));
  }
  require_padding(importer, node, dims, result, mode);
  Expr value = importer.value(node, 2);
  if (!value) value = number(float_attr(node, "value", 0), relax::dtype_of(x));
  value = importer.reshaped(node, value, {});
  const relax::TeFunction compute = [&](const std::vector<te::Tensor>& args) -> std::vector<te::Tensor> {
    return {te::compute(
        result,
        [&](const std::vector<tir::Var>& at) {
          std::vector<ir::PrimExpr> source;
          ir::PrimExpr is_inside = tir::bool_imm(true);
          for (size_t n = 0; n < at.size(); ++n) {
            const bool is_whole = tir::is_zero(padding.before[n]) && tir::is_zero(padding.after[n]);
            const ir::PrimExpr index = tir::operator-(at[n], dims[n].before);
            source.push_back(is_whole
                                 ? ir::PrimExpr(at[n])
                                 : tir::operator+(dims[n].first, source_index(index, dims[n].kept, mode)));
            if (mode != "constant" || is_whole) continue;
            is_inside = tir::logical_and(is_inside, tir::operator<=(relax::extent_imm(0), index));
            is_inside = tir::logical_and(is_inside, tir::operator<(index, dims[n].kept));
          }
          const ir::PrimExpr element = args[0].at(source);
          return mode == "constant"
                     ? tir::call(element->dtype, "if_then_else", {is_inside, element, args[1].at({})})
                     : element;
        },
        {.name = "T_pad"})};
  };
  importer.define(node.outputs.at(0), importer.builder.emit_te("pad", compute, {x, value}));
}

void pad(Importer& importer, const Node& node) {
  const std::string mode = string_attr(node, "mode", "constant");
  require_known_text("mode", mode, {"constant", "edge", "reflect", "wrap"});
  const Expr x = importer.value(node, 0);
  const Padding padding = padding_of(importer, node, shape_of(node, x).size());
  const auto before = relax::constant_extents(padding.before), after = relax::constant_extents(padding.after);
  const bool has_open_value =
      importer.has_input(node, 2) && !is<relax::ConstantNode>(importer.value(node, 2));
  if (before && after && !has_open_value) return pad_by_numbers(importer, node, x, *before, *after, mode);
  pad_by_extents(importer, node, x, padding, mode);
}

// ---- parts

// The extents of the pieces: as given, or equal except for the last.
relax::Shape piece_sizes(Importer& importer, const Node& node, const ir::PrimExpr& whole) {
  if (node.find("split")) return relax::extents(ints_attr(node, "split", {}));
  if (importer.has_input(node, 1)) return importer.require_known(node, 1);
  const auto count = static_cast<int64_t>(node.outputs.size());
  int64_t extent;
  if (tir::as_const_int(whole, &extent)) {
    const int64_t size = (extent + count - 1) / count;
    if (extent < size * (count - 1))
      throw UserError("an extent of {} cannot be split into {}", extent, count);
  }
  if (importer.opset < 18)  // before opset 18, pieces are equal
    importer.require(node, tir::equal(tir::floormod(whole, count), relax::extent_imm(0)),
                     "an extent of {} cannot be split into {} equal pieces", whole, count);
  const ir::PrimExpr size = importer.facts.simplify(tir::floordiv(tir::operator+(whole, count - 1), count));
  relax::Shape sizes(node.outputs.size(), size);
  sizes.back() = importer.facts.simplify(tir::operator-(whole, tir::operator*(size, count - 1)));
  return sizes;
}

void split_by_numbers(Importer& importer, const Node& node, const Expr& x, int64_t axis,
                      const std::vector<int64_t>& sizes) {
  const ir::PrimExpr& whole = shape_of(node, x)[static_cast<size_t>(axis)];
  int64_t total = 0;
  std::vector<int64_t> starts;
  for (int64_t size : sizes) {
    if (size < 0) throw UserError("the size of a piece is {}, expected at least 0", size);
    starts.push_back(total += size);
  }
  if (sizes.size() != node.outputs.size())
    throw UserError("{} pieces for {} outputs", sizes.size(), node.outputs.size());
  importer.require(node, tir::equal(relax::extent_imm(total), whole),
                   "pieces of {} elements in total for {} outputs of an extent of {}", total,
                   node.outputs.size(), whole);
  starts.pop_back();
  if (starts.empty()) return importer.pass_on(node);
  importer.define_fields(node, importer.bind(node, "relax.split", {x},
                                             {{"indices_or_sections", attr(starts)}, {"axis", attr(axis)}}));
}

void require_pieces(Importer& importer, const Node& node, const relax::Shape& sizes,
                    const ir::PrimExpr& total, const ir::PrimExpr& whole, const ir::PrimExpr& are_sizes) {
  importer.require(node, importer.facts.simplify(are_sizes), "the pieces {} contain a negative size", sizes);
  importer.require(node, tir::equal(total, whole),
                   "pieces of {} elements in total for {} outputs of an extent of {}", total,
                   node.outputs.size(), whole);
}

// x[begin:end] along one dimension
Expr part(Importer& importer, const Node& node, const Expr& x, int64_t axis, const ir::PrimExpr& begin,
          const ir::PrimExpr& end) {
  return importer.bind(node, "relax.strided_slice",
                       {x, relax::shape_expr({relax::extent_imm(axis)}), relax::shape_expr({begin}),
                        relax::shape_expr({end})});
}

void split(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  const relax::Shape& shape = shape_of(node, x);
  const int64_t axis = checked_axis(int_attr(node, "axis", 0), shape.size());
  const ir::PrimExpr& whole = shape[static_cast<size_t>(axis)];
  const relax::Shape sizes = piece_sizes(importer, node, whole);
  if (const auto numbers = relax::constant_extents(sizes))
    return split_by_numbers(importer, node, x, axis, *numbers);
  if (sizes.size() != node.outputs.size())
    throw UserError("{} pieces for {} outputs", sizes.size(), node.outputs.size());
  ir::PrimExpr begin = relax::extent_imm(0), are_sizes = tir::bool_imm(true);
  for (size_t n = 0; n < sizes.size(); ++n) {
    are_sizes = tir::logical_and(are_sizes, tir::operator<=(relax::extent_imm(0), sizes[n]));
    const ir::PrimExpr end = importer.facts.simplify(tir::operator+(begin, sizes[n]));
    if (!node.outputs[n].empty()) importer.define(node.outputs[n], part(importer, node, x, axis, begin, end));
    begin = end;
  }
  require_pieces(importer, node, sizes, begin, whole, are_sizes);
}

ir::PrimExpr top_k_count(Importer& importer, const Node& node) {
  if (node.find("k")) return relax::extent_imm(int_attr(node, "k", 0));
  const relax::Shape given = importer.require_known(node, 1);
  if (given.size() != 1) throw UserError("k has {} elements, expected 1", given.size());
  return given[0];
}

// If the number is only known at run time: sorts everything, and takes the first elements.
void top_k(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  const ir::PrimExpr count = top_k_count(importer, node);
  int64_t k = 0;
  if (tir::as_const_int(count, &k) && k < 1) throw UserError("k is {}, expected at least 1", k);
  const int64_t axis = checked_axis(int_attr(node, "axis", -1), shape_of(node, x).size());
  const Expr both = importer.bind(node, "relax.topk", {x},
                                  {{"k", attr(k)},
                                   {"axis", attr(axis)},
                                   {"ret_type", attr("both")},
                                   {"largest", attr(int_attr(node, "largest", 1) != 0)},
                                   {"dtype", attr("int64")}});
  importer.define_fields(node, both);
  if (is<ir::IntImmNode>(count)) return;
  const ir::PrimExpr extent = shape_of(node, x)[static_cast<size_t>(axis)];
  importer.require(
      node, tir::logical_and(tir::operator<=(relax::extent_imm(0), count), tir::operator<=(count, extent)),
      "k is {}, but the dimension has {} elements", count, extent);
  for (size_t n = 0; n < node.outputs.size(); ++n) {
    if (node.outputs[n].empty()) continue;
    Node taken = node;
    taken.inputs = {node.outputs[n]};
    importer.define(node.outputs[n],
                    part(importer, node, importer.value(taken, 0), axis, relax::extent_imm(0), count));
  }
}

// ---- pixels and channels

/// [n, c, h, w]; divided extents must be multiples of b.
struct Picture {
  Importer& importer;
  const Node& node;
  Expr x = importer.value(node, 0);
  relax::Shape shape = shape_of(node, x);
  int64_t b = int_attr(node, "blocksize", 1);

  ir::PrimExpr part(size_t axis, int64_t by) const {
    int64_t extent;
    if (tir::as_const_int(shape[axis], &extent) && extent % by != 0)
      throw UserError("dimension {} has extent {}, which is not a multiple of {}", axis, extent, by);
    return arith::simplify(tir::floordiv(shape[axis], relax::extent_imm(by)));
  }
  ir::PrimExpr times(size_t axis, int64_t by) const {
    return arith::simplify(tir::operator*(shape[axis], by));
  }
  void moved(const relax::Shape& as, const std::vector<int64_t>& axes, const relax::Shape& result) const {
    const Expr apart = importer.reshaped(node, x, as);
    const Expr turned = importer.bind(node, "relax.permute_dims", {apart}, {{"axes", attr(axes)}});
    importer.define(node.outputs.at(0), importer.reshaped(node, turned, result));
  }
  void require_four() const {
    if (shape.size() != 4)
      throw UserError("input 0 has {}, expected 4", count_text(shape.size(), "dimension"));
  }
};

void depth_to_space(Importer& importer, const Node& node) {
  const Picture p{importer, node};
  p.require_four();
  const std::string mode = string_attr(node, "mode", "DCR");
  require_known_text("mode", mode, {"DCR", "CRD"});
  const ir::PrimExpr b = relax::extent_imm(p.b), depth = p.part(1, p.b * p.b);
  const relax::Shape result{p.shape[0], depth, p.times(2, p.b), p.times(3, p.b)};
  if (mode == "DCR")
    p.moved({p.shape[0], b, b, depth, p.shape[2], p.shape[3]}, {0, 3, 4, 1, 5, 2}, result);
  else
    p.moved({p.shape[0], depth, b, b, p.shape[2], p.shape[3]}, {0, 1, 4, 2, 5, 3}, result);
}

void space_to_depth(Importer& importer, const Node& node) {
  const Picture p{importer, node};
  p.require_four();
  const std::string mode = string_attr(node, "mode", "DCR");
  require_known_text("mode", mode, {"DCR", "CRD"});
  const ir::PrimExpr b = relax::extent_imm(p.b), height = p.part(2, p.b), width = p.part(3, p.b);
  p.moved({p.shape[0], p.shape[1], height, b, width, b},
          mode == "DCR" ? std::vector<int64_t>{0, 3, 5, 1, 2, 4} : std::vector<int64_t>{0, 1, 3, 5, 2, 4},
          {p.shape[0], p.times(1, p.b * p.b), height, width});
}

template <const char* kOp>
void cumulative(Importer& importer, const Node& node) {
  const std::vector<int64_t> axis = importer.require_ints(node, 1);
  if (axis.size() != 1) throw UserError("axis has {} elements, expected 1", axis.size());
  importer.emit(node, kOp, {importer.value(node, 0)},
                {{"axis", attr(axis[0])},
                 {"exclusive", attr(int_attr(node, "exclusive", 0) != 0)},
                 {"reverse", attr(int_attr(node, "reverse", 0) != 0)}});
}
constexpr char kSums[] = "relax.cumsum", kProducts[] = "relax.cumprod";

constexpr AttributeRule kCumSum[] = {flag("exclusive"), flag("reverse")};
constexpr AttributeRule kDepthToSpace[] = {
    {"blocksize", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"mode", Attribute::kString, kAnyLeast, kAnyMost, 11}};
constexpr AttributeRule kMode[] = {{"mode", Attribute::kString}};
constexpr AttributeRule kPad[] = {{"mode", Attribute::kString},
                                  {"pads", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, 10, true},
                                  {"value", Attribute::kFloat, kAnyLeast, kAnyMost, kFirstOpset, 10}};
constexpr AttributeRule kSpaceToDepth[] = {
    {"blocksize", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"mode", Attribute::kString, kAnyLeast, kAnyMost, 28}};
constexpr AttributeRule kSplit[] = {{"axis", Attribute::kInt},
                                    {"num_outputs", Attribute::kInt, 1, kMostExtent, 18},
                                    {"split", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, 12}};
constexpr AttributeRule kTopK[] = {{"axis", Attribute::kInt},
                                   {"k", Attribute::kInt, kAnyLeast, kAnyMost, kFirstOpset, 9, true},
                                   flag("largest", 11),
                                   flag("sorted", 11)};

constexpr ConverterRow kRows[] = {
    {"CumProd", cumulative<kProducts>, 2, 2, kCumSum, 1, 26},
    {"CumSum", cumulative<kSums>, 2, 2, kCumSum, 1, 11},
    {"DepthToSpace", depth_to_space, 1, 1, kDepthToSpace},
    {"Expand", expand, 2, 2, {}, 1, 8},
    {"Pad", pad, 1, 1, kPad, 1, kFirstOpset, 10},
    {"Pad", pad, 2, 3, kPad, 1, 11, 17},
    {"Pad", pad, 2, 4, kPad, 1, 18},
    {"com.microsoft::Pad", pad, 2, 3, kMode},
    {"SpaceToDepth", space_to_depth, 1, 1, kSpaceToDepth},
    {"Split", split, 1, 1, kSplit, kAnyNumber, kFirstOpset, 12, kAnyNumber},
    {"Split", split, 1, 2, kSplit, kAnyNumber, 13, kLastOpset, kAnyNumber},
    {"Tile", tile, 2, 2},
    {"TopK", top_k, 1, 1, kTopK, 2, kFirstOpset, 9, 2},
    {"TopK", top_k, 2, 2, kTopK, 2, 10, kLastOpset, 2},
};

}  // namespace

extern constinit const ConverterTable arrange_info = {kRows};

}  // namespace tilewright::frontend::onnx

// GatherBlockQuantized of com.microsoft: rows of a table of integers of few bits, with a scale for each block.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "tilewright/frontend/onnx/graphs/node_math.h"
#include "tilewright/frontend/onnx/graphs/packed_weights.h"

namespace tilewright::frontend::onnx {
namespace {

std::vector<int64_t> extents_of(const NodeMath& math, const Expr& x, std::string_view name) {
  std::vector<int64_t> extents;
  for (const ir::PrimExpr& extent : math.shape(x)) {
    const auto known = constant_extent(extent);
    if (!known) throw Unsupported("the extents of {} are known only at run time", name);
    extents.push_back(*known);
  }
  return extents;
}

// Input `input`, bytes [.., num_bytes], as integers of `bits` bits [.., last].
Expr integers_of(const NodeMath& math, size_t input, int64_t bits, int64_t last) {
  std::vector<int64_t> extents = extents_of(math, math.input(input), "data");
  if (extents.empty()) throw UserError("input {} is a scalar, expected rows", input);
  const int64_t num_bytes = extents.back();
  int64_t num_rows = 1;
  for (size_t n = 0; n + 1 < extents.size(); ++n) num_rows *= extents[n];
  if (last > num_bytes * 8 / bits)
    throw UserError("input {} has rows of {} bytes, which do not hold {} values of {} bits", input, num_bytes,
                    last, bits);
  const runtime::Tensor bytes = require_constant(math.importer(), math.node(), input, num_rows * num_bytes);
  const Expr numbers = unpacked(bytes, num_rows, num_bytes, last, DataType::uint(static_cast<int>(bits)));
  extents.back() = last;
  return extents.size() == 2 ? numbers : math.reshaped(numbers, relax::extents(extents));
}

/// The table: integers, scales and zero points, for each block one.
struct Table {
  Expr numbers, scales, zeros;
};

Table table_of(const NodeMath& math) {
  Table table{math.input(0), math.input(2), math.input(3)};
  const DataType dtype = relax::dtype_of(table.numbers);
  if (!dtype.is_integral())
    throw Unsupported("data is {}, supported are integers of 2, 4 and 8 bits", dtype.str());
  const int64_t bits = int_attr(math.node(), "bits", 4);
  if (dtype != DataType::uint(8)) {
    if (!table.zeros) table.zeros = math.importer().bound(math.number_like(table.numbers, 0));
    return table;
  }
  if (bits != 2 && bits != 4 && bits != 8)
    throw UserError("attribute \"bits\" is {}, expected 2, 4 or 8", bits);
  const std::vector<int64_t> bytes = extents_of(math, table.numbers, "data"),
                             blocks = extents_of(math, table.scales, "scales");
  if (bytes.empty() || blocks.empty())
    throw UserError("input {} is a scalar, expected rows", bytes.empty() ? 0 : 2);
  if (bits < 8) table.numbers = integers_of(math, 0, bits, bytes.back() * 8 / bits);
  if (!table.zeros)
    table.zeros = relax::make_scalar(int64_t{1} << (bits - 1), DataType::uint(8));
  else if (bits < 8)
    table.zeros = integers_of(math, 3, bits, blocks.back());
  return table;
}

// An index that is not there gives zeros.
void gather(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Table table = table_of(math);
  const relax::Shape shape = math.shape(table.numbers);
  const int64_t block = int_attr(node, "block_size", 128),
                axis = checked_axis(int_attr(node, "gather_axis", 0), shape.size());
  if (block < 16 || (block & (block - 1)) != 0)
    throw UserError("block_size is {}, expected a power of two, 16 or more", block);
  const Expr numbers =
      math.call("relax.dequantize", {table.numbers, table.scales, table.zeros},
                {{"axis", attr(checked_axis(int_attr(node, "quantize_axis", 1), shape.size()))},
                 {"block_size", attr(block)},
                 {"out_dtype", attr(relax::dtype_of(table.scales).str())}});
  const Expr given = math.cast(math.input(1), kInt64), zero = number(0, kInt64),
             count = math.extent(shape[static_cast<size_t>(axis)]);
  const Expr places = math.where(math.call("relax.less", {given, zero}), math.add(given, count), given);
  const Expr found =
      math.call("relax.take", {numbers, places}, {{"axis", attr(axis)}, {"mode", attr("clip")}});
  Expr is_there =
      math.both(math.call("relax.greater_equal", {places, zero}), math.call("relax.less", {places, count}));
  relax::Shape along = math.shape(is_there);
  along.insert(along.end(), shape.size() - 1 - static_cast<size_t>(axis), relax::extent_imm(1));
  is_there = math.reshaped(is_there, along);
  math.result(0, math.where(is_there, found, math.number_like(found, 0)));
}

constexpr AttributeRule kGather[] = {{"bits", Attribute::kInt},
                                     {"block_size", Attribute::kInt},
                                     {"gather_axis", Attribute::kInt},
                                     {"quantize_axis", Attribute::kInt}};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::GatherBlockQuantized", gather, 3, 4, kGather},
};

}  // namespace

extern constinit const ConverterTable contrib_gather_info = {kRows};

}  // namespace tilewright::frontend::onnx

// Quantized numbers.  Source: onnx.ai/onnx/operators, opset 10 to 23.
#include "tilewright/frontend/onnx/convert.h"

namespace tilewright::frontend::onnx {
namespace {

void require_no_blocks(const Node& node) {
  if (const int64_t size = int_attr(node, "block_size", 0))
    throw Unsupported("block_size is {}, only scales of tensors and of one axis are supported", size);
}

DataType dtype_attr(const Node& node, std::string_view name, DataType otherwise) {
  const int64_t number = int_attr(node, name, 0);
  return number ? dtype_of(number, fmt::format("attribute \"{}\"", name)) : otherwise;
}

// One scale for all needs no axis; the default need not be a dimension then.
int64_t axis_of(const Node& node, const Expr& scale) {
  const relax::Shape& shape = shape_of(node, scale);
  return shape.empty() || tir::is_one(shape[0]) ? 0 : int_attr(node, "axis", 1);
}

void require_integers(DataType dtype) {
  if (!dtype.is_int() && !dtype.is_uint())
    throw Unsupported("quantized numbers of dtype {}, only integers are supported", dtype.str());
}

void quantize(Importer& importer, const Node& node) {
  require_no_blocks(node);
  Expr zero = importer.value(node, 2);
  const DataType dtype = zero ? relax::dtype_of(zero) : dtype_attr(node, "output_dtype", DataType::uint(8));
  require_integers(dtype);
  if (!zero) zero = importer.builder.emit(number(0, dtype));
  const Expr scale = importer.value(node, 1);
  importer.emit(node, "relax.quantize", {importer.value(node, 0), scale, zero},
                {{"axis", attr(axis_of(node, scale))}, {"out_dtype", attr(dtype.str())}});
}

void dequantize(Importer& importer, const Node& node) {
  require_no_blocks(node);
  const Expr x = importer.value(node, 0), scale = importer.value(node, 1);
  require_integers(relax::dtype_of(x));
  Expr zero = importer.value(node, 2);
  if (!zero) zero = importer.builder.emit(number(0, relax::dtype_of(x)));
  const DataType dtype = dtype_attr(node, "output_dtype", relax::dtype_of(scale));
  importer.emit(node, "relax.dequantize", {x, scale, zero},
                {{"axis", attr(axis_of(node, scale))}, {"out_dtype", attr(dtype.str())}});
}

// (a - zero point of a) times (b - zero point of b), in int32
void matmul_integer(Importer& importer, const Node& node) {
  const auto operand = [&](size_t input) {
    const Expr wide = importer.builder.emit(converted(importer.value(node, input), kInt32));
    const Expr zero = importer.value(node, input + 2);
    if (!zero) return wide;
    Expr offset = importer.builder.emit(converted(zero, kInt32));
    // one zero point per row of a; per column of b it broadcasts as it is
    if (input == 0 && shape_of(node, offset).size() == 1)
      offset = importer.bind(node, "relax.expand_dims", {offset}, {{"axis", attr(std::vector<int64_t>{-1})}});
    return importer.bind(node, "relax.subtract", {wide, offset});
  };
  const Expr a = operand(0);
  importer.emit(node, "relax.matmul", {a, operand(1)});
}

constexpr ConverterRow kConverters[] = {
    {"DequantizeLinear", dequantize},
    {"MatMulInteger", matmul_integer},
    {"QuantizeLinear", quantize},
};

}  // namespace

std::span<const ConverterRow> quantization_converters() { return kConverters; }

}  // namespace tilewright::frontend::onnx

#include "tilewright/frontend/onnx/graphs/packed_weights.h"

#include <algorithm>

#include "tilewright/runtime/packed_elements.h"

namespace tilewright::frontend::onnx {

runtime::Tensor require_constant(Importer& importer, const Node& node, size_t input, int64_t count) {
  const Expr value = importer.value(node, input);
  const auto* constant = value.as<relax::ConstantNode>();
  if (!constant) throw Unsupported("input \"{}\" is known only at run time", node.inputs[input]);
  if (constant->data.num_elements() != count)
    throw UserError("input \"{}\" has {} elements, expected {}", node.inputs[input],
                    constant->data.num_elements(), count);
  return constant->data.compact();
}

Expr unpacked(const runtime::Tensor& bytes, int64_t num_rows, int64_t num_bytes, int64_t count,
              DataType dtype) {
  const runtime::Shape held{num_rows, num_bytes * 8 / dtype.bits};
  runtime::Tensor numbers =
      runtime::Tensor::copy_of(bytes.data(), static_cast<size_t>(num_rows * num_bytes), held, dtype);
  if (held[1] != count) {
    const runtime::Tensor wide = dtype.bits < 8 ? runtime::unpack_elements(numbers) : numbers;
    runtime::Tensor kept = runtime::Tensor::empty(runtime::Shape{num_rows, count}, wide.dtype());
    const auto* from = wide.data_as<uint8_t>();
    auto* to = kept.data_as<uint8_t>();
    for (int64_t row = 0; row < num_rows; ++row)
      to = std::copy(from + row * held[1], from + row * held[1] + count, to);
    numbers = dtype.bits < 8 ? runtime::pack_elements(kept, dtype) : kept;
  }
  return relax::make_constant(numbers);
}

}  // namespace tilewright::frontend::onnx

#include "tilewright/frontend/onnx/read/tensor_data.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tilewright/frontend/onnx/read/model.h"
#include "tilewright/frontend/onnx/read/wire.h"
#include "tilewright/support/error.h"
#include "tilewright/support/utf8.h"

namespace tilewright::frontend::onnx {

DataType dtype_of(int64_t element_type, const std::string& what) {
  using Proto = wire::Tensor;
  switch (element_type) {
    case Proto::kFloat: return kFloat32;
    case Proto::kDouble: return DataType::float_(64);
    case Proto::kFloat16: return DataType::float_(16);
    case Proto::kBfloat16: return DataType::bfloat16();
    case Proto::kInt8: return DataType::int_(8);
    case Proto::kInt16: return DataType::int_(16);
    case Proto::kInt32: return kInt32;
    case Proto::kInt64: return kInt64;
    case Proto::kUint8: return DataType::uint(8);
    case Proto::kUint16: return DataType::uint(16);
    case Proto::kUint32: return DataType::uint(32);
    case Proto::kUint64: return DataType::uint(64);
    case Proto::kInt4: return DataType::int_(4);
    case Proto::kUint4: return DataType::uint(4);
    case Proto::kInt2: return DataType::int_(2);
    case Proto::kUint2: return DataType::uint(2);
    case Proto::kBool: return kBoolType;
    case Proto::kFloat8E4M3FN: return DataType::make(DataType::kFloat8E4M3FN, 8, 1);
    case Proto::kFloat8E4M3FNUZ: return DataType::make(DataType::kFloat8E4M3FNUZ, 8, 1);
    case Proto::kFloat8E5M2: return DataType::make(DataType::kFloat8E5M2, 8, 1);
    case Proto::kFloat8E5M2FNUZ: return DataType::make(DataType::kFloat8E5M2FNUZ, 8, 1);
    case Proto::kFloat8E8M0: return DataType::make(DataType::kFloat8E8M0FNU, 8, 1);
    case Proto::kFloat4E2M1: return DataType::make(DataType::kFloat4E2M1FN, 4, 1);
    default: break;
  }
  if (const std::string_view name = wire::element_type_name(element_type); !name.empty())
    throw Unsupported("{} has element type {}", what, name).help("use bool, integers or floats");
  throw UserError("{} has element type {}, which ONNX does not know", what, element_type)
      .help("the file is damaged; export or download the model again");
}

namespace {

// Elements stored one per field entry, narrowed to T.
template <class T, class List>
std::string packed(const List& list) {
  std::string bytes(list.size() * sizeof(T), '\0');
  for (size_t n = 0; n < list.size(); ++n) {
    const T value = static_cast<T>(list[n]);
    std::memcpy(bytes.data() + n * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

std::string typed_data(const wire::Tensor& proto) {
  using Proto = wire::Tensor;
  switch (proto.data_type) {
    case Proto::kFloat: return packed<float>(proto.float_data);
    case Proto::kDouble: return packed<double>(proto.double_data);
    case Proto::kInt64: return packed<int64_t>(proto.int64_data);
    case Proto::kUint64: return packed<uint64_t>(proto.uint64_data);
    case Proto::kUint32: return packed<uint32_t>(proto.uint64_data);
    case Proto::kInt32: return packed<int32_t>(proto.int32_data);
    case Proto::kInt16: return packed<int16_t>(proto.int32_data);
    case Proto::kUint16:
    case Proto::kFloat16:
    case Proto::kBfloat16: return packed<uint16_t>(proto.int32_data);
    case Proto::kInt8: return packed<int8_t>(proto.int32_data);
    default: return packed<uint8_t>(proto.int32_data);
  }
}

int64_t number_entry(std::string_view text, const std::string& key, const std::string& name) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw UserError("tensor \"{}\": external data has {} = \"{}\", expected a number", name, key, text);
  return value;
}

std::string external_data(const wire::Tensor& proto, const std::string& folder, const std::string& name) {
  std::string location;
  int64_t offset = 0, length = -1;
  for (const auto& entry : proto.external_data) {
    if (entry.key == "location") location = entry.value;
    if (entry.key == "offset") offset = number_entry(entry.value, "offset", name);
    if (entry.key == "length") length = number_entry(entry.value, "length", name);
  }
  const std::filesystem::path relative(location);
  bool leaves = location.empty() || relative.is_absolute() || folder.empty();
  for (const auto& part : relative) leaves |= part == "..";
  if (leaves)
    throw UserError("tensor \"{}\": external data at \"{}\" is not inside the model's folder", name,
                    location);
  const std::filesystem::path path = std::filesystem::path(folder) / relative;
  std::error_code problem;
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path, problem));
  if (problem)
    throw UserError("tensor \"{}\": its data file \"{}\" is missing", name, path.string())
        .help("put it beside the model");
  if (length < 0) length = std::max<int64_t>(size - offset, 0);
  if (offset > size || length < 0 || length > size - offset)
    throw UserError("tensor \"{}\": bytes {} to {} of \"{}\" are needed, but it has {}", name, offset,
                    offset + length, path.string(), size);
  std::string bytes(static_cast<size_t>(length), '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(offset);
  file.read(bytes.data(), length);
  if (!file) throw UserError("tensor \"{}\": cannot read \"{}\"", name, path.string());
  return bytes;
}

runtime::Tensor read_texts(const wire::Tensor& proto, const std::string& name,
                           std::vector<std::string>* texts) {
  const runtime::Shape shape(proto.dims.begin(), proto.dims.end());
  const int64_t num_bytes = runtime::checked_num_bytes(shape, kInt64, fmt::format("tensor \"{}\"", name));
  const int64_t expected = num_bytes / kInt64.num_bytes();
  if (static_cast<int64_t>(proto.string_data.size()) != expected)
    throw UserError("tensor \"{}\" has shape {}, which is {} strings, but {} are given", name,
                    runtime::shape_str(shape), expected, proto.string_data.size())
        .help("the file is damaged; export or download the model again");
  texts->assign(proto.string_data.begin(), proto.string_data.end());
  for (const std::string& text : *texts) {
    if (const size_t at = utf8_fault(text); at != std::string::npos)
      throw UserError("tensor \"{}\" has a string that is not UTF-8, from byte {} on", name, at)
          .help("strings of ONNX are UTF-8; encode it so where the model is exported");
  }
  return runtime::Tensor::zeros(shape, kInt64);
}

}  // namespace

bool is_text(const wire::Tensor& proto) { return proto.data_type == wire::Tensor::kString; }

runtime::Tensor read_tensor(const wire::Tensor& proto, const std::string& folder, const std::string& name,
                            std::vector<std::string>* texts) {
  if (is_text(proto)) return read_texts(proto, name, texts);
  const DataType dtype = dtype_of(proto.data_type, fmt::format("tensor \"{}\"", name));
  const runtime::Shape shape(proto.dims.begin(), proto.dims.end());
  const int64_t expected = runtime::checked_num_bytes(shape, dtype, fmt::format("tensor \"{}\"", name));
  std::string made;
  std::string_view bytes = made;
  if (proto.data_location == wire::Tensor::kExternal)
    bytes = made = external_data(proto, folder, name);
  else if (proto.raw_data)
    bytes = *proto.raw_data;
  else
    bytes = made = typed_data(proto);
  if (static_cast<int64_t>(bytes.size()) != expected)
    throw UserError("tensor \"{}\" has shape {} and dtype {}, which is {} bytes, but {} are given", name,
                    runtime::shape_str(shape), dtype.str(), expected, bytes.size())
        .help("the file is damaged; export or download the model again");
  return runtime::Tensor::copy_of(bytes.data(), bytes.size(), shape, dtype);
}

}  // namespace tilewright::frontend::onnx

#include "tilewright/frontend/onnx/tensor_data.h"

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "onnx.pb.h"
#include "tilewright/frontend/onnx/model.h"
#include "tilewright/support/error.h"

namespace tilewright::frontend::onnx {

DataType dtype_of(int64_t element_type, const std::string& what) {
  using Proto = ::onnx::TensorProto;
  switch (element_type) {
    case Proto::FLOAT: return kFloat32;
    case Proto::DOUBLE: return DataType::float_(64);
    case Proto::FLOAT16: return DataType::float_(16);
    case Proto::BFLOAT16: return DataType::bfloat16();
    case Proto::INT8: return DataType::int_(8);
    case Proto::INT16: return DataType::int_(16);
    case Proto::INT32: return kInt32;
    case Proto::INT64: return kInt64;
    case Proto::UINT8: return DataType::uint(8);
    case Proto::UINT16: return DataType::uint(16);
    case Proto::UINT32: return DataType::uint(32);
    case Proto::UINT64: return DataType::uint(64);
    case Proto::BOOL: return kBoolType;
    case Proto::FLOAT8E4M3FN: return DataType::make(DataType::kFloat8E4M3FN, 8, 1);
    case Proto::FLOAT8E5M2: return DataType::make(DataType::kFloat8E5M2, 8, 1);
    default: break;
  }
  if (Proto::DataType_IsValid(static_cast<int>(element_type)) && element_type != Proto::UNDEFINED)
    throw Unsupported("{} has element type {}", what, Proto::DataType_Name(static_cast<Proto::DataType>(element_type)));
  throw UserError("{} has element type {}, which ONNX does not know", what, element_type);
}

namespace {

// Elements kept one per field entry, narrowed to T.
template <class T, class List>
std::string packed(const List& list) {
  std::string bytes(list.size() * sizeof(T), '\0');
  for (int n = 0; n < list.size(); ++n) {
    const T value = static_cast<T>(list[n]);
    std::memcpy(bytes.data() + static_cast<size_t>(n) * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

std::string typed_data(const ::onnx::TensorProto& proto) {
  using Proto = ::onnx::TensorProto;
  switch (proto.data_type()) {
    case Proto::FLOAT: return packed<float>(proto.float_data());
    case Proto::DOUBLE: return packed<double>(proto.double_data());
    case Proto::INT64: return packed<int64_t>(proto.int64_data());
    case Proto::UINT64: return packed<uint64_t>(proto.uint64_data());
    case Proto::UINT32: return packed<uint32_t>(proto.uint64_data());
    case Proto::INT32: return packed<int32_t>(proto.int32_data());
    case Proto::INT16: return packed<int16_t>(proto.int32_data());
    case Proto::UINT16:
    case Proto::FLOAT16:
    case Proto::BFLOAT16: return packed<uint16_t>(proto.int32_data());
    case Proto::INT8: return packed<int8_t>(proto.int32_data());
    default: return packed<uint8_t>(proto.int32_data());
  }
}

int64_t number_entry(const std::string& text, const std::string& key, const std::string& name) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw UserError("tensor \"{}\": external data has {} = \"{}\", expected a number", name, key, text);
  return value;
}

std::string external_data(const ::onnx::TensorProto& proto, const std::string& folder, const std::string& name) {
  std::string location;
  int64_t offset = 0, length = -1;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = number_entry(entry.value(), "offset", name);
    if (entry.key() == "length") length = number_entry(entry.value(), "length", name);
  }
  const std::filesystem::path relative(location);
  bool leaves = location.empty() || relative.is_absolute() || folder.empty();
  for (const auto& part : relative) leaves |= part == "..";
  if (leaves) throw UserError("tensor \"{}\": external data at \"{}\" is not inside the model's folder", name, location);
  const std::filesystem::path path = std::filesystem::path(folder) / relative;
  std::error_code problem;
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path, problem));
  if (problem) throw UserError("tensor \"{}\": its data file \"{}\" is missing", name, path.string()).help("put it beside the model");
  if (length < 0) length = size - offset;
  if (offset > size || length < 0 || length > size - offset)
    throw UserError("tensor \"{}\": bytes {} to {} of \"{}\" are wanted, but it has {}", name, offset, offset + length, path.string(), size);
  std::string bytes(static_cast<size_t>(length), '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(offset);
  file.read(bytes.data(), length);
  if (!file) throw UserError("tensor \"{}\": cannot read \"{}\"", name, path.string());
  return bytes;
}

}  // namespace

runtime::Tensor read_tensor(const ::onnx::TensorProto& proto, const std::string& folder, const std::string& name) {
  const DataType dtype = dtype_of(proto.data_type(), fmt::format("tensor \"{}\"", name));
  const runtime::Shape shape(proto.dims().begin(), proto.dims().end());
  const int64_t expected = runtime::checked_num_bytes(shape, dtype, fmt::format("tensor \"{}\"", name));
  std::string bytes;
  if (proto.data_location() == ::onnx::TensorProto::EXTERNAL) bytes = external_data(proto, folder, name);
  else bytes = proto.has_raw_data() ? proto.raw_data() : typed_data(proto);
  if (static_cast<int64_t>(bytes.size()) != expected)
    throw UserError("tensor \"{}\" has shape {} and dtype {}, which is {} bytes, but {} are given", name, runtime::shape_str(shape),
                    dtype.str(), expected, bytes.size())
        .help("the file is damaged; export or download the model again");
  return runtime::Tensor::copy_of(bytes.data(), bytes.size(), shape, dtype);
}

}  // namespace tilewright::frontend::onnx

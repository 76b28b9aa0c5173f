// Decodes protobuf's wire format (protobuf.dev/programming-guides/encoding) by the field tables of wire.h.
// Unknown fields are skipped; if anything is truncated, too long or nested too deeply, the whole file is
// malformed.  Our own decoder instead of libprotobuf, because Debian's static library cannot be linked into a
// shared library, and the shared one conflicts with that of other programs in the process.
#include "tilewright/frontend/onnx/read/wire.h"

#include <array>
#include <bit>
#include <concepts>
#include <cstring>

namespace tilewright::frontend::onnx::wire {
namespace {

// a subgraph takes three levels; models only nest a few of them
constexpr int kMaxDepth = 100;

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// A position in the bytes.  Every read returns whether it succeeded.
struct Reader {
  std::string_view rest;

  bool varint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest.empty()) return false;
      const auto byte = static_cast<uint8_t>(rest.front());
      rest.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool take(uint64_t num_bytes, std::string_view& bytes) {
    if (num_bytes > rest.size()) return false;
    bytes = rest.substr(0, num_bytes);
    rest.remove_prefix(num_bytes);
    return true;
  }
  bool bytes(std::string_view& bytes) {
    uint64_t length = 0;
    return varint(length) && take(length, bytes);
  }
  bool skip(uint32_t wire_type) {
    uint64_t number = 0;
    std::string_view ignored;
    switch (wire_type) {
      case kVarint: return varint(number);
      case kFixed64: return take(8, ignored);
      case kBytes: return bytes(ignored);
      case kFixed32: return take(4, ignored);
      default: return false;  // groups, which proto3 and onnx.proto do not have
    }
  }
};

template <class T>
concept Number = std::same_as<T, int64_t> || std::same_as<T, float> || std::same_as<T, double>;

template <class T>
constexpr uint32_t wire_type_of() {
  if constexpr (std::same_as<T, int64_t>)
    return kVarint;
  else if constexpr (std::same_as<T, double>)
    return kFixed64;
  else
    return kFixed32;
}

template <Number T>
bool read_number(Reader& reader, T& value) {
  if constexpr (std::same_as<T, int64_t>) {
    uint64_t bits = 0;
    if (!reader.varint(bits)) return false;
    value = static_cast<int64_t>(bits);
  } else {
    std::string_view bytes;
    if (!reader.take(sizeof(T), bytes)) return false;
    std::memcpy(&value, bytes.data(), sizeof(T));
  }
  return true;
}
static_assert(std::endian::native == std::endian::little, "protobuf's fixed-width numbers are little-endian");

template <class Message>
bool read_message(std::string_view bytes, Message& message, int depth);

// One overload per member type.  Of a repeated scalar field the last value counts; lists grow.
template <Number T>
bool read(Reader& reader, uint32_t wire_type, T& value, int) {
  return wire_type == wire_type_of<T>() && read_number(reader, value);
}

bool read(Reader& reader, uint32_t wire_type, std::string_view& text, int) {
  return wire_type == kBytes && reader.bytes(text);
}

template <class Message>
  requires requires { Message::fields(); }
bool read(Reader& reader, uint32_t wire_type, Message& message, int depth) {
  std::string_view bytes;
  return wire_type == kBytes && reader.bytes(bytes) && read_message(bytes, message, depth + 1);
}

template <class T>
bool read(Reader& reader, uint32_t wire_type, std::optional<T>& value, int depth) {
  return read(reader, wire_type, value ? *value : value.emplace(), depth);
}

template <class T>
bool read(Reader& reader, uint32_t wire_type, std::unique_ptr<T>& value, int depth) {
  if (!value) value = std::make_unique<T>();
  return read(reader, wire_type, *value, depth);
}

template <class T>
bool read(Reader& reader, uint32_t wire_type, std::vector<T>& list, int depth) {
  if constexpr (Number<T>) {
    if (wire_type == kBytes) {  // packed
      Reader packed;
      if (!reader.bytes(packed.rest)) return false;
      while (!packed.rest.empty()) {
        if (!read_number(packed, list.emplace_back())) return false;
      }
      return true;
    }
  }
  return read(reader, wire_type, list.emplace_back(), depth);
}

template <class Message>
bool read_field(Reader& reader, uint32_t number, uint32_t wire_type, Message& message, int depth) {
  bool is_known = false, is_good = true;
  auto try_field = [&](const auto& field) {
    if (is_known || field.number != number) return;
    is_known = true;
    is_good = read(reader, wire_type, message.*field.member, depth);
  };
  std::apply([&](const auto&... field) { (try_field(field), ...); }, Message::fields());
  return is_known ? is_good : reader.skip(wire_type);
}

template <class Message>
bool read_message(std::string_view bytes, Message& message, int depth) {
  if (depth > kMaxDepth) return false;
  Reader reader{bytes};
  while (!reader.rest.empty()) {
    uint64_t tag = 0;
    if (!reader.varint(tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
    if (!read_field(reader, static_cast<uint32_t>(tag >> 3), static_cast<uint32_t>(tag & 7), message, depth))
      return false;
  }
  return true;
}

}  // namespace

bool decode(std::string_view bytes, Model& model) { return read_message(bytes, model, 0); }

std::string_view element_type_name(int64_t element_type) {
  static constexpr std::array<std::string_view, 29> kNames = {"",
                                                              "FLOAT",
                                                              "UINT8",
                                                              "INT8",
                                                              "UINT16",
                                                              "INT16",
                                                              "INT32",
                                                              "INT64",
                                                              "STRING",
                                                              "BOOL",
                                                              "FLOAT16",
                                                              "DOUBLE",
                                                              "UINT32",
                                                              "UINT64",
                                                              "COMPLEX64",
                                                              "COMPLEX128",
                                                              "BFLOAT16",
                                                              "FLOAT8E4M3FN",
                                                              "FLOAT8E4M3FNUZ",
                                                              "FLOAT8E5M2",
                                                              "FLOAT8E5M2FNUZ",
                                                              "UINT4",
                                                              "INT4",
                                                              "FLOAT4E2M1",
                                                              "FLOAT8E8M0",
                                                              "UINT2",
                                                              "INT2",
                                                              "FLOAT6E2M3",
                                                              "FLOAT6E3M2"};
  if (element_type < 0 || element_type >= static_cast<int64_t>(kNames.size())) return "";
  return kNames[static_cast<size_t>(element_type)];
}

}  // namespace tilewright::frontend::onnx::wire

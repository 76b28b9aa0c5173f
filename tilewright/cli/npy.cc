#include "tilewright/cli/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "tilewright/support/error.h"
#include "tilewright/support/utf8.h"

namespace tilewright::cli {
namespace {
using runtime::Shape;
using runtime::Tensor;

constexpr std::string_view kMagic = "\x93NUMPY";
static_assert(std::endian::native == std::endian::little, "files say '<' for what is native here");

/// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
struct Header {
  std::optional<std::string> descr;
  std::optional<bool> is_fortran;
  std::optional<Shape> shape;
};

/// Parses the Python literal of the header.  Every read returns whether it succeeded.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  bool parse(Header& header) {
    if (!take('{')) return false;
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':') || !value(key, header)) return false;
      if (!take(',') && peek() != '}') return false;
    }
    skip();
    return rest_.empty() && header.descr && header.is_fortran && header.shape;
  }

 private:
  bool value(const std::string& key, Header& header) {
    if (key == "descr")
      return peek() == '[' ? fields(header.descr.emplace()) : string(header.descr.emplace());
    if (key == "fortran_order") return boolean(header.is_fortran.emplace());
    return key == "shape" && shape(header.shape.emplace());
  }
  void skip() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t'))
      rest_.remove_prefix(1);
  }
  char peek() {
    skip();
    return rest_.empty() ? '\0' : rest_[0];
  }
  bool take(char expected) {
    if (peek() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    skip();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool string(std::string& text) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return false;
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return false;
    text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return true;
  }
  // [('a', '<f4'), ('b', '<i8')]: the elements are structures
  bool fields(std::string& text) {
    const size_t end = rest_.find(']');
    if (end == std::string_view::npos) return false;
    text = rest_.substr(0, end + 1);
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool boolean(bool& value) {
    value = take_word("True");
    return value || take_word("False");
  }
  bool shape(Shape& extents) {
    if (!take('(')) return false;
    while (!take(')')) {
      skip();
      int64_t extent = 0;
      auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc() || extent < 0 || extents.size() == 64) return false;
      extents.push_back(extent);
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      (void)take_word("L");  // Python 2 wrote 3L
      if (!take(',') && peek() != ')') return false;
    }
    return true;
  }

  std::string_view rest_;
};

struct ElementType {
  DataType dtype;
  bool is_swapped = false;  // big-endian
};

ElementType element_type(const std::string& descr, const std::string& name) {
  ElementType type;
  std::string_view rest = descr;
  if (!rest.empty() && std::string_view("<>=|").find(rest[0]) != std::string_view::npos) {
    type.is_swapped = rest[0] == '>';
    rest.remove_prefix(1);
  }
  static constexpr struct {
    std::string_view code;
    DataType dtype;
  } kTypes[] = {{"b1", DataType::bool_()},    {"i1", DataType::int_(8)},    {"i2", DataType::int_(16)},
                {"i4", DataType::int_(32)},   {"i8", DataType::int_(64)},   {"u1", DataType::uint(8)},
                {"u2", DataType::uint(16)},   {"u4", DataType::uint(32)},   {"u8", DataType::uint(64)},
                {"f2", DataType::float_(16)}, {"f4", DataType::float_(32)}, {"f8", DataType::float_(64)}};
  for (const auto& known : kTypes) {
    if (known.code != rest) continue;
    type.dtype = known.dtype;
    return type;
  }
  if (descr.starts_with('['))
    throw Unsupported("{} has elements of several fields: {}", name, descr)
        .help("save each field as an array of its own, e.g. numpy.savez(path, x=array[\"x\"])");
  throw Unsupported("{} has elements of numpy type \"{}\"", name, descr)
      .help("convert it to bool, an integer or a float type with numpy's astype");
}

void swap_bytes(Tensor& tensor) {
  const auto width = static_cast<size_t>(tensor.dtype().num_bytes());
  char* data = tensor.data_as<char>();
  for (int64_t n = 0; n < tensor.num_elements(); ++n, data += width) std::reverse(data, data + width);
}

// The bytes of a column-major array are those of a row-major array with the reversed shape.
Tensor from_fortran(const Tensor& reversed) {
  std::vector<int> axes;
  for (int axis = reversed.ndim(); axis-- > 0;) axes.push_back(axis);
  return reversed.transpose(axes).copy();
}

/// Elements of text: a number of characters in UCS-4 each, or of bytes.
struct TextType {
  int64_t length = 0;
  bool is_unicode = true, is_swapped = false;
  int64_t num_bytes() const { return is_unicode ? 4 * length : length; }
};

// "<U5" or "|S5"; nothing for other types.
std::optional<TextType> text_type(std::string_view descr) {
  TextType type;
  if (!descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos) {
    type.is_swapped = descr[0] == '>';
    descr.remove_prefix(1);
  }
  if (!descr.starts_with('U') && !descr.starts_with('S')) return std::nullopt;
  type.is_unicode = descr[0] == 'U';
  const char* last = descr.data() + descr.size();
  const auto [end, error] = std::from_chars(descr.data() + 1, last, type.length);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (error != std::errc() || end != last || type.length < 0 || type.length > kMost) return std::nullopt;
  return type;
}

// One element in UTF-8, without the zeros that fill it up.
std::string text_of(const TextType& type, std::string_view bytes, const std::string& name) {
  std::string text;
  for (size_t n = 0; type.is_unicode && n < bytes.size(); n += 4) {
    uint32_t code = 0;
    std::memcpy(&code, bytes.data() + n, 4);
    append_character(text, type.is_swapped ? __builtin_bswap32(code) : code);
  }
  if (!type.is_unicode) text = bytes;
  while (text.ends_with('\0')) text.pop_back();
  if (!is_utf8(text)) throw UserError("{} has a string that is not UTF-8", name).help("encode it so");
  return text;
}

[[noreturn]] void not_an_array(const std::string& name) {
  throw UserError("{} is not an array of numpy, or is cut short", name)
      .help("write it again with numpy.save");
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t n = bytes.size(); n-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[n]);
  return value;
}

std::string descr_of(DataType dtype, const std::string& name) {
  const int width = dtype.bits / 8;
  if (dtype.lanes == 1 && dtype.bits % 8 == 0) {
    if (dtype.is_bool()) return "|b1";
    if (dtype.is_int()) return fmt::format("{}i{}", width == 1 ? '|' : '<', width);
    if (dtype.is_uint()) return fmt::format("{}u{}", width == 1 ? '|' : '<', width);
    if (dtype.code == DataType::kFloat) return fmt::format("<f{}", width);
  }
  throw Unsupported("{} has dtype {}, which numpy's files cannot hold", name, dtype.str())
      .help("convert it to float32 inside the model");
}

[[noreturn]] void wrong_size(const std::string& name, const std::string& type, const Shape& shape,
                             int64_t expected, size_t given) {
  throw UserError("{} claims to be {}{}, which is {} bytes, but has {}", name, type,
                  runtime::shape_str(shape), expected, given)
      .help("write it again with numpy.save");
}

Tensor read_texts(const Header& header, const TextType& type, std::string_view bytes, const std::string& name,
                  Tensor* text) {
  Shape shape = *header.shape;
  const int64_t count = runtime::checked_num_bytes(shape, DataType::uint(8), name);
  int64_t expected = 0;
  if (__builtin_mul_overflow(count, type.num_bytes(), &expected) ||
      static_cast<size_t>(expected) != bytes.size())
    wrong_size(name, *header.descr, shape, expected, bytes.size());
  // the place of each element in the file
  Tensor places = Tensor::empty(*header.is_fortran ? Shape(shape.rbegin(), shape.rend()) : shape, kInt64);
  std::iota(places.data_as<int64_t>(), places.data_as<int64_t>() + count, int64_t{0});
  if (*header.is_fortran) places = from_fortran(places);
  const Tensor ends = Tensor::empty(shape, kInt64);
  const auto width = static_cast<size_t>(type.num_bytes());
  std::string all;
  for (int64_t n = 0; n < count; ++n) {
    const auto place = static_cast<size_t>(places.data_as<int64_t>()[n]);
    all += text_of(type, bytes.substr(place * width, width), name);
    ends.data_as<int64_t>()[n] = static_cast<int64_t>(all.size());
  }
  *text = Tensor::copy_of(all.data(), all.size(), Shape{static_cast<int64_t>(all.size())}, DataType::uint(8));
  return ends;
}

// The bytes of a file before the elements.
std::string file_header(const std::string& descr, runtime::ShapeView extents) {
  std::string shape;
  for (int64_t extent : extents) shape += fmt::format("{},{}", extent, extents.size() == 1 ? "" : " ");
  if (extents.size() > 1) shape.resize(shape.size() - 2);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  constexpr size_t kAlignment = 64;
  const size_t preamble = kMagic.size() + 4;
  header.append(kAlignment - (preamble + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += {1, 0, static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  return bytes + header;
}

}  // namespace

Tensor read_npy(std::string_view bytes, const std::string& name, Tensor* text) {
  if (!bytes.starts_with(kMagic) || bytes.size() < 10) not_an_array(name);
  const int version = bytes[6];
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || bytes.size() < 8 + length_bytes) not_an_array(name);
  const uint64_t header_bytes = little_endian(bytes.substr(8, length_bytes));
  bytes.remove_prefix(8 + length_bytes);
  if (header_bytes > bytes.size()) not_an_array(name);
  Header header;
  if (!HeaderParser(bytes.substr(0, header_bytes)).parse(header)) not_an_array(name);
  bytes.remove_prefix(header_bytes);
  if (const auto type = text ? text_type(*header.descr) : std::nullopt)
    return read_texts(header, *type, bytes, name, text);
  const ElementType type = element_type(*header.descr, name);
  const int64_t expected = runtime::checked_num_bytes(*header.shape, type.dtype, name);
  if (static_cast<uint64_t>(expected) != bytes.size())
    wrong_size(name, type.dtype.str(), *header.shape, expected, bytes.size());
  if (*header.is_fortran) std::reverse(header.shape->begin(), header.shape->end());
  Tensor tensor = Tensor::copy_of(bytes.data(), bytes.size(), *header.shape, type.dtype);
  if (type.is_swapped) swap_bytes(tensor);
  return *header.is_fortran ? from_fortran(tensor) : tensor;
}

std::string write_npy(const Tensor& tensor, const std::string& name) {
  std::string bytes = file_header(descr_of(tensor.dtype(), name), tensor.shape());
  const Tensor compact = tensor.compact();
  bytes.append(compact.data_as<char>(), static_cast<size_t>(compact.num_bytes()));
  return bytes;
}

std::string write_npy_strings(const Tensor& ends, const Tensor& text) {
  const Tensor compact = ends.compact();
  std::vector<std::u32string> elements;
  size_t longest = 1;  // numpy has no strings of length 0
  int64_t start = 0;
  for (int64_t n = 0; n < compact.num_elements(); ++n) {
    const int64_t end = compact.data_as<int64_t>()[n];
    std::string_view rest(text.data_as<char>() + start, static_cast<size_t>(end - start));
    std::u32string& element = elements.emplace_back();
    while (!rest.empty()) {
      const Character character = first_character(rest);
      element += static_cast<char32_t>(character.code);
      rest.remove_prefix(std::max<size_t>(character.length, 1));
    }
    longest = std::max(longest, element.size());
    start = end;
  }
  std::string bytes = file_header(fmt::format("<U{}", longest), ends.shape());
  for (std::u32string& element : elements) {
    element.resize(longest);
    bytes.append(reinterpret_cast<const char*>(element.data()), 4 * longest);
  }
  return bytes;
}

}  // namespace tilewright::cli

// Operators that read and make the characters of strings.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "tilewright/runtime/builtin/builtin.h"
#include "tilewright/runtime/builtin/elements.h"
#include "tilewright/runtime/builtin/letter_case.h"
#include "tilewright/runtime/builtin/strings.h"
#include "tilewright/support/utf8.h"

namespace tilewright::runtime::builtin {
namespace {

constexpr DataType kFloat64 = DataType::float_(64);

// Argument `n`, a tensor of ids; `ids` points to its elements.
Tensor ids_at(Args args, size_t n, const int64_t** ids) {
  const Tensor tensor = input(args, n, "ids of strings");
  *ids = tensor.data_as<int64_t>();
  return tensor;
}

// pool, ids, ids of the same shape
Value concat(Args args) {
  const StringPool& pool = pool_of(args);
  const int64_t *first = nullptr, *second = nullptr;
  const Tensor a = ids_at(args, 1, &first), b = ids_at(args, 2, &second);
  return pooled(pool, a.shape(), [&](int64_t n) {
    std::string text(pool.text(first[n]));
    text += pool.text(second[n]);
    return text;
  });
}

// ---- StringNormalizer

// pool, ids, "NONE", "LOWER" or "UPPER", whether stop words are compared as they are, ids of stop words: the ids that
// are left, with their case changed; that of "" if none is
Value normalize(Args args) {
  const StringPool& pool = pool_of(args);
  const std::string& change = args[2].as_string("string_normalize");
  const bool is_upper = change == "UPPER", is_exact = args[3].as_bool();
  const int64_t *ids = nullptr, *stops = nullptr;
  const Tensor given = ids_at(args, 1, &ids), words = ids_at(args, 4, &stops);
  const int64_t num_stops = words.num_elements();
  const auto compared = [&](int64_t id) {
    return is_exact ? id : pool.id(with_case(pool.text(id), is_upper));
  };
  std::vector<int64_t> dropped;
  for (int64_t n = 0; n < num_stops; ++n) dropped.push_back(compared(stops[n]));
  std::vector<int64_t> left;
  for (int64_t n = 0; n < given.num_elements(); ++n) {
    if (num_stops > 0 && std::find(dropped.begin(), dropped.end(), compared(ids[n])) != dropped.end())
      continue;
    left.push_back(change == "NONE" ? ids[n] : pool.id(with_case(pool.text(ids[n]), is_upper)));
  }
  if (left.empty()) left.push_back(pool.id(""));
  Shape shape(given.shape().begin(), given.shape().end());
  shape.back() = static_cast<int64_t>(left.size());
  return Tensor::copy_of(left.data(), left.size() * sizeof(int64_t), shape, kInt64);
}

// ---- StringSplit

bool is_space(uint32_t code) {
  return code == ' ' || (code >= 0x9 && code <= 0xd) || (code >= 0x1c && code <= 0x1f) || code == 0x85 ||
         code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
         code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

// The number of bytes of `text` before its first character that is a space, or that is none.
size_t length_until(std::string_view text, bool space) {
  size_t at = 0;
  while (at < text.size()) {
    const Character character = first_character(text.substr(at));
    if (is_space(character.code) == space) break;
    at += character.length;
  }
  return at;
}

// The parts between delimiters, or between runs of space if there is none; the last has the rest after `most` cuts.
std::vector<std::string_view> parts_of(std::string_view text, std::string_view delimiter, size_t most) {
  std::vector<std::string_view> parts;
  const auto skip_space = [&] { text.remove_prefix(length_until(text, false)); };
  if (delimiter.empty()) {
    for (skip_space(); !text.empty(); skip_space()) {
      const size_t length = parts.size() == most ? text.size() : length_until(text, true);
      parts.push_back(text.substr(0, length));
      text.remove_prefix(length);
    }
    return parts;
  }
  while (true) {
    const size_t at = parts.size() == most ? std::string_view::npos : text.find(delimiter);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + delimiter.size());
  }
}

// pool, ids, delimiter, most cuts or -1: the ids of the parts, filled up with "", and their number
Value split(Args args) {
  const StringPool& pool = pool_of(args);
  const int64_t* ids = nullptr;
  const Tensor given = ids_at(args, 1, &ids), counts = Tensor::empty(given.shape(), kInt64);
  const auto most = static_cast<size_t>(args[3].as_int("string_split"));
  std::vector<int64_t> found;  // of all strings
  int64_t width = 0;
  for (int64_t n = 0; n < given.num_elements(); ++n) {
    const std::string text(pool.text(ids[n]));  // new strings move those of the pool
    const size_t before = found.size();
    for (const std::string_view part : parts_of(text, args[2].as_string("string_split"), most))
      found.push_back(pool.id(part));
    const auto count = static_cast<int64_t>(found.size() - before);
    counts.data_as<int64_t>()[n] = count;
    width = std::max(width, count);
  }
  Shape shape(given.shape().begin(), given.shape().end());
  shape.push_back(width);
  const Tensor parts = Tensor::empty(shape, kInt64);
  std::fill_n(parts.data_as<int64_t>(), parts.num_elements(), pool.id(""));
  const int64_t* from = found.data();
  for (int64_t n = 0; n < given.num_elements(); ++n) {
    const int64_t count = counts.data_as<int64_t>()[n];
    std::copy_n(from, count, parts.data_as<int64_t>() + n * width);
    from += count;
  }
  return Value::tuple({parts, counts});
}

// ---- order

// pool, ids: the place of each among all strings in order of their bytes, and the ids in that order
Value order(Args args) {
  const StringPool& pool = pool_of(args);
  const int64_t count = pool.size();
  const int64_t* ids = nullptr;
  const Tensor given = ids_at(args, 1, &ids), places = Tensor::empty(given.shape(), kInt64);
  const std::vector<int64_t> sorted =
      sorted_positions(count, [&](int64_t a, int64_t b) { return pool.text(a) < pool.text(b); });
  std::vector<int64_t> place(sorted.size());
  for (size_t n = 0; n < sorted.size(); ++n) place[static_cast<size_t>(sorted[n])] = static_cast<int64_t>(n);
  for (int64_t n = 0; n < given.num_elements(); ++n)
    places.data_as<int64_t>()[n] = place[static_cast<size_t>(ids[n])];
  return Value::tuple(
      {places, Tensor::copy_of(sorted.data(), sorted.size() * sizeof(int64_t), {&count, 1}, kInt64)});
}

// ---- numbers

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  text.remove_suffix(text.size() - 1 - text.find_last_not_of(kSpace));
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  return text;
}

[[noreturn]] void refuse_range(std::string_view text, DataType dtype) {
  throw UserError("the string \"{}\" is a number beyond the range of {}", text, dtype.str());
}

// Reads all of `text`, and says what is wrong.
template <class T>
std::errc read(std::string_view text, T* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  const bool is_whole = end == text.data() + text.size();
  return error == std::errc() && !is_whole ? std::errc::invalid_argument : error;
}

double real_of(std::string_view text, DataType dtype) {
  double value = 0;
  float narrow = 0;  // by way of a float64 it might be rounded twice
  const bool is_narrow = dtype.is_float() && dtype.bits == 32;
  const std::errc fault = is_narrow ? read(trimmed(text), &narrow) : read(trimmed(text), &value);
  if (fault == std::errc::result_out_of_range) refuse_range(text, dtype);
  if (fault != std::errc()) throw UserError("the string \"{}\" is no number", text);
  return is_narrow ? static_cast<double>(narrow) : value;
}

// The bits of the integer of `dtype`; what follows a decimal point is dropped.
uint64_t integer_of_text(std::string_view text, DataType dtype) {
  int64_t value = 0;
  uint64_t large = 0;
  if (dtype.is_uint() && dtype.bits == 64 && read(trimmed(text), &large) == std::errc()) return large;
  if (read(trimmed(text), &value) != std::errc()) {
    const double real = std::trunc(real_of(text, kFloat64));
    if (!(std::abs(real) < 0x1p63)) refuse_range(text, dtype);
    value = static_cast<int64_t>(real);
  }
  if (dtype.is_bool()) return value != 0;
  const int num_bits = dtype.bits - dtype.is_int();
  const bool fits = num_bits >= 63 || (value >> num_bits) == (value < 0 ? -1 : 0);
  if (!fits || (value < 0 && !dtype.is_int())) refuse_range(text, dtype);
  return static_cast<uint64_t>(value);
}

// pool, ids, dtype: the numbers in float32 if it is that, else in float64, uint64 if it is that, or int64
Value to_number(Args args) {
  const StringPool& pool = pool_of(args);
  const DataType dtype = args[2].as_dtype("string_to_number");
  const bool is_float32 = dtype.bits == 32;
  const DataType made = dtype.is_float()                      ? (is_float32 ? dtype : kFloat64)
                        : dtype.is_uint() && dtype.bits == 64 ? dtype
                                                              : kInt64;
  const int64_t* ids = nullptr;
  const Tensor given = ids_at(args, 1, &ids), result = Tensor::empty(given.shape(), made);
  for (int64_t n = 0; n < given.num_elements(); ++n) {
    const std::string_view text = pool.text(ids[n]);
    if (!dtype.is_float())
      result.data_as<uint64_t>()[n] = integer_of_text(text, dtype);
    else if (made.bits == 32)
      result.data_as<float>()[n] = static_cast<float>(real_of(text, dtype));
    else
      result.data_as<double>()[n] = real_of(text, dtype);
  }
  return result;
}

// As onnxruntime writes it.
std::string real_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value, std::chars_format::general, 8);
  return {text, end.ptr};
}

// pool, numbers: float64, int64 or uint64
Value of_number(Args args) {
  const StringPool& pool = pool_of(args);
  const Tensor given = input(args, 1, "string_of_number");
  return pooled(pool, given.shape(), [&](int64_t n) {
    if (given.dtype().is_float()) return real_text(given.data_as<double>()[n]);
    return given.dtype().is_int() ? std::to_string(given.data_as<int64_t>()[n])
                                  : std::to_string(given.data_as<uint64_t>()[n]);
  });
}

// ---- RegexFullMatch

// pool, ids, class of each byte (uint8 [256]), next state by state and class (int32), whether states are ends (bool):
// whether the automaton, which begins in state 0, ends there after each string
Value matches(Args args) {
  const StringPool& pool = pool_of(args);
  const int64_t* ids = nullptr;
  const Tensor given = ids_at(args, 1, &ids), result = Tensor::empty(given.shape(), kBoolType);
  const Tensor classes = input(args, 2, "string_matches"), states = input(args, 3, "string_matches"),
               ends = input(args, 4, "string_matches");
  const int64_t num_classes = states.shape()[1];
  for (int64_t n = 0; n < given.num_elements(); ++n) {
    int64_t state = 0;
    for (const char each : pool.text(ids[n]))
      state = states.data_as<int32_t>()[state * num_classes +
                                        classes.data_as<uint8_t>()[static_cast<uint8_t>(each)]];
    result.data_as<uint8_t>()[n] = ends.data_as<uint8_t>()[state];
  }
  return result;
}

constexpr Entry kEntries[] = {
    {"tilewright.string_concat", concat, 3},       {"tilewright.string_matches", matches, 5},
    {"tilewright.string_normalize", normalize, 5}, {"tilewright.string_of_number", of_number, 2},
    {"tilewright.string_order", order, 2},         {"tilewright.string_split", split, 4},
    {"tilewright.string_to_number", to_number, 3}};

}  // namespace

std::span<const Entry> string_text_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin

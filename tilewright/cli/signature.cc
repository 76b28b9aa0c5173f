#include "tilewright/cli/signature.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::cli {
namespace {
using runtime::Tensor;
using runtime::Value;
using runtime::vm::BytecodeFunction;
using runtime::vm::Description;

std::vector<std::string_view> names_of(const std::vector<Description>& values) {
  std::vector<std::string_view> names;
  for (const Description& value : values) names.push_back(value.name);
  return names;
}

bool parse_int(std::string_view text, int64_t* value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): gives the same numbers on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
  }
  double unit() { return static_cast<double>(next() >> 40) * 0x1p-24; }  // 24 bits: exact in float32

 private:
  uint64_t state_;
};

template <class T, class Make>
void fill(const Tensor& tensor, Make make) {
  for (int64_t n = 0; n < tensor.num_elements(); ++n) tensor.data_as<T>()[n] = static_cast<T>(make());
}

// bound  integers are below it
void fill_random(const Tensor& tensor, Random& random, uint64_t bound, const std::string& name) {
  const DataType dtype = tensor.dtype();
  auto unit = [&] { return random.unit(); };
  auto bit = [&] { return random.next() % 2; };
  if (dtype == DataType::float_(32)) return fill<float>(tensor, unit);
  if (dtype == DataType::float_(64)) return fill<double>(tensor, unit);
  // bit patterns of values in [0.5, 1)
  if (dtype == DataType::float_(16))
    return fill<uint16_t>(tensor, [&] { return 0x3800 | random.next() % 1024; });
  if (dtype == DataType::bfloat16())
    return fill<uint16_t>(tensor, [&] { return 0x3F00 | random.next() % 128; });
  if (dtype.is_bool()) return fill<uint8_t>(tensor, bit);
  if (dtype.is_integral() && dtype.lanes == 1) {
    const int num_bits = dtype.bits - (dtype.is_int() ? 1 : 0);
    if (num_bits < 63) bound = std::min(bound, uint64_t{1} << num_bits);
    auto number = [&] { return random.next() % bound; };
    if (dtype.bits == 8) return fill<uint8_t>(tensor, number);
    if (dtype.bits == 16) return fill<uint16_t>(tensor, number);
    if (dtype.bits == 32) return fill<uint32_t>(tensor, number);
    if (dtype.bits == 64) return fill<uint64_t>(tensor, number);
  }
  throw Unsupported("input \"{}\": there are no random numbers of dtype {}", name, dtype.str())
      .help("give the inputs with --input");
}

}  // namespace

TensorType parse_tensor_type(const std::string& text, const std::string& input) {
  TensorType type;
  const size_t open = text.find('[');
  const std::string dtype = text.substr(0, open);
  const bool is_tensor = dtype == "tensor" || DataType::try_parse(dtype, &type.dtype);
  if (!is_tensor) throw Unsupported("input \"{}\" is {}, not a tensor", input, text).help("use Python");
  if (open == std::string::npos || text.substr(open).starts_with("[ndim=")) return type;
  type.has_shape = true;
  std::string_view rest = std::string_view(text).substr(open + 1);
  if (rest.ends_with("]")) rest.remove_suffix(1);
  // commas inside of formulas, such as min(n, 3), do not separate dimensions
  int depth = 0;
  std::string dim;
  for (char c : rest) {
    depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0) {
      type.dims.push_back(std::move(dim));
      dim.clear();
    } else if (c != ' ' || !dim.empty()) {
      dim += c;
    }
  }
  if (!dim.empty()) type.dims.push_back(dim);
  return type;
}

std::string list_text(const std::vector<Description>& values) {
  size_t width = 0;
  for (const Description& value : values) width = std::max(width, value.name.size());
  std::string text;
  for (const Description& value : values)
    text += fmt::format("\n  {:<{}}  {}", value.name, width, value.type);
  return text;
}

std::vector<Value> match_inputs(const BytecodeFunction& function, std::vector<NamedTensor> arrays,
                                const std::string& file) {
  const std::vector<Description>& parameters = function.parameters;
  if (arrays.size() == 1 && arrays[0].name.empty()) {
    if (parameters.size() != 1)
      throw UserError("\"{}\" is one array, but the model has {} inputs", file, parameters.size())
          .help("write a .npz with numpy.savez, one array for each of:{}", list_text(parameters));
    arrays[0].name = parameters[0].name;
  }
  for (const NamedTensor& array : arrays) {
    const std::vector<std::string_view> names = names_of(parameters);
    if (std::find(names.begin(), names.end(), array.name) == names.end())
      throw UserError("\"{}\" has an array \"{}\", but the model has no input of that name", file, array.name)
          .help("the inputs are:{}", list_text(parameters));
  }
  std::vector<Value> values;
  for (const Description& parameter : parameters) {
    auto found = std::find_if(arrays.begin(), arrays.end(),
                              [&](const NamedTensor& array) { return array.name == parameter.name; });
    if (found == arrays.end())
      throw UserError("\"{}\" has no array for input \"{}\", which is {}", file, parameter.name,
                      parameter.type)
          .help("the inputs are:{}", list_text(parameters));
    const bool takes_strings = parameter.type.starts_with("string");
    if (takes_strings != static_cast<bool>(found->text))
      throw UserError("\"{}\" has {} for input \"{}\", which is {}", file,
                      takes_strings ? "numbers" : "strings", parameter.name, parameter.type)
          .help("the inputs are:{}", list_text(parameters));
    if (found->text)
      values.push_back(Value::tuple({found->text, found->tensor}));
    else
      values.emplace_back(found->tensor);
  }
  return values;
}

DimSizes parse_dim_sizes(std::string_view option, const std::vector<std::string>& texts) {
  DimSizes sizes;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    int64_t size = 0;
    if (equals == std::string::npos || equals == 0 || !parse_int(text.substr(equals + 1), &size))
      throw UserError("{} {}: expected a name and a size, e.g. n=8", option, text);
    if (size < 1) throw UserError("{} {}: the size {} is below 1", option, text, size);
    sizes[text.substr(0, equals)] = size;
  }
  return sizes;
}

std::map<std::string, std::vector<int64_t>> parse_size_lists(std::string_view option,
                                                             const std::vector<std::string>& texts) {
  std::map<std::string, std::vector<int64_t>> lists;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    size_t begin = equals;
    while (begin < text.size()) {
      const size_t end = std::min(text.find(',', begin + 1), text.size());
      int64_t size = 0;
      if (equals == 0 || !parse_int(text.substr(begin + 1, end - begin - 1), &size)) break;
      if (size < 1) throw UserError("{} {}: the size {} is below 1", option, text, size);
      lists[text.substr(0, equals)].push_back(size);
      begin = end;
    }
    if (begin != text.size())
      throw UserError("{} {}: expected a name and sizes, e.g. n=8 or n=1,8", option, text);
  }
  return lists;
}

IndexBounds parse_index_bounds(std::string_view note) {
  IndexBounds bounds;
  while (!note.empty()) {
    const size_t end = std::min(note.find(' '), note.size());
    const std::string_view entry = note.substr(0, end);
    const size_t colon = std::min(entry.find(':'), entry.size() - 1);
    int64_t param = 0, bound = 0;
    if (parse_int(entry.substr(0, colon), &param) && parse_int(entry.substr(colon + 1), &bound) && bound > 0)
      bounds[static_cast<size_t>(param)] = bound;
    note.remove_prefix(std::min(end + 1, note.size()));
  }
  return bounds;
}

std::vector<Value> random_inputs(const BytecodeFunction& function, uint64_t seed, const DimSizes& sizes,
                                 const IndexBounds& bounds) {
  Random random(seed);
  std::set<std::string> symbols;
  std::vector<Value> values;
  for (const Description& parameter : function.parameters) {
    if (parameter.type.starts_with("string"))
      throw Unsupported("input \"{}\" is {}: there are no random strings", parameter.name, parameter.type)
          .help("give the inputs with --input");
    const TensorType type = parse_tensor_type(parameter.type, parameter.name);
    if (!type.has_shape || type.dtype.is_void())
      throw Unsupported("input \"{}\" is {}, of unknown shape or dtype", parameter.name, parameter.type)
          .help("give the inputs with --input");
    runtime::Shape shape;
    for (const std::string& dim : type.dims) {
      if (parse_int(dim, &shape.emplace_back())) continue;
      symbols.insert(dim);
      shape.back() = sizes.contains(dim) ? sizes.at(dim) : 1;
    }
    const Tensor tensor = Tensor::empty(shape, type.dtype);
    const auto bound = bounds.find(values.size());
    fill_random(tensor, random, bound == bounds.end() ? 2 : static_cast<uint64_t>(bound->second),
                parameter.name);
    values.emplace_back(tensor);
  }
  for (const auto& [name, size] : sizes) {
    if (symbols.contains(name)) continue;
    throw UserError("--dim {}={}: no input has a dimension \"{}\"", name, size, name)
        .help("{}", nearest_names_text(name, {symbols.begin(), symbols.end()}));
  }
  return values;
}

}  // namespace tilewright::cli

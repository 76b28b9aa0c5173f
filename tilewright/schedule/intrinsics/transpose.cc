#include "tilewright/schedule/intrinsics/transpose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "tilewright/script/parse.h"

namespace tilewright::schedule {
namespace {

constexpr int64_t kMostGap = 4;
constexpr std::string_view kColumnsFirst = "_columns_first";
constexpr std::string_view kDtypes[] = {"float16", "bfloat16", "int16", "float32",
                                        "int32",   "float64",  "int64"};

// "16, 1, 16"
std::string shape_text(const TransposedTile& tile, int64_t gap) {
  std::string text = std::to_string(tile.size);
  for (int64_t n = 0; n < gap; ++n) text += ", 1";
  return text + ", " + std::to_string(tile.size);
}

// "vi, 0, vj"
std::string index_text(std::string_view row, std::string_view column, int64_t gap) {
  std::string text(row);
  for (int64_t n = 0; n < gap; ++n) text += ", 0";
  return text + ", " + std::string(column);
}

std::string region_text(const TransposedTile& tile, int64_t gap) {
  const std::string all = fmt::format("0:{}", tile.size);
  std::string text = all;
  for (int64_t n = 0; n < gap; ++n) text += ", 0:1";
  return text + ", " + all;
}

// "a0, a1, 1"
std::string strides_text(std::string_view prefix, int64_t gap) {
  std::string text;
  for (int64_t n = 0; n <= gap; ++n) text += fmt::format("{}{}, ", prefix, n);
  return text + "1";
}

std::string head(const TransposedTile& tile) {
  std::string text = "@T.prim_func(private=True)\ndef transpose(a: T.handle, b: T.handle):\n";
  for (int64_t n = 0; n <= tile.from_gap; ++n) text += fmt::format("    a{} = T.int64()\n", n);
  for (int64_t n = 0; n <= tile.to_gap; ++n) text += fmt::format("    b{} = T.int64()\n", n);
  return text + fmt::format(R"(    A = T.match_buffer(a, ({}), "{}", offset_factor=1, strides=[{}])
    B = T.match_buffer(b, ({}), "{}", offset_factor=1, strides=[{}])
    with T.block("root"):
        T.reads(A[{}])
        T.writes(B[{}])
)",
                            shape_text(tile, tile.from_gap), tile.dtype, strides_text("a", tile.from_gap),
                            shape_text(tile, tile.to_gap), tile.dtype, strides_text("b", tile.to_gap),
                            region_text(tile, tile.from_gap), region_text(tile, tile.to_gap));
}

std::string description(const TransposedTile& tile) {
  return fmt::format(R"(        for i, j in T.grid({0}, {0}):
            with T.block("copy"):
                {3}
                B[{1}] = A[{2}]
)",
                     tile.size, index_text("vi", "vj", tile.to_gap), index_text("vj", "vi", tile.from_gap),
                     tile.is_column_first ? "vj, vi = T.axis.remap(\"SS\", [j, i])"
                                          : "vi, vj = T.axis.remap(\"SS\", [i, j])");
}

// Rows as vectors.  A step with distance d exchanges the blocks of d by d beside the diagonal of each block
// of 2d by 2d, so that after steps 1, 2, 4 ... rows are columns.
// Source: J. O. Eklundh, A Fast Computer Method for Matrix Transposing, IEEE Trans. Computers C-21, 1972.
std::string implementation(const TransposedTile& tile) {
  std::string text;
  const int64_t size = tile.size;
  for (int64_t row = 0; row < size; ++row)
    text += fmt::format("        v0_{0} = A.vload([{1}], \"{2}x{3}\")\n", row,
                        index_text(std::to_string(row), "0", tile.from_gap), tile.dtype, size);
  int64_t step = 0;
  for (int64_t distance = 1; distance < size; distance *= 2, ++step) {
    for (int64_t row = 0; row < size; ++row) {
      const bool is_upper = (row & distance) == 0;
      std::vector<int64_t> places;
      for (int64_t lane = 0; lane < size; ++lane) {
        const bool is_first = (lane & distance) == 0;
        places.push_back(is_upper ? (is_first ? lane : size + lane - distance)
                                  : (is_first ? lane + distance : size + lane));
      }
      const int64_t first = is_upper ? row : row - distance;
      text += fmt::format("        v{0}_{1} = T.Shuffle([v{2}_{3}, v{2}_{4}], [{5}])\n", step + 1, row, step,
                          first, first + distance, fmt::join(places, ", "));
    }
  }
  for (int64_t row = 0; row < size; ++row)
    text += fmt::format("        B[{}] = v{}_{}\n",
                        index_text(std::to_string(row), fmt::format("0:{}", size), tile.to_gap), step, row);
  return text;
}

std::optional<TransposedTile> parse_name(std::string_view name) {
  constexpr std::string_view kStart = "transpose_";
  if (!name.starts_with(kStart)) return std::nullopt;
  name.remove_prefix(kStart.size());
  const bool is_column_first = name.ends_with(kColumnsFirst);
  if (is_column_first) name.remove_suffix(kColumnsFirst.size());
  std::vector<std::string_view> parts;
  for (size_t at = 0; at != std::string_view::npos;) {
    at = name.find('_');
    parts.push_back(name.substr(0, at));
    if (at != std::string_view::npos) name.remove_prefix(at + 1);
  }
  if (parts.size() != 4) return std::nullopt;
  const auto number = [](std::string_view text) {
    int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  return TransposedTile{number(parts[0]), std::string(parts[1]), number(parts[2]), number(parts[3]),
                        is_column_first};
}

PrimFunc program(const TransposedTile& tile, const std::string& body) {
  const Ref<Source> source(new Source("transpose_intrinsic", head(tile) + body));
  return ref_as<PrimFuncNode>(script::parse(source));
}

}  // namespace

std::string TransposedTile::name() const {
  return fmt::format("transpose_{}_{}_{}_{}{}", size, dtype, from_gap, to_gap,
                     is_column_first ? kColumnsFirst : "");
}

std::optional<TensorIntrin> transpose_intrinsic(const std::string& name) {
  const std::optional<TransposedTile> tile = parse_name(name);
  const auto is_gap = [](int64_t gap) { return gap >= 0 && gap <= kMostGap; };
  if (!tile || tile->name() != name || tile->size < kLeastTransposed || tile->size > kMostTransposed ||
      (tile->size & (tile->size - 1)) != 0 || !is_gap(tile->from_gap) || !is_gap(tile->to_gap) ||
      std::find(std::begin(kDtypes), std::end(kDtypes), tile->dtype) == std::end(kDtypes))
    return std::nullopt;
  return TensorIntrin{program(*tile, description(*tile)), program(*tile, implementation(*tile))};
}

}  // namespace tilewright::schedule

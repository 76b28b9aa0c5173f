#include "tilewright/schedule/intrinsics/dot.h"

#include <fmt/format.h>

#include <charconv>

#include "tilewright/script/parse.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kHead = R"(
@T.prim_func(private=True)
def dot(A: T.Buffer(({group},), "{row}", offset_factor=1), B: T.Buffer(({lanes}, {group}), "{column}", offset_factor=1), C: T.Buffer(({lanes},), "{sum}", offset_factor=1)):
    with T.block("root"):
        T.reads(C[0:{lanes}], A[0:{group}], B[0:{lanes}, 0:{group}])
        T.writes(C[0:{lanes}])
)";
constexpr std::string_view kDescription = R"(
        for i, k in T.grid({lanes}, {group}):
            with T.block("update"):
                vi, vk = T.axis.remap("SR", [i, k])
                C[vi] = C[vi] + {product}
)";
constexpr std::string_view kImplementation = R"(
        C[0:{lanes}] = T.dot_add(C[0:{lanes}], A[0:{group}], B.vload([0, 0], "{column}x{count}"))
)";

// The inverse of DotIntrinsic::name; other names give parts whose name is another one.
DotIntrinsic parse_name(std::string_view name) {
  DotIntrinsic names;
  const auto next = [&](char end) {
    const size_t at = name.find(end);
    const std::string_view part = name.substr(0, at);
    name.remove_prefix(at == std::string_view::npos ? name.size() : at + 1);
    return part;
  };
  const auto number = [](std::string_view text) {
    int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  next('_');
  names.lanes = number(next('x'));
  names.group = number(next('_'));
  names.row = next('_');
  names.column = next('_');
  names.sum = next('_');
  names.is_column_first = name == "columns_first";
  return names;
}

PrimFunc program(std::string_view body, const DotIntrinsic& names) {
  const std::string row = fmt::format("T.cast(A[vk], \"{}\")", names.sum),
                    column = fmt::format("T.cast(B[vi, vk], \"{}\")", names.sum);
  const std::string text = fmt::format(
      fmt::runtime(std::string(kHead) + std::string(body.substr(1))), fmt::arg("lanes", names.lanes),
      fmt::arg("group", names.group), fmt::arg("count", names.lanes * names.group),
      fmt::arg("row", names.row), fmt::arg("column", names.column), fmt::arg("sum", names.sum),
      fmt::arg("product", names.is_column_first ? column + " * " + row : row + " * " + column));
  return ref_as<PrimFuncNode>(script::parse(Ref<Source>(new Source("dot_intrinsic", text))));
}

}  // namespace

std::string DotIntrinsic::name() const {
  return fmt::format("dot_{}x{}_{}_{}_{}{}", lanes, group, row, column, sum,
                     is_column_first ? "_columns_first" : "");
}

std::optional<TensorIntrin> dot_intrinsic(const std::string& name) {
  if (!name.starts_with("dot_")) return std::nullopt;
  const DotIntrinsic names = parse_name(name);
  const auto is_byte = [](std::string_view dtype) { return dtype == "int8" || dtype == "uint8"; };
  const bool is_known = names.group == 4 ? is_byte(names.row) && is_byte(names.column) && names.sum == "int32"
                                         : names.group == 2 && names.row == "bfloat16" &&
                                               names.column == "bfloat16" && names.sum == "float32";
  if (!is_known || names.lanes < 1 || names.lanes > 64 || names.name() != name) return std::nullopt;
  return TensorIntrin{program(kDescription, names), program(kImplementation, names)};
}

}  // namespace tilewright::schedule

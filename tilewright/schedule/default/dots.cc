#include "tilewright/schedule/default/dots.h"

#include <fmt/format.h>

#include <charconv>

#include "tilewright/script/parse.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

constexpr int64_t kMinLanes = 4;

bool has_instruction(DataType row, DataType column, const Features& features) {
  if (row.is_bfloat16()) return column.is_bfloat16() && features.dots.bfloats;
  if (row.bits != 8 || column.bits != 8) return false;
  if (row.is_uint() && column.is_uint()) return features.dots.unsigned_bytes;
  if (row.is_int() && column.is_int()) return features.dots.signed_bytes;
  return (row.is_int() || row.is_uint()) && (column.is_int() || column.is_uint()) &&
         features.dots.mixed_bytes;
}

// What `value` converts to the dtype of the sum; null if it is something else.
const BufferLoadNode* converted_load(const PrimExpr& value) {
  const auto* converted = value.as<CastNode>();
  return converted ? converted->value.as<BufferLoadNode>() : nullptr;
}

bool is_axis(const PrimExpr& index, const Var& axis) { return index.as<VarNode>() == axis.get(); }

// [..., axis // group, ..., axis % group]
bool is_in_groups(const BufferLoadNode* load, const Var& axis, int64_t group) {
  const auto has_parts = [&](const auto* part) {
    return part && is_axis(part->a, axis) && is_const_int(part->b, group);
  };
  if (!has_parts(load->indices.back().as<FloorModNode>())) return false;
  return std::count_if(load->indices.begin(), load->indices.end(),
                       [&](const PrimExpr& index) { return has_parts(index.as<FloorDivNode>()); }) == 1;
}

bool is_once_an_index(const BufferLoadNode* load, const Var& axis) {
  return std::count_if(load->indices.begin(), load->indices.end(),
                       [&](const PrimExpr& index) { return is_axis(index, axis); }) == 1;
}

std::optional<size_t> group_axis(const BlockShape& sum, const BufferLoadNode* row, int64_t group) {
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    const IterVar& each = sum.block->iter_vars[axis];
    if (each->iter_type == IterType::kReduce && sum.extent(axis) > 0 && sum.extent(axis) % group == 0 &&
        along(row->buffer, row->indices, each->var) == Along::kContiguous)
      return axis;
  }
  return std::nullopt;
}

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

struct Names {
  int64_t lanes = 0, group = 0;
  std::string row, column, sum;
  bool is_column_first = false;
};

std::string name_of(const Names& names) {
  return fmt::format("dot_{}x{}_{}_{}_{}{}", names.lanes, names.group, names.row, names.column, names.sum,
                     names.is_column_first ? "_columns_first" : "");
}

// The inverse of name_of; other names give parts of which name_of is another one.
Names parse_name(std::string_view name) {
  Names names;
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

PrimFunc program(std::string_view body, const Names& names) {
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

std::optional<TensorIntrin> dot_intrinsic(const std::string& name) {
  if (!name.starts_with("dot_")) return std::nullopt;
  const Names names = parse_name(name);
  const auto is_byte = [](std::string_view dtype) { return dtype == "int8" || dtype == "uint8"; };
  const bool is_known = names.group == 4 ? is_byte(names.row) && is_byte(names.column) && names.sum == "int32"
                                         : names.group == 2 && names.row == "bfloat16" &&
                                               names.column == "bfloat16" && names.sum == "float32";
  if (!is_known || names.lanes < 1 || names.lanes > 64 || name_of(names) != name) return std::nullopt;
  return TensorIntrin{program(kDescription, names), program(kImplementation, names)};
}

std::optional<DotSum> dot_sum(const BlockShape& sum, size_t column_axis, const Features& features) {
  const auto* added = sum.store->value.as<AddNode>();
  const auto* term = added && is<BufferLoadNode>(added->a) ? added->b.as<MulNode>() : nullptr;
  const BufferLoadNode *a = term ? converted_load(term->a) : nullptr,
                       *b = term ? converted_load(term->b) : nullptr;
  if (!a || !b || a->indices.empty() || b->indices.empty()) return std::nullopt;
  const Var& column_var = sum.block->iter_vars[column_axis]->var;
  const bool is_column_first = along(b->buffer, b->indices, column_var) == Along::kStays;
  DotSum dot;
  dot.row = is_column_first ? b : a;
  dot.column = is_column_first ? a : b;
  const DataType row = dot.row->dtype, column = dot.column->dtype, total = sum.output()->dtype;
  if (dot.row->buffer == dot.column->buffer ||  // a copy in groups would be read by both
      along(dot.row->buffer, dot.row->indices, column_var) != Along::kStays ||
      total != (row.is_bfloat16() ? kFloat32 : kInt32) || !has_instruction(row, column, features))
    return std::nullopt;
  dot.group = 32 / row.bits;
  const std::optional<size_t> axis = group_axis(sum, dot.row, dot.group);
  if (!axis) return std::nullopt;
  dot.axis = *axis;
  const Var& var = sum.block->iter_vars[*axis]->var;
  dot.is_grouped = is_in_groups(dot.column, var, dot.group);
  if (!dot.is_grouped && (!is_once_an_index(dot.column, var) || !is_once_an_index(dot.column, column_var)))
    return std::nullopt;
  const int64_t num_columns = sum.extent(column_axis);
  dot.lanes = features.vector_bytes / 4;
  while (dot.lanes >= kMinLanes && num_columns % dot.lanes != 0) dot.lanes /= 2;
  if (num_columns == 0 || dot.lanes < kMinLanes) return std::nullopt;
  dot.intrinsic = name_of({dot.lanes, dot.group, row.str(), column.str(), total.str(), is_column_first});
  return dot;
}

}  // namespace tilewright::schedule

// Options of passes, operators and rules: plain structs with a field table.  The same `field<>` table as for
// nodes provides the schema with docs and defaults, and the conversion from and to attributes.
//   struct Options { int64_t max_copies = 64; static constexpr auto fields() {...} };
//   Options options = from_attrs<Options>(attrs, "pass unroll");
// Members may be bool, int64_t, double, std::string, DataType, std::optional<int64_t>, std::vector<int64_t>,
// std::vector<std::string>, ObjectRef or a Ref of a node.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/ir/expr.h"

namespace tilewright::ir {

struct OptionInfo {
  std::string name, doc, type;
  ObjectRef default_value;  // null: none
};

/// `value` as an attribute: null for none.
ObjectRef attr(bool value);
ObjectRef attr(int value);
ObjectRef attr(int64_t value);
ObjectRef attr(double value);
ObjectRef attr(const std::string& value);
ObjectRef attr(const char* value);  // without it a literal would convert to bool
ObjectRef attr(DataType value);
ObjectRef attr(const std::optional<int64_t>& value);
ObjectRef attr(const std::vector<int64_t>& value);
ObjectRef attr(const std::vector<std::string>& value);
template <class N>
ObjectRef attr(const Ref<N>& value) {
  return value;
}

namespace options_detail {
// Conversions of one value; they raise UserError "<what>: option \"name\" must be ..., but is ...".
void read(const ObjectRef& value, std::string_view what, std::string_view name, bool* out);
void read(const ObjectRef& value, std::string_view what, std::string_view name, int64_t* out);
void read(const ObjectRef& value, std::string_view what, std::string_view name, double* out);
void read(const ObjectRef& value, std::string_view what, std::string_view name, std::string* out);
void read(const ObjectRef& value, std::string_view what, std::string_view name, DataType* out);
void read(const ObjectRef& value, std::string_view what, std::string_view name, std::optional<int64_t>* out);
void read(const ObjectRef& value, std::string_view what, std::string_view name, std::vector<int64_t>* out);
void read(const ObjectRef& value, std::string_view what, std::string_view name,
          std::vector<std::string>* out);
[[noreturn]] void wrong_node(const ObjectRef& value, std::string_view what, std::string_view name);
template <class N>
void read(const ObjectRef& value, std::string_view what, std::string_view name, Ref<N>* out) {
  if constexpr (!std::is_same_v<N, Object>) {
    if (value && !N::classof(*value)) wrong_node(value, what, name);
  }
  *out = Ref<N>(static_cast<const N*>(value.get()));
}
constexpr std::string_view type_name(const bool*) { return "bool"; }
constexpr std::string_view type_name(const int64_t*) { return "int"; }
constexpr std::string_view type_name(const double*) { return "float"; }
constexpr std::string_view type_name(const std::string*) { return "str"; }
constexpr std::string_view type_name(const DataType*) { return "dtype"; }
constexpr std::string_view type_name(const std::optional<int64_t>*) { return "int | None"; }
constexpr std::string_view type_name(const std::vector<int64_t>*) { return "list[int]"; }
constexpr std::string_view type_name(const std::vector<std::string>*) { return "list[str]"; }
template <class N>
constexpr std::string_view type_name(const Ref<N>*) {
  return "node";
}
/// Raises UserError for the first key of `attrs` that is not in `names`, and suggests the nearest name.
void refuse_unknown(const AttrMap& attrs, std::string_view what, const std::vector<std::string_view>& names);
}  // namespace options_detail

/// The defaults of the struct, overridden by the values of `attrs`.  `what` begins error texts: "pass
/// unroll".
/// Raises UserError for an unknown key or a value of the wrong type.
template <class S>
S from_attrs(const AttrMap& attrs, std::string_view what) {
  S result;
  std::apply(
      [&](auto... f) {
        options_detail::refuse_unknown(attrs, what, {f.name...});
        ((attrs.contains(f.name)
              ? options_detail::read(attrs.get(f.name), what, f.name, &(result.*decltype(f)::member))
              : void()),
         ...);
      },
      S::fields());
  return result;
}

/// Every field of `options` as an attribute; fields that are none are omitted.
template <class S>
AttrMap to_attrs(const S& options) {
  AttrMap attrs;
  auto put = [&](auto f) {
    ObjectRef value = attr(options.*decltype(f)::member);
    if (value) attrs.set(std::string(f.name), value);
  };
  std::apply([&](auto... f) { (put(f), ...); }, S::fields());
  return attrs;
}

/// The schema: name, doc, type and default of each field.
template <class S>
std::vector<OptionInfo> option_schema() {
  std::vector<OptionInfo> schema;
  const S defaults{};
  auto add = [&](auto f) {
    const auto& value = defaults.*decltype(f)::member;
    schema.push_back({std::string(f.name), std::string(f.doc), std::string(options_detail::type_name(&value)),
                      attr(value)});
  };
  std::apply([&](auto... f) { (add(f), ...); }, S::fields());
  return schema;
}

}  // namespace tilewright::ir

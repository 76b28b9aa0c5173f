// Builds the run-time table of a node from its fields().  Only node_infos.cc files include this.
#pragma once
#include <array>

#include "tilewright/ir/field.h"
#include "tilewright/support/error.h"

namespace tilewright::ir {

/// Specialised for every enum used as a field: `static constexpr std::string_view kNames[]`.
template <class E>
struct EnumNames;

namespace field_detail {

template <class T>
struct IsRef : std::false_type {};
template <class T>
struct IsRef<Ref<T>> : std::true_type {};
template <class T>
struct IsRefList : std::false_type {};
template <class T>
struct IsRefList<std::vector<Ref<T>>> : std::true_type {};

template <class T>
constexpr FieldType type_of() {
  if constexpr (std::is_same_v<T, bool>)
    return FieldType::kBool;
  else if constexpr (std::is_same_v<T, int64_t>)
    return FieldType::kInt;
  else if constexpr (std::is_same_v<T, double>)
    return FieldType::kFloat;
  else if constexpr (std::is_same_v<T, std::string>)
    return FieldType::kString;
  else if constexpr (std::is_same_v<T, DataType>)
    return FieldType::kDType;
  else if constexpr (std::is_enum_v<T>)
    return FieldType::kEnum;
  else if constexpr (IsRef<T>::value)
    return FieldType::kNode;
  else if constexpr (IsRefList<T>::value)
    return FieldType::kNodeList;
  else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
    return FieldType::kIntList;
  else if constexpr (std::is_same_v<T, std::vector<std::string>>)
    return FieldType::kStringList;
  else if constexpr (std::is_same_v<T, AttrMap>)
    return FieldType::kAttrs;
  else if constexpr (std::is_same_v<T, runtime::Tensor>)
    return FieldType::kTensor;
  else {
    static_assert(std::is_same_v<T, Span>, "a field type without a FieldType");
    return FieldType::kSpan;
  }
}

template <class T>
constexpr std::span<const std::string_view> enum_names() {
  if constexpr (std::is_enum_v<T>)
    return EnumNames<T>::kNames;
  else
    return {};
}

template <class T>
T node_cast(const ObjectRef& ref, std::string_view field) {
  using N = typename T::Node;
  if constexpr (std::is_same_v<N, Object>)
    return ref;
  else {
    if (ref && !N::classof(*ref))
      throw InternalError("field {} cannot hold a {}", field, info_of(*ref)->name);
    return T(static_cast<const N*>(ref.get()));
  }
}

template <class N, size_t kIndex>
struct Access {
  static constexpr auto kField = std::get<kIndex>(N::fields());
  using T = std::remove_cvref_t<decltype(std::declval<N>().*kField.member)>;
  static constexpr FieldType kType = type_of<T>();

  static const T& value(const Object* object) { return static_cast<const N*>(object)->*kField.member; }

  static FieldValue get(const Object* object) {
    if constexpr (kType == FieldType::kEnum)
      return static_cast<int64_t>(value(object));
    else if constexpr (kType == FieldType::kNode)
      return ObjectRef(value(object));
    else if constexpr (kType == FieldType::kNodeList)
      return std::vector<ObjectRef>(value(object).begin(), value(object).end());
    else
      return value(object);
  }
  static void set(Object* object, FieldValue given) {
    T& target = static_cast<N*>(object)->*kField.member;
    if constexpr (kType == FieldType::kEnum)
      target = static_cast<T>(std::get<int64_t>(given));
    else if constexpr (kType == FieldType::kNode)
      target = node_cast<T>(std::get<ObjectRef>(given), kField.name);
    else if constexpr (kType == FieldType::kNodeList) {
      T list;
      for (const ObjectRef& item : std::get<std::vector<ObjectRef>>(given))
        list.push_back(node_cast<typename T::value_type>(item, kField.name));
      target = std::move(list);
    } else
      target = std::get<T>(std::move(given));
  }
  static size_t num_nodes(const Object* object) {
    if constexpr (kType == FieldType::kNodeList)
      return value(object).size();
    else
      return kType == FieldType::kNode ? 1 : 0;
  }
  static const Object* node([[maybe_unused]] const Object* object, [[maybe_unused]] size_t n) {
    if constexpr (kType == FieldType::kNodeList)
      return value(object)[n].get();
    else if constexpr (kType == FieldType::kNode)
      return value(object).get();
    else
      return nullptr;
  }
  static constexpr FieldInfo info() {
    constexpr bool has_nodes = kType == FieldType::kNode || kType == FieldType::kNodeList;
    return {kField.name,
            kField.doc,
            kField.role,
            kType,
            &get,
            &set,
            has_nodes ? &num_nodes : nullptr,
            has_nodes ? &node : nullptr,
            enum_names<T>()};
  }
};

template <class N>
struct Table {
  static constexpr size_t kSize = std::tuple_size_v<decltype(N::fields())>;
  template <size_t... I>
  static constexpr std::array<FieldInfo, kSize> make(std::index_sequence<I...>) {
    return {Access<N, I>::info()...};
  }
  static constexpr std::array<FieldInfo, kSize> kFields = make(std::make_index_sequence<kSize>{});
};

template <class N>
void destroy(const Object* object) {
  delete static_cast<const N*>(object);
}
template <class N>
Object* clone(const Object* object) {
  return new N(*static_cast<const N*>(object));
}
template <class N>
Object* create() {
  return new N();
}
template <class N>
void verify(Object* object) {
  static_cast<N*>(object)->verify();
}

}  // namespace field_detail

template <class N>
constexpr NodeInfo make_node_info(std::string_view name) {
  NodeInfo info{name,
                N::kKind,
                field_detail::Table<N>::kFields,
                &field_detail::destroy<N>,
                &field_detail::clone<N>,
                &field_detail::create<N>,
                nullptr};
  if constexpr (requires(N& node) { node.verify(); }) info.verify = &field_detail::verify<N>;
  return info;
}

/// Defines a node's table; used as TILEWRIGHT_NODE(tir, For) in tir/node_infos.cc and nowhere else.
#define TILEWRIGHT_NODE_AS(layer, Name, NodeStruct, shown) \
  extern const NodeInfo k##Name##Info;                     \
  constinit const NodeInfo k##Name##Info = make_node_info<layer::NodeStruct>(shown);
#define TILEWRIGHT_NODE(layer, Name) TILEWRIGHT_NODE_AS(layer, Name, Name##Node, #layer "." #Name)

}  // namespace tilewright::ir

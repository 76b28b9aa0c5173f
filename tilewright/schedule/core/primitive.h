// How a schedule primitive is written: a struct of arguments with a field table, a function apply, and one
// line that makes the PrimitiveInfo.  Python method, trace line, JSON and replay come from the table and the
// return type.
//   struct Args { LoopRef loop; static constexpr auto fields() {...} };
//   void apply(State& state, const Args& args);
//   extern constinit const PrimitiveInfo unroll_info = primitive<apply>("unroll", R"(...)");
// apply() checks first and calls State::replace last: what throws leaves the schedule as it was.  It may take
// Args by non-const reference; the trace records the arguments as they are afterwards (a decision that was
// sampled).
#pragma once
#include <span>

#include "tilewright/ir/field.h"

#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

struct ArgInfo {
  std::string_view name, doc, type;  // type as in Python: "Loop", "list[Loop]", "int | None"
  ArgValue default_value;
  bool is_required, is_variadic;  // variadic: Python takes the list as *args
};

struct PrimitiveInfo {
  std::string_view name;
  std::string_view doc;      // what it does; before -> after
  std::string_view returns;  // "None", "Loop", "list[Loop]", "Block", ...
  bool is_query;  // leaves the program as it is: may be left out of a trace when its results are unused
  std::vector<ArgInfo> (*args)();
  /// Runs on values in the order of args(), fills in what was decided, and returns the result.
  ArgValue (*run)(State& state, std::vector<ArgValue>* values);
};

/// All primitives, sorted by name; made from the folder primitives/.
extern const PrimitiveInfo* const k_primitives[];
extern const std::size_t k_primitives_count;
std::span<const PrimitiveInfo* const> all_primitives();
/// The primitive called `name`; raises UserError with the nearest names.
const PrimitiveInfo& find_primitive(std::string_view name);

namespace primitive_detail {
// Conversions; wrong types raise UserError "argument loop must be a loop, but is 3".
void read(const ArgValue& value, std::string_view name, bool* out);
void read(const ArgValue& value, std::string_view name, int64_t* out);
void read(const ArgValue& value, std::string_view name, double* out);
void read(const ArgValue& value, std::string_view name, std::string* out);
void read(const ArgValue& value, std::string_view name, BlockRef* out);
void read(const ArgValue& value, std::string_view name, LoopRef* out);
void read(const ArgValue& value, std::string_view name, PlaceRef* out);
void read(const ArgValue& value, std::string_view name, Factor* out);
void read(const ArgValue& value, std::string_view name, BufferArg* out);
void read(const ArgValue& value, std::string_view name, ObjectRef* out);
const ArgValue::List& list_of(const ArgValue& value, std::string_view name, std::string_view item_type);
[[noreturn]] void wrong_node(const ObjectRef& node, std::string_view name, std::string_view expected);

template <class T>
struct TypeName;
#define TILEWRIGHT_ARG_TYPE(Type, text)                                        \
  template <>                                                                  \
  struct TypeName<Type> {                                                      \
    static constexpr std::string_view kText = text;                            \
    static constexpr std::string_view kList = "list[" text "]";                \
    static constexpr std::string_view kOptional = text " | None";              \
    static constexpr std::string_view kOptionalList = "list[" text "] | None"; \
  };
TILEWRIGHT_ARG_TYPE(bool, "bool")
TILEWRIGHT_ARG_TYPE(int64_t, "int")
TILEWRIGHT_ARG_TYPE(double, "float")
TILEWRIGHT_ARG_TYPE(std::string, "str")
TILEWRIGHT_ARG_TYPE(BlockRef, "Block")
TILEWRIGHT_ARG_TYPE(LoopRef, "Loop")
TILEWRIGHT_ARG_TYPE(ExprRef, "Expr")
TILEWRIGHT_ARG_TYPE(PlaceRef, "Block | Loop")
TILEWRIGHT_ARG_TYPE(Factor, "int | Expr | None")
TILEWRIGHT_ARG_TYPE(BufferArg, "int | str | tuple[str, int] | Buffer")
TILEWRIGHT_ARG_TYPE(ObjectRef, "object")
TILEWRIGHT_ARG_TYPE(IndexMap, "IndexMap")
#undef TILEWRIGHT_ARG_TYPE
template <>
struct TypeName<void> {
  static constexpr std::string_view kText = "None";
};
template <class T>
struct TypeName<std::vector<T>> {
  static constexpr std::string_view kText = TypeName<T>::kList;
  static constexpr std::string_view kOptional = TypeName<T>::kOptionalList;
};
template <class T>
struct TypeName<std::optional<T>> {
  static constexpr std::string_view kText = TypeName<T>::kOptional;
};

template <class N>
void read(const ArgValue& value, std::string_view name, Ref<N>* out) {
  ObjectRef node;
  read(value, name, &node);
  if (!is<N>(node)) wrong_node(node, name, TypeName<Ref<N>>::kText);
  *out = ref_as<N>(node);
}
template <class T>
void read(const ArgValue& value, std::string_view name, std::vector<T>* out) {
  for (const ArgValue& item : list_of(value, name, TypeName<T>::kText)) {
    T element;
    read(item, name, &element);
    out->push_back(std::move(element));
  }
}
template <class T>
void read(const ArgValue& value, std::string_view name, std::optional<T>* out) {
  if (value.is_none()) return out->reset();
  read(value, name, &out->emplace());
}

template <class Result, class State, class Args>
Args args_of(Result (*)(State&, Args&));
template <class Result, class State, class Args>
Result result_of(Result (*)(State&, Args&));

template <class Args>
std::vector<ArgInfo> schema() {
  std::vector<ArgInfo> infos;
  const Args defaults{};
  [[maybe_unused]] auto add = [&](auto f) {
    using T = std::remove_cvref_t<decltype(defaults.*decltype(f)::member)>;
    // Handles and nodes have no default; of other types the struct says which fields must be given.
    bool required = std::is_same_v<T, BlockRef> || std::is_same_v<T, LoopRef> ||
                    std::is_same_v<T, PlaceRef> || std::is_same_v<T, IndexMap> ||
                    std::is_same_v<T, ObjectRef> || std::is_same_v<T, BufferArg>;
    if constexpr (requires { Args::kRequired; }) {
      for (std::string_view name : Args::kRequired) required |= name == f.name;
    }
    constexpr bool variadic = requires { Args::kIsVariadic; };
    ArgValue value = required ? ArgValue() : ArgValue(defaults.*decltype(f)::member);
    infos.push_back(
        {f.name, f.doc, TypeName<T>::kText, std::move(value), required, variadic && infos.empty()});
  };
  std::apply([&](auto... f) { (add(f), ...); }, Args::fields());
  return infos;
}

template <auto kApply>
ArgValue run(State& state, std::vector<ArgValue>* values) {
  using Args = std::remove_const_t<decltype(args_of(kApply))>;
  Args args;
  [[maybe_unused]] size_t n = 0;  // there may be no arguments
  std::apply([&](auto... f) { (read((*values)[n++], f.name, &(args.*decltype(f)::member)), ...); },
             Args::fields());
  ArgValue result;
  if constexpr (std::is_void_v<decltype(result_of(kApply))>)
    kApply(state, args);
  else
    result = kApply(state, args);
  n = 0;
  std::apply([&](auto... f) { (((*values)[n++] = ArgValue(args.*decltype(f)::member)), ...); },
             Args::fields());
  return result;
}

template <auto kApply>
constexpr PrimitiveInfo make(std::string_view name, std::string_view doc, bool is_query) {
  using Args = std::remove_const_t<decltype(args_of(kApply))>;
  return {name, doc, TypeName<decltype(result_of(kApply))>::kText, is_query, &schema<Args>, &run<kApply>};
}
}  // namespace primitive_detail

/// The info of a primitive that changes the program: `Result kApply(State&, [const] Args&)`.
/// Result is void, LoopRef, BlockRef, ExprRef, int64_t, or a vector of one of the handles.
template <auto kApply>
constexpr PrimitiveInfo primitive(std::string_view name, std::string_view doc) {
  return primitive_detail::make<kApply>(name, doc, false);
}
/// The same for one that only looks at the program, or samples.
template <auto kApply>
constexpr PrimitiveInfo query(std::string_view name, std::string_view doc) {
  return primitive_detail::make<kApply>(name, doc, true);
}

}  // namespace tilewright::schedule

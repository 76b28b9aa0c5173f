// The things that a schedule hands to its user: small numbered handles on blocks, loops and sampled integers,
// and the values that a primitive takes and gives in generic form (Python, trace, JSON).
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::schedule {
using namespace tir;

/// Handles are numbers of one schedule; they print as b0, l1, v2.  A copy of a schedule understands the same
/// numbers.
struct BlockRef {
  int32_t id = -1;
  friend bool operator==(BlockRef, BlockRef) = default;
};
struct LoopRef {
  int32_t id = -1;
  friend bool operator==(LoopRef, LoopRef) = default;
};
struct ExprRef {
  int32_t id = -1;
  friend bool operator==(ExprRef, ExprRef) = default;
};

/// Stands for Python's None.
struct None {
  friend bool operator==(None, None) = default;
};

/// An integer, a sampled integer, or None: a factor of split.
using Factor = std::variant<None, int64_t, ExprRef>;
/// Where a primitive takes a block or a loop.
using PlaceRef = std::variant<BlockRef, LoopRef>;

/// Names a buffer among those of a block: by its place in T.reads or T.writes, by its name, by ("read" |
/// "write", place), or itself.
struct BufferArg {
  std::variant<int64_t, std::string, std::pair<std::string, int64_t>, Buffer> which;
};

/// Any argument or result.  Nodes are attribute values (annotations, index maps).
struct ArgValue {
  using List = std::vector<ArgValue>;
  using Data =
      std::variant<None, bool, int64_t, double, std::string, BlockRef, LoopRef, ExprRef, ObjectRef, List>;
  Data data;

  ArgValue();
  ArgValue(const ArgValue&);
  ArgValue(ArgValue&&) noexcept;
  ArgValue& operator=(const ArgValue&);
  ArgValue& operator=(ArgValue&&) noexcept;
  ~ArgValue();
  ArgValue(None) {}
  ArgValue(bool value) : data(value) {}
  ArgValue(int value) : data(int64_t{value}) {}
  ArgValue(int64_t value) : data(value) {}
  ArgValue(double value) : data(value) {}
  ArgValue(const char* value) : data(std::string(value)) {}
  ArgValue(std::string value) : data(std::move(value)) {}
  ArgValue(BlockRef ref) : data(ref) {}
  ArgValue(LoopRef ref) : data(ref) {}
  ArgValue(ExprRef ref) : data(ref) {}
  ArgValue(ObjectRef node) : data(std::move(node)) {}
  template <class N>
  ArgValue(const Ref<N>& node) : data(ObjectRef(node)) {}
  ArgValue(List list) : data(std::move(list)) {}
  ArgValue(std::initializer_list<ArgValue> list) : data(List(list)) {}
  template <class T>
    requires(!std::is_same_v<T, ArgValue>)
  ArgValue(const std::vector<T>& list) : data(List(list.begin(), list.end())) {}
  ArgValue(const Factor& factor) {
    std::visit([&](const auto& value) { data = value; }, factor);
  }
  ArgValue(const PlaceRef& place) {
    std::visit([&](const auto& value) { data = value; }, place);
  }
  ArgValue(const BufferArg& buffer);
  template <class T>
  ArgValue(const std::optional<T>& value) {
    if (value) *this = ArgValue(*value);
  }

  bool is_none() const { return std::holds_alternative<None>(data); }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
  friend bool operator==(const ArgValue& a, const ArgValue& b);  // nodes by identity
  /// As written in Python: None, True, 4, "x", [None, 4], l3.
  std::string str() const;
};

std::string handle_name(BlockRef ref);
std::string handle_name(LoopRef ref);
std::string handle_name(ExprRef ref);

/// Calls `visit` with each handle inside `value`: a BlockRef, LoopRef or ExprRef, by reference.
template <class Value, class Visit>
void for_each_handle(Value& value, Visit&& visit) {
  std::visit(
      [&](auto& data) {
        using T = std::remove_cvref_t<decltype(data)>;
        if constexpr (std::is_same_v<T, BlockRef> || std::is_same_v<T, LoopRef> || std::is_same_v<T, ExprRef>)
          visit(data);
        else if constexpr (std::is_same_v<T, ArgValue::List>) {
          for (auto& item : data) for_each_handle(item, visit);
        }
      },
      value.data);
}

}  // namespace tilewright::schedule

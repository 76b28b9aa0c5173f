// What an expression of a program means while it is parsed: a Python value (number, string, list, ...) or an
// IR node. Python numbers stay numbers until they meet a typed expression, whose dtype they take.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tilewright/ir/expr.h"
#include "tilewright/script/ast.h"

namespace tilewright::script {
using ir::ObjectRef;

struct Value;

/// The names of the program that can be seen at one place, innermost first.
class Scope {
 public:
  virtual ~Scope() = default;
  /// What `name` stands for, or null.
  virtual const Value* find(std::string_view name) const = 0;
  virtual std::vector<std::string_view> names() const = 0;
};

/// The meaning of `text`, an expression whose first name the program does not define (a captured Python
/// value, a helper's call, a comprehension); nothing when that name is unknown outside as well.  `scope`
/// holds the program's own names.
using Resolver =
    std::function<std::optional<Value>(std::string_view text, const Span& span, const Scope& scope)>;

struct Macro;
/// The macro that `name` ("copy", "lib.copy") stands for outside of the program, or null.
using MacroFinder = std::function<Ref<Macro>(std::string_view name)>;

/// @T.macro def name(...): statements that are put where it is called.
struct Macro final : RefCounted {
  Ref<Source> source;  // a text that defines it, perhaps among others
  std::string name;
  bool is_hygienic = true;  // its names are those of where it was written; else those of where it is called
  Resolver resolver;        // of what its text does not define; null: that of the caller
  MacroFinder find_macro;   // as in ParseOptions; null: that of the caller
  std::vector<std::pair<std::string, std::string>> aliases;  // as in ParseOptions
};

struct None {};
struct EllipsisValue {};
/// (a, b) or [a, b]
struct Sequence {
  std::vector<Value> items;
  bool is_tuple = false;
};
/// {a: b}
struct Mapping {
  std::vector<std::pair<Value, Value>> items;
};
/// A[i, j:k] with at least one slice; parts may be null nodes.
struct BufferSlice {
  struct Part {
    ir::PrimExpr start, stop, step;  // an index has no stop
    Place place;
  };
  ObjectRef buffer;
  std::vector<Part> parts;
};
/// lambda x: ..., evaluated where it is used
struct LambdaValue {
  const ast::Expr* expr;
};
/// cls, or the class's own name: its attributes are the functions of the module
struct ModuleReference {};
/// The buffer of T.allocate: its name may also stand for the pointer.
struct AllocatedPointer {
  ObjectRef buffer;
};

struct Value {
  using PyInt = ast::PyInt;
  std::variant<None, EllipsisValue, bool, PyInt, double, std::string, DataType, ObjectRef, Sequence, Mapping,
               BufferSlice, LambdaValue, ModuleReference, AllocatedPointer, Ref<Macro>>
      data;

  Value();
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  Value(bool value) : data(value) {}
  Value(int value) : data(PyInt(value)) {}
  Value(int64_t value) : data(PyInt(value)) {}
  Value(PyInt value) : data(value) {}
  Value(double value) : data(value) {}
  Value(std::string value) : data(std::move(value)) {}
  Value(const char* value) : data(std::string(value)) {}
  Value(DataType value) : data(value) {}
  Value(ObjectRef value) : data(std::move(value)) {}
  template <class T>
  Value(Ref<T> value) : data(ObjectRef(std::move(value))) {}
  Value(Sequence value) : data(std::move(value)) {}
  Value(Mapping value) : data(std::move(value)) {}
  Value(BufferSlice value) : data(std::move(value)) {}
  Value(LambdaValue value) : data(value) {}
  Value(ModuleReference value) : data(value) {}
  Value(AllocatedPointer value) : data(std::move(value)) {}
  Value(EllipsisValue value) : data(value) {}
  Value(Ref<Macro> value) : data(std::move(value)) {}

  template <class T>
  const T* get() const {
    return std::get_if<T>(&data);
  }
  bool is_none() const { return std::holds_alternative<None>(data); }
  /// A Python bool, int or float.
  bool is_number() const { return get<bool>() || get<PyInt>() || get<double>(); }
  /// The node of kind N behind the value, or null.
  template <class N>
  const N* node() const {
    const ObjectRef* object = get<ObjectRef>();
    return object && *object ? object->as<N>() : nullptr;
  }
  template <class N>
  Ref<N> ref() const {
    return Ref<N>(node<N>());
  }
};

/// "the list [..]", "buffer A", "a string": what the value is, for messages.
std::string describe(const Value& value);

}  // namespace tilewright::script

// The value of an expression while a program is parsed: a Python value (number, string, list, ...) or an IR
// node.  Python numbers stay numbers until they meet a typed expression, whose dtype they take.
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

/// The names that are visible at one position of the program, innermost first.
class Scope {
 public:
  virtual ~Scope() = default;
  /// The value of `name`, or null.
  virtual const Value* find(std::string_view name) const = 0;
  virtual std::vector<std::string_view> names() const = 0;
};

/// The value of `text`, an expression whose first name the program does not define (a captured Python value,
/// a call of a helper, a comprehension); nullopt if that name is unknown outside as well.  `scope` holds the
/// program's own names.
using Resolver =
    std::function<std::optional<Value>(std::string_view text, const Span& span, const Scope& scope)>;

struct Macro;
/// The macro called `name` ("copy", "lib.copy") outside of the program, or null.
using MacroFinder = std::function<Ref<Macro>(std::string_view name)>;

/// @T.macro def name(...): a call is replaced by its statements.
struct Macro final : RefCounted {
  Ref<Source> source;  // the text that defines it, possibly with others
  std::string name;
  bool is_hygienic = true;  // uses the names where it was written; otherwise those where it is called
  Resolver resolver;        // for names that its text does not define; null: the caller's resolver
  MacroFinder find_macro;   // as in ParseOptions; null: the caller's
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
/// A[i, j:k] with at least one slice; start, stop and step may be null.
struct BufferSlice {
  struct Part {
    ir::PrimExpr start, stop, step;  // an index has no stop
    Place place;
  };
  ObjectRef buffer;
  std::vector<Part> parts;
};
/// lambda x: ..., which is evaluated where it is used
struct LambdaValue {
  const ast::Expr* expr;
};
/// cls, or the name of the class itself: its attributes are the functions of the module
struct ModuleReference {};
/// The buffer of T.allocate: its name also stands for the pointer.
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
  /// The value as a node of kind N, or null.
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

/// "the list [..]", "buffer A", "a string": a description of the value for messages.
std::string describe(const Value& value);

}  // namespace tilewright::script

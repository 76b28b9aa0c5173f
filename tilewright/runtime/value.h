// Value: the argument and result type of packed functions and the VM.  16 bytes; copying one adds at most a
// reference.
#pragma once
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/runtime/kernel_abi.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright::runtime {

class Value;
class Function;
class Module;
class FunctionObject;
class ModuleObject;

/// The codes appear in executables and in the C API.
enum class ValueKind : uint32_t {
  kNone = 0,
  kInt = 1,
  kBool = 2,
  kFloat = 3,
  kPointer = 4,
  kDtype = 5,
  kDevice = 6,
  // from here on: reference-counted objects
  kString = 7,
  kBytes = 8,
  kShape = 9,
  kTensor = 10,
  kTuple = 11,
  kFunction = 12,
  kModule = 13,
  kObject = 14,
};
/// "a string", "an int"
const char* kind_with_article(ValueKind kind);

/// Base class of reference-counted objects other than tensors; derive from it to pass a type of your own as
/// kObject.
class Object : public RefCounted {
 public:
  virtual ~Object() = default;
  /// The name of the type in messages, e.g. "Timer".
  virtual const char* type_name() const { return "object"; }
};

struct StringObject final : Object {
  explicit StringObject(std::string text) : text(std::move(text)) {}
  const std::string text;
};
struct ShapeObject final : Object {
  explicit ShapeObject(Shape shape) : shape(std::move(shape)) {}
  const Shape shape;
};
struct TupleObject final : Object {
  explicit TupleObject(std::vector<Value> fields);
  ~TupleObject() override;
  const std::vector<Value> fields;
};

class Value {
 public:
  Value() = default;
  Value(std::nullptr_t) {}
  Value(std::same_as<bool> auto value) : kind_(ValueKind::kBool) { payload_.integer = value; }
  Value(std::integral auto value)
    requires(!std::same_as<decltype(value), bool>)
      : kind_(ValueKind::kInt) {
    payload_.integer = static_cast<int64_t>(value);
  }
  Value(std::floating_point auto value) : kind_(ValueKind::kFloat) {
    payload_.number = static_cast<double>(value);
  }
  Value(DataType dtype) : kind_(ValueKind::kDtype) { payload_.dtype = dtype; }
  Value(Device device) : kind_(ValueKind::kDevice) { payload_.device = device; }
  Value(const char* text) : Value(std::string(text)) {}
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(std::string text);
  /// An undefined Tensor, Function or Module becomes none.
  Value(const Tensor& tensor) : Value(ValueKind::kTensor, tensor.object()) {}
  Value(const Function& function);
  Value(const Module& module);
  static Value bytes(std::string bytes);
  static Value shape(Shape shape);
  static Value tuple(std::vector<Value> fields);
  static Value pointer(void* pointer);
  static Value object(Ref<Object> object) { return Value(ValueKind::kObject, object.get()); }

  Value(const Value& other) : kind_(other.kind_), payload_(other.payload_) { retain(); }
  Value(Value&& other) noexcept : kind_(other.kind_), payload_(other.payload_) {
    other.kind_ = ValueKind::kNone;
  }
  Value& operator=(const Value& other) {
    Value copy(other);
    swap(copy);
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    Value moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Value() { drop(); }
  void swap(Value& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(payload_, other.payload_);
  }

  ValueKind kind() const { return kind_; }
  bool is(ValueKind kind) const { return kind_ == kind; }
  bool is_none() const { return kind_ == ValueKind::kNone; }

  // Conversions.  Raise UserError "{what} is {a string}, expected {an int}".
  int64_t as_int(std::string_view what = "value") const;   // also accepts a bool
  bool as_bool(std::string_view what = "value") const;     // also accepts an int
  double as_float(std::string_view what = "value") const;  // also accepts an int or bool
  void* as_pointer(std::string_view what = "value") const;
  DataType as_dtype(std::string_view what = "value") const;  // also parses a string
  Device as_device(std::string_view what = "value") const;   // also parses a string
  const std::string& as_string(std::string_view what = "value") const;
  const std::string& as_bytes(std::string_view what = "value") const;
  const Shape& as_shape(std::string_view what = "value") const;
  Tensor as_tensor(std::string_view what = "value") const;
  const std::vector<Value>& as_tuple(std::string_view what = "value") const;
  Function as_function(std::string_view what = "value") const;
  Module as_module(std::string_view what = "value") const;

  /// The tensor, without adding a reference; null if the value is not a tensor.
  const TensorObject* tensor_object() const {
    return kind_ == ValueKind::kTensor ? static_cast<const TensorObject*>(payload_.object) : nullptr;
  }
  int64_t int_payload() const { return payload_.integer; }  // of an int or bool
  double float_payload() const { return payload_.number; }  // of a float

  /// A description for messages: "float32[5, 7]", "tuple(int, string)", "none".
  std::string type_str() const;

 private:
  Value(ValueKind kind, const RefCounted* object) : kind_(object ? kind : ValueKind::kNone) {
    payload_.object = object;
    retain();
  }
  bool is_counted() const { return kind_ >= ValueKind::kString; }
  void retain() const {
    if (is_counted()) payload_.object->refs.fetch_add(1, std::memory_order_relaxed);
  }
  void drop() {
    if (is_counted() && payload_.object->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }
  void destroy();
  const Object* expect(ValueKind kind, std::string_view what) const;
  [[noreturn]] void mismatch(ValueKind expected, std::string_view what) const;

  union Payload {
    constexpr Payload() : integer(0) {}  // GCC 12 requires it
    int64_t integer;
    double number;
    void* pointer;
    DataType dtype;
    Device device;
    const RefCounted* object;
  };
  ValueKind kind_ = ValueKind::kNone;
  Payload payload_;
};
static_assert(sizeof(Value) == 16);

/// `value` as kernels receive it.  It borrows, so `value` must stay alive.  Tensors become DLTensor pointers,
/// strings raw strings.  Raises UserError for kinds that the convention cannot carry (shape, tuple, function,
/// module, object).
TilewrightAny to_any(const Value& value);
/// A copy of a value that a kernel or another host passed.  A DLTensor becomes a view that is valid as long
/// as the caller keeps the data; objects of tvm-ffi other than tensors, strings and shapes raise Unsupported.
Value from_any(const TilewrightAny& any);

}  // namespace tilewright::runtime

#include "tilewright/runtime/value.h"

#include <fmt/format.h>

#include "tilewright/runtime/function.h"
#include "tilewright/runtime/module.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

const char* const kArticles[] = {"none",     "an int",   "a bool",     "a float",  "a pointer",
                                 "a dtype",  "a device", "a string",   "a bytes",  "a shape",
                                 "a tensor", "a tuple",  "a function", "a module", "an object"};

}  // namespace

const char* kind_with_article(ValueKind kind) { return kArticles[static_cast<uint32_t>(kind)]; }

TupleObject::TupleObject(std::vector<Value> fields) : fields(std::move(fields)) {}
TupleObject::~TupleObject() = default;

Value::Value(std::string text) : Value(ValueKind::kString, new StringObject(std::move(text))) {}
Value::Value(const Function& function) : Value(ValueKind::kFunction, function.object()) {}
Value::Value(const Module& module) : Value(ValueKind::kModule, module.object()) {}
Value Value::bytes(std::string bytes) { return Value(ValueKind::kBytes, new StringObject(std::move(bytes))); }
Value Value::shape(Shape shape) { return Value(ValueKind::kShape, new ShapeObject(std::move(shape))); }
Value Value::tuple(std::vector<Value> fields) {
  return Value(ValueKind::kTuple, new TupleObject(std::move(fields)));
}

Value Value::pointer(void* pointer) {
  Value value;
  value.kind_ = ValueKind::kPointer;
  value.payload_.pointer = pointer;
  return value;
}

void Value::destroy() {
  if (kind_ == ValueKind::kTensor)
    delete static_cast<const TensorObject*>(payload_.object);
  else
    delete static_cast<const Object*>(payload_.object);
}

void Value::mismatch(ValueKind expected, std::string_view what) const {
  const std::string actual = is(ValueKind::kTensor) ? type_str() : kind_with_article(kind_);
  throw UserError("{} is {}, expected {}", what, actual, kind_with_article(expected));
}

const Object* Value::expect(ValueKind kind, std::string_view what) const {
  if (kind_ != kind) mismatch(kind, what);
  return static_cast<const Object*>(payload_.object);
}

int64_t Value::as_int(std::string_view what) const {
  if (!is(ValueKind::kInt) && !is(ValueKind::kBool)) mismatch(ValueKind::kInt, what);
  return payload_.integer;
}

bool Value::as_bool(std::string_view what) const {
  if (!is(ValueKind::kInt) && !is(ValueKind::kBool)) mismatch(ValueKind::kBool, what);
  return payload_.integer != 0;
}

double Value::as_float(std::string_view what) const {
  if (is(ValueKind::kFloat)) return payload_.number;
  if (!is(ValueKind::kInt) && !is(ValueKind::kBool)) mismatch(ValueKind::kFloat, what);
  return static_cast<double>(payload_.integer);
}

void* Value::as_pointer(std::string_view what) const {
  if (is_none()) return nullptr;
  if (!is(ValueKind::kPointer)) mismatch(ValueKind::kPointer, what);
  return payload_.pointer;
}

DataType Value::as_dtype(std::string_view what) const {
  if (is(ValueKind::kString)) return DataType::parse(as_string());
  if (!is(ValueKind::kDtype)) mismatch(ValueKind::kDtype, what);
  return payload_.dtype;
}

Device Value::as_device(std::string_view what) const {
  if (is(ValueKind::kString)) return Device::parse(as_string());
  if (!is(ValueKind::kDevice)) mismatch(ValueKind::kDevice, what);
  return payload_.device;
}

const std::string& Value::as_string(std::string_view what) const {
  return static_cast<const StringObject*>(expect(ValueKind::kString, what))->text;
}

const std::string& Value::as_bytes(std::string_view what) const {
  return static_cast<const StringObject*>(expect(ValueKind::kBytes, what))->text;
}

const Shape& Value::as_shape(std::string_view what) const {
  return static_cast<const ShapeObject*>(expect(ValueKind::kShape, what))->shape;
}

Tensor Value::as_tensor(std::string_view what) const {
  if (!is(ValueKind::kTensor)) mismatch(ValueKind::kTensor, what);
  return Tensor(Ref<TensorObject>(tensor_object()));
}

const std::vector<Value>& Value::as_tuple(std::string_view what) const {
  return static_cast<const TupleObject*>(expect(ValueKind::kTuple, what))->fields;
}

Function Value::as_function(std::string_view what) const {
  return Function(
      Ref<FunctionObject>(static_cast<const FunctionObject*>(expect(ValueKind::kFunction, what))));
}

Module Value::as_module(std::string_view what) const {
  return Module(Ref<ModuleObject>(static_cast<const ModuleObject*>(expect(ValueKind::kModule, what))));
}

std::string Value::type_str() const {
  if (is_none()) return "none";
  if (is(ValueKind::kTensor)) return runtime::type_str(as_tensor());
  if (is(ValueKind::kShape)) return "shape" + shape_str(as_shape());
  if (is(ValueKind::kObject)) return static_cast<const Object*>(payload_.object)->type_name();
  const std::string_view article = kind_with_article(kind_);
  const std::string name(article.substr(article.find(' ') + 1));
  if (!is(ValueKind::kTuple)) return name;
  std::vector<std::string> fields;
  for (const Value& field : as_tuple()) fields.push_back(field.type_str());
  return fmt::format("tuple({})", fmt::join(fields, ", "));
}

TilewrightAny to_any(const Value& value) {
  TilewrightAny any{};
  switch (value.kind()) {
    case ValueKind::kNone: return any;
    case ValueKind::kInt:
    case ValueKind::kBool:
      any.type_index = value.is(ValueKind::kInt) ? kTilewrightInt : kTilewrightBool;
      any.v_int64 = value.int_payload();
      return any;
    case ValueKind::kFloat:
      any.type_index = kTilewrightFloat;
      any.v_float64 = value.float_payload();
      return any;
    case ValueKind::kPointer:
      any.type_index = kTilewrightPointer;
      any.v_ptr = value.as_pointer();
      return any;
    case ValueKind::kDtype:
      any.type_index = kTilewrightDtype;
      any.v_dtype = to_dlpack(value.as_dtype());
      return any;
    case ValueKind::kDevice:
      any.type_index = kTilewrightDevice;
      any.v_device = value.as_device().to_dlpack();
      return any;
    case ValueKind::kString:
      any.type_index = kTilewrightRawStr;
      any.v_str = value.as_string().c_str();
      return any;
    case ValueKind::kTensor:
      any.type_index = kTilewrightDLTensor;
      any.v_ptr = const_cast<DLTensor*>(&value.tensor_object()->dl);
      return any;
    default: throw UserError("{} cannot be passed to a compiled kernel", kind_with_article(value.kind()));
  }
}

namespace {

Tensor borrow(const DLTensor* dl) {
  // data and description belong to the caller and are valid during the caller's call, so only the struct is
  // deleted
  auto* managed = new DLManagedTensor{*dl, nullptr, [](DLManagedTensor* self) { delete self; }};
  return Tensor::from_dlpack(managed);
}

const void* behind_header(const TilewrightAny& any) {
  return static_cast<const char*>(any.v_ptr) + TILEWRIGHT_OBJECT_HEADER_BYTES;
}

Value from_object(const TilewrightAny& any) {
  switch (any.type_index) {
    case kTilewrightStr: {
      const auto* array = static_cast<const TilewrightByteArray*>(behind_header(any));
      return Value(std::string_view(array->data, array->size));
    }
    case kTilewrightShape: {
      struct Cell {
        const int64_t* data;
        size_t size;
      };
      const auto* cell = static_cast<const Cell*>(behind_header(any));
      return Value::shape(Shape(cell->data, cell->data + cell->size));
    }
    case kTilewrightTensor: return borrow(static_cast<const DLTensor*>(behind_header(any)));
    default:
      throw Unsupported("an object of tvm-ffi type {} cannot be passed to a packed function", any.type_index);
  }
}

}  // namespace

Value from_any(const TilewrightAny& any) {
  switch (any.type_index) {
    case kTilewrightNone: return Value();
    case kTilewrightInt: return Value(any.v_int64);
    case kTilewrightBool: return Value(any.v_int64 != 0);
    case kTilewrightFloat: return Value(any.v_float64);
    case kTilewrightPointer: return Value::pointer(any.v_ptr);
    case kTilewrightDtype: return Value(from_dlpack(any.v_dtype));
    case kTilewrightDevice: return Value(Device::from_dlpack(any.v_device));
    case kTilewrightDLTensor: return borrow(static_cast<const DLTensor*>(any.v_ptr));
    case kTilewrightRawStr: return Value(any.v_str);
    case kTilewrightSmallStr: return Value(std::string_view(any.v_bytes, any.padding));
    case kTilewrightSmallBytes: return Value::bytes(std::string(any.v_bytes, any.padding));
    case kTilewrightBytes: {
      const auto* array = static_cast<const TilewrightByteArray*>(any.v_ptr);
      return Value::bytes(std::string(array->data, array->size));
    }
    default: return from_object(any);
  }
}

}  // namespace tilewright::runtime

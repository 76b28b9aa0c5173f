// Packed functions: anything callable with Values, from C++, Python or compiled code; and the global registry
// of them.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tilewright/runtime/kernel_abi.h"
#include "tilewright/runtime/kernel_params.h"
#include "tilewright/runtime/value.h"

namespace tilewright::runtime {

using Args = std::span<const Value>;

/// A callable.  Function::packed, typed and from_kernel create subclasses; a layer above may define its own.
class FunctionObject : public Object {
 public:
  explicit FunctionObject(std::string name) : name(std::move(name)) {}
  /// Calls it; may be called from several threads at once.  Raises what the callee raises.
  virtual Value call(Args args) const = 0;
  const char* type_name() const override { return "function"; }

  const std::string name;  // for messages
  // If not null, the code that `call` calls in the end, with `self`.  Callers may call it directly if they
  // pass no read-only tensor where `params` says that one is written, and raise errors with
  // raise_kernel_error.
  TilewrightKernel kernel = nullptr;
  void* self = nullptr;
  KernelParams params;
};

/// Raises the current error after a call of `function.kernel` that returned -1; an error about an argument
/// gets the signature of the function as help.
[[noreturn]] void raise_kernel_error(const FunctionObject& function);

class Function {
 public:
  Function() = default;
  explicit Function(Ref<FunctionObject> object) : object_(std::move(object)) {}

  /// body: Value(Args), which gets the arguments unchanged.
  template <std::invocable<Args> Body>
  static Function packed(std::string name, Body body);
  /// body: takes and returns C++ types (int64_t, double, bool, std::string, DataType, Device, Shape, Tensor,
  /// Function, Module, Value; returns void for none).  A call with other types or another number of arguments
  /// raises a UserError.
  template <class Body>
  static Function typed(std::string name, Body body);
  /// A function over compiled code; `owner` keeps the code loaded.
  static Function from_kernel(std::string name, TilewrightKernel kernel, void* self,
                              std::shared_ptr<const void> owner, KernelParams params = {});

  explicit operator bool() const { return static_cast<bool>(object_); }
  const FunctionObject* object() const { return object_.get(); }
  const std::string& name() const { return object_->name; }
  Value call(Args args) const { return object_->call(args); }
  template <class... Values>
  Value operator()(const Values&... values) const {
    if constexpr (sizeof...(Values) == 0) {
      return object_->call({});
    } else {
      const Value args[] = {Value(values)...};
      return object_->call(args);
    }
  }
  friend bool operator==(const Function& a, const Function& b) {
    return a.object_ == b.object_;
  }  // the same object

 private:
  Ref<FunctionObject> object_;
};

/// Adds `function` to the registry of the process.  Raises UserError if the name is taken and `override` is
/// false, if the name is empty, or if `function` is undefined.
void register_function(std::string_view name, Function function, bool override = false);
/// The registered function; undefined if there is none.
Function find_function(std::string_view name);
/// The same, but raises UserError with similar names if there is none.
Function get_function(std::string_view name);
/// Removes a function.  Returns false if there was none of that name.
bool remove_function(std::string_view name);
/// All names, sorted.
std::vector<std::string> list_functions();
/// A counter that changes whenever the registry changes; earlier look-ups may then be outdated.
uint64_t registry_generation();

namespace function_detail {

template <class T>
struct Convert;
#define TILEWRIGHT_CONVERT(Type, method)                                                                 \
  template <>                                                                                            \
  struct Convert<Type> {                                                                                 \
    static decltype(auto) from(const Value& value, std::string_view what) { return value.method(what); } \
  }
TILEWRIGHT_CONVERT(int64_t, as_int);
TILEWRIGHT_CONVERT(bool, as_bool);
TILEWRIGHT_CONVERT(double, as_float);
TILEWRIGHT_CONVERT(std::string, as_string);
TILEWRIGHT_CONVERT(DataType, as_dtype);
TILEWRIGHT_CONVERT(Device, as_device);
TILEWRIGHT_CONVERT(Shape, as_shape);
TILEWRIGHT_CONVERT(Tensor, as_tensor);
TILEWRIGHT_CONVERT(std::vector<Value>, as_tuple);
TILEWRIGHT_CONVERT(Function, as_function);
#undef TILEWRIGHT_CONVERT
template <>
struct Convert<int> {
  static int from(const Value& value, std::string_view what) { return static_cast<int>(value.as_int(what)); }
};
template <>
struct Convert<Value> {
  static const Value& from(const Value& value, std::string_view) { return value; }
};

template <class T>
struct Signature : Signature<decltype(&T::operator())> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> {
  using Result = R;
  using Params = std::tuple<std::remove_cvref_t<A>...>;
};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (C::*)(A...) const> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = R;
  using Params = std::tuple<std::remove_cvref_t<A>...>;
};

/// "f: argument 2"; a function of its own to keep it out of the fast path.
std::string describe_argument(const std::string& function, size_t position);
[[noreturn]] void wrong_count(const std::string& function, size_t got, size_t expected);

template <class T>
decltype(auto) convert(const std::string& function, Args args, size_t position) {
  try {
    return Convert<T>::from(args[position], "value");
  } catch (...) {
    // converts again to get the message that names the argument
    return Convert<T>::from(args[position], describe_argument(function, position));
  }
}

template <class Body>
class PackedFunction final : public FunctionObject {
 public:
  PackedFunction(std::string name, Body body) : FunctionObject(std::move(name)), body_(std::move(body)) {}
  Value call(Args args) const override { return body_(args); }

 private:
  mutable Body body_;
};

}  // namespace function_detail

template <std::invocable<Args> Body>
Function Function::packed(std::string name, Body body) {
  return Function(
      Ref<FunctionObject>(new function_detail::PackedFunction<Body>(std::move(name), std::move(body))));
}

template <class Body>
Function Function::typed(std::string name, Body body) {
  using Signature = function_detail::Signature<Body>;
  using Params = typename Signature::Params;
  constexpr size_t kCount = std::tuple_size_v<Params>;
  auto call = [name, body = std::move(body)](Args args) mutable -> Value {
    if (args.size() != kCount) function_detail::wrong_count(name, args.size(), kCount);
    return [&]<size_t... kPosition>(std::index_sequence<kPosition...>) -> Value {
      if constexpr (std::is_void_v<typename Signature::Result>) {
        body(function_detail::convert<std::tuple_element_t<kPosition, Params>>(name, args, kPosition)...);
        return Value();
      } else if constexpr (std::is_same_v<typename Signature::Result, Shape>) {
        return Value::shape(body(
            function_detail::convert<std::tuple_element_t<kPosition, Params>>(name, args, kPosition)...));
      } else {
        return Value(body(
            function_detail::convert<std::tuple_element_t<kPosition, Params>>(name, args, kPosition)...));
      }
    }(std::make_index_sequence<kCount>());
  };
  return packed(name, std::move(call));
}

}  // namespace tilewright::runtime

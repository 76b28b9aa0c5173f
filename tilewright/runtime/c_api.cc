// The C interface (tilewright/c_api.h): handles around Tensor and Module; exceptions become messages.
#include "tilewright/c_api.h"

#include <algorithm>
#include <memory>
#include <new>
#include <span>

#include "tilewright/runtime/error_state.h"
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/runtime/vm/virtual_machine.h"
#include "tilewright/support/error.h"

using namespace tilewright;
using namespace tilewright::runtime;

struct TilewrightTensor {
  Tensor tensor;
};
struct TilewrightModule {
  Module library;
  vm::VirtualMachine machine;  // undefined if the library carries no model
  std::vector<std::string> names;
};

namespace {

struct LastError {
  std::string text;
  int32_t kind = kTilewrightNoError;
};
thread_local LastError last_error;  // per thread, as c_api.h promises

int32_t kind_code(Error::Kind kind) {
  switch (kind) {
    case Error::Kind::kUser: return kTilewrightUserError;
    case Error::Kind::kUnsupported: return kTilewrightUnsupported;
    default: return kTilewrightInternalError;
  }
}

void remember(const char* text, int32_t kind) noexcept {
  last_error.kind = kind;
  try {
    last_error.text = text;
  } catch (...) {
    last_error.text.clear();
  }
}

// Runs `action`; returns 0, or -1 after storing a message if it raised.
template <class Action>
int32_t guarded(Action action) noexcept {
  try {
    action();
    return 0;
  } catch (const Error& error) {
    remember(error.what(), kind_code(error.kind()));
  } catch (const std::bad_alloc&) {
    remember("error: out of memory", kTilewrightUserError);
  } catch (const std::exception& error) {
    remember(error.what(), kTilewrightInternalError);
  } catch (...) {
    remember("internal error: something unknown was raised", kTilewrightInternalError);
  }
  return -1;
}

template <class T>
T* required(T* pointer, const char* what) {
  if (!pointer) throw UserError("{} is null", what);
  return pointer;
}

ShapeView shape_view(const int64_t* shape, int32_t ndim) {
  if (ndim < 0 || ndim > 64) throw UserError("ndim is {}, expected 0 to 64", ndim);
  if (ndim > 0) required(shape, "shape");
  return {shape, static_cast<size_t>(ndim)};
}

DataType checked_dtype(DLDataType dtype) {
  if (dtype.bits == 0 || dtype.lanes == 0)
    throw UserError("invalid dtype of {} bits and {} lanes", dtype.bits, dtype.lanes);
  return from_dlpack(dtype);
}

const vm::BytecodeFunction& find_function(const TilewrightModule* module, const char* name) {
  required(name, "function");
  if (!required(module, "module")->machine)
    throw UserError("{} has functions, but no model", module->library.name());
  for (const vm::BytecodeFunction& function : module->machine.executable().functions) {
    if (function.is_public && function.name == name) return function;
  }
  module->machine.get_function(name);  // raises
  throw InternalError("function \"{}\" was not found", name);
}

const TilewrightDescription describe(const std::vector<vm::Description>& values, int64_t index,
                                     const char* what) {
  if (index < 0 || index >= static_cast<int64_t>(values.size()))
    throw UserError("{} {} does not exist: there are {}", what, index, values.size());
  const vm::Description& value = values[static_cast<size_t>(index)];
  return {value.name.c_str(), value.type.c_str()};
}

// Calls the lender's `release` when its elements are no longer used.
struct Lender {
  void (*release)(void*) = nullptr;
  void* context = nullptr;
  ~Lender() {
    if (release) release(context);
  }
};

// `args` as the function takes them: a parameter that is a tensor of strings takes two tensors.
std::vector<Value> arguments(const vm::BytecodeFunction& function, std::span<TilewrightTensor* const> args) {
  std::vector<Value> values;
  for (size_t n = 0; n < args.size(); ++n) {
    Value value = required(args[n], "an argument")->tensor;
    const size_t place = values.size();
    const bool is_pair =
        place < function.parameters.size() && function.parameters[place].type.starts_with("string");
    if (is_pair && n + 1 == args.size())
      throw UserError("{}: argument \"{}\" is strings, which are two tensors", function.name,
                      function.parameters[place].name)
          .help("pass the bytes (uint8), then the number of bytes up to the end of each string (int64)");
    if (is_pair) value = Value::tuple({value, required(args[++n], "an argument")->tensor});
    values.push_back(std::move(value));
  }
  return values;
}

void flatten(const Value& value, std::vector<Tensor>& tensors) {
  if (value.is(ValueKind::kTuple)) {
    for (const Value& field : value.as_tuple()) flatten(field, tensors);
  } else {
    tensors.push_back(value.as_tensor(fmt::format("result {}", tensors.size())));
  }
}

}  // namespace

extern "C" {

const char* tilewright_version(void) { return TILEWRIGHT_VERSION; }
uint32_t tilewright_c_api_version(void) { return TILEWRIGHT_C_API_VERSION; }
const char* tilewright_last_error(void) { return last_error.text.c_str(); }
int32_t tilewright_last_error_kind(void) { return last_error.kind; }

int32_t tilewright_num_devices(int32_t device_type) {
  int count = 0;
  guarded([&] { count = device_interface(Device{device_type, 0}).num_devices(); });
  return count;
}

int32_t tilewright_num_threads(int32_t* num_threads) {
  return guarded([&] { *required(num_threads, "num_threads") = runtime::num_threads(); });
}

int32_t tilewright_set_num_threads(int32_t num_threads) {
  return guarded([&] { set_num_threads(num_threads); });
}

int32_t tilewright_tensor_create(const int64_t* shape, int32_t ndim, DLDataType dtype,
                                 TilewrightTensor** tensor) {
  return guarded([&] {
    required(tensor, "tensor");
    *tensor = new TilewrightTensor{Tensor::empty(shape_view(shape, ndim), checked_dtype(dtype))};
  });
}

int32_t tilewright_tensor_view(void* data, const int64_t* shape, int32_t ndim, DLDataType dtype,
                               void (*release)(void* context), void* context, TilewrightTensor** tensor) {
  return guarded([&] {
    required(tensor, "tensor");
    const ShapeView dims = shape_view(shape, ndim);
    if (checked_num_bytes(dims, checked_dtype(dtype)) > 0) required(data, "data");
    auto lender = std::make_shared<Lender>();
    auto handle = std::make_unique<TilewrightTensor>(Tensor::view_of(data, dims, from_dlpack(dtype), lender));
    lender->context = context;
    lender->release = release;  // nothing can fail from here on: until now the elements were the caller's
    *tensor = handle.release();
  });
}

int32_t tilewright_tensor_from_dlpack(DLManagedTensorVersioned* managed, TilewrightTensor** tensor) {
  return guarded([&] {
    Tensor imported = Tensor::from_dlpack(managed);
    *required(tensor, "tensor") = new TilewrightTensor{std::move(imported)};
  });
}

int32_t tilewright_tensor_from_dlpack_unversioned(DLManagedTensor* managed, TilewrightTensor** tensor) {
  return guarded([&] {
    Tensor imported = Tensor::from_dlpack(managed);
    *required(tensor, "tensor") = new TilewrightTensor{std::move(imported)};
  });
}

int32_t tilewright_tensor_to_dlpack(const TilewrightTensor* tensor, DLManagedTensorVersioned** managed) {
  return guarded([&] {
    required(managed, "managed");
    *managed = required(tensor, "tensor")->tensor.to_dlpack_versioned();
  });
}

const DLTensor* tilewright_tensor_info(const TilewrightTensor* tensor) {
  return tensor ? &tensor->tensor.dl() : nullptr;
}

int32_t tilewright_tensor_read(const TilewrightTensor* tensor, void* data, uint64_t num_bytes) {
  return guarded([&] {
    const Tensor compact = required(tensor, "tensor")->tensor.compact();
    if (num_bytes != static_cast<uint64_t>(compact.num_bytes())) {
      throw UserError("{} takes {} bytes, got {}", type_str(compact), compact.num_bytes(), num_bytes);
    }
    if (num_bytes > 0)
      std::copy_n(compact.data_as<char>(), num_bytes, static_cast<char*>(required(data, "data")));
  });
}

void tilewright_tensor_free(TilewrightTensor* tensor) { delete tensor; }

int32_t tilewright_module_load(const char* path, TilewrightModule** module) {
  return guarded([&] {
    required(module, "module");
    auto handle = std::make_unique<TilewrightModule>();
    handle->library = Module::load(required(path, "path"));
    if (!handle->library.blob().empty()) handle->machine = vm::VirtualMachine::from_module(handle->library);
    handle->names =
        handle->machine ? handle->machine.module().object()->names() : handle->library.list_functions();
    *module = handle.release();
  });
}

void tilewright_module_free(TilewrightModule* module) { delete module; }

int32_t tilewright_module_run(const TilewrightModule* module, const char* function,
                              TilewrightTensor* const* args, int64_t num_args, TilewrightTensor** results,
                              int64_t capacity, int64_t* num_results) {
  return guarded([&] {
    const vm::BytecodeFunction& found = find_function(module, function);
    if (num_args > 0) required(args, "args");
    const std::vector<Value> values =
        arguments(found, {args, static_cast<size_t>(std::max<int64_t>(num_args, 0))});
    std::vector<Tensor> tensors;
    flatten(module->machine.invoke(found.name, values), tensors);
    const auto count = static_cast<int64_t>(tensors.size());
    if (count > capacity)
      throw UserError("{} returns {} tensors, there is room for {}", found.name, count, capacity);
    if (count > 0) required(results, "results");
    std::vector<std::unique_ptr<TilewrightTensor>> handles;
    for (Tensor& tensor : tensors) handles.push_back(std::make_unique<TilewrightTensor>(std::move(tensor)));
    for (int64_t n = 0; n < count; ++n) results[n] = handles[static_cast<size_t>(n)].release();
    if (num_results) *num_results = count;
  });
}

int32_t tilewright_module_call(const TilewrightModule* module, const char* function,
                               const TilewrightAny* args, int32_t num_args, TilewrightAny* result) {
  return guarded([&] {
    const Function found = required(module, "module")->library.get_function(required(function, "function"));
    if (num_args > 0) required(args, "args");
    TilewrightAny ignored{};
    TilewrightAny* returned = result ? result : &ignored;
    *returned = TilewrightAny{};
    if (found.object()->kernel(found.object()->self, args, num_args, returned) != 0)
      raise_kernel_error(*found.object());
  });
}

int32_t tilewright_module_num_functions(const TilewrightModule* module, int64_t* count) {
  return guarded(
      [&] { *required(count, "count") = static_cast<int64_t>(required(module, "module")->names.size()); });
}

int32_t tilewright_module_function_name(const TilewrightModule* module, int64_t index, const char** name) {
  return guarded([&] {
    const std::vector<std::string>& names = required(module, "module")->names;
    if (index < 0 || index >= static_cast<int64_t>(names.size()))
      throw UserError("function {} does not exist: there are {}", index, names.size());
    *required(name, "name") = names[static_cast<size_t>(index)].c_str();
  });
}

int32_t tilewright_module_num_parameters(const TilewrightModule* module, const char* function,
                                         int64_t* count) {
  return guarded([&] {
    *required(count, "count") = static_cast<int64_t>(find_function(module, function).parameters.size());
  });
}

int32_t tilewright_module_parameter(const TilewrightModule* module, const char* function, int64_t index,
                                    TilewrightDescription* description) {
  return guarded([&] {
    *required(description, "description") =
        describe(find_function(module, function).parameters, index, "parameter");
  });
}

int32_t tilewright_module_num_results(const TilewrightModule* module, const char* function, int64_t* count) {
  return guarded([&] {
    *required(count, "count") = static_cast<int64_t>(find_function(module, function).results.size());
  });
}

int32_t tilewright_module_result(const TilewrightModule* module, const char* function, int64_t index,
                                 TilewrightDescription* description) {
  return guarded([&] {
    *required(description, "description") =
        describe(find_function(module, function).results, index, "result");
  });
}

int32_t tilewright_register_function(const char* name, TilewrightKernel kernel, void* self,
                                     int32_t override) {
  return guarded([&] {
    required(name, "name");
    required(reinterpret_cast<void*>(kernel), "kernel");
    register_function(name, Function::from_kernel(name, kernel, self, nullptr), override != 0);
  });
}

void tilewright_set_error(const char* kind, const char* message) { set_current_error(kind, message); }

}  // extern "C"

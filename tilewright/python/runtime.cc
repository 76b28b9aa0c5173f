// Bindings for tensors; those of devices are in device.cc.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tilewright/python/bindings.h"
#include "tilewright/python/convert.h"
#include "tilewright/python/locks.h"
#include "tilewright/python/runtime_values.h"
#include "tilewright/python/values.h"
#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/runtime/packed_elements.h"
#include "tilewright/runtime/tensor_copy.h"
#include "tilewright/support/error.h"
#include "tilewright/support/small_float.h"

namespace tilewright::python {
namespace {

using runtime::Tensor;

constexpr const char* kCapsule = "dltensor";
constexpr const char* kVersionedCapsule = "dltensor_versioned";

// A capsule owns its tensor until a consumer renames it to "used_...".
void delete_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kCapsule)) {
    auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kCapsule));
    managed->deleter(managed);
  } else if (PyCapsule_IsValid(capsule, kVersionedCapsule)) {
    auto* managed = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, kVersionedCapsule));
    managed->deleter(managed);
  }
}

// The elements on `device`; other threads run Python meanwhile.
Tensor to_device(const Tensor& tensor, runtime::Device device) {
  if (tensor.device() == device) return tensor;
  const Unlocked unlocked;
  return tensor.to(device);
}

// The tensor on the device that the one who takes it asks for.
Tensor on_wanted_device(const Tensor& tensor, const nb::kwargs& options) {
  if (!options.contains("dl_device") || options["dl_device"].is_none()) return tensor;
  const auto [type, id] = nb::cast<std::pair<int32_t, int32_t>>(options["dl_device"]);
  const runtime::Device wanted{type, id};
  const bool may_copy = !options.contains("copy") || !options["copy"].is(nb::handle(Py_False));
  if (wanted != tensor.device() && !may_copy)
    throw nb::buffer_error("the tensor is on another device, and copy=False forbids a copy");
  return to_device(tensor, wanted);
}

// Makes the stream of who takes a tensor wait for ours. The numbers are those of the standard: 1 and 2 are streams
// that CUDA has names for, -1 and None ask for nothing.
void wait_for_consumer(const Tensor& tensor, nb::handle stream) {
  if (stream.is_none() || tensor.device().is_cpu()) return;
  const auto number = nb::cast<int64_t>(stream);
  if (number == -1) return;
  const runtime::Accelerator& device = runtime::accelerator(tensor.device(), "__dlpack__");
  if (number <= 0)
    throw UserError("__dlpack__: {} is no stream", number)
        .help("1 is the default stream of CUDA, -1 asks for none");
  void* const current = device.current_stream(tensor.device().id);
  void* const waiting = number == 1 ? nullptr : reinterpret_cast<void*>(number);
  if (waiting != current) device.wait_for_stream(tensor.device().id, waiting, current);
}

// `options`: the arguments of __dlpack__ in the Python array API standard (2024.12).
nb::object dlpack_capsule(const Tensor& lent, nb::kwargs options) {
  if (options.contains("stream")) wait_for_consumer(lent, options["stream"]);
  const Tensor there = on_wanted_device(lent, options);
  const bool is_copied = there == lent && options.contains("copy") && options["copy"].is(nb::handle(Py_True));
  const Tensor tensor = is_copied ? lent.copy() : there;
  if (tensor.device().type == kDLOpenCL)
    throw nb::buffer_error(
        "a tensor of OpenCL has no address that other libraries can use: copy it, x.to(\"cpu\")");
  const bool versioned = options.contains("max_version") && !options["max_version"].is_none() &&
                         nb::cast<int>(options["max_version"][0]) >= 1;
  if (versioned)
    return nb::steal(PyCapsule_New(tensor.to_dlpack_versioned(), kVersionedCapsule, delete_capsule));
  return nb::steal(PyCapsule_New(tensor.to_dlpack(), kCapsule, delete_capsule));
}

Tensor tensor_from_capsule(nb::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), kVersionedCapsule)) {
    auto* managed =
        static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), kVersionedCapsule));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    return Tensor::from_dlpack(managed);
  }
  if (!PyCapsule_IsValid(capsule.ptr(), kCapsule))
    throw UserError("the object is not a DLPack capsule, or it was used before");
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), kCapsule));
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  return Tensor::from_dlpack(managed);
}

// The objects for the call value.__dlpack__(max_version=(1, 0)), created once: small networks take only
// microseconds.
struct LendingCall {
  PyObject* method = PyUnicode_InternFromString("__dlpack__");
  PyObject* keywords = PyTuple_Pack(1, PyUnicode_InternFromString("max_version"));
  PyObject* version = Py_BuildValue("(ii)", 1, 0);
};
const LendingCall& lending_call() {
  static const LendingCall call;
  return call;
}

nb::object capsule_of(nb::handle value) {
  const LendingCall& call = lending_call();
  PyObject* const args[] = {value.ptr(), call.version};
  PyObject* capsule = PyObject_VectorcallMethod(call.method, args, 1, call.keywords);
  if (!capsule) throw nb::python_error();
  return nb::steal(capsule);
}

// A tensor on another device than the CPU is asked for again, with the stream that is to wait for its elements;
// `options` are what it was asked with before.
Tensor on_our_stream(nb::handle value, const Tensor& lent, nb::dict options) {
  const runtime::Device device = lent.device();
  if (device.type != kDLCUDA) return lent;
  void* const current = runtime::accelerator(device, "from_dlpack").current_stream(device.id);
  options["stream"] = current ? reinterpret_cast<intptr_t>(current) : 1;
  return tensor_from_capsule(value.attr("__dlpack__")(**options));
}

Tensor tensor_from_dlpack_object(nb::handle value) {
  try {
    const Tensor lent = tensor_from_capsule(capsule_of(value));
    if (lent.device().is_cpu()) return lent;
    nb::dict options;
    options["max_version"] = nb::handle(lending_call().version);
    return on_our_stream(value, lent, options);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;  // a producer that does not know max_version
  }
  return on_our_stream(value, tensor_from_capsule(value.attr("__dlpack__")()), nb::dict());
}

nb::object numpy_array(nb::handle value) {
  // numpy.ascontiguousarray would add a dimension to arrays without dimensions
  return nb::module_::import_("numpy").attr("asarray")(value, nb::arg("order") = "C");
}

// The numpy dtype of small floats and integers, from ml_dtypes.
nb::object dtype_of_ml_dtypes(DataType dtype) {
  try {
    return nb::module_::import_("ml_dtypes").attr(dtype.str().c_str());
  } catch (nb::python_error&) {
    throw UserError("numpy has no dtype {}", dtype.str()).help("pip install ml_dtypes, which adds it");
  }
}

nb::object to_numpy(nb::handle given) {
  nb::module_ numpy = nb::module_::import_("numpy");
  const auto& original = nb::cast<const Tensor&>(given);
  const Tensor tensor = to_device(original, runtime::Device::cpu());
  const nb::object self = original == tensor ? nb::borrow(given) : nb::cast(tensor);
  const DataType dtype = tensor.dtype();
  auto copied = [&](const nb::handle& of) { return numpy.attr("array")(numpy.attr("from_dlpack")(of)); };
  if (runtime::shares_bytes(dtype)) {  // numpy uses a byte for each
    const nb::object known = dtype_of_ml_dtypes(dtype);
    return copied(nb::cast(runtime::unpack_elements(tensor)))
        .attr(dtype.is_float() ? "view" : "astype")(known);
  }
  if (!is_small_float(dtype) || dtype.code == DataType::kFloat) return copied(self);
  const nb::object known = dtype_of_ml_dtypes(dtype);
  return copied(nb::cast(tensor.view_as(DataType::uint(dtype.bits)))).attr("view")(known);
}

nb::tuple shape_tuple(const Tensor& tensor) {
  nb::list extents;
  for (int64_t extent : tensor.shape()) extents.append(extent);
  return nb::tuple(extents);
}

// One extent; messages begin with `what`.
int64_t extent_of(nb::handle value, const char* what) {
  int overflow = 0;
  PyObject* number = PyIndex_Check(value.ptr()) ? PyNumber_Index(value.ptr()) : nullptr;
  const int64_t extent = number ? PyLong_AsLongLongAndOverflow(number, &overflow) : 0;
  Py_XDECREF(number);
  PyErr_Clear();
  if (!number)
    throw UserError("{}: a dimension is a Python {}, expected an integer", what,
                    Py_TYPE(value.ptr())->tp_name)
        .help("give the shape as integers, e.g. (2, 3)");
  if (overflow) throw UserError("{}: a dimension, {}, does not fit in 64 bits", what, integer_text(value));
  return extent;
}

std::vector<int64_t> ints_of(nb::handle shape, const char* what) {
  if (PyIndex_Check(shape.ptr()) && !nb::hasattr(shape, "__len__")) return {extent_of(shape, what)};
  if (!PySequence_Check(shape.ptr()) || PyUnicode_Check(shape.ptr()) || PyBytes_Check(shape.ptr()))
    throw UserError("{}: the shape is a Python {}, expected integers", what, Py_TYPE(shape.ptr())->tp_name)
        .help("give the shape as integers, e.g. (2, 3)");
  std::vector<int64_t> extents;
  for (nb::handle extent : shape) extents.push_back(extent_of(extent, what));
  return extents;
}

DataType dtype_of(nb::handle dtype) {
  if (PyType_Check(dtype.ptr())) {  // numpy.float32
    nb::object generic = nb::module_::import_("numpy").attr("generic");
    if (PyObject_IsSubclass(dtype.ptr(), generic.ptr()) == 1)
      return DataType::parse(nb::str(dtype.attr("__name__")).c_str());
  }
  if (!PyUnicode_Check(dtype.ptr()) && !nb::hasattr(dtype, "kind"))
    throw UserError("the dtype is a Python {}, expected a name", Py_TYPE(dtype.ptr())->tp_name)
        .help("e.g. \"float32\"");
  return DataType::parse(nb::str(dtype).c_str());
}

void bind_tensor(nb::module_& m) {
  nb::class_<Tensor>(m, "Tensor", nb::is_weak_referenceable(),
                     "Elements with a shape, on a device; shares memory with numpy and torch through DLPack.")
      .def_prop_ro("shape", &shape_tuple, "The extents, a tuple of ints.")
      .def_prop_ro(
          "dtype", [](const Tensor& t) { return t.dtype(); }, "Type of the elements, e.g. \"float32\".")
      .def_prop_ro("ndim", &Tensor::ndim, "Number of dimensions.")
      .def_prop_ro("device", &Tensor::device, "Where the elements are.")
      .def_prop_ro("nbytes", &Tensor::num_bytes, "Size of the elements in bytes.")
      .def_prop_ro("is_contiguous", &Tensor::is_contiguous,
                   "Whether the elements lie row by row without gaps.")
      .def(
          "numpy", [](nb::handle self) { return to_numpy(self); },
          "A numpy array with a copy of the elements.")
      .def(
          "copy_from",
          [](const Tensor& self, nb::handle source, bool wait) {
            const Tensor given = tensor_from_python(source);
            wait ? self.copy_from(given) : runtime::copy_without_waiting(given, self);
          },
          nb::arg("source").none(), nb::arg("wait") = true,
          "Copies the elements of `source`, of the same shape and dtype; raises UserError for another. With "
          "wait=False "
          "a copy between the host and a device is only queued in the device's current stream: device.sync() "
          "waits.")
      .def(
          "copy_to",
          [](const Tensor& self, nb::handle target) {
            if (!nb::isinstance<Tensor>(target))
              throw UserError("copy_to: the target is a Python {}, expected a tensor",
                              Py_TYPE(target.ptr())->tp_name);
            nb::cast<Tensor&>(target).copy_from(self);
            return nb::borrow(target);
          },
          nb::arg("target").none(), "Copies the elements to the tensor `target`, and returns it.")
      .def(
          "to", [](const Tensor& self, nb::handle device) { return to_device(self, device_of(device)); },
          nb::arg("device").none(),
          "A tensor with these elements on `device`, a device or its name; this one if they are there.")
      .def(
          "reshape",
          [](const Tensor& self, nb::handle shape) { return self.reshape(ints_of(shape, "reshape")); },
          nb::arg("shape").none(),
          "The same elements in another shape, sharing memory; raises UserError if their number differs.")
      .def("__dlpack__", [](const Tensor& self, nb::kwargs options) { return dlpack_capsule(self, options); })
      .def("__dlpack_device__",
           [](const Tensor& self) { return nb::make_tuple(self.device().type, self.device().id); })
      .def("__hash__", [](nb::handle self) { return reinterpret_cast<intptr_t>(self.ptr()) >> 4; });
  // The bytes of the elements in row-major order.
  m.def("tensor_to_bytes", [](const Tensor& self) {
    const Tensor compact = to_device(self, runtime::Device::cpu()).compact();
    return nb::bytes(compact.data_as<char>(), static_cast<size_t>(compact.num_bytes()));
  });
  m.def("tensor_of_bytes", [](const nb::bytes& elements, const std::vector<int64_t>& shape, DataType dtype) {
    return Tensor::copy_of(elements.c_str(), elements.size(), shape, dtype);
  });
  m.def(
      "empty",
      [](nb::handle shape, nb::handle dtype, nb::handle device) {
        return Tensor::empty(ints_of(shape, "empty"), dtype_of(dtype), device_of(device));
      },
      nb::arg("shape").none(), nb::arg("dtype").none() = "float32", nb::arg("device").none() = nb::none());
  m.def(
      "from_dlpack",
      [](nb::handle value) {
        if (!nb::isinstance<Tensor>(value) &&
            (!nb::hasattr(value, "__dlpack__") || PyType_Check(value.ptr())))
          throw UserError("from_dlpack: a Python {} has no __dlpack__, so it is not a tensor",
                          Py_TYPE(value.ptr())->tp_name)
              .help("tilewright.runtime.tensor(value) copies numbers and lists");
        return tensor_from_python(value);
      },
      nb::arg("value").none());
  // A tensor with a copy of `value` on `device`.
  m.def(
      "tensor",
      [](nb::handle value, nb::handle device) {
        const Tensor lent = tensor_from_python(value);
        const runtime::Device wanted = device_of(device);
        return lent.device() == wanted ? lent.copy() : to_device(lent, wanted);
      },
      nb::arg("value").none(), nb::arg("device").none() = nb::none());
}

}  // namespace

nb::object tensor_to_python(const Tensor& tensor) { return tensor ? nb::cast(tensor) : nb::none(); }

namespace {

[[noreturn]] void refuse_array(nb::handle array) {
  const auto dtype = nb::cast<std::string>(array.attr("dtype").attr("__str__")());
  UserError error("elements of dtype {} cannot be those of a tensor", dtype);
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kind == "i" || kind == "u" || kind == "f")
    throw error.help(
        "the bytes of each are in the other order: convert them, array.astype(array.dtype.newbyteorder())");
  throw error.help("convert them to numbers, e.g. array.astype(\"float32\")");
}

// A tensor over a numpy array of small floats, which DLPack cannot lend: over their bits, with their dtype;
// for integers that share bytes, a packed copy.  Undefined for other arrays.
Tensor tensor_of_small_numbers(nb::handle array) {
  if (!nb::hasattr(array, "dtype") || !nb::hasattr(array, "view")) return {};
  const nb::object name = array.attr("dtype").attr("name");
  DataType dtype;
  if (!DataType::try_parse(nb::cast<std::string>(name), &dtype)) return {};
  if (runtime::shares_bytes(dtype)) {
    const nb::object bytes = dtype.is_float() ? numpy_array(array).attr("view")("uint8")
                                              : array.attr("astype")(dtype.with_bits(8).str());
    return runtime::pack_elements(tensor_from_dlpack_object(bytes), dtype).read_only_view();
  }
  if (!is_small_float(dtype) || dtype.code == DataType::kFloat) return {};
  const nb::object bits = array.attr("view")(dtype.bits == 16 ? "uint16" : "uint8");
  try {
    return tensor_from_dlpack_object(bits).view_as(dtype);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_BufferError)) throw;
  }
  return {};  // read-only, in an old numpy
}

// A copy of an array that cannot be lent: read-only arrays of an old numpy.
Tensor copied(nb::handle value) {
  nb::object array = nb::module_::import_("numpy").attr("array")(value);
  try {
    if (const Tensor tensor = tensor_of_small_numbers(array)) return tensor.read_only_view();
    // so that nobody writes to the copy by mistake
    return tensor_from_dlpack_object(array).read_only_view();
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_BufferError)) throw;
  }
  refuse_array(array);  // DLPack has no code for its dtype
}

// Raises the error for a tensor of torch or another library that refuses to lend its elements.
[[noreturn]] void refuse_foreign(nb::handle value, const nb::python_error& error) {
  const bool has_grad = nb::hasattr(value, "requires_grad") && nb::cast<bool>(value.attr("requires_grad"));
  std::string reason = nb::str(error.value()).c_str();
  while (!reason.empty() && reason.back() == '.') reason.pop_back();
  throw UserError("a Python {} does not share its elements: {}", Py_TYPE(value.ptr())->tp_name, reason)
      .help("{}", has_grad ? "pass x.detach()" : "pass a dense tensor on the CPU");
}

}  // namespace

bool lends_elements(nb::handle value) {
  return PyObject_HasAttr(value.ptr(), lending_call().method) && !PyType_Check(value.ptr());
}

Tensor tensor_of_lender(nb::handle value) {
  try {
    return tensor_from_dlpack_object(value);
  } catch (nb::python_error& error) {
    // read-only arrays and dtypes that DLPack has no code for
    if (!error.matches(PyExc_BufferError)) throw;
    const bool is_numpys = !nb::hasattr(value, "dtype") || nb::hasattr(value.attr("dtype"), "name");
    if (!is_numpys) refuse_foreign(value, error);
  }
  if (const Tensor tensor = tensor_of_small_numbers(value)) return tensor;
  return copied(value);
}

Tensor tensor_from_python(nb::handle value) {
  if (nb::isinstance<Tensor>(value)) return nb::cast<Tensor>(value);
  if (PyType_Check(value.ptr())) throw UserError("a Python type is not a tensor");
  if (lends_elements(value)) return tensor_of_lender(value);
  nb::object array;
  try {
    array = numpy_array(value);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError)) throw;
  }
  if (!array.is_valid())
    throw UserError("a Python {} is not a tensor: its rows have different lengths",
                    Py_TYPE(value.ptr())->tp_name);
  if (nb::cast<std::string>(array.attr("dtype").attr("kind")) == "O")
    throw UserError("a Python {} is not a tensor", Py_TYPE(value.ptr())->tp_name);
  try {
    return tensor_from_dlpack_object(array);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_BufferError)) throw;
  }
  refuse_array(array);
}

void bind_runtime(nb::module_& m) {
  lending_call();  // now, while no other thread needs it
  bind_tensor(m);
  bind_functions(m);
}

}  // namespace tilewright::python

// The three kinds of error as Python exceptions: UserError is a ValueError, Unsupported a
// NotImplementedError.
#include "tilewright/support/error.h"

#include "tilewright/python/bindings.h"

namespace tilewright::python {
namespace nb = nanobind;
namespace {

struct Exceptions {
  nb::object user, unsupported, internal;
};
Exceptions* exceptions() {
  static auto* classes = new Exceptions;  // destroyed never, since the interpreter ends earlier
  return classes;
}

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    const Exceptions& classes = *exceptions();
    const nb::object& type = error.kind() == Error::Kind::kUser          ? classes.user
                             : error.kind() == Error::Kind::kUnsupported ? classes.unsupported
                                                                         : classes.internal;
    const std::string& text = error.render();
    PyErr_SetObject(type.ptr(), nb::str(text.data(), text.size()).ptr());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "out of memory");
  }
}

}  // namespace

void bind_errors(nb::module_& m) {
  m.def("set_exceptions", [](nb::object user, nb::object unsupported, nb::object internal) {
    *exceptions() = {std::move(user), std::move(unsupported), std::move(internal)};
  });
  nb::register_exception_translator(&translate);
}

}  // namespace tilewright::python

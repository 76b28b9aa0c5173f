// Bindings for operators that users name and for rules of what calls are on a target; python/tilewright/tir has their
// Python form.
#include <nanobind/stl/string.h>

#include <memory>

#include "tilewright/lower/functions/intrinsic_rules.h"
#include "tilewright/python/bindings.h"
#include "tilewright/python/convert.h"
#include "tilewright/python/locks.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/registered_op.h"

namespace tilewright::python {
namespace {

// A Python function as a rule.  The object is released with the interpreter lock held.
lower::IntrinsicRule rule_of(nb::object body, const std::string& op) {
  const std::shared_ptr<nb::object> kept(new nb::object(std::move(body)), [](nb::object* object) {
    const Locked lock;
    delete object;
  });
  return [kept, op](const tir::Call& call) {
    return locked([&]() -> tir::PrimExpr {
      const nb::object made = (*kept)(to_python(call));
      if (made.is_none()) return nullptr;
      const ir::ObjectRef node = is_node_like(made) ? from_python(made) : nullptr;
      if (!node || !ir::PrimExprNode::classof(*node))
        throw UserError("the rule of {} returned a Python {}, expected an expression or None", op,
                        Py_TYPE(made.ptr())->tp_name);
      return ir::ref_as<ir::PrimExprNode>(node);
    });
  };
}

}  // namespace

void bind_intrinsic_rules(nb::module_& m) {
  m.def("register_op", [](const std::string& name, bool is_pure) {
    tir::register_op(name, is_pure ? tir::Effect::kPure : tir::Effect::kOpaque);
  });
  m.def("is_op", [](const std::string& name) {
    return tir::find_builtin(name) != nullptr || tir::find_registered_op(name) != nullptr;
  });
  m.def("add_intrinsic_rule",
        [](const std::string& op, const std::string& target, int level, nb::object rule) {
          lower::add_intrinsic_rule(op, target, level, rule_of(std::move(rule), op));
        });
  m.def("clear_intrinsic_rules", &lower::clear_intrinsic_rules);
}

}  // namespace tilewright::python

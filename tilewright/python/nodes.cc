// Bindings for node classes: Python creates them from these tables (python/tilewright/ir/_nodes.py); this
// file has the functions that their methods call.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <algorithm>
#include <cmath>

#include "tilewright/arith/expr_util.h"
#include "tilewright/ir/module.h"
#include "tilewright/ir/services.h"
#include "tilewright/python/bindings.h"
#include "tilewright/python/convert.h"
#include "tilewright/python/field_types.h"
#include "tilewright/python/runtime_values.h"
#include "tilewright/relax/graph/relax.h"
#include "tilewright/target/target.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/limits.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/tensor_argument.h"
#include "tilewright/tir/text.h"

namespace tilewright::python {
namespace {

struct GroupInfo {
  const char* name;
  ir::Kind begin, end;
};
constexpr GroupInfo kGroups[] = {
#define GROUP_BEGIN(Name) {#Name, ir::Kind::k##Name##Begin, ir::Kind::k##Name##End},
#include "tilewright/ir/nodes.inc"
};

// The innermost group around `kind`, which is the Python base class; "" if there is none.
std::string base_of(ir::Kind begin, ir::Kind end) {
  const GroupInfo* innermost = nullptr;
  for (const GroupInfo& group : kGroups) {
    if (group.begin < begin && end < group.end && (!innermost || group.begin > innermost->begin))
      innermost = &group;
  }
  return innermost ? innermost->name : "";
}

// [(kind name, base class name, [(field, doc, whether its role is "ignored")])] and [(group, base)]
nb::list node_table() {
  nb::list table;
  for (size_t n = 0; n < static_cast<size_t>(ir::Kind::kCount); ++n) {
    const ir::NodeInfo* info = ir::node_info(static_cast<ir::Kind>(n));
    if (!info) continue;
    nb::list fields;
    for (const ir::FieldInfo& field : info->fields)
      fields.append(nb::make_tuple(nb::str(field.name.data(), field.name.size()),
                                   nb::str(field.doc.data(), field.doc.size())));
    table.append(nb::make_tuple(nb::str(info->name.data(), info->name.size()),
                                base_of(info->kind, info->kind), fields));
  }
  return table;
}

nb::list group_table() {
  nb::list table;
  for (const GroupInfo& group : kGroups)
    table.append(nb::make_tuple(group.name, base_of(group.begin, group.end)));
  return table;
}

bool is_uint64(const ir::IntImmNode* literal) {
  return literal && literal->dtype.is_uint() && literal->dtype.bits == 64;
}

nb::object get_field(const PyNode& self, size_t index) {
  const ir::FieldInfo& field = ir::info_of(*self.ref)->fields[index];
  const auto* literal = self.ref.as<ir::IntImmNode>();
  if (is_uint64(literal) && field.name == "value") return nb::int_(static_cast<uint64_t>(literal->value));
  return field_to_python(field, field.get(self.ref.get()));
}

// The Python integer `value` as an int64 (uint64 by its bits).  Raises UserError if `dtype` cannot represent
// it.
int64_t fitting_int(nb::handle value, DataType dtype) {
  int overflow = 0;
  auto number = static_cast<int64_t>(PyLong_AsLongLongAndOverflow(value.ptr(), &overflow));
  bool fits = overflow == 0 && tir::wrap_int(number, dtype) == number;
  if (dtype.is_bool()) fits = overflow == 0 && (number == 0 || number == 1);
  if (dtype.is_uint() && dtype.bits == 64) {
    fits = overflow == 0 && number >= 0;
    if (overflow > 0) {
      number = static_cast<int64_t>(PyLong_AsUnsignedLongLong(value.ptr()));
      fits = !PyErr_Occurred();
      PyErr_Clear();
    }
  }
  if (!fits) throw UserError("{} does not fit in {}", integer_text(value), dtype.str());
  return number;
}

// The Python number `value` as a double; raises UserError if a finite value overflows `dtype`.
double fitting_float(nb::handle value, DataType dtype) {
  const bool is_whole = PyLong_Check(value.ptr());
  const double number = PyFloat_AsDouble(value.ptr());
  const bool is_beyond = PyErr_Occurred() != nullptr;  // an integer beyond the range of double
  PyErr_Clear();
  if (is_beyond || tir::overflows(number, dtype))
    throw UserError("{} does not fit in {}", is_whole ? integer_text(value) : fmt::format("{}", number),
                    dtype.str())
        .help("an infinity is float(\"inf\")");
  return number;
}

// The Python float `value` as an integer; raises UserError if it is not an integer of `dtype`.
int64_t whole_float(nb::handle value, DataType dtype) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (!std::isfinite(number) || number != std::trunc(number))
    throw UserError("{} is no {}", number, dtype.str()).help("round it, or give a float dtype");
  return fitting_int(nb::steal(PyLong_FromDouble(number)), dtype);
}

// Converts a numpy integer to a Python integer.
nb::object plain_number(nb::handle value) {
  const bool is_numpy = !PyLong_Check(value.ptr()) && PyIndex_Check(value.ptr());
  return is_numpy ? nb::steal(PyNumber_Index(value.ptr())) : nb::borrow(value);
}

// Sets a field; the dtype of a literal is set before its value, which must be representable in it.
void fill_field(const ir::FieldInfo& field, ir::Object* object, nb::handle value) {
  const ir::ObjectRef node(object);
  const auto* whole = node.as<ir::IntImmNode>();
  const auto* real = node.as<ir::FloatImmNode>();
  const bool is_value = (whole || real) && field.name == "value";
  const nb::object number = is_value ? plain_number(value) : nb::borrow(value);
  const bool is_whole = PyLong_Check(number.ptr()), is_real = PyFloat_Check(number.ptr());
  if (is_value && whole && is_whole && (whole->dtype.is_integral() || whole->dtype.is_bool()))
    return field.set(object, fitting_int(number, whole->dtype));
  if (is_value && real && (is_whole || is_real) && real->dtype.is_float())
    return field.set(object, fitting_float(number, real->dtype));
  field.set(object, field_from_python(field, value));
}

// Nodes without a verify() of their own that are unusable while these fields are null.
constexpr std::pair<std::string_view, std::string_view> kNeeded[] = {
    {"relax.Constant", "data"},  {"tir.AllocBuffer", "buffer"},
    {"tir.AllocBuffer", "body"}, {"tir.BufferRegion", "buffer"},
    {"tir.Call", "op"},          {"tir.DeclBuffer", "buffer"},
    {"tir.DeclBuffer", "body"},  {"tir.IterVar", "var"},
    {"tir.LetStmt", "var"},      {"tir.LetStmt", "value"},
    {"tir.LetStmt", "body"},     {"tir.ProducerLoad", "producer"},
    {"tir.Reduce", "combiner"},
};

void require_fields(const ir::NodeInfo* info, const ir::Object* object) {
  for (const ir::FieldInfo& field : info->fields) {
    const bool is_needed = std::find(std::begin(kNeeded), std::end(kNeeded),
                                     std::pair(info->name, field.name)) != std::end(kNeeded);
    if (!is_needed) continue;
    const bool is_there = field.type == ir::FieldType::kTensor
                              ? static_cast<bool>(std::get<runtime::Tensor>(field.get(object)))
                              : field.node(object, 0) != nullptr;
    if (!is_there) throw InternalError("the {} is missing", field.name);
  }
}

// In C++, inconsistent fields are a bug, but from Python they are the user's error.
void fill(const ir::NodeInfo* info, ir::Object* object, const nb::dict& values) {
  try {
    for (const ir::FieldInfo& field : info->fields) {
      nb::str key(field.name.data(), field.name.size());
      if (values.contains(key)) fill_field(field, object, values[key]);
    }
    require_fields(info, object);
    if (info->verify) info->verify(object);
    const auto* binding = ir::ObjectRef(object).as<relax::BindingNode>();
    if (binding && (!binding->var || !binding->value))
      throw UserError("{}: a binding needs a variable and a value", info->name);
  } catch (const InternalError& error) {
    std::string names;
    for (const ir::FieldInfo& field : info->fields)
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", field.name, field.doc);
    throw UserError("{}: {}", info->name, error.text()).help("its fields are {}", names);
  }
}

// A node from field values in table order; missing trailing fields get their defaults.
ir::ObjectRef make_node(const std::string& kind_name, nb::dict values) {
  const ir::NodeInfo* info = ir::find_node_info(kind_name);
  if (!info) throw InternalError("there is no node kind {}", kind_name);
  ir::Object* object = info->create();
  ir::ObjectRef owner(object);
  fill(info, object, values);
  return owner;
}

ir::ObjectRef with_fields(const ir::ObjectRef& node, nb::dict values) {
  const ir::NodeInfo* info = ir::info_of(*node);
  ir::Object* object = info->clone(node.get());
  ir::ObjectRef owner(object);
  fill(info, object, values);
  return owner;
}

tir::PrimExpr prim(nb::handle value, DataType int_dtype = kInt32) {
  ir::ObjectRef node = from_python(value, {int_dtype, kFloat32});
  // an axis in an expression stands for its variable: x[i * 2 + rh] with rh = te.reduce_axis((0, 3))
  if (const auto* axis = node.as<tir::IterVarNode>()) return axis->var;
  if (!node || !ir::PrimExprNode::classof(*node))
    throw UserError("expected a scalar expression, but found a Python {}", Py_TYPE(value.ptr())->tp_name);
  return ir::ref_as<ir::PrimExprNode>(node);
}

// `expr`, which was converted from `value`; a Python number beside an expression of dtype `other` is
// converted to that dtype: x + 0.1 for float64, and x + 300 for uint8, which is an error.
tir::PrimExpr beside(nb::handle value, const tir::PrimExpr& expr, DataType other) {
  const DataType element = other.element();
  if (PyFloat_Check(value.ptr()) && element == DataType::float_(64))
    return tir::float_imm(PyFloat_AsDouble(value.ptr()), element);
  if (PyLong_Check(value.ptr()) && !PyBool_Check(value.ptr()) && element.is_integral())
    return tir::imm(fitting_int(value, element), element);
  if (PyLong_Check(value.ptr()) && !PyBool_Check(value.ptr()) && element.is_float())
    return tir::float_imm(fitting_float(value, element), element);
  return expr;
}

void check_divisor(ir::Kind kind, const tir::PrimExpr& x, const tir::PrimExpr& y) {
  const bool divides = kind == ir::Kind::kDiv || kind == ir::Kind::kMod || kind == ir::Kind::kFloorDiv ||
                       kind == ir::Kind::kFloorMod;
  if (divides && !x->dtype.is_float() && arith::is_always_zero(y))
    throw UserError("{} is divided by zero", tir::expr_text(x));
}

ir::ObjectRef binary(const std::string& kind_name, nb::handle a, nb::handle b) {
  const ir::NodeInfo* info = ir::find_node_info("tir." + kind_name);
  if (!info) throw InternalError("there is no binary node {}", kind_name);
  tir::PrimExpr x = prim(a), y = prim(b);
  std::tie(x, y) = std::pair(beside(a, x, y->dtype), beside(b, y, x->dtype));
  check_divisor(info->kind, x, y);
  return tir::binary(info->kind, x, y);
}

void check_shift(const tir::PrimExpr& count) {
  int64_t number;
  if (tir::as_const_int(count, &number) && number < 0 && !count->dtype.is_uint())
    throw UserError("a shift by a negative number, {}", number);
}

void bind_expressions(nb::module_& m) {
  m.def("binary", &binary);
  m.def("logical_not", [](nb::handle a) { return tir::logical_not(prim(a)); });
  m.def("negate", [](nb::handle a) { return tir::operator-(prim(a)); });
  m.def("cast",
        [](DataType dtype, nb::handle value) { return tir::cast(dtype, beside(value, prim(value), dtype)); });
  m.def("select", [](nb::handle c, nb::handle t, nb::handle f) {
    const tir::PrimExpr x = prim(t), y = prim(f);
    return tir::select(prim(c), beside(t, x, y->dtype), beside(f, y, x->dtype));
  });
  m.def("const", [](nb::handle value, DataType dtype) {
    // the value is also a literal for dtypes to which casts of literals stay casts
    const DataType element = dtype.element();
    const bool is_real = PyFloat_Check(value.ptr()), is_whole = PyLong_Check(value.ptr());
    if ((is_real || is_whole) && dtype.is_float())
      return tir::make_const(dtype, fitting_float(value, element));
    if (is_real && (dtype.is_integral() || dtype.is_bool()))
      return tir::make_const_int(dtype, whole_float(value, element));
    if (is_whole && (dtype.is_integral() || dtype.is_bool()))
      return tir::make_const_int(dtype, fitting_int(value, element));
    return tir::cast(dtype, prim(value, kInt64));
  });
  // a & b and similar operators on integers of one dtype, or bool
  m.def("bitwise", [](const std::string& name, nb::handle a, nb::handle b) -> tir::PrimExpr {
    tir::PrimExpr x = prim(a), y = prim(b);
    std::tie(x, y) = std::pair(beside(a, x, y->dtype), beside(b, y, x->dtype));
    tir::match_dtypes(&x, &y);
    if (name.starts_with("shift")) check_shift(y);
    if (!x->dtype.is_bool()) return tir::call(x->dtype, name, {x, y});
    return tir::binary(name == "bitwise_and"  ? ir::Kind::kAnd
                       : name == "bitwise_or" ? ir::Kind::kOr
                                              : ir::Kind::kNE,
                       x, y);
  });
  m.def("dtype_of", [](nb::handle value) { return prim(value)->dtype; });
  m.def("check_dtype", [](const std::string& text) { DataType::parse(text); });
  m.def("make_const", [](DataType dtype, double value) { return tir::make_const(dtype, value); });
  m.def("call_op", [](DataType dtype, const std::string& name, nb::list args) {
    std::vector<tir::PrimExpr> converted;
    for (nb::handle arg : args) {
      const bool is_packed = name == "call_packed" || name == "call_cpacked";
      const tir::Buffer buffer = is_packed && nb::isinstance<PyNode>(arg)
                                     ? ir::ref_as<tir::BufferNode>(nb::cast<PyNode&>(arg).ref)
                                     : nullptr;
      converted.push_back(buffer ? tir::tensor_argument(buffer) : beside(arg, prim(arg), dtype));
    }
    if (name == "shift_left" || name == "shift_right") check_shift(converted.at(1));
    return tir::call(dtype, name, std::move(converted));
  });
  m.def("builtin_ops", [] {
    nb::list table;
    for (size_t n = 0; n < tir::kNumBuiltinOps; ++n) {
      const tir::BuiltinOp& op = tir::kBuiltinOps[n];
      table.append(nb::make_tuple(std::string(op.name), op.num_args, op.elementwise, std::string(op.doc)));
    }
    return table;
  });
  m.def("load_buffer", [](const tir::Buffer& buffer, nb::list indices) {
    std::vector<tir::PrimExpr> converted;
    for (nb::handle index : indices) converted.push_back(prim(index));
    return tir::load(buffer, std::move(converted));
  });
  m.def("make_var", [](const std::string& name, DataType dtype) { return tir::make_var(name, dtype); });
  m.def("make_buffer", [](const std::string& name, nb::list shape, DataType dtype, const std::string& scope) {
    std::vector<tir::PrimExpr> extents;
    for (nb::handle extent : shape) extents.push_back(prim(extent));
    return tir::make_buffer(name, std::move(extents), dtype, scope);
  });
  m.def("min_value", &tir::lowest_finite);
  m.def("max_value", &tir::largest_finite);
  m.def("infinity", &tir::infinity);
}

void bind_modules(nb::module_& m) {
  m.def("module_with_function",
        [](const ir::IRModule& module, const std::string& name, const ir::BaseFunc& func) {
          return ir::with_function(module, name, func);
        });
  m.def("module_without_function", [](const ir::IRModule& module, const std::string& name) {
    return ir::without_function(module, name);
  });
  m.def("module_lookup",
        [](const ir::IRModule& module, const std::string& name) { return module->lookup(name); });
  m.def(
      "function_with_attr",
      [](const ir::BaseFunc& func, const std::string& key, nb::handle value) {
        return ir::with_attr(func, key, from_python(value, kAttributeDTypes));
      },
      nb::arg("func"), nb::arg("key"), nb::arg("value").none());
  m.def("parse_target", [](const std::string& text) { return target::parse_target(text); });
  m.def("target_str", [](const ir::Target& target) { return target->str(); });
}

}  // namespace

void bind_nodes(nb::module_& m) {
  nb::class_<PyNode>(m, "Object", nb::is_weak_referenceable(),
                     "A node of the IR: immutable, shared, compared by structure with structural_equal.");
  m.def("node_table", &node_table);
  m.def("group_table", &group_table);
  m.def("field_types", &field_types);
  m.def("register_node_class", &register_node_class);
  m.def("get_field", &get_field);
  m.def("make_node", &make_node);
  m.def("with_fields", &with_fields);
  m.def("structural_equal", [](const ir::ObjectRef& a, const ir::ObjectRef& b, bool map_free_vars) {
    return ir::structural_equal(a, b, {map_free_vars});
  });
  // (path, reason, left node, right node), or None if equal
  m.def("first_mismatch",
        [](const ir::ObjectRef& a, const ir::ObjectRef& b, bool map_free_vars) -> nb::object {
          auto mismatch = ir::first_mismatch(a, b, {map_free_vars});
          if (!mismatch) return nb::none();
          return nb::make_tuple(mismatch->path, mismatch->reason, to_python(mismatch->a),
                                to_python(mismatch->b));
        });
  m.def("structural_hash", [](const ir::ObjectRef& node) { return ir::structural_hash(node).hex(); });
  m.def("repr", &ir::repr);
  m.def("save_json", &ir::save_json);
  m.def("load_json", [](const std::string& text) { return ir::load_json(text); });
  m.def("same_as", [](const ir::ObjectRef& a, const ir::ObjectRef& b) { return a == b; });
  bind_expressions(m);
  bind_modules(m);
}

}  // namespace tilewright::python

// Bindings for tensor expressions, whose bodies are Python callables.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tilewright/python/bindings.h"
#include "tilewright/python/convert.h"
#include "tilewright/python/te_tensors.h"
#include "tilewright/support/error.h"
#include "tilewright/te/create_prim_func.h"
#include "tilewright/te/extern.h"
#include "tilewright/te/gradient.h"
#include "tilewright/te/operation.h"
#include "tilewright/te/scan.h"

namespace tilewright::python {

using te::Tensor;

Tensor tensor_of(const ir::ObjectRef& node) {
  auto tensor = ir::ref_as<te::TeTensorNode>(node);
  if (!tensor)
    throw UserError("expected a te tensor, but found {}", node ? ir::info_of(*node)->name : "None");
  return Tensor(std::move(tensor));
}

namespace {

std::vector<tir::PrimExpr> exprs(nb::handle values) {
  std::vector<tir::PrimExpr> result;
  for (nb::handle value : values) {
    ir::ObjectRef node = from_python(value);
    if (!node || !ir::PrimExprNode::classof(*node))
      throw UserError("expected integers or expressions, but found a Python {}",
                      Py_TYPE(value.ptr())->tp_name);
    result.push_back(ir::ref_as<ir::PrimExprNode>(node));
  }
  return result;
}

std::vector<ir::ObjectRef> compute(nb::handle shape, nb::object body, const std::string& name,
                                   nb::handle attrs, std::vector<std::string> axis_names) {
  te::Named named{name, attrs_from_python(attrs), std::move(axis_names)};
  auto tensors = te::compute_many(
      exprs(shape),
      [&](const std::vector<tir::Var>& axes) {
        nb::list args;
        for (const tir::Var& axis : axes) args.append(to_python(axis));
        nb::object result = body(*nb::tuple(args));
        if (PyTuple_Check(result.ptr()) || PyList_Check(result.ptr())) return exprs(result);
        return exprs(nb::make_tuple(result));
      },
      std::move(named));
  return {tensors.begin(), tensors.end()};
}

tir::PrimExpr optional(nb::handle value) {
  return value.is_none() ? tir::PrimExpr() : nb::cast<tir::PrimExpr>(value);
}

// combine(x, y) gets lists of variables and returns the same number of expressions
std::vector<tir::PrimExpr> reduce(nb::object combine, nb::handle identity, nb::handle source,
                                  std::vector<tir::IterVar> axes, nb::handle where, nb::handle init) {
  const auto list = [](const std::vector<tir::Var>& vars) {
    nb::list result;
    for (const tir::Var& var : vars) result.append(to_python(var));
    return result;
  };
  const tir::CommReducer reducer =
      te::comm_reducer([&](const std::vector<tir::Var>& x,
                           const std::vector<tir::Var>& y) { return exprs(combine(list(x), list(y))); },
                       exprs(identity));
  return te::reduce(reducer, exprs(source), std::move(axes), optional(where), exprs(init));
}

std::vector<Tensor> tensors_of(nb::handle values) {
  std::vector<Tensor> tensors;
  for (nb::handle value : values) tensors.push_back(tensor_of(from_python(value)));
  return tensors;
}

std::vector<tir::Buffer> buffers_of(nb::handle values) {
  std::vector<tir::Buffer> buffers;
  for (nb::handle value : values) {
    buffers.push_back(ir::ref_as<tir::BufferNode>(from_python(value)));
    if (!buffers.back())
      throw UserError("te.extern: expected a buffer, but found a Python {}", Py_TYPE(value.ptr())->tp_name);
  }
  return buffers;
}

// body(input buffers, output buffers) returns a statement, or an expression to evaluate
std::vector<ir::ObjectRef> extern_tensors(const std::string& name, nb::handle inputs,
                                          nb::handle input_buffers, nb::handle output_buffers,
                                          nb::object body, nb::handle attrs) {
  te::ExternSpec spec{tensors_of(inputs), buffers_of(input_buffers), buffers_of(output_buffers), nullptr,
                      attrs_from_python(attrs)};
  const auto list = [](const std::vector<tir::Buffer>& buffers) {
    nb::list result;
    for (const tir::Buffer& buffer : buffers) result.append(to_python(buffer));
    return result;
  };
  const nb::object made = body(list(spec.input_buffers), list(spec.output_buffers));
  const ir::ObjectRef node = made.is_none() || !is_node_like(made) ? nullptr : from_python(made);
  spec.body = ir::ref_as<tir::StmtNode>(node);
  if (const auto value = ir::ref_as<ir::PrimExprNode>(node)) spec.body = tir::EvaluateNode::make(value);
  if (!spec.body)
    throw UserError("{}: fcompute returned a Python {}, expected a statement or an expression", name,
                    Py_TYPE(made.ptr())->tp_name)
        .help("return the call, as in tir.call_packed(\"f\", ins[0], outs[0]), or the statement itself");
  const std::vector<Tensor> tensors = te::external(name, std::move(spec));
  return {tensors.begin(), tensors.end()};
}

using Reducer = tir::PrimExpr (*)(tir::PrimExpr, std::vector<tir::IterVar>, tir::PrimExpr, tir::PrimExpr);

void bind_reducer(nb::module_& m, const char* name, Reducer reduce) {
  m.def(
      name,
      [reduce](const tir::PrimExpr& source, std::vector<tir::IterVar> axes, nb::handle where,
               nb::handle init) { return reduce(source, std::move(axes), optional(where), optional(init)); },
      nb::arg("source"), nb::arg("axes"), nb::arg("where").none(), nb::arg("init").none());
}

}  // namespace

void bind_te(nb::module_& m) {
  m.def("te_placeholder", [](nb::handle shape, DataType dtype, const std::string& name) -> ir::ObjectRef {
    return te::placeholder(exprs(shape), dtype, name);
  });
  m.def("te_compute", &compute);
  m.def("te_extern", &extern_tensors);
  m.def("te_extern_primfunc",
        [](nb::handle inputs, const tir::PrimFunc& func, const std::string& name,
           nb::handle attrs) -> std::vector<ir::ObjectRef> {
          const auto tensors = te::extern_primfunc(tensors_of(inputs), func, name, attrs_from_python(attrs));
          return {tensors.begin(), tensors.end()};
        });
  m.def("te_reduce_axis",
        [](const tir::Range& dom, const std::string& name) { return te::reduce_axis(dom, name); });
  m.def("te_inputs", [](const te::Operation& op) -> std::vector<ir::ObjectRef> {
    const std::vector<Tensor> tensors = te::inputs_of(op);
    return {tensors.begin(), tensors.end()};
  });
  m.def("te_outputs", [](const te::Operation& op) -> std::vector<ir::ObjectRef> {
    const std::vector<Tensor> tensors = te::outputs_of(op);
    return {tensors.begin(), tensors.end()};
  });
  // what identifies a tensor: the address of its operation, and which output it is
  m.def("te_tensor_key", [](const ir::ObjectRef& tensor) {
    const te::TensorKey key = te::key_of(tensor_of(tensor).get());
    return std::pair(reinterpret_cast<uintptr_t>(key.first), key.second);
  });
  m.def(
      "te_gradient",
      [](const ir::ObjectRef& output, nb::handle inputs, nb::handle head) -> std::vector<ir::ObjectRef> {
        const auto tensors = te::gradient(tensor_of(output), tensors_of(inputs),
                                          head.is_none() ? Tensor() : tensor_of(from_python(head)));
        return {tensors.begin(), tensors.end()};
      },
      nb::arg("output"), nb::arg("inputs"), nb::arg("head").none());
  m.def("te_scan",
        [](const std::string& name, nb::handle init, nb::handle update, nb::handle state, nb::handle inputs,
           nb::handle attrs) -> std::vector<ir::ObjectRef> {
          const auto tensors = te::scan(name, {tensors_of(init), tensors_of(update), tensors_of(state),
                                               tensors_of(inputs), attrs_from_python(attrs)});
          return {tensors.begin(), tensors.end()};
        });
  m.def("te_operations", &te::operations_of);
  m.def("te_load",
        [](const ir::ObjectRef& tensor, nb::handle indices) { return tensor_of(tensor).at(exprs(indices)); });
  m.def("te_reduce", &reduce, nb::arg("combine"), nb::arg("identity"), nb::arg("source"), nb::arg("axes"),
        nb::arg("where").none(), nb::arg("init"));
  bind_reducer(m, "te_sum", &te::sum);
  bind_reducer(m, "te_prod", &te::prod);
  bind_reducer(m, "te_max", &te::max);
  bind_reducer(m, "te_min", &te::min);
  bind_reducer(m, "te_any", &te::any);
  bind_reducer(m, "te_all", &te::all);
  m.def("te_create_prim_func", [](nb::handle args, const std::string& symbol, DataType index_dtype) {
    std::vector<ir::ObjectRef> nodes;
    for (nb::handle arg : args) nodes.push_back(from_python(arg));
    return te::create_prim_func(nodes, {symbol, index_dtype});
  });
}

}  // namespace tilewright::python

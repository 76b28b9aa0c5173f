// Bindings for graphs: operators, the block builder, passes.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tilewright/python/bindings.h"
#include "tilewright/python/convert.h"
#include "tilewright/python/runtime_values.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/gradient/append_loss.h"
#include "tilewright/relax/gradient/gradient.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/definitions.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/infer/purity.h"
#include "tilewright/relax/pass.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"

namespace tilewright::python {
namespace {

using relax::BlockBuilder;

// [(name, argument names, doc, [(option, doc, type)], source)]
nb::list op_table() {
  nb::list table;
  for (const relax::OpInfo* info : relax::all_ops()) {
    nb::list attrs;
    for (const ir::OptionInfo& option : info->attrs())
      attrs.append(nb::make_tuple(option.name, option.doc, option.type));
    nb::list args;
    for (std::string_view name : relax::arg_names(*info)) args.append(nb::str(name.data(), name.size()));
    table.append(nb::make_tuple(std::string(info->name), args, std::string(info->doc), attrs,
                                std::string(relax::source_of(*info))));
  }
  return table;
}

nb::list pass_table() {
  nb::list table;
  for (size_t n = 0; n < relax::k_passes_count; ++n) {
    const ir::PassInfo& info = *relax::k_passes[n];
    nb::list options;
    for (const ir::OptionInfo& option : info.options())
      options.append(nb::make_tuple(option.name, option.doc, option.type));
    table.append(nb::make_tuple(std::string(info.name), std::string(info.doc), info.opt_level, options));
  }
  return table;
}

std::vector<ir::Expr> exprs_of(nb::handle values) {
  std::vector<ir::Expr> result;
  for (nb::handle value : values) {
    auto expr = ir::ref_as<ir::ExprNode>(from_python(value));
    if (!expr)
      throw UserError("expected a graph value, but found a Python {}", Py_TYPE(value.ptr())->tp_name);
    result.push_back(std::move(expr));
  }
  return result;
}

std::optional<std::vector<relax::Var>> params_of(nb::handle params) {
  if (params.is_none()) return std::nullopt;
  std::vector<relax::Var> result;
  for (nb::handle param : params) result.push_back(nb::cast<relax::Var>(param));
  return result;
}

nb::list to_list(const std::vector<te::Tensor>& tensors) {
  nb::list list;
  for (const te::Tensor& tensor : tensors) list.append(to_python(tensor));
  return list;
}

// The result of a Python function of te tensors: one tensor, or a list or tuple of tensors.
std::vector<te::Tensor> te_results(const nb::object& result, std::string_view what) {
  std::vector<te::Tensor> outputs;
  auto add = [&](nb::handle item) {
    auto tensor = ir::ref_as<te::TeTensorNode>(from_python(item));
    if (!tensor)
      throw UserError("{}: the function returned a Python {}, expected te tensors", what,
                      Py_TYPE(item.ptr())->tp_name);
    outputs.emplace_back(tensor);
  };
  if (PyTuple_Check(result.ptr()) || PyList_Check(result.ptr())) {
    for (nb::handle item : result) add(item);
  } else {
    add(result);
  }
  return outputs;
}

// Wraps a Python function of te tensors for the builder.
relax::TeFunction te_function(const nb::object& body) {
  return [&body](const std::vector<te::Tensor>& inputs) {
    return te_results(body(*nb::tuple(to_list(inputs))), "emit_te");
  };
}

// {name: function(gradient or list of gradients, inputs..., keywords...)}
relax::TeGradient te_gradients(const nb::dict& functions) {
  return [functions](const std::string& name, const std::vector<te::Tensor>& grads,
                     const std::vector<te::Tensor>& inputs, const ir::AttrMap& kwargs) {
    if (!functions.contains(name.c_str()))
      throw UserError("gradient: no gradient is registered as \"{}\"", name)
          .help("register_te_gradient(\"{}\", function)", name);
    nb::list args;
    const nb::list given = to_list(grads);
    args.append(grads.size() == 1 ? nb::object(given[0]) : nb::object(given));
    for (nb::handle input : to_list(inputs)) args.append(input);
    nb::dict named;
    for (const auto& [key, value] : kwargs) named[nb::str(key.c_str())] = to_python(value);
    const nb::object function = functions[name.c_str()];
    return te_results(function(*nb::tuple(args), **named), name);
  };
}

void bind_builder(nb::module_& m) {
  nb::class_<BlockBuilder>(m, "BlockBuilder")
      .def(
          "__init__",
          [](BlockBuilder* self, nb::handle module) {
            new (self) BlockBuilder(module.is_none() ? ir::IRModule() : nb::cast<ir::IRModule>(module));
          },
          nb::arg("module").none())
      .def(
          "begin_function",
          [](BlockBuilder& self, const std::string& name, nb::handle params, nb::handle attrs, bool is_pure,
             bool is_private) {
            relax::FunctionOptions options;
            options.attrs = attrs_from_python(attrs);
            options.is_pure = is_pure;
            options.is_private = is_private;
            self.begin_function(name, params_of(params), std::move(options));
          },
          nb::arg("name"), nb::arg("params").none(), nb::arg("attrs").none(), nb::arg("is_pure"),
          nb::arg("is_private"))
      .def(
          "emit_func_output",
          [](BlockBuilder& self, const ir::Expr& output, nb::handle params) {
            return self.emit_func_output(output, params_of(params));
          },
          nb::arg("output"), nb::arg("params").none())
      .def("end_function", &BlockBuilder::end_function)
      .def("abandon_function", &BlockBuilder::abandon_function)
      .def("begin_dataflow", &BlockBuilder::begin_dataflow)
      .def("end_dataflow", &BlockBuilder::end_dataflow)
      .def("current_block_is_dataflow", &BlockBuilder::current_block_is_dataflow)
      .def("emit", [](BlockBuilder& self, const ir::Expr& value,
                      const std::string& name) { return self.emit(value, name); })
      .def("emit_output", [](BlockBuilder& self, const ir::Expr& value,
                             const std::string& name) { return self.emit_output(value, name); })
      .def("emit_match_cast", [](BlockBuilder& self, const ir::Expr& value, const ir::Type& type,
                                 const std::string& name) { return self.emit_match_cast(value, type, name); })
      .def("call_te", [](BlockBuilder& self, const std::string& name, nb::object body,
                         nb::handle args) { return self.call_te(name, te_function(body), exprs_of(args)); })
      .def("begin_scope", [](BlockBuilder& self, nb::handle params) { self.begin_scope(*params_of(params)); })
      .def("end_scope", &BlockBuilder::end_scope)
      .def("abandon_scope", &BlockBuilder::abandon_scope)
      .def("is_open", &BlockBuilder::is_open)
      .def("begin_block", &BlockBuilder::begin_block)
      .def("end_block", &BlockBuilder::end_block)
      .def("unique_name", &BlockBuilder::unique_name)
      .def("emit_normalized", &BlockBuilder::emit_normalized)
      .def("normalize", &BlockBuilder::normalize)
      .def("lookup_binding", &BlockBuilder::lookup_binding)
      .def("get", &BlockBuilder::get)
      .def("add_func", &BlockBuilder::add_func)
      .def("update_func", &BlockBuilder::update_func);
}

ir::PrimExpr extent_from_python(nb::handle value) {
  ir::PrimExpr extent;
  if (!nb::try_cast(value, extent) || !extent)
    throw UserError("an extent is a Python {}, expected an integer or an integer expression",
                    Py_TYPE(value.ptr())->tp_name);
  return extent;
}

}  // namespace

void bind_relax(nb::module_& m) {
  m.def("relax_op_table", &op_table);
  m.def("relax_pass_table", &pass_table);
  m.def("relax_call_op", [](const std::string& name, nb::handle args, nb::handle attrs) {
    return relax::call_op(name, exprs_of(args), attrs_from_python(attrs));
  });
  m.def("relax_infer_type", [](const ir::Expr& expr) { return relax::infer_type(expr); });
  m.def("relax_constant", [](nb::handle value) -> ir::ObjectRef {
    return relax::make_constant(tensor_from_python(value).copy());
  });
  // -1 and the like are allowed: their meaning depends on the operator that takes the shape
  m.def("relax_shape", [](nb::list extents) {
    relax::Shape shape;
    for (nb::handle value : extents) {
      const ir::PrimExpr extent = extent_from_python(value);
      if (!extent->dtype.is_integral())
        throw UserError("a dimension has dtype {}, expected an integer", extent->dtype.str());
      shape.push_back(relax::as_extent(extent));
    }
    return relax::shape_expr(shape);
  });
  m.def(
      "relax_tensor_type",
      [](nb::handle shape, DataType dtype, int64_t ndim, std::string device) -> ir::Type {
        if (shape.is_none()) return relax::tensor_type_of_ndim(ndim, dtype, std::move(device));
        relax::Shape extents;
        for (nb::handle extent : shape) extents.push_back(relax::checked_extent(extent_from_python(extent)));
        if (ndim >= 0 && ndim != static_cast<int64_t>(extents.size()))
          throw UserError("the shape has {}, but ndim is {}", count_text(extents.size(), "dimension"), ndim);
        return relax::tensor_type(std::move(extents), dtype, std::move(device));
      },
      nb::arg("shape").none(), nb::arg("dtype"), nb::arg("ndim"), nb::arg("device"));
  // 0: never, 1: after a check, 2: always
  m.def("relax_is_subtype", [](const ir::Type& given, const ir::Type& expected) {
    return static_cast<int>(relax::is_subtype(given, expected));
  });
  m.def("relax_common_type", &relax::common_type);
  m.def("relax_erase_dims", [](const ir::Type& type, nb::list known) {
    std::vector<tir::Var> dims;
    std::vector<const tir::VarNode*> pointers;
    for (nb::handle dim : known) pointers.push_back(dims.emplace_back(nb::cast<tir::Var>(dim)).get());
    return relax::erase_unknown_dims(type, pointers);
  });
  m.def("relax_defined_dims", [](const ir::Type& type) {
    std::vector<const tir::VarNode*> dims;
    relax::collect_defined_dims(type, &dims);
    nb::list result;
    for (const tir::VarNode* dim : dims) result.append(to_python(ir::ObjectRef(dim)));
    return result;
  });
  m.def("relax_op_is_pure", [](const std::string& name) { return relax::lookup_op(name).is_pure; });
  m.def("relax_require_purity",
        [](const relax::Function& func, const std::string& name, const ir::IRModule& module) {
          relax::require_purity(func, name, module.get());
        });
  m.def("relax_require_definitions", [](const ir::IRModule& module) { relax::require_definitions(module); });
  m.def("relax_require_result",
        [](const relax::Function& func, const std::string& name, const ir::Type& result) {
          relax::require_declared_result(func, name, result);
        });
  m.def("relax_remove_unused", &relax::remove_unused);
  m.def("relax_is_same_body", [](const ir::Expr& old_body, const relax::SeqExpr& body) {
    return relax::is_same_body(old_body, body);
  });
  m.def("relax_with_body", [](const relax::Function& func, nb::handle params, const relax::SeqExpr& body) {
    return relax::with_body(func, *params_of(params), body);
  });
  m.def(
      "relax_gradient",
      [](const ir::IRModule& module, const std::string& func_name,
         std::optional<std::vector<size_t>> required, int64_t target_index, nb::dict functions) {
        return relax::gradient(module,
                               {func_name, std::move(required), target_index, te_gradients(functions)});
      },
      nb::arg("module"), nb::arg("func_name"), nb::arg("required").none(), nb::arg("target_index"),
      nb::arg("te_gradients"));
  m.def("relax_append_loss", &relax::append_loss);
  m.def("relax_bind_params", [](const relax::Function& func, nb::dict params) {
    std::vector<std::pair<std::string, runtime::Tensor>> values;
    for (auto [name, value] : params)
      values.emplace_back(nb::cast<std::string>(name), tensor_from_python(value));
    return relax::bind_params(func, values);
  });
  bind_builder(m);
}

}  // namespace tilewright::python

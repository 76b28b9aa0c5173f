// @T.prim_func: the signature, buffers of parameters, attributes, the root block.
#include <fmt/format.h>

#include "tilewright/ir/walk.h"
#include "tilewright/runtime/device.h"
#include "tilewright/script/printer/tir_printer.h"
#include "tilewright/tir/builder.h"

namespace tilewright::script {
using namespace tir;
namespace {

// True if the buffer can be written as its parameter's type.
bool is_simple(const BufferNode* buffer) {
  for (const PrimExpr& extent : buffer->shape) {
    if (!is<IntImmNode>(extent)) return false;
  }
  return buffer->strides.empty() && !buffer->elem_offset && buffer->scope() == "global" &&
         buffer->data_alignment == runtime::kTensorAlignment && buffer->offset_factor == 0 &&
         buffer->axis_separators.empty();
}

std::string dtype_name(DataType dtype, const std::string& prefix) { return prefix + dtype.str(); }

}  // namespace

// T.handle("float32", "shared"), T.handle
std::string TirPrinter::pointer_text(const VarNode* var) {
  const auto* pointer = var->type_annotation.as<PointerTypeNode>();
  const auto* element = pointer ? pointer->element_type.as<PrimTypeNode>() : nullptr;
  if (!element) return w_.tir_prefix() + "handle";
  const bool is_global = pointer->storage_scope.empty() || pointer->storage_scope == "global";
  return fmt::format("{}handle({}{})", w_.tir_prefix(), quoted(element->dtype.str()),
                     is_global ? "" : ", " + quoted(pointer->storage_scope));
}

// Declares `A` and makes `A.data` the name of its pointer.
void TirPrinter::define_buffer(const BufferNode* buffer) {
  const std::string& name = w_.names.define(buffer, buffer->name);
  w_.names.define_as(buffer->data.get(), name + ".data");
}

void TirPrinter::buffer_call(const BufferNode* buffer, std::string_view function, std::string_view first,
                             bool with_data, const AttrMap& annotations, std::string_view usual_scope) {
  const bool is_type = function == "Buffer";
  std::string& out = w_.out;
  out += w_.tir_prefix();
  out += function;
  const bool is_old = w_.is_2022();
  out += is_type && is_old ? '[' : '(';
  out += first;
  const bool is_list = is_old && !is_type;
  if (is_type && is_old && buffer->shape.size() == 1) {
    w_.exprs(buffer->shape);
  } else if (is_list) {
    out += '[';
    w_.exprs(buffer->shape);
    out += ']';
  } else {
    w_.shape(buffer->shape);
  }
  const bool is_named = is_list || function == "decl_buffer";
  if (is_type || is_old || buffer->dtype != kFloat32)
    out += (is_named && is_old ? ", dtype=" : ", ") + quoted(buffer->dtype.str());
  if (with_data) out += ", data=" + w_.name_of(buffer->data.get());
  if (!buffer->strides.empty()) {
    out += ", strides=";
    w_.shape(buffer->strides);
  }
  const VarNode* offset = function == "match_buffer" ? free_offset(buffer) : nullptr;
  if (offset && !w_.names.find(offset)) {
    w_.names.define_as(offset, w_.name_of(buffer) + ".elem_offset");
  } else if (buffer->elem_offset) {
    out += ", elem_offset=";
    w_.expr(buffer->elem_offset);
  }
  if (!with_data && buffer->scope() != usual_scope) out += ", scope=" + quoted(buffer->scope());
  if (buffer->data_alignment != runtime::kTensorAlignment)
    out += fmt::format(", align={}", buffer->data_alignment);
  if (buffer->offset_factor != 0) out += fmt::format(", offset_factor={}", buffer->offset_factor);
  if (!buffer->axis_separators.empty())
    out += fmt::format(", axis_separators=[{}]", fmt::join(buffer->axis_separators, ", "));
  if (!annotations.empty()) {
    out += ", annotations=";
    w_.attributes(annotations);
  }
  out += is_type && is_old ? ']' : ')';
}

void TirPrinter::parameter(const PrimFuncNode* func, size_t index) {
  const VarNode* param = func->params[index].get();
  const BufferNode* buffer = func->buffers[index].get();
  if (buffer && is_simple(buffer)) {
    const size_t begin = w_.out.size();
    define_buffer(buffer);
    w_.out += w_.name_of(buffer);
    w_.place(buffer, begin);
    w_.place(param, begin);
    w_.out += ": ";
    buffer_call(buffer, "Buffer");
    return;
  }
  const bool same_name = buffer && param->name_hint == buffer->name;
  w_.define_name(param, same_name ? "var_" + buffer->name : param->name_hint);
  w_.out += ": ";
  w_.out += param->dtype.is_handle() ? pointer_text(param) : dtype_name(param->dtype, w_.tir_prefix());
}

void TirPrinter::declare(const Var& var) {
  if (!declared_.insert(var.get()).second) return;
  w_.begin_line();
  w_.define_name(var.get(), var->name_hint);
  const std::string type =
      var->dtype.is_handle() ? pointer_text(var.get()) : dtype_name(var->dtype, w_.tir_prefix());
  w_.out += " = " + type + (type.back() == ')' ? "" : "()");
  w_.end_line();
}

void TirPrinter::declare_variables_of(const BufferNode* buffer) {
  std::unordered_set<const VarNode*> undeclared;
  for (const Var& var : survey_.undeclared) undeclared.insert(var.get());
  auto meet = [&](const VarNode* var) {
    if (undeclared.contains(var)) declare(Var(var));
  };
  for (const PrimExpr& extent : buffer->shape) walk(extent, meet);
  for (const PrimExpr& stride : buffer->strides) walk(stride, meet);
  walk(buffer->elem_offset, meet);
}

void TirPrinter::match_parameters(const PrimFuncNode* func) {
  for (size_t n = 0; n < func->params.size(); ++n) {
    const BufferNode* buffer = func->buffers[n].get();
    if (!buffer || is_simple(buffer)) continue;
    declare_variables_of(buffer);
    w_.begin_line();
    const size_t begin = w_.out.size();
    define_buffer(buffer);
    w_.out += w_.name_of(buffer);
    w_.place(buffer, begin);
    w_.out += " = ";
    buffer_call(buffer, "match_buffer", w_.name_of(func->params[n].get()) + ", ");
    w_.end_line();
  }
}

// The global symbol is the function's name, and is printed only if it differs.
void TirPrinter::function_attributes(const PrimFuncNode* func, std::string_view name) {
  AttrMap attrs = func->attrs;
  if (!w_.is_2022() && attrs.get_string("global_symbol", "") == name) attrs.erase("global_symbol");
  if (attrs.empty()) return;
  if (w_.is_2022()) w_.line("# function attr dict");
  w_.begin_line();
  w_.out += w_.tir_prefix() + "func_attr(";
  w_.attributes(attrs);
  w_.out += ')';
  w_.end_line();
}

// True if the parser would create exactly this root block around the body, so that it can be omitted.
bool TirPrinter::has_implied_root(const Stmt& body) const {
  const auto* realize = body.as<BlockRealizeNode>();
  if (!realize) return false;
  const BlockNode* root = realize->block.get();
  if (root->name_hint != "root" || !root->iter_vars.empty() || !root->reads.empty() ||
      !root->writes.empty() || root->init || !root->match_buffers.empty() || !root->annotations.empty() ||
      !is_one(realize->predicate))
    return false;
  const auto* only = root->body.as<BlockRealizeNode>();
  const bool is_taken_for_root = only && only->iter_values.empty() && root->alloc_buffers.empty();
  return contains_block(root->body) && !is_taken_for_root;
}

void TirPrinter::body(const PrimFuncNode* func) {
  if (!has_implied_root(func->body)) return statement(func->body);
  const BlockNode* root = func->body.as<BlockRealizeNode>()->block.get();
  const size_t begin = w_.out.size();
  if (w_.is_2022())
    w_.line("# with T.block(\"root\")");
  else
    w_.line(fmt::format("# with {}{}(\"root\"):", w_.tir_prefix(),
                        w_.dialect == Dialect::kTvm027 ? "sblock" : "block"));
  w_.place(func->body.get(), begin);
  w_.place(root, begin);
  allocations(root->alloc_buffers);
  statement(root->body);
}

void TirPrinter::function(const PrimFuncNode* func, std::string_view name) {
  survey_ = survey(func);
  w_.names.push();
  std::vector<std::string> options;
  if (!func->attrs.contains("global_symbol") && !w_.is_2022()) options.push_back("private=True");
  if (w_.dialect == Dialect::kTvm027 && contains_block(func->body)) options.push_back("s_tir=True");
  w_.line(fmt::format("@{}prim_func{}", w_.tir_prefix(),
                      options.empty() ? "" : fmt::format("({})", fmt::join(options, ", "))));
  w_.begin_line();
  const size_t begin = w_.out.size();
  w_.out += fmt::format("def {}(", identifier(name));
  for (size_t n = 0; n < func->params.size(); ++n) {
    if (n) w_.out += ", ";
    parameter(func, n);
  }
  w_.out += ')';
  const auto* result = func->ret_type.as<PrimTypeNode>();
  if (result && !result->dtype.is_void())
    w_.out += " -> " + dtype_name(result->dtype, w_.tir_prefix());
  else if (w_.is_2022())
    w_.out += " -> None";
  w_.out += ':';
  w_.place(func, begin);
  w_.end_line();
  w_.indented([&] {
    function_attributes(func, name);
    match_parameters(func);
    for (const Var& var : survey_.undeclared) declare(var);
    for (const IterVar& thread : survey_.env_threads) {
      w_.begin_line();
      w_.define_name(thread->var.get(), thread->var->name_hint);
      const std::string dtype = thread->var->dtype == kInt32 ? "" : ", " + quoted(thread->var->dtype.str());
      w_.out += fmt::format(" = {}env_thread({}{})", w_.tir_prefix(), quoted(thread->thread_tag), dtype);
      w_.end_line();
    }
    if (w_.is_2022()) w_.line("# body");
    body(func);
  });
  w_.names.pop();
}

void print_prim_func(Writer& writer, const PrimFuncNode* func, std::string_view name) {
  TirPrinter(&writer).function(func, name);
}
void print_stmt(Writer& writer, const Stmt& stmt) { TirPrinter(&writer).statement(stmt); }
void print_buffer(Writer& writer, const BufferNode* buffer) {
  TirPrinter(&writer).buffer_call(buffer, "Buffer");
}

}  // namespace tilewright::script

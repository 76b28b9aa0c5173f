// The entry: dispatch by the kind of node, the header, long lines, carets.
#include "tilewright/script/print.h"

#include "tilewright/ir/field.h"
#include "tilewright/ir/walk.h"
#include "tilewright/script/printer/layout.h"
#include "tilewright/script/printer/writer.h"
#include "tilewright/support/near.h"
#include "tilewright/tir/builder.h"

namespace tilewright::script {
using namespace tir;
namespace {

Dialect dialect_of(const std::string& name) {
  if (name == "native") return Dialect::kNative;
  if (name == "2022") return Dialect::kTvm2022;
  if (name == "0.23") return Dialect::kTvm023;
  if (name == "0.27") return Dialect::kTvm027;
  throw UserError("print: there is no dialect \"{}\"", name)
      .help("the dialects are native, 0.23, 0.27 and 2022");
}

// The imports that the text needs.
void header(Writer& writer, const ObjectRef& node) {
  if (!writer.options.show_header || writer.is_2022()) return;
  const bool is_native = writer.dialect == Dialect::kNative;
  const std::string package = !writer.options.package.empty() ? writer.options.package
                              : is_native                     ? "tilewright.script"
                                                              : "tvm.script";
  const auto add_import = [&](std::string_view module, const std::string& alias) {
    writer.line(fmt::format("# from {} import {} as {}", package, module, alias));
  };
  bool has_tir = is<PrimFuncNode>(node), has_graph = !has_tir && !is<IRModuleNode>(node);
  if (const auto* module = node.as<IRModuleNode>()) {
    for (const BaseFunc& func : module->functions) (is<PrimFuncNode>(func) ? has_tir : has_graph) = true;
    add_import("ir", writer.options.ir_alias);
  }
  walk(
      node, [&](const PrimFuncNode*) { return has_tir = true, false; },
      [&](const VarNode*) { has_tir = true; });
  if (has_tir) add_import(writer.dialect == Dialect::kTvm027 ? "tirx" : "tir", writer.options.tir_alias);
  if (has_graph) add_import("relax", writer.options.relax_alias);
  writer.out += '\n';
}

std::string symbol_of(const BaseFuncNode* func) {
  const std::string symbol = func->attrs.get_string("global_symbol", "main");
  return symbol.empty() ? "main" : symbol;
}

// Prints functions and modules as a whole file.
bool print_program(Writer& writer, const ObjectRef& node) {
  if (const auto* module = node.as<IRModuleNode>()) {
    header(writer, node);
    print_module(writer, module);
  } else if (const auto* func = node.as<PrimFuncNode>()) {
    header(writer, node);
    print_prim_func(writer, func, symbol_of(func));
  } else if (const auto* func = node.as<BaseFuncNode>()) {
    header(writer, node);
    print_graph_function(writer, func, symbol_of(func));
  } else {
    return false;
  }
  if (writer.options.show_meta) writer.out += writer.metadata_text();
  return true;
}

void print_fragment(Writer& writer, const ObjectRef& node) {
  if (is<StmtNode>(node)) return print_stmt(writer, ref_as<StmtNode>(node));
  if (const auto* buffer = node.as<BufferNode>()) return print_buffer(writer, buffer);
  if (const auto* match = node.as<MatchBufferRegionNode>()) {
    writer.out += writer.name_of(match->buffer.get()) + " = " + writer.tir_prefix() + "match_buffer(";
    return writer.region(match->source), void(writer.out += ')');
  }
  if (const auto* axis = node.as<IterVarNode>()) {
    writer.out += writer.name_of(axis->var.get()) + ": ";
    if (!axis->dom) return void(writer.out += axis->thread_tag);
    return writer.other(axis->dom.get());
  }
  const bool is_graph =
      is<RelaxExprNode>(node) || is<relax::BindingNode>(node) || is<relax::BindingBlockNode>(node);
  if (is_graph && !is<GlobalVarNode>(node)) return print_graph_node(writer, node.get());
  if (const auto* op = node.as<OpNode>()) return void(writer.out += op->name);
  writer.attribute(node);
}

struct Written {
  std::string text;
  std::vector<TextPlace> places;
};

Written write(const ObjectRef& node, const PrintOptions& options, bool keeps_places) {
  if (!node) return {"None", {}};
  if (options.indent_spaces < 1 || options.indent_spaces > 16)
    throw UserError("print: indent_spaces is {}, expected 1 to 16", options.indent_spaces);
  if (options.line_width < 0)
    throw UserError("print: line_width is {}, expected 0 (never break) or more", options.line_width);
  Writer writer(options, dialect_of(options.dialect));
  writer.keeps_places = keeps_places || !options.underline.empty();
  if (!print_program(writer, node)) print_fragment(writer, node);
  Written result{std::move(writer.out), std::move(writer.places)};
  const bool is_wide = options.line_width == 0 || writer.is_2022();
  if (!is_wide)
    result.text = wrap_lines(result.text, static_cast<size_t>(options.line_width),
                             static_cast<size_t>(options.indent_spaces), &result.places);
  return result;
}

}  // namespace

std::string print(const ObjectRef& node, const PrintOptions& options) {
  Written result = write(node, options, false);
  return options.underline.empty() ? std::move(result.text)
                                   : underline(result.text, result.places, options.underline);
}

PrintedProgram print_with_places(const ObjectRef& node, const PrintOptions& options, std::string name) {
  Written result = write(node, options, true);
  PrintedProgram printed;
  printed.places = to_lines(result.text, result.places);
  printed.source = Ref<Source>(new Source(std::move(name), std::move(result.text)));
  return printed;
}

Span PrintedProgram::find(const Object* node) const {
  for (const Place& place : places) {
    if (place.node == node) return {source, place.line, place.column, place.end_line, place.end_column};
  }
  return {};
}

}  // namespace tilewright::script

// The state that the printers of loop programs and graphs share: lines, names,
// attributes, constants, the dialect.
#pragma once
#include <map>

#include "tilewright/relax/graph/relax.h"
#include "tilewright/script/print.h"
#include "tilewright/script/printer/names.h"
#include "tilewright/tir/text.h"

namespace tilewright::script {

enum class Dialect { kNative, kTvm2022, kTvm023, kTvm027 };

/// Collects the text of a program.  Each statement is one line; print.cc breaks long lines.
class Writer final : public tir::ExprWriter {
 public:
  Writer(const PrintOptions& options, Dialect dialect);

  const PrintOptions& options;
  const Dialect dialect;
  NameTable names;
  std::string module_name;      // of the enclosing class; empty outside of one
  std::string function_prefix;  // printed before the name of a called function: "cls."
  bool is_2022() const { return dialect == Dialect::kTvm2022; }

  // ---- lines
  void begin_line() { out.append(indent_, ' '); }
  void end_line() { out += '\n'; }
  void line(std::string_view text) { begin_line(), out += text, end_line(); }
  /// Runs `body` with one more level of indentation.
  template <class F>
  void indented(F&& body) {
    indent_ += step_;
    body();
    indent_ -= step_;
  }
  /// Records that the text from `begin` to here shows `node`.
  void place(const ir::Object* node, size_t begin) {
    if (keeps_places) places.push_back({node, begin, out.size()});
  }

  // ---- names
  /// Appends a new name for `node` and records it as the node's place.
  void define_name(const ir::Object* node, std::string_view hint);
  /// "tir" -> "T.", "relax" -> "R."
  const std::string& tir_prefix() const { return tir_prefix_; }
  const std::string& relax_prefix() const { return relax_prefix_; }

  // ---- parts that several printers need
  /// Appends `expr` with a type on every literal, where literals without one would get another type.
  void typed(const tir::PrimExpr& expr);
  void attribute(const ir::ObjectRef& value);
  void attributes(const ir::AttrMap& attrs) override;
  /// "(4, n)", "(4,)", "()"
  void shape(const std::vector<tir::PrimExpr>& dims);
  /// R.Tensor((4, n), dtype="float32"); `quotes_dims`: symbolic dimensions are strings, as in signatures.
  void type(const ir::Type& type, bool quotes_dims = false);
  void constant(const relax::ConstantNode* constant);
  /// Appends a value that only the metadata section can hold: metadata["relax.expr.Constant"][0]
  void in_metadata(std::string_view key, const ir::ObjectRef& value);
  /// The metadata section: a line that the parser reads back.
  std::string metadata_text() const;

  std::string name_of(const ir::Object* node) override;
  void define(const tir::VarNode* var) override;
  void other(const ir::Object* node) override;
  void variable(const tir::VarNode* var) override { out += name_of(var); }

 private:
  size_t indent_ = 0;
  const size_t step_;
  std::string tir_prefix_, relax_prefix_;
  std::map<std::string, std::vector<ir::ObjectRef>, std::less<>> metadata_;
};

// ---- the printers
void print_prim_func(Writer& writer, const tir::PrimFuncNode* func, std::string_view name);
void print_stmt(Writer& writer, const tir::Stmt& stmt);
void print_buffer(Writer& writer, const tir::BufferNode* buffer);
void print_module(Writer& writer, const ir::IRModuleNode* module);
/// Prints a graph function; nested ones have no decorator arguments.
void print_graph_function(Writer& writer, const ir::Object* func, std::string_view name);
/// Prints a graph expression, binding or block, as lines or on one line.
void print_graph_node(Writer& writer, const ir::Object* node);

}  // namespace tilewright::script

// Prints programs as TVMScript: the inverse of parse.h.  parse(print(x)) equals x for every module and
// function, in every dialect but "2022", whose published form omits types.
#pragma once
#include <string>
#include <vector>

#include "tilewright/ir/options.h"
#include "tilewright/support/span.h"

namespace tilewright::script {
using ir::ObjectRef;

struct PrintOptions {
  std::string dialect = "native";
  bool show_meta = false;
  bool show_header = true;
  int64_t indent_spaces = 4;
  int64_t line_width = 110;
  std::string ir_alias = "I";
  std::string tir_alias = "T";
  std::string relax_alias = "R";
  std::string module_name = "Module";
  std::string package = "";
  /// Nodes whose text is underlined by ^^^^.
  std::vector<ObjectRef> underline = {};

  static constexpr auto fields() {
    using ir::field;
    return std::tuple{
        field<&PrintOptions::dialect>("dialect",
                                      "\"native\", \"0.23\", \"0.27\" or \"2022\": whose spellings to use"),
        field<&PrintOptions::show_meta>("show_meta",
                                        "append the values that the text names metadata[...][n]"),
        field<&PrintOptions::show_header>("show_header", "begin with the imports, as comments"),
        field<&PrintOptions::indent_spaces>("indent_spaces", "blanks per level"),
        field<&PrintOptions::line_width>("line_width", "longer lines are broken as black does; 0: never"),
        field<&PrintOptions::ir_alias>("ir_alias", "name of the module of @I.ir_module"),
        field<&PrintOptions::tir_alias>("tir_alias", "name of the module of @T.prim_func"),
        field<&PrintOptions::relax_alias>("relax_alias", "name of the module of @R.function"),
        field<&PrintOptions::module_name>("module_name", "name of the class of a module"),
        field<&PrintOptions::package>(
            "package",
            "where the imports come from; \"\": tilewright.script, or tvm.script in its dialects")};
  }
};

/// `node` as text.  A statement, function or module ends with a newline; an expression, region, buffer, type
/// or any other node is one line without a newline.  Raises UserError for an unknown dialect.
std::string print(const ObjectRef& node, const PrintOptions& options = {});

/// A text and the places of its nodes.  Errors in programs without a source text point into it.
class PrintedProgram {
 public:
  struct Place {
    const ir::Object* node;
    uint32_t line, column, end_line, end_column;  // lines from 1, columns from 0, end exclusive
  };
  Ref<Source> source;         // the text
  std::vector<Place> places;  // ordered by their end; a shared node has several
  /// The first place of `node`; an empty Span if it is not in the text.  The place of a loop or block is its
  /// first line.
  Span find(const ir::Object* node) const;
};
PrintedProgram print_with_places(const ObjectRef& node, const PrintOptions& options = {},
                                 std::string name = "<printed>");

}  // namespace tilewright::script

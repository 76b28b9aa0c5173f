// @R.function
#include "tilewright/script/parser/relax_parser.h"

namespace tilewright::script {

relax::Function RelaxParser::parse_function(const ast::Stmt* function) {
  (void)state_;
  throw Unsupported(parser_.tree.span(function), "R.function");
}

Value call_graph_function(Parser&, std::string_view, Args& args) { throw Unsupported(args.span, "R.function"); }
std::optional<Value> graph_type_of_name(Parser&, std::string_view) { return std::nullopt; }
Value call_graph_value(Parser&, const Value&, Args& args) { throw Unsupported(args.span, "R.function"); }
Value graph_attribute(Parser& parser, const Value&, std::string_view, Place place) { throw Unsupported(parser.span(place), "R.function"); }
Value call_graph_method(Parser&, const Value&, std::string_view, Args& args) { throw Unsupported(args.span, "R.function"); }
Value graph_dimension(Parser& parser, std::string_view, DataType, Place place) { throw Unsupported(parser.span(place), "R.function"); }
Value Parser::graph_unary(std::string_view, const Value&, Place place) { throw Unsupported(span(place), "R.function"); }
Value Parser::graph_binary(std::string_view, const Value&, const Value&, Place place) { throw Unsupported(span(place), "R.function"); }
Value Parser::graph_subscript(const Value&, const ast::Expr* expr) { throw Unsupported(span(expr), "R.function"); }

}  // namespace tilewright::script

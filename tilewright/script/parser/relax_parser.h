// From statements to graphs.
#pragma once
#include "tilewright/script/parser/parser.h"

namespace tilewright::script {

struct RelaxState {};

class RelaxParser {
 public:
  RelaxParser(Parser* parser, RelaxState* state) : parser_(*parser), state_(*state) {}
  relax::Function parse_function(const ast::Stmt* function);

 private:
  Parser& parser_;
  RelaxState& state_;
};

}  // namespace tilewright::script

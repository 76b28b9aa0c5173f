// Expressions as the text of a script: "i * 4 + j", "T.max(A[i, j], T.float32(0))".
// expr_text and region_text are for messages; the printer (script/print.h) is a subclass of ExprWriter.
#pragma once
#include <string>

#include "tilewright/tir/tir.h"

namespace tilewright::tir {

/// `expr` on one line, variables and buffers by their name hints, integers without their dtype.
std::string expr_text(const PrimExpr& expr);
/// "A[0:5, vi]"
std::string region_text(const BufferRegion& region);
/// "[i, j + 1]"
std::string indices_text(const std::vector<PrimExpr>& indices);
/// "lambda i, j: (j // 4, i, j % 4)"
std::string index_map_text(const IndexMap& map);
/// `text` in double quotes, with escapes where Python needs them.
std::string quoted(std::string_view text);
/// The shortest decimal number that reads back as `value` of `dtype`: "0", "0.1", "1e-05"; "inf" in quotes.
std::string float_text(double value, DataType dtype, bool as_double = false);

/// How strongly an expression binds, as in Python; an expression gets parentheses if it binds less strongly
/// than its context requires.
enum class Precedence { kNone, kOr, kAnd, kNot, kCompare, kSum, kProduct, kUnary, kAtom };

/// Appends expressions to `out` with the fewest parentheses that keep their structure.
class ExprWriter {
 public:
  /// The position of a node's text in `out`.
  struct Place {
    const Object* node;
    size_t begin, end;
  };
  std::string out;
  std::vector<Place> places;
  bool keeps_places = false;
  bool floats_as_doubles = false;  // 0.10000000149011612 for the float32 0.1
  DataType bare_int = kInt32;      // the type of a literal written without one
  bool has_plain_ints = false;     // literals of other types are written without a type, too
  std::string alias = "T";         // the module that functions come from

  virtual ~ExprWriter() = default;
  void expr(const PrimExpr& expr, Precedence at_least = Precedence::kNone);
  /// Appends an expression that exists only in the text, e.g. the end of a range: it has no Place.
  void derived(const PrimExpr& expr);
  /// "a, b, c"
  void exprs(const std::vector<PrimExpr>& list);
  /// "i, 0:4": the indices of an access; a Ramp of a positive constant stride is a slice.
  void indices(const std::vector<PrimExpr>& list);
  void region(const BufferRegion& region);
  void comm_reducer(const CommReducerNode* reducer);
  void index_map(const IndexMapNode* map);
  /// "lambda i, j: (j // 4, i, j % 4)"
  void index_lambda(const IndexMapNode* map);

 protected:
  /// The name of a variable or buffer.
  virtual std::string name_of(const Object* node);
  /// Called before the first use of a variable that an expression defines (lambda, T.Let).
  virtual void define(const VarNode* var) {}
  /// Appends an operand that is no TIR node: a function of the module, a tensor of a tensor expression.
  virtual void other(const Object* node);
  /// The spelling of a variable; data pointers of buffers may be written `A.data`.
  virtual void variable(const VarNode* var) { out += name_of(var); }
  /// The values of attributes, as in `annotations={...}`.
  virtual void attributes(const AttrMap& attrs);

 private:
  void plain(const PrimExpr& expr);
  void int_literal(const IntImmNode* literal);
  void binary(const BinaryOpNode* op);
  bool is_function(const BinaryOpNode* op) const;
  Precedence precedence_of(const PrimExpr& expr) const;
  void binary_function(const BinaryOpNode* op, std::string_view name);
  void access(const Buffer& buffer, const std::vector<PrimExpr>& list, const PrimExpr& predicate);
  void call(const CallNode* call);
  void vector(const PrimExpr& expr);
  void lanes(int64_t lanes);
  void lambda(const std::vector<Var>& params);
  void reduce(const ReduceNode* reduce);
};

}  // namespace tilewright::tir

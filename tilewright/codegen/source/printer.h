// Prints lowered TIR (lower/lowered.h) in a C-like language: the part that all of them share.
#pragma once
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tilewright/arith/analyzer.h"
#include "tilewright/codegen/source/names.h"
#include "tilewright/tir/tir.h"

namespace tilewright::codegen {
using namespace tir;

/// The precedence of an expression, lowest first.
enum class Level : uint8_t {
  kChoice,    // a ? b : c
  kOr,        // a || b
  kAnd,       // a && b
  kBits,      // a & b, a | b, a ^ b; always parenthesised beside other operators
  kEquality,  // a == b
  kOrder,     // a < b
  kShift,     // a << b
  kSum,       // a + b
  kProduct,   // a * b
  kPrefix,    // -a, (float)a
  kPrimary,   // a, a[b], f(a)
};

/// Text of an expression.
struct Code {
  std::string text;
  Level level = Level::kPrimary;
};

/// Prints the body of one function.  Virtual functions cover the differences between languages: a class per
/// language instead of a table of functions, since most of them need the printer's state (lines, names).  An
/// expression that needs statements of its own (let, a call that may fail) prints them before the statement
/// that contains it; so expr() must be called before line().
class SourcePrinter {
 public:
  virtual ~SourcePrinter() = default;
  SourcePrinter(const SourcePrinter&) = delete;
  SourcePrinter& operator=(const SourcePrinter&) = delete;

 protected:
  SourcePrinter(const PrimFuncNode* func, Names names);

  // ---- differences between languages
  /// "float": the type of a value; raises Unsupported if the language has none.
  virtual std::string type_name(DataType dtype) const = 0;
  /// The same for an element in memory.
  virtual std::string memory_type_name(DataType dtype) const = 0;
  virtual Code float_literal(double value, DataType dtype) const = 0;
  /// Arithmetic for which the language has no operator: "min", "floordiv" and others, on values of one dtype.
  virtual Code arithmetic_call(std::string_view name, DataType dtype, const std::vector<PrimExpr>& args) = 0;
  /// A call of a function, or of an operator of tir/op.h that expr() does not handle.
  virtual Code call(const CallNode* node, std::string_view name) = 0;
  virtual Code cast(const CastNode* node);
  virtual Code vector(const PrimExpr& expr) = 0;
  virtual void alloc(const AllocBufferNode* node) = 0;
  virtual void thread_loop(const ForNode* node) = 0;
  /// What the variable of a loop is called.
  virtual std::string loop_name(const ForNode* node) const { return node->loop_var->name_hint; }
  /// A line before a loop that says how compilers treat it; empty for none.
  virtual std::string loop_hint(const ForNode*) { return ""; }
  /// The end of a literal of int64, in which an `int` of the language has 32 bits.
  virtual const char* long_suffix() const { return "LL"; }
  /// A test for NaN that is true or not 0.
  virtual std::string nan_test(const PrimExpr& expr);
  /// The address space of what `var` points to, with a blank after it: "__global ".
  virtual std::string address_space(const VarNode*) const { return ""; }
  /// A store of several lanes, or of those for which a condition holds.
  virtual void store_lanes(const BufferStoreNode* node);
  /// Reports an error and leaves the function.
  virtual void fail(std::string_view kind, std::string_view message) = 0;

  // ---- expressions (expr.cc)
  Code expr(const PrimExpr& expr);
  /// The text of `expr`, parenthesised if its precedence is lower than `at_least`.
  std::string text(const PrimExpr& expr, Level at_least = Level::kChoice);
  /// The same as part of an address or a loop bound, where signed arithmetic does not wrap around.
  std::string index_text(const PrimExpr& expr, Level at_least = Level::kChoice);
  /// An operand beside `other`: a small 64-bit literal needs no suffix if the other side is not a literal.
  std::string operand(const PrimExpr& expr, const PrimExpr& other, Level at_least);
  static std::string within(const Code& code, Level at_least);
  /// `value` cast from one type of the language to another.
  Code cast_of(const Code& value, DataType from, DataType to) const;
  /// A call of an operator on bits, "bitwise_and" and others (is_of_whole_numbers).
  Code whole_numbers(const CallNode* node, std::string_view name);
  /// `a ? b : c`; only the selected value may be evaluated.
  Code choice(const PrimExpr& condition, const PrimExpr& a, const PrimExpr& b);
  /// "A[i]"
  virtual std::string element(const Buffer& buffer, const std::vector<PrimExpr>& indices);
  /// Computes the value now, in a new variable; returns its name.
  std::string temporary(std::string_view hint, DataType dtype, const std::string& value);

  // ---- statements (stmt.cc)
  void stmt(const Stmt& stmt);
  void line(std::string text);
  void open(const std::string& header);
  void close(const std::string& tail = "}");
  /// Ends a block and begins the next one: "} else {".
  void reopen(const std::string& header);
  /// Prints the cleanups that must run before the function is left here.
  void run_cleanups(size_t above = 0);

  // ---- variables (variables.cc)
  /// The element type that pointer `var` points to here, from the buffers that use it; void if they differ.
  DataType pointee(const VarNode* var) const;
  bool is_written(const VarNode* var) const { return written_.count(var) != 0; }
  /// Declares a parameter or variable: "const float* restrict A", "int32_t n".
  virtual std::string declaration(const VarNode* var, const std::string& name,
                                  std::string_view qualifier) const;
  bool is_used(const VarNode* var, int definitions) const;
  /// Defines `var` with `value`.
  void define(const VarNode* var, const PrimExpr& value);

  const PrimFuncNode* func_;
  Names names_;
  std::vector<std::string> lines_;
  int depth_ = 0;
  std::vector<std::string> cleanups_;  // innermost last
  std::vector<const ForNode*> nest_;   // the loops around a statement, innermost last
  arith::Analyzer analyzer_;
  std::unordered_set<const VarNode*> data_vars_;  // variables with values from memory or functions

 private:
  Code int_literal(int64_t value, DataType dtype) const;
  Code operation(const char* symbol, Level level, const BinaryOpNode* node);
  Code binary(const BinaryOpNode* node);
  Code arithmetic(const BinaryOpNode* node);
  Code division(const BinaryOpNode* node);
  Code comparison(const BinaryOpNode* node);
  Code logic(const BinaryOpNode* node);
  Code load(const BufferLoadNode* node);
  Code builtin(const CallNode* node);
  bool is_data(const PrimExpr& expr) const;
  bool is_nonnegative(const PrimExpr& expr);

  /// An expression and the statements it needs.
  struct Branch {
    Code code;
    std::vector<std::string> lines;
  };
  Branch branch(const PrimExpr& expr);

  void store(const BufferStoreNode* node);
  void loop(const ForNode* node);
  void while_loop(const WhileNode* node);
  void condition(const IfThenElseNode* node, const std::string& before);
  void evaluate(const PrimExpr& value);
  std::string loop_end(const ForNode* node);
  void collect_uses();

  std::vector<size_t> loops_;  // number of cleanups at the beginning of each enclosing loop
  bool in_index_ = false;
  std::unordered_map<const VarNode*, int> uses_;
  std::unordered_map<const VarNode*, DataType> pointees_;
  std::unordered_set<const VarNode*> written_;
};

/// `text` as a string literal of C.
std::string quoted(std::string_view text);
/// `line`, wrapped at spaces outside of literals if it is longer than 100 columns; ends with a newline.
std::string wrapped(const std::string& line);

}  // namespace tilewright::codegen

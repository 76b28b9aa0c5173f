// Lowered TIR (lower/lowered.h) as text of a language of the C family: what all of them write alike.
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

/// How tightly an expression holds together, loosest first.
enum class Level : uint8_t {
  kChoice,    // a ? b : c
  kOr,        // a || b
  kAnd,       // a && b
  kBits,      // a & b, a | b, a ^ b; always in parentheses beside other operators
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

/// Prints the body of one function.  What languages write differently is virtual: a class for each language
/// instead of functions in a table, since most of them need the printer's state (lines, names).
/// An expression that needs statements of its own (let, a call that may fail) prints them before the
/// statement that holds it; expr() therefore comes before line().
class SourcePrinter {
 public:
  virtual ~SourcePrinter() = default;
  SourcePrinter(const SourcePrinter&) = delete;
  SourcePrinter& operator=(const SourcePrinter&) = delete;

 protected:
  SourcePrinter(const PrimFuncNode* func, Names names);

  // ---- what languages write differently
  /// "float": the type of a value; raises Unsupported if the language has none.
  virtual std::string type_name(DataType dtype) const = 0;
  /// The same for an element in memory.
  virtual std::string memory_type_name(DataType dtype) const = 0;
  virtual Code float_literal(double value, DataType dtype) const = 0;
  /// Arithmetic that no operator of the language has: "min", "floordiv" and the like, on values of one dtype.
  virtual Code arithmetic_call(std::string_view name, DataType dtype, const std::vector<PrimExpr>& args) = 0;
  /// A call of an operator of tir/op.h that expr() does not know, or of a function.
  virtual Code call(const CallNode* node, std::string_view name) = 0;
  virtual Code cast(const CastNode* node);
  virtual Code vector(const PrimExpr& expr) = 0;
  virtual void alloc(const AllocBufferNode* node) = 0;
  virtual void thread_loop(const ForNode* node) = 0;
  /// Reports an error and leaves the function.
  virtual void fail(std::string_view kind, std::string_view message) = 0;

  // ---- expressions (expr.cc)
  Code expr(const PrimExpr& expr);
  /// Text of `expr`, in parentheses if it is looser than `at_least`.
  std::string text(const PrimExpr& expr, Level at_least = Level::kChoice);
  /// The same as part of an address or a loop bound: signed arithmetic does not wrap.
  std::string index_text(const PrimExpr& expr, Level at_least = Level::kChoice);
  /// An operand beside `other`: a small 64-bit literal needs no suffix where the other side is no literal.
  std::string operand(const PrimExpr& expr, const PrimExpr& other, Level at_least);
  static std::string within(const Code& code, Level at_least);
  /// `value` of one type of the language as another.
  Code cast_of(const Code& value, DataType from, DataType to) const;
  /// `a ? b : c`, of which only the chosen value may be evaluated.
  Code choice(const PrimExpr& condition, const PrimExpr& a, const PrimExpr& b);
  /// "A[i]"
  std::string element(const Buffer& buffer, const std::vector<PrimExpr>& indices);
  /// A value computed now, in a variable of its own.
  std::string temporary(std::string_view hint, DataType dtype, const std::string& value);

  // ---- statements (stmt.cc)
  void stmt(const Stmt& stmt);
  void line(std::string text);
  void open(const std::string& header);
  void close(const std::string& tail = "}");
  /// The end of a block and the begin of the next: "} else {".
  void reopen(const std::string& header);
  /// What must run before the function is left from here.
  void run_cleanups(size_t above = 0);

  // ---- variables (variables.cc)
  /// What pointer `var` points to here: the element type of the buffers that use it; void if they differ.
  DataType pointee(const VarNode* var) const;
  bool is_written(const VarNode* var) const { return written_.count(var) != 0; }
  /// Declares a parameter or variable: "const float* restrict A", "int32_t n".
  virtual std::string declaration(const VarNode* var, const std::string& name,
                                  std::string_view qualifier) const;
  bool is_used(const VarNode* var, int definitions) const;
  /// Defines `var` as `value`.
  void define(const VarNode* var, const PrimExpr& value);

  const PrimFuncNode* func_;
  Names names_;
  std::vector<std::string> lines_;
  int depth_ = 0;
  std::vector<std::string> cleanups_;  // innermost last

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

  std::vector<size_t> loops_;  // how many cleanups there were when each loop around here began
  bool in_index_ = false;
  arith::Analyzer analyzer_;
  std::unordered_map<const VarNode*, int> uses_;
  std::unordered_map<const VarNode*, DataType> pointees_;
  std::unordered_set<const VarNode*> written_, data_vars_;
};

/// `text` as a string literal of C.
std::string quoted(std::string_view text);
/// `line`, broken at spaces outside of literals where it is longer than 100 columns; ends with a newline.
std::string wrapped(const std::string& line);

}  // namespace tilewright::codegen

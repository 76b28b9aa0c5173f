// Refusals of the parser, with the whole text of the first line and the caret's line.
#include "script_testing.h"

namespace tilewright::script {
namespace {

// "error: ..." without place and excerpt
std::string first_line(std::string_view program) {
  const std::string text = error_of(program);
  return text.substr(0, text.find('\n'));
}

// The body of a function over A: float32[16] and n: int32.
std::string with_body(std::string_view body) {
  std::string text = "@T.prim_func\ndef f(A: T.Buffer((16,), \"float32\"), n: T.int32):\n";
  for (size_t begin = 0; begin < body.size();) {
    const size_t end = std::min(body.find('\n', begin), body.size());
    text += "    " + std::string(body.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return text;
}

TEST(ParseError, UndefinedNameHasCaretAndHelp) {
  expect_error(R"(
      @T.prim_func
      def f(Alpha: T.Buffer((16,), "float32")):
          for i in range(16):
              Alpha[i] = Alpa[i]
  )",
               R"(
      error: name Alpa is not defined
        f.py:4:20
         4 |         Alpha[i] = Alpa[i]
           |                    ^^^^
      help: did you mean Alpha?
  )");
}

TEST(ParseError, UnknownFunctionOfT) {
  expect_error(with_body("A[0] = T.exq(A[1])"), R"(
      error: TIR has no function exq
        f.py:3:12
         3 |     A[0] = T.exq(A[1])
           |            ^^^^^^^^^^^
      help: did you mean exp, erf or exp2?
  )");
}

TEST(ParseError, WrongNumberOfIndices) {
  expect_error(with_body("A[0, 1] = T.float32(0)"), R"(
      error: buffer A has 1 dimension, but 2 indices are given
        f.py:3:5
         3 |     A[0, 1] = T.float32(0)
           |     ^^^^^^^
  )");
}

TEST(ParseError, ValueOfAnotherDtype) {
  expect_error(with_body("A[0] = T.float64(0)"), R"(
      error: buffer A is float32, but the value has dtype float64
        f.py:3:12
         3 |     A[0] = T.float64(0)
           |            ^^^^^^^^^^^^
      help: convert it: T.Cast("float32", ...)
  )");
}

TEST(ParseError, BufferOutsideItsScope) {
  EXPECT_EQ(first_line(with_body(
                "for i in range(4):\n    B = T.decl_buffer((4,), \"float32\")\n    B[i] = 1\nB[0] = 2")),
            "error: name B is not defined");
}

TEST(ParseError, Statements) {
  const std::pair<const char*, const char*> cases[] = {
      {"for i in [1, 2]:\n    pass",
       "error: a loop of TIR runs over range, T.grid, T.serial, T.parallel, T.vectorized, T.unroll or "
       "T.thread_binding"},
      {"for i, j in T.grid(4):\n    pass", "error: 2 loop variables for 1 loop"},
      {"for i in range(1.5):\n    pass",
       "error: the bounds of a loop have dtype float32, expected an integer"},
      {"for i in range(0, 8, 0):\n    pass", "error: a loop with step 0"},
      {"with T.init():\n    pass", "error: T.init is allowed only inside a block"},
      {"T.where(n > 0)", "error: T.where is allowed only inside a block"},
      {"with T.block(\"b\"):\n    T.reads()\n    T.reads()", "error: block \"b\" has T.reads twice"},
      {"with T.block(\"b\"):\n    T.writes()\n    T.writes()", "error: block \"b\" has T.writes twice"},
      {"with T.block(\"b\"):\n    v = T.axis.remap(\"S\", [n])",
       "error: T.axis.remap takes loop variables, entry 0 is none"},
      {"T.grid(4)", "error: T.grid is written as `for i, j in T.grid(...):`"},
      {"x = T.int32()\nA[x] = 0", "error: variable x is used, but nothing gives it a value"},
      {"A[0] = n / 2", "error: / of two integers is not exact"},
      {"if n:\n    pass", "error: a condition must be bool, found dtype int32"},
      {"x = A[0]\nfor i in range(4):\n    x = x + 1",
       "error: x is assigned again inside a loop, branch or block"},
      {"A[0] = A", "error: buffer A is used as a value"},
      {"A.shap", "error: buffer A has no attribute shap"},
      {"A[0:0] = 0", "error: the slice is empty"},
      {"A[0:n] = 0", "error: the number of elements of this slice is not a constant"},
      {"A[T.float32(1)] = 0", "error: an index of buffer A has dtype float32, expected an integer"},
      {"a, b = 1, 2, 3", "error: 2 names are assigned 3 values"},
      {"x = 1 // 0", "error: division by zero"},
      {"x = T.int8(300)", "error: 300 does not fit in int8"},
      {"x = T.exp(1, 2)", "error: T.exp takes 1 argument, found 2"},
      {"T.evaluate()", "error: T.evaluate: argument value is missing"},
      {"T.evaluate(1, valu=2)", "error: T.evaluate has no argument valu"},
      {"x = T.call_extern(\"f\", n)", "error: T.call_extern: the dtype of the result is missing"},
      {"import os", "error: an import is not allowed inside a T.prim_func"},
      {"x = y = (", "error: this ( is never closed"},
      {"x = 'abc", "error: the string is never closed"},
      {"x = 1 +", "error: expected an expression, found the end of the line"},
      {"try:\n    pass", "error: \"try\" is not part of TVMScript"},
      {"x = [i for i in range(3)]",
       "unsupported: this expression needs Python to evaluate it, which is not available here"},
  };
  for (const auto& [body, expected] : cases) EXPECT_EQ(first_line(with_body(body)), expected) << body;
}

TEST(ParseError, Definitions) {
  EXPECT_EQ(first_line("x = 1\n"), "error: f.py: there is no program in this text");
  EXPECT_EQ(first_line("@T.prim_func\ndef f(a):\n    pass\n"), "error: parameter a has no type");
  EXPECT_EQ(first_line("@T.prim_func\ndef f(a: T.int32, a: T.int32):\n    pass\n"),
            "error: two parameters are called a");
  EXPECT_EQ(first_line("@T.prim_func\ndef f(a: 5):\n    pass\n"),
            "error: 5 cannot be the type of a parameter");
  EXPECT_EQ(first_line("@I.ir_module\nclass M:\n    @T.prim_func\n    def f():\n        pass\n    "
                       "@T.prim_func\n    def f():\n        pass\n"),
            "error: the module has two functions called f");
  EXPECT_EQ(first_line("@I.ir_module\nclass M:\n    def f():\n        pass\n"),
            "error: function f has no decorator");
  EXPECT_EQ(first_line("@T.prim_func\ndef f():\n    pass\n@T.prim_func\ndef g():\n    pass\n"),
            "error: f.py: the text defines 2 programs, expected one: f, g");
}

TEST(ParseError, Graphs) {
  const std::string head = "@R.function\ndef f(x: R.Tensor((1, \"m\"), \"float32\")):\n";
  const std::pair<const char*, const char*> cases[] = {
      {"    y = x\n", "error: function f returns nothing"},
      {"    with R.dataflow():\n        y = x\n    return x\n", "error: the dataflow block has no R.output"},
      {"    with R.dataflow():\n        y = x\n        R.output(z)\n    return x\n",
       "error: z is not assigned in the dataflow block"},
      {"    for i in range(3):\n        pass\n    return x\n", "error: a graph has no loops"},
      {"    return x\n    y = x\n", "error: nothing can follow the return"},
      {"    return x[0]\n", "error: graph value x is not a tuple"},
      {"    k = T.int64()\n    y = R.call_dps_packed(\"g\", (x,), R.Tensor((k,), \"float32\"))\n    return "
       "y\n",
       "error: dimension k is used, but no parameter or R.match_cast defines it"},
      {"    y = R.call_tir(\"g\", (x,))\n    return y\n", "error: R.call_tir: argument out_sinfo is missing"},
      {"    y = R.call_tir(\"g\", (x,), (1, 2))\n    return y\n",
       "error: the shape of the output has no dtype"},
      {"    y: R.Shape = R.const(1.5)\n    return y\n",
       "error: y is annotated as R.Shape, but its value is R.Tensor((), \"float32\")"},
      {"    return R.const([[1], [2, 3]])\n", "error: the lists of a constant have different lengths"},
  };
  for (const auto& [body, expected] : cases) EXPECT_EQ(first_line(head + body), expected) << body;
}

TEST(ParseError, DeepNestingIsRefusedNotOverflowing) {
  EXPECT_EQ(first_line(with_body("x = " + std::string(100000, '(') + "1")),
            "error: the program is nested more than 200 levels deep here");
  std::string sum = "x = n";
  for (int n = 0; n < 100000; ++n) sum += " + n";
  EXPECT_EQ(first_line(with_body(sum)), "error: the expression is nested more than 500 levels deep");
  std::string minus = "x = " + std::string(100000, '-') + "n";
  EXPECT_EQ(first_line(with_body(minus)), "error: the program is nested more than 200 levels deep here");
}

}  // namespace
}  // namespace tilewright::script

#include "tilewright/analysis/verify.h"

#include "script_testing.h"

namespace tilewright::analysis {
namespace {

std::string verdict(const PrimFunc& func, const VerifyOptions& options = {}) {
  try {
    verify(func, options);
    return "";
  } catch (const UserError& error) {
    return error.render();
  }
}

void expect_verdict(const PrimFunc& func, std::string_view expected) {
  std::string text = script::dedent(expected);
  while (text.ends_with("\n")) text.pop_back();
  EXPECT_EQ(verdict(func), text);
}

TEST(Verify, AcceptsSumsTilesViewsAndLoweredCode) {
  EXPECT_EQ(verdict(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(a: T.handle, B: T.Buffer((128,), "float32")):
        n = T.int32()
        A = T.match_buffer(a, (n, 128))
        for i in range(n):
            for j_0, j_1 in T.grid(19, 7):
                with T.block("B"):
                    vi = T.axis.reduce(n, i)
                    vj = T.axis.spatial(128, j_0 * 7 + j_1)
                    T.where(j_0 * 7 + j_1 < 128)
                    V = T.match_buffer(B[vj:vj + 1], (1,))
                    with T.init():
                        V[0] = T.float32(0)
                    V[0] = V[0] + A[vi, vj]
  )")),
            "");
  EXPECT_EQ(verdict(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32")):
        bx = T.launch_thread("blockIdx.x", 4)
        C = T.decl_buffer((4,), scope="shared")
        D = T.decl_buffer((2, 2), data=C.data)
        for v in T.vectorized(4):
            D[v // 2, v % 2] = A[bx * 32 + v]
  )")),
            "");
}

TEST(Verify, AxisThatItsLoopDoesNotCover) {
  expect_verdict(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32")):
        for i in range(127):
            with T.block("A"):
                vi = T.axis.spatial(128, i)
                A[vi] = T.float32(0)
  )"),
                 R"(
    error: axis vi of block A has domain [0, 128), but loop i runs over [0, 127)
      f.py:5:18
       5 |             vi = T.axis.spatial(128, i)
         |                  ^^^^^^^^^^^^^^^^^^^^^^
    note: loop i is here
       3 |     for i in range(127):
         |     ^^^^^^^^^^^^^^^^^^^^
    help: give both the same extent, or say with T.where(...) for which values the block runs
  )");
}

TEST(Verify, AxisWhoseValueLeavesItsDomain) {
  expect_verdict(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32")):
        for i_0, i_1 in T.grid(19, 7):
            with T.block("A"):
                vi = T.axis.spatial(128, i_0 * 7 + i_1)
                A[vi] = T.float32(0)
  )"),
                 R"(
    error: axis vi of block A has domain [0, 128), but its value i_0 * 7 + i_1 is 132 at i_0 = 18, i_1 = 6
      f.py:5:18
       5 |             vi = T.axis.spatial(128, i_0 * 7 + i_1)
         |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    help: make the domain as large as the loops, or say with T.where(...) for which values the block runs
  )");
}

// Tensor intrinsics pass A.data to a call that does not say whether it writes there.
TEST(Verify, WhatABlockSaysOfABarePointerCounts) {
  const std::string_view program = R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        with T.block("B"):
            T.reads(A[0:8])
            T.writes(B[0:8])
            T.evaluate(T.call_extern("int32", "copy", B.data, A.data))
  )";
  verify(script::parse_func_unchecked(program));
}

TEST(Verify, RegionThatLeavesOutABuffer) {
  expect_verdict(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                T.reads()
                T.writes(B[vi])
                B[vi] = A[vi]
  )"),
                 R"(
    error: block B reads A[vi], but its T.reads does not name the buffer
      f.py:8:21
       8 |             B[vi] = A[vi]
         |                     ^^^^^
    help: add A[vi] to T.reads, or omit T.reads to have it inferred
  )");
}

TEST(Verify, RegionThatLeavesOutAnElement) {
  expect_verdict(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(A: T.Buffer((9,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                T.reads(A[0:8])
                T.writes(B[vi])
                B[vi] = A[vi + 1]
  )"),
                 R"(
    error: block B reads A[vi + 1], but its T.reads says A[0:8]: dimension 0 is exceeded at vi = 7
      f.py:6:23
       6 |             T.reads(A[0:8])
         |                       ^^^
    help: write A[vi + 1] there, or omit T.reads to have it inferred
  )");
}

TEST(Verify, RegionThatLeavesOutOneOfTwoElements) {
  expect_verdict(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(A: T.Buffer((9,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                T.reads(A[vi])
                T.writes(B[vi])
                B[vi] = A[vi] + A[vi + 1]
  )"),
                 R"(
    error: block B reads A[vi + 1], but its T.reads says A[vi]: dimension 0 is exceeded at vi = 0
      f.py:8:29
       8 |             B[vi] = A[vi] + A[vi + 1]
         |                             ^^^^^^^^^
    help: write A[vi:vi + 2] there, or omit T.reads to have it inferred
  )");
}

TEST(Verify, RegionThatLeavesOutIterationsOfALoop) {
  expect_verdict(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8, 5), "float32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                T.reads(A[vi])
                T.writes(B[vi, 0:4])
                for j in range(5):
                    B[vi, j] = A[vi]
  )"),
                 R"(
    error: block B writes B[vi, j], but its T.writes says B[vi, 0:4]: dimension 1 is exceeded at vi = 0, j = 4
      f.py:9:17
       9 |                 B[vi, j] = A[vi]
         |                 ^^^^^^^^^^^^^^^^
    help: write B[vi, 0:5] there, or omit T.writes to have it inferred
  )");
}

TEST(Verify, VariablesAndBuffersOutsideOfTheirScope) {
  const Buffer A = make_buffer("A", {imm(8)}, kFloat32), B = make_buffer("B", {imm(8)}, kFloat32);
  const Var i = make_var("i"), p = pointer_var("p", kFloat32);
  auto func = [&](Stmt body) {
    return PrimFuncNode::make(std::vector<Var>{p}, std::vector<Buffer>{A}, std::move(body));
  };
  EXPECT_EQ(verdict(func(store(A, float_imm(0), {i}))), "error: variable i is used, but nothing defines it");
  EXPECT_EQ(verdict(func(seq({loop(i, imm(8), store(A, float_imm(0), {i})), store(A, float_imm(1), {i})}))),
            "error: variable i is used outside of the statement that defines it");
  EXPECT_EQ(verdict(func(loop(i, imm(8), loop(i, imm(8), store(A, float_imm(0), {i}))))),
            "error: variable i is defined again, inside the scope of its definition\nhelp: a variable is "
            "defined once; "
            "make another one");
  EXPECT_EQ(verdict(func(store(B, float_imm(0), {imm(0)}))),
            "error: buffer B is used, but nothing defines it\nhelp: allocate it with T.alloc_buffer, or make "
            "it a parameter");
  EXPECT_EQ(verdict(func(seq({Stmt(AllocBufferNode::make(B, AttrMap(), store(B, float_imm(0), {imm(0)}))),
                              store(B, float_imm(0), {imm(1)})}))),
            "error: buffer B is used outside of the block or statement in which it exists");
}

TEST(Verify, LoopsOfAKernelOverOneAxisHaveOneExtent) {
  expect_verdict(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for b in T.thread_binding(2, thread="blockIdx.x"):
            for i in T.thread_binding(8, thread="threadIdx.x"):
                A[i] = T.float32(0)
            for j in T.thread_binding(4, thread="threadIdx.x"):
                A[j] = T.float32(0)
  )"),
                 R"(
    error: loop j over threadIdx.x has extent 4, but loop i of the same kernel has 8 of these threads
      f.py:6:9
       6 |         for j in T.thread_binding(4, thread="threadIdx.x"):
         |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    note: loop i is here
       4 |         for i in T.thread_binding(8, thread="threadIdx.x"):
         |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    help: split the loop by 8 first
  )");
}

TEST(Verify, ThreadsAddOnlyWhatTheyCanPutTogether) {
  expect_verdict(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
        for k in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("B"):
                vk = T.axis.reduce(8, k)
                with T.init():
                    B[0] = T.float32(0)
                B[0] = B[0] * T.float32(2) + A[vk]
  )"),
                 R"(
    error: loop k over threadIdx.x has terms of block B, but threads can only add up parts of + * min max and or, and choices by comparisons
      f.py:4:14
       4 |         with T.block("B"):
         |              ^^^^^^^^^^^^
    note: loop k is here
       3 |     for k in T.thread_binding(8, thread="threadIdx.x"):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    help: let the loop run in order
  )");
}

TEST(Verify, LoopsThatCannotRunAsTheySay) {
  expect_verdict(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), n: T.int32):
        for i in T.vectorized(n):
            A[i] = T.float32(0)
  )"),
                 R"(
    error: vectorized loop i has extent n, expected a positive constant
      f.py:3:5
       3 |     for i in T.vectorized(n):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^
    help: split it by a constant and vectorize the inner loop
  )");
  expect_verdict(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for i in T.thread_binding(8, thread="threadIdx.q"):
            A[i] = T.float32(0)
  )"),
                 R"(
    error: loop i is bound to "threadIdx.q", which is not a thread
      f.py:3:5
       3 |     for i in T.thread_binding(8, thread="threadIdx.q"):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    help: threads are blockIdx.x, .y, .z, threadIdx.x, .y, .z and vthread.x, .y, .z
  )");
  expect_verdict(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(A: T.Buffer((8, 8), "float32")):
        for i in T.thread_binding(8, thread="threadIdx.x"):
            for j in T.thread_binding(8, thread="threadIdx.x"):
                A[i, j] = T.float32(0)
  )"),
                 R"(
    error: loops i and j both run over threadIdx.x, and inside of j the other's variable is used
      f.py:4:9
       4 |         for j in T.thread_binding(8, thread="threadIdx.x"):
         |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    help: use j there: both are the thread's number
  )");
  expect_verdict(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(A: T.Buffer((8, 8), "float32")):
        for i in T.thread_binding(8, thread="threadIdx.x"):
            for j in T.thread_binding(4, thread="threadIdx.x"):
                A[j, j] = T.float32(0)
  )"),
                 R"(
    error: loop j over threadIdx.x has extent 4, but loop i around it has 8 of these threads
      f.py:4:9
       4 |         for j in T.thread_binding(4, thread="threadIdx.x"):
         |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    help: split the loop by 8 first
  )");
}

TEST(Verify, CalledFunctionsMustExist) {
  const Var p = pointer_var("p", kFloat32);
  const PrimExpr call =
      CallNode::make(DataType::void_(), Expr(GlobalVarNode::make("missing")), std::vector<PrimExpr>{});
  const PrimFunc func =
      PrimFuncNode::make(std::vector<Var>{p}, std::vector<Buffer>{nullptr}, Stmt(EvaluateNode::make(call)));
  const IRModule module =
      IRModuleNode::make(std::vector<GlobalVar>{GlobalVarNode::make("main")}, std::vector<BaseFunc>{func});
  try {
    verify(module);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.render(),
              "error: function missing is called, but the module has no function of that name");
  }
}

}  // namespace
}  // namespace tilewright::analysis

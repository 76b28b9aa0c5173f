// Functions of loops and blocks: from text to the nodes written by hand.
#include "script_testing.h"

namespace tilewright::script {
namespace {
using namespace tir;

BufferRegion point(const Buffer& buffer, std::vector<PrimExpr> indices) {
  std::vector<ir::Range> region;
  for (const PrimExpr& index : indices) region.push_back(make_range(index, imm(1, index->dtype)));
  return BufferRegionNode::make(buffer, region);
}
IterVar axis(const Var& var, int64_t extent, IterType type = IterType::kSpatial) {
  return IterVarNode::make(var, make_range(imm(0), imm(extent)), type, std::string());
}
Stmt realize(std::vector<PrimExpr> values, Block block) {
  return BlockRealizeNode::make(std::move(values), PrimExpr(bool_imm(true)), block);
}
Stmt root(std::vector<Buffer> buffers, Stmt body) {
  return realize({}, BlockNode::make(std::string("root"), std::vector<IterVar>{}, buffers,
                                     std::vector<BufferRegion>{}, std::vector<BufferRegion>{},
                                     std::vector<MatchBufferRegion>{}, AttrMap(), Stmt(), body));
}
PrimFunc function(std::string name, std::vector<Buffer> buffers, Stmt body) {
  std::vector<Var> params;
  for (size_t n = 0; n < buffers.size(); ++n) params.push_back(make_var("p", DataType::handle()));
  return PrimFuncNode::make(params, buffers, body, ir::Type(), AttrMap{{"global_symbol", string_imm(name)}});
}

// C[i] = A[i] * 2 as a block, reads and writes found
PrimFunc doubling() {
  Buffer a = make_buffer("A", {imm(127)}, kFloat32), c = make_buffer("C", {imm(127)}, kFloat32);
  Var i = make_var("i"), vi = make_var("vi");
  Block block =
      BlockNode::make(std::string("C"), std::vector<IterVar>{axis(vi, 127)}, std::vector<Buffer>{},
                      std::vector<BufferRegion>{point(a, {vi})}, std::vector<BufferRegion>{point(c, {vi})},
                      std::vector<MatchBufferRegion>{}, AttrMap(), Stmt(),
                      store(c, MulNode::make(load(a, {vi}), PrimExpr(float_imm(2))), {vi}));
  return function("double", {a, c}, root({}, loop(i, imm(127), realize({i}, block))));
}

TEST(TirFunc, BlockOverOneLoop) {
  expect_equal(parse_text(R"(
      @T.prim_func
      def double(A: T.Buffer((127,), "float32"), C: T.Buffer((127,), "float32")):
          for i in range(127):
              with T.block("C"):
                  vi = T.axis.spatial(127, i)
                  C[vi] = A[vi] * T.float32(2)
  )"),
               doubling());
}

TEST(TirFunc, SpellingsOfAllErasMeanTheSame) {
  for (const char* text : {R"(
      @T.prim_func
      def double(A: T.Buffer[(127,), "float32"], C: T.Buffer[127, "float32"]) -> None:
          T.func_attr({"global_symbol": "double"})
          for i in T.serial(0, 127):
              with T.block("C"):
                  vi = T.axis.remap("S", [i])
                  T.reads(A[vi])
                  T.writes(C[vi])
                  C[vi] = A[vi] * 2.0
  )",
                           R"(
      from tvm.script import tirx as Tx
      @Tx.prim_func(s_tir=True)
      def double(a: Tx.handle, c: Tx.handle):
          A = Tx.match_buffer(a, (127,), dtype="float32")
          C = Tx.match_buffer(c, [127], "float32")
          for i in Tx.grid(127):
              with Tx.sblock("C"):
                  vi = Tx.axis.S((0, 127), i)
                  C[vi] = 2 * A[vi] if False else A[vi] * 2
  )",
                           R"(
      @tvm.script.tir.prim_func
      def double(A: tir.Buffer(127), C: tir.Buffer(shape=(127,), dtype="float32")):
          for i in tir.serial(127):
              with tir.block("C"):
                  [vi] = tir.axis.remap("S", [i])
                  tir.reads([A[vi:vi + 1]])
                  tir.writes([C[vi]])
                  C[vi] = A[vi] * tir.FloatImm("float32", 2.0)
  )"}) {
    expect_equal(parse_text(text), doubling());
  }
}

TEST(TirFunc, ReductionWithInitAndSharedBuffer) {
  Buffer a = make_buffer("A", {imm(5), imm(7)}, kFloat32), c = make_buffer("C", {imm(5)}, kFloat32),
         y = make_buffer("Y", {imm(5)}, kFloat32);
  Var i = make_var("i"), k = make_var("k"), vi = make_var("vi"), vk = make_var("vk"), i2 = make_var("i"),
      vi2 = make_var("vi");
  Stmt sum = store(y, AddNode::make(load(y, {vi}), load(a, {vi, vk})), {vi});
  Block reduce =
      BlockNode::make(std::string("Y"), std::vector<IterVar>{axis(vi, 5), axis(vk, 7, IterType::kReduce)},
                      std::vector<Buffer>{}, std::vector<BufferRegion>{point(a, {vi, vk})},
                      std::vector<BufferRegion>{point(y, {vi})}, std::vector<MatchBufferRegion>{}, AttrMap(),
                      store(y, float_imm(0), {vi}), sum);
  Block relu =
      BlockNode::make(std::string("C"), std::vector<IterVar>{axis(vi2, 5)}, std::vector<Buffer>{},
                      std::vector<BufferRegion>{point(y, {vi2})}, std::vector<BufferRegion>{point(c, {vi2})},
                      std::vector<MatchBufferRegion>{}, AttrMap(), Stmt(),
                      store(c, MaxNode::make(load(y, {vi2}), PrimExpr(float_imm(0))), {vi2}));
  Stmt body = SeqStmtNode::make(std::vector<Stmt>{loop(i, imm(5), loop(k, imm(7), realize({i, k}, reduce))),
                                                  loop(i2, imm(5), realize({i2}, relu))});
  expect_equal(parse_text(R"(
      @T.prim_func
      def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5,), "float32")):
          Y = T.alloc_buffer((5,), dtype="float32")
          for i, k in T.grid(5, 7):
              with T.block("Y"):
                  vi, vk = T.axis.remap("SR", [i, k])
                  with T.init():
                      Y[vi] = 0
                  Y[vi] = Y[vi] + A[vi, vk]
          for i in range(5):
              with T.block("C"):
                  vi = T.axis.spatial(5, i)
                  C[vi] = max(Y[vi], 0)
  )"),
               function("main", {a, c}, root({y}, body)));
}

TEST(TirFunc, DimensionsAreDefinedByTheirFirstUse) {
  Var n = make_var("n", kInt64), i = make_var("i", kInt64);
  Buffer x = make_buffer("X", {imm(1), n}, kFloat32), y = make_buffer("Y", {imm(1), n}, kFloat32);
  Stmt body = ForNode::make(imm(0, kInt64), PrimExpr(n), i, ForKind::kParallel, std::string(), AttrMap(),
                            store(y, load(x, {imm(0), i}), {imm(0), i}));
  const PrimFunc expected = function("copy", {x, y}, body);
  expect_equal(parse_text(R"(
      @T.prim_func
      def copy(x: T.handle, y: T.handle):
          n = T.int64()
          X = T.match_buffer(x, (1, n), "float32")
          Y = T.match_buffer(y, (1, n), "float32")
          for i in T.parallel(n):
              Y[0, i] = X[0, i]
  )"),
               expected);
  expect_equal(parse_text(R"(
      @T.prim_func
      def copy(X: T.Buffer((1, "n"), "float32"), Y: T.Buffer((1, "n"), "float32")):
          n = T.int64()
          for i in T.parallel(n):
              Y[0, i] = X[0, i]
  )"),
               expected);
}

TEST(TirFunc, AxisThatItsLoopDoesNotCover) {
  expect_error(R"(
      @tvm.script.ir_module
      class WrongModule:
          @T.prim_func
          def main(A: T.Buffer((128,), "float32"), C: T.Buffer((128,), "float32")):
              for i in range(127):
                  with T.block("C"):
                      vi = T.axis.spatial(128, i)
                      C[vi] = A[vi] * T.float32(2)
  )",
               R"(
      error: block axis vi has domain 128, but loop i runs over 127 values
        f.py:7:22
         7 |                 vi = T.axis.spatial(128, i)
           |                      ^^^^^^^^^^^^^^^^^^^^^^
      note: loop i is defined here
         5 |         for i in range(127):
           |                  ^^^^^^^^^^
      help: give both the same extent, or say with T.where(...) for which values the block runs
  )");
}

}  // namespace
}  // namespace tilewright::script

#include "printer_testing.h"
#include "tilewright/ir/services.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/range_end.h"

namespace tilewright::script {
namespace {

TEST(PrintTir, MatmulRelu) {
  expect_prints_itself(R"(
    @I.ir_module
    class Module:
        @T.prim_func
        def mm_relu(
            A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 3), "float32"), C: T.Buffer((5, 3), "float32")
        ):
            T.func_attr({"tir.noalias": True})
            # with T.block("root"):
            Y = T.alloc_buffer((5, 3))
            for i, j, k in T.grid(5, 3, 7):
                with T.block("Y"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    T.reads(A[vi, vk], B[vk, vj])
                    T.writes(Y[vi, vj])
                    with T.init():
                        Y[vi, vj] = T.float32(0)
                    Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
            for i, j in T.grid(5, 3):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.reads(Y[vi, vj])
                    T.writes(C[vi, vj])
                    C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
  )");
}

// Of a variable begin the extent is a difference, or what is added to the begin.
TEST(PrintTir, RangesEndWhereTheyWereWrittenToEnd) {
  expect_prints_itself(R"(
    @T.prim_func
    def main(A: T.Buffer((5, 9), "float32")):
        # with T.block("root"):
        for i in range(5):
            for j in range(T.min(i + 1, 2), i + 1):
                A[i, j] = T.float32(1)
            for j in range(2, i + 3):
                A[i, j] = T.float32(2)
            for j in range(i, i + 4):
                with T.block("A"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.reads()
                    T.writes(A[vi, vj])
                    A[vi, vj] = T.float32(3)
  )");
}

TEST(PrintTir, RangesWithVariableBeginsAreReadBack) {
  const auto ends = [](const tir::PrimExpr& min, const tir::PrimExpr& extent) {
    return ir::structural_equal(tir::extent_to(min, tir::end_of(min, extent)), extent);
  };
  const tir::Var m = tir::make_var("m"), n = tir::make_var("n");
  EXPECT_TRUE(ends(m, n));
  EXPECT_TRUE(ends(m, n - m));
  EXPECT_TRUE(ends(m, tir::imm(0)));
  EXPECT_TRUE(ends(m, tir::imm(4)));
  EXPECT_TRUE(ends(tir::imm(2), n));
  EXPECT_TRUE(ends(tir::imm(0), n));
  EXPECT_TRUE(ends(m + 1, n - (m + 1)));
  EXPECT_TRUE(ends(m, tir::SubNode::make(m + n, m)));
  EXPECT_TRUE(ends(m, tir::SubNode::make(m, m)));
}

TEST(PrintTir, HeaderNamesTheImportsAsComments) {
  const ir::ObjectRef func = parse_text(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        A[0] = T.float32(1)
  )");
  EXPECT_EQ(print(func), R"(# from tilewright.script import tir as T

@T.prim_func
def main(A: T.Buffer((4,), "float32")):
    A[0] = T.float32(1)
)");
}

TEST(PrintTir, DialectOf027) {
  expect_prints_itself(R"(
    @T.prim_func(private=True, s_tir=True)
    def main(A: T.Buffer((4,), "float32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((4,))
        for i in range(4):
            with T.sblock("B"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi])
                T.writes(B[vi])
                T.sblock_attr({"k": 1})
                B[vi] = A[vi]
  )",
                       "0.27");
}

TEST(PrintTir, AxesThatAreNoPlainLoops) {
  expect_prints_itself(R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        # with T.block("root"):
        for i_0, i_1, k, j in T.grid(8, 17, 3, 5):
            with T.block("B"):
                vi = T.axis.spatial(128, i_0 * 17 + i_1)
                vk, vj = T.axis.remap("RS", [k, j])
                vo = T.axis.opaque(5, j)
                vm = T.axis.spatial((1, 4), k + 1)
                T.where(i_0 * 17 + i_1 < 128)
                T.reads(A[vi])
                T.writes(B[vi])
                T.block_attr({"factor": 0.5, "name": "x", "sizes": [1, T.int32(2)], "use": True})
                B[vi] = A[vi] + T.Cast("float32", vk * vj + vo + vm)
  )");
}

TEST(PrintTir, LoopsOfAllKinds) {
  expect_prints_itself(R"(
    @T.prim_func
    def main(A: T.Buffer((128, 128), "float32"), n: T.int32):
        for b in T.thread_binding(4, thread="blockIdx.x"):
            for i in T.parallel(n):
                for j in range(i):
                    for k in T.serial(1, 5, annotations={"pragma_x": 1}):
                        for l in T.unroll(2):
                            for v in T.vectorized(4):
                                A[i, j] = T.float32(0)
        for i in range(T.int64(3)):
            A[i, i] = T.float32(1)
  )");
}

TEST(PrintTir, StatementsThatHoldForTheRest) {
  expect_prints_itself(R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), n: T.int32):
        with T.LetStmt(n + 1) as m:
            A[m] = T.float32(0)
        with T.decl_buffer((4,), "int32") as B:
            B[0] = 1
        C = T.decl_buffer((4,), scope="shared")
        D = T.decl_buffer((2, 2), data=C.data)
        x: T.int32 = n * 2
        with T.attr(C.data, "volatile_scope", 1):
            D[0, 0] = T.float32(1)
        T.attr("key", "pragma", "text")
        C[x] = D[0, 1]
  )");
}

TEST(PrintTir, BranchesAssertsAndEffects) {
  expect_prints_itself(R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), n: T.int32, p: T.handle("float32", "shared"), q: T.handle):
        assert n > 0, "n is positive"
        while A[0] < T.float32(1):
            if n == 1 or not n < 3 and n != 2:
                A[0] = A[0] + T.float32(1)
            else:
                break
        T.call_packed("f", A.data, n)
        T.evaluate(n)
        T.call_extern("int32", "g", p, q, T.tvm_access_ptr(T.type_annotation("float32"), A.data, 0, 128, 1))
        A[0:4] = T.Broadcast(T.float32(0), 4)
  )");
}

TEST(PrintTir, SymbolicShapesAreMatched) {
  expect_prints_itself(R"(
    @T.prim_func
    def main(a: T.handle, var_B: T.handle, n: T.int32):
        m = T.int32()
        A = T.match_buffer(a, (n, m))
        s = T.int32()
        off = T.int32()
        B = T.match_buffer(
            var_B, (n, m * 2), "float16", strides=(s, 1), elem_offset=off, scope="shared", align=16
        )
        # with T.block("root"):
        for i, j in T.grid(n, m):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(B[vi, vj * 2:vj * 2 + 2])
                B[vi, vj * 2] = T.Cast("float16", A[vi, vj])
  )");
}

TEST(PrintTir, LaunchedThreads) {
  expect_prints_itself(R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32")):
        tx = T.env_thread("threadIdx.x")
        with T.launch_thread("blockIdx.x", 4) as bx:
            T.launch_thread(tx, 32)
            A[bx * 32 + tx] = T.float32(0)
        bx = T.launch_thread("blockIdx.x", 4)
        T.launch_thread(tx, 32)
        A[bx * 32 + tx] = T.float32(1)
  )");
}

TEST(PrintTir, MatchedRegionsAndNestedBlocks) {
  expect_prints_itself(R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32")):
        # with T.block("root"):
        for i in range(32):
            with T.block("outer"):
                vi = T.axis.spatial(32, i)
                T.reads()
                T.writes(A[vi * 4:vi * 4 + 4])
                V = T.match_buffer(A[vi * 4:vi * 4 + 4], (4,), offset_factor=1)
                T.evaluate(V.elem_offset)
                for j in range(4):
                    with T.block("inner"):
                        vj = T.axis.spatial(4, j)
                        T.reads()
                        T.writes(V[vj])
                        V[vj] = T.float32(0)
  )");
}

TEST(PrintTir, RootBlockIsWrittenWhereItSaysSomething) {
  expect_prints_itself(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        with T.block("root"):
            T.reads()
            T.writes()
            T.block_attr({"auto": 1})
            for i in range(4):
                with T.block("A"):
                    vi = T.axis.spatial(4, i)
                    T.reads()
                    T.writes(A[vi])
                    A[vi] = T.float32(0)
  )");
}

TEST(PrintTir, NamesAreUniqueWhereTheyAreSeen) {
  // for i: for i: A[i]; and a variable called `range`
  const tir::Var outer = tir::make_var("i"), inner = tir::make_var("i"), word = tir::make_var("range"),
                 odd = tir::make_var("a.b");
  const tir::Buffer A = tir::make_buffer("T", {tir::imm(4)}, kInt32);
  const tir::Stmt body = tir::store(A, outer + inner + word + odd, {tir::imm(0)});
  const tir::Stmt nest = tir::loop(
      outer, tir::imm(2),
      tir::loop(inner, tir::imm(3), tir::loop(word, tir::imm(2), tir::loop(odd, tir::imm(2), body))));
  EXPECT_EQ(printed(nest), dedent(R"(
    for i, i_1, range_, a_b in T.grid(2, 3, 2, 2):
        T_1[0] = i + i_1 + range_ + a_b
  )"));
}

TEST(PrintTir, LongLinesAreBrokenAsByBlack) {
  std::string program = R"(
    @T.prim_func
    def main(LONG_a: T.Buffer((4,), "float32"), LONG_b: T.Buffer((4,), "float32")):
        LONG_a[0] = LONG_a[1] + LONG_b[2] * LONG_a[3]
        LONG_a[0] = T.max(LONG_a[1], LONG_b[2])
        for i in range(4):
            if LONG_a[1] < LONG_b[2] and LONG_a[2] < T.float32(1):
                LONG_a[0] = T.float32(0)
  )";
  for (size_t at = program.find("LONG"); at != std::string::npos; at = program.find("LONG"))
    program.replace(at, 4, "long_name_of_a_buffer_that_nobody_wants");
  std::string expected = R"(
    @T.prim_func
    def main(
        LONG_a: T.Buffer((4,), "float32"),
        LONG_b: T.Buffer((4,), "float32"),
    ):
        LONG_a[0] = (
            LONG_a[1]
            + LONG_b[2] * LONG_a[3]
        )
        LONG_a[0] = T.max(
            LONG_a[1], LONG_b[2]
        )
        for i in range(4):
            if (
                LONG_a[1] < LONG_b[2]
                and LONG_a[2] < T.float32(1)
            ):
                LONG_a[0] = T.float32(0)
  )";
  for (size_t at = expected.find("LONG"); at != std::string::npos; at = expected.find("LONG"))
    expected.replace(at, 4, "long_name_of_a_buffer_that_nobody_wants");
  expect_prints(program, expected);
}

TEST(PrintTir, UnderlinesChosenNodes) {
  const tir::PrimFunc func = parse_func(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32"), n: T.int32):
        for i in range(4):
            A[i] = A[i + n] * T.float32(2)
  )");
  const auto* loop = func->body.as<tir::ForNode>();
  const auto* store = loop->body.as<tir::BufferStoreNode>();
  PrintOptions options;
  options.show_header = false;
  options.underline = {ir::ObjectRef(loop), store->value.as<tir::MulNode>()->a};
  EXPECT_EQ(print(func, options), dedent(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32"), n: T.int32):
        for i in range(4):
        ^^^^^^^^^^^^^^^^^
            A[i] = A[i + n] * T.float32(2)
                   ^^^^^^^^
  )"));
}

TEST(PrintTir, PlacesOfNodesServeErrors) {
  const tir::PrimFunc func = parse_func(R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32")):
        for i in range(4):
            A[i + 1] = T.float32(0)
  )");
  const auto* store = func->body.as<tir::ForNode>()->body.as<tir::BufferStoreNode>();
  const PrintedProgram program = print_with_places(func);
  const UserError error(program.find(store->indices[0].get()), "index {} of buffer A may reach 4", "i + 1");
  EXPECT_EQ(error.render(),
            "error: index i + 1 of buffer A may reach 4\n  <printed>:6:11\n   6 |         A[i + 1] = "
            "T.float32(0)\n     |           ^^^^^");
}

TEST(PrintTir, FragmentsAreOneLineEach) {
  const tir::Var i = tir::make_var("i");
  const tir::Buffer A = tir::make_buffer("A", {tir::imm(4)}, kFloat32);
  EXPECT_EQ(print(i * 4), "i * 4");
  EXPECT_EQ(print(A), "T.Buffer((4,), \"float32\")");
  EXPECT_EQ(print(tir::full_region(A)), "A[0:4]");
  EXPECT_EQ(print(tir::make_range(i, tir::imm(2))), "T.Range(i, i + 2)");
  EXPECT_EQ(print(tir::store(A, tir::float_imm(1), {i})), "A[i] = T.float32(1)\n");
  EXPECT_EQ(print(nullptr), "None");
}

TEST(PrintTir, RefusesUnknownOptions) {
  PrintOptions options;
  options.dialect = "0.5";
  try {
    print(tir::imm(1), options);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(
        error.render(),
        "error: print: there is no dialect \"0.5\"\nhelp: the dialects are native, 0.23, 0.27 and 2022");
  }
  options = PrintOptions();
  options.indent_spaces = 0;
  try {
    print(tir::imm(1), options);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.render(), "error: print: indent_spaces is 0, expected 1 to 16");
  }
}

TEST(PrintTir, ExpressionsOfEveryKindComeBack) {
  expect_round_trip(R"(
    @T.prim_func
    def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "int64"), C: T.Buffer((), "float16"), n: T.int32):
        x = T.int32()
        A[n] = T.Select(n < 3, A[0], T.exp(A[1])) + T.if_then_else(n > 1, A[2], T.float32(0.1))
        A[T.Let(x + 1, where={x: n * 2})] = T.Cast("float32", n) / T.float32(3) - T.float32("inf")
        B[0] = T.int64(5) // B[1] % T.int64(3) - T.max(B[2], T.int64(-1)) * (B[3] - T.int64(1))
        B[1] = T.truncdiv(B[1], T.int64(3)) + T.truncmod(B[1], T.int64(3)) + T.shift_left(B[0], T.int64(2))
        A[0:4] = A[4:8] * T.Broadcast(A[0], 4)
        A[0:8:2] = T.Shuffle([A[0:4], A[4:8]], [0, 4, 1, 5])
        A.vstore([T.Ramp(0, 1, 4)], A.vload([T.Ramp(4, 1, 4)], predicate=T.Broadcast(T.bool(True), 4)), predicate=T.Broadcast(n < 3, 4))
        C[()] = T.float16(0.5) + T.reinterpret("float16", T.int16(3))
        B[2] = T.Cast("int64", T.popcount(n)) + T.Cast("int64", T.clz(n)) + T.Cast("int64", T.isnan(A[0]))
        T.call_llvm_intrin("float32x4", "llvm.fma", A[0:4], A[0:4], A[4:8])
        T.tvm_storage_sync("shared")
        A[1] = T.tvm_warp_shuffle_xor(T.uint32(255), A[1], 1, 8, 32)
        T.ret(n)
  )");
}

}  // namespace
}  // namespace tilewright::script

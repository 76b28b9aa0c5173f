// Handles, arguments and functions of a schedule; one schedule of many steps.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(BufferArguments, MayBeNumberNameOrSide) {
  const auto steps = [](const ArgValue& which) {
    return [which](Schedule& sch) { sch.call("set_scope", "B", which, "shared"); };
  };
  constexpr std::string_view kAfter = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7), scope="shared")
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)
  )";
  check_schedule(kChain, steps(0), kAfter);
  check_schedule(kChain, steps("B"), kAfter);
  check_schedule(kChain, steps(ArgValue{"write", 0}), kAfter);
  Schedule sch(module_of(kChain));
  const Buffer buffer = sch.get(sch.call("get_block", "B").block())->writes[0]->buffer;
  sch.call("set_scope", "B", ArgValue(ObjectRef(buffer)), "shared");
  EXPECT_EQ(sch.trace().steps.back().str(),
            "sch.set_scope(block=b1, buffer_index=0, storage_scope=\"shared\")");
}

TEST(BufferArguments, WhatTheBlockDoesNotHaveIsRefused) {
  const auto steps = [](const ArgValue& which) {
    return [which](Schedule& sch) { sch.call("set_scope", "B", which, "shared"); };
  };
  check_refused(kChain, steps(1), R"(
    error: set_scope: block B writes 1 buffer, there is no number 1
      f.py:5:14
       4 |     for i, j in T.grid(5, 7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj = T.axis.remap("SS", [i, j])
    help: 0 is B
  )");
  check_refused(kChain, steps("A"), R"(
    error: set_scope: block B writes no buffer "A"
      f.py:5:14
       4 |     for i, j in T.grid(5, 7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj = T.axis.remap("SS", [i, j])
    help: the only one is B
  )");
  check_refused(kChain, steps(ArgValue{"read", 0}), R"(
    error: set_scope: a buffer that block B writes is asked for, not ("read", 0)
      f.py:5:14
       4 |     for i, j in T.grid(5, 7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj = T.axis.remap("SS", [i, j])
  )");
  check_refused(kChain, steps(2.5), R"(
    error: set_scope: argument buffer_index must be a number, the name of a buffer, ("read" | "write", number) or a buffer, but is 2.5
  )");
}

constexpr std::string_view kTwoFunctions = R"(
    @I.ir_module
    class Module:
        @T.prim_func
        def f(A: T.Buffer((5,), "float32")):
            for i in range(5):
                with T.block("A"):
                    vi = T.axis.spatial(5, i)
                    A[vi] = T.float32(1)
        @T.prim_func
        def g(A: T.Buffer((7,), "float32")):
            for i in range(7):
                with T.block("A"):
                    vi = T.axis.spatial(7, i)
                    A[vi] = T.float32(2)
)";

TEST(WorkOn, BlocksAreLookedForInOneFunction) {
  check_schedule(kTwoFunctions, [](Schedule& sch) {
    sch.work_on("g");
    EXPECT_EQ(sch.get(sch.call("get_loops", "A").loops<1>()[0])->extent.as<IntImmNode>()->value, 7);
    sch.call("vectorize", sch.call("get_loops", "A").loops<1>()[0]);
    EXPECT_EQ(sch.trace().steps[0].str(), "b0 = sch.get_block(name=\"A\", func_name=\"g\")");
  });
}

TEST(WorkOn, UnknownFunctionsAreRefused) {
  check_refused(kTwoFunctions, [](Schedule& sch) { sch.work_on("h"); }, R"(
    error: work_on: the module has no function "h" with blocks
    help: the names are f, g
  )");
}

TEST(Seeds, CopiesDrawTheirOwnSamples) {
  Schedule sch(module_of(kChain), {.seed = 7});
  const LoopRef loop = sch.call("get_loops", "B").loops()[0];
  const auto draws = [&](Schedule& each) {
    std::vector<int64_t> values;
    for (int n = 0; n < 8; ++n)
      values.push_back(
          each.get(each.call("sample_categorical", ArgValue{1, 2, 3, 4}, ArgValue{1, 1, 1, 1}).expr()));
    return values;
  };
  Schedule one = sch.copy(), other = sch.copy(), same = sch.fork(3), again = sch.fork(3);
  EXPECT_NE(draws(one), draws(other));
  EXPECT_EQ(draws(same), draws(again));
  EXPECT_EQ(one.get(loop)->loop_var->name_hint, "i");
  one.set_seed(5);
  other.set_seed(5);
  EXPECT_EQ(draws(one), draws(other));
  EXPECT_LT(one.fork_seed(), uint64_t{1} << 31);
}

TEST(Course, BatchedMatmulRelu) {
  check_schedule(
      R"(
    @T.prim_func
    def bmm_relu(A: T.Buffer((3, 8, 16), "float32"), B: T.Buffer((3, 16, 24), "float32"), C: T.Buffer((3, 8, 24), "float32")):
        T.func_attr({"global_symbol": "bmm_relu", "tir.noalias": True})
        Y = T.alloc_buffer((3, 8, 24), dtype="float32")
        for n, i, j, k in T.grid(3, 8, 24, 16):
            with T.block("Y"):
                vn, vi, vj, vk = T.axis.remap("SSSR", [n, i, j, k])
                with T.init():
                    Y[vn, vi, vj] = T.float32(0)
                Y[vn, vi, vj] = Y[vn, vi, vj] + A[vn, vi, vk] * B[vn, vk, vj]
        for n, i, j in T.grid(3, 8, 24):
            with T.block("C"):
                vn, vi, vj = T.axis.remap("SSS", [n, i, j])
                C[vn, vi, vj] = T.max(Y[vn, vi, vj], T.float32(0))
  )",
      [](Schedule& sch) {
        const BlockRef Y = sch.call("get_block", "Y", "bmm_relu").block();
        const BlockRef C = sch.call("get_block", "C", "bmm_relu").block();
        const auto [b, i, j, k] = sch.call("get_loops", Y).loops<4>();
        const auto [k0, k1] = sch.call("split", k, by(4)).loops<2>();
        const auto [j0, j1] = sch.call("split", j, by(8)).loops<2>();
        sch.call("reorder", b, i, j0, k0, k1, j1);
        sch.call("reverse_compute_at", C, j0);
        const BlockRef Y_init = sch.call("decompose_reduction", Y, k0).block();
        sch.call("vectorize", sch.call("get_loops", Y_init).loops().back());
        sch.call("vectorize", sch.call("get_loops", C).loops().back());
        sch.call("parallel", b);
        sch.call("unroll", k1);
      },
      R"(
    @T.prim_func
    def bmm_relu(A: T.Buffer((3, 8, 16), "float32"), B: T.Buffer((3, 16, 24), "float32"), C: T.Buffer((3, 8, 24), "float32")):
        T.func_attr({"global_symbol": "bmm_relu", "tir.noalias": True})
        Y = T.alloc_buffer((3, 8, 24), dtype="float32")
        for i0 in T.parallel(3):
            for i1, i2_0 in T.grid(8, 3):
                for ax0_init in T.vectorized(8):
                    with T.block("Y_init"):
                        n, i = T.axis.remap("SS", [i0, i1])
                        j = T.axis.spatial(24, i2_0 * 8 + ax0_init)
                        Y[n, i, j] = T.float32(0)
                for ax1_0 in T.serial(4):
                    for ax1_1 in T.unroll(4):
                        for ax0 in T.serial(8):
                            with T.block("Y_update"):
                                n, i = T.axis.remap("SS", [i0, i1])
                                j = T.axis.spatial(24, i2_0 * 8 + ax0)
                                k = T.axis.reduce(16, ax1_0 * 4 + ax1_1)
                                Y[n, i, j] = Y[n, i, j] + A[n, i, k] * B[n, k, j]
                for i2_1 in T.vectorized(8):
                    with T.block("C"):
                        n, i = T.axis.remap("SS", [i0, i1])
                        j = T.axis.spatial(24, i2_0 * 8 + i2_1)
                        C[n, i, j] = T.max(Y[n, i, j], T.float32(0))
  )");
}

TEST(Handles, ConsumedLoopNamesItsStep) {
  check_refused(
      kDouble,
      [](Schedule& sch) {
        const LoopRef i = sch.call("get_loops", "B").loops()[0];
        sch.call("split", i, factors({std::nullopt, 4}));
        sch.call("unroll", i);
      },
      R"(
    error: unroll: loop handle l1 (i) was consumed by step 3, split(l1, factors=[None, 4]); its results are l2, l3
  )");
}

TEST(Handles, LoopsSurviveWhatHappensAroundThem) {
  check_schedule(kMatmul, [](Schedule& sch) {
    const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
    sch.call("split", i, factors({std::nullopt, 2}));
    sch.call("reorder", k, j);
    sch.call("unroll", k);
    EXPECT_TRUE(sch.is_alive(j));
    EXPECT_FALSE(sch.is_alive(i));
  });
}

TEST(Arguments, WrongTypesAndNamesAreRefused) {
  check_refused(kMatmul, [](Schedule& sch) { sch.call("get_loops", 3); }, R"(
    error: get_loops: argument block must be a block, but is 3
  )");
  check_refused(kMatmul, [](Schedule& sch) { sch.call("get_loop", "Y"); }, R"(
    error: there is no schedule primitive "get_loop"
    help: did you mean get_loops?
  )");
  check_refused(kMatmul, [](Schedule& sch) { sch.run_by_name("split", {}, {{"fators", ArgValue(1)}}); }, R"(
    error: split: there is no argument "fators"
    help: did you mean factors?
  )");
}

TEST(Trace, PrintsAsPython) {
  Schedule sch(module_of(kMatmul));
  const auto [i, j, k] = sch.call("get_loops", sch.call("get_block", "Y").block()).loops<3>();
  const auto [j0, j1] = sch.call("split", j, factors({std::nullopt, 2})).loops<2>();
  sch.call("reorder", j0, k, j1);
  sch.call("annotate", j0, "pragma", "x");
  EXPECT_EQ(sch.trace().str(), dedent(R"(
    b0 = sch.get_block(name="Y", func_name="main")
    l1, l2, l3 = sch.get_loops(block=b0)
    l4, l5 = sch.split(loop=l2, factors=[None, 2])
    sch.reorder(l4, l3, l5)
    sch.annotate(block_or_loop=l4, ann_key="pragma", ann_val="x")
  )"));
}

}  // namespace
}  // namespace tilewright::schedule

// Primitives that change neither loops nor order: axes, types of elements, look-ups, samples, marks.
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kChain = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)
)";

TEST(ReorderBlockIterVar, AxesChangePlaces) {
  check_schedule(kChain, [](Schedule& sch) { sch.call("reorder_block_iter_var", "B", ArgValue{1, 0}); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vj, vi = T.axis.remap("SS", [j, i])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)
  )");
}

TEST(ReorderBlockIterVar, TheSameOrderChangesNothing) {
  const IRModule module = module_of(kChain);
  Schedule sch(module);
  sch.call("reorder_block_iter_var", "B", ArgValue{0, 1});
  EXPECT_EQ(sch.module(), module);
}

TEST(ReorderBlockIterVar, NoPermutationIsRefused) {
  check_refused(kChain, [](Schedule& sch) { sch.call("reorder_block_iter_var", "B", ArgValue{0, 0}); }, R"(
    error: reorder_block_iter_var: [0, 0] is no order of the 2 axes of block B
      f.py:5:14
       4 |     for i, j in T.grid(5, 7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj = T.axis.remap("SS", [i, j])
  )");
}

TEST(UnsafeSetDtype, ValuesAreRoundedWhereTheyAreStored) {
  check_schedule(kChain, [](Schedule& sch) { sch.call("unsafe_set_dtype", "B", 0, "float16"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7), "float16")
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.Cast("float16", A[vi, vj] * T.float32(2))
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.Cast("float32", B[vi, vj]) + T.float32(1)
  )");
}

TEST(UnsafeSetDtype, TheSameTypeChangesNothing) {
  const IRModule module = module_of(kChain);
  Schedule sch(module);
  sch.call("unsafe_set_dtype", "B", "B", "float32");
  EXPECT_EQ(sch.module(), module);
}

TEST(SetScope, BuffersOfStatementsAreRefused) {
  constexpr std::string_view program = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        for i in range(5):
            B = T.decl_buffer((7,), "float32")
            for j in range(7):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vj] = A[vi, vj]
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vj]
  )";
  const std::string text =
      ": buffer B is allocated by a statement, not by a block\n"
      "  f.py:6:18\n   5 |         for j in range(7):\n   6 |             with T.block(\"B\"):\n     |       "
      "           ^^^^^^^^^^^^\n   7 |                 vi, vj = T.axis.remap(\"SS\", [i, j])";
  check_refused(
      program, [](Schedule& sch) { sch.call("set_scope", "B", 0, "local"); }, "error: set_scope" + text);
  check_refused(
      program, [](Schedule& sch) { sch.call("storage_align", "B", 0, 0, 4, 0); },
      "error: storage_align" + text);
  check_refused(
      program, [](Schedule& sch) { sch.call("unsafe_set_dtype", "B", 0, "float16"); },
      "error: unsafe_set_dtype" + text);
}

TEST(UnsafeSetDtype, ParametersAndVectorsAreRefused) {
  check_refused(kChain, [](Schedule& sch) { sch.call("unsafe_set_dtype", "C", 0, "float16"); }, R"(
    error: unsafe_set_dtype: buffer C is a parameter of the function
      f.py:9:14
       8 |     for i, j in T.grid(5, 7):
       9 |         with T.block("C"):
         |              ^^^^^^^^^^^^
      10 |             vi, vj = T.axis.remap("SS", [i, j])
  )");
  check_refused(kChain, [](Schedule& sch) { sch.call("unsafe_set_dtype", "B", 0, "float32x4"); }, R"(
    error: unsafe_set_dtype: a buffer cannot hold elements of type float32x4
      f.py:5:14
       4 |     for i, j in T.grid(5, 7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj = T.axis.remap("SS", [i, j])
  )");
}

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
    help: did you mean A or B?
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

TEST(GetOutputBlocks, ThoseThatWriteParameters) {
  Schedule sch(module_of(kChain));
  const std::vector<BlockRef> blocks = sch.call("get_output_blocks", "root").blocks();
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(sch.get(blocks[0])->name_hint, "C");
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
    help: did you mean f or g?
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

TEST(SampleCategorical, OnlyWhatIsPossibleIsDrawn) {
  check_schedule(kChain, [](Schedule& sch) {
    for (int n = 0; n < 20; ++n) {
      const int64_t value =
          sch.get(sch.call("sample_categorical", ArgValue{4, 5, 7}, ArgValue{0.5, 0.5, 0}).expr());
      EXPECT_TRUE(value == 4 || value == 5) << value;
    }
    EXPECT_EQ(sch.get(sch.call("sample_categorical", ArgValue{4, 5, 7}, ArgValue{1, 1, 1}, 2).expr()), 7);
    const ExprRef factor = sch.call("sample_categorical", ArgValue{5}, ArgValue{1.0}).expr();
    sch.call("split", sch.call("get_loops", "B").loops()[0], Factors{None{}, factor});
  });
}

TEST(SampleCategorical, BadProbabilitiesAreRefused) {
  const auto draw = [](ArgValue candidates, ArgValue probs, ArgValue decision = {}) {
    return [=](Schedule& sch) { sch.call("sample_categorical", candidates, probs, decision); };
  };
  const ArgValue none(ArgValue::List{});
  check_refused(kChain, draw(none, none), "error: sample_categorical: there are no candidates");
  check_refused(kChain, draw(ArgValue{1, 2}, ArgValue::List{1.0}),
                "error: sample_categorical: 1 probabilities are given for 2 candidates");
  check_refused(kChain, draw(ArgValue{1, 2}, ArgValue{1.0, -0.5}),
                "error: sample_categorical: probability -0.5 is no number from 0 on");
  check_refused(kChain, draw(ArgValue{1, 2}, ArgValue{0, 0}),
                "error: sample_categorical: all probabilities are 0");
  check_refused(kChain, draw(ArgValue{1, 2}, ArgValue{1, 1}, 2),
                "error: sample_categorical: decision 2 is none of the 2 candidates");
}

constexpr std::string_view kLong = R"(
    @T.prim_func
    def main(A: T.Buffer((48,), "float32")):
        for i in range(48):
            with T.block("A"):
                vi = T.axis.spatial(48, i)
                A[vi] = T.float32(1)
)";

TEST(SamplePartitionedTile, InnerFactorsHaveTheDivisor) {
  check_schedule(kLong, [](Schedule& sch) {
    const LoopRef loop = sch.call("get_loops", "A").loops()[0];
    for (int n = 0; n < 20; ++n) {
      const std::vector<ExprRef> factors = sch.call("sample_partitioned_tile", loop, 4, 2, 6).exprs();
      EXPECT_EQ(sch.get(factors[2]) * sch.get(factors[3]) % 6, 0);
    }
    const std::vector<ExprRef> factors =
        sch.call("sample_partitioned_tile", loop, 2, 1, 6, ArgValue{4, 12}).exprs();
    sch.call("split", loop, Factors{factors[0], factors[1]});
  });
}

TEST(SamplePartitionedTile, WhatCannotBeIsRefused) {
  const auto draw = [](std::initializer_list<ArgValue> values) {
    const ArgValue::List args(values);
    return [args](Schedule& sch) {
      sch.call("sample_partitioned_tile", sch.call("get_loops", "A").loops()[0], args[0], args[1], args[2],
               args[3]);
    };
  };
  const std::string place =
      "\n  f.py:3:5\n   2 | def main(A: T.Buffer((48,), \"float32\")):\n   3 |     for i in range(48):\n     "
      "|     ^^^^^^^^^^^^^^^^^^^\n   4 |         with T.block(\"A\"):";
  const std::string start = "error: sample_partitioned_tile: ";
  check_refused(kLong, draw({0, 0, 1, {}}), start + "0 factors are asked for, expected 1 to 64" + place);
  check_refused(kLong, draw({2, 2, 1, {}}), start + "partition_pos 2 is none of the 2 factors" + place);
  check_refused(kLong, draw({2, 1, 5, {}}),
                start + "innerpart_factor 5 does not divide the extent 48 of loop i" + place);
  check_refused(kLong, draw({2, 1, 6, ArgValue{12, 4}}),
                start + "the inner factors of the decision multiply to 4, which 6 does not divide" + place);
}

TEST(SampleComputeLocation, EveryPlaceIsLegal) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const IRModule module = module_of(kChain);
    Schedule sch(module, {.seed = seed, .verify_steps = true});
    const BlockRef block = sch.call("get_block", "B").block();
    sch.call("compute_at", block, sch.call("sample_compute_location", block).loop(), true);
    expect_same_numbers(module, sch.module());
    Schedule again(module);
    Trace::load_json(sch.trace().save_json()).apply_to(again);
    EXPECT_EQ(show(again.module()), show(sch.module()));
  }
}

TEST(SampleComputeLocation, DecisionsNameThePlace) {
  check_schedule(
      kChain,
      [](Schedule& sch) {
        sch.call("compute_at", "B", sch.call("sample_compute_location", "B", 0).loop());
        sch.call("compute_at", "B", sch.call("sample_compute_location", "B", -1).loop());
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        for i in range(5):
            for ax0 in range(7):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, ax0])
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi, vj] + T.float32(1)
  )");
  check_schedule(
      kChain,
      [](Schedule& sch) { sch.call("compute_at", "B", sch.call("sample_compute_location", "B", -2).loop()); },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * T.float32(2) + T.float32(1)
  )");
}

TEST(SampleComputeLocation, OtherPrimitivesDoNotTakeAPlace) {
  check_refused(
      kChain, [](Schedule& sch) { sch.call("unroll", sch.call("sample_compute_location", "B", -1).loop()); },
      R"(
    error: unroll: l1 stands for a place that is no loop
    help: only compute_at and reverse_compute_at take it
  )");
  check_refused(kChain, [](Schedule& sch) { sch.call("sample_compute_location", "B", 2); }, R"(
    error: sample_compute_location: decision 2 is none of the 2 loops around what reads block B
      f.py:5:14
       4 |     for i, j in T.grid(5, 7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj = T.axis.remap("SS", [i, j])
    help: -1 leaves the block where it is, -2 inlines it
  )");
}

TEST(EnterPostproc, WhatFollowsCanBeLeftOut) {
  const IRModule module = module_of(kChain);
  Schedule sch(module);
  sch.call("parallel", sch.call("get_loops", "B").loops()[0]);
  const IRModule marked = sch.module();
  sch.call("enter_postproc");
  EXPECT_EQ(show(sch.module()), show(marked));
  sch.call("vectorize", sch.call("get_loops", "C").loops()[1]);
  Schedule whole(module), part(module);
  sch.trace().apply_to(whole);
  EXPECT_EQ(show(whole.module()), show(sch.module()));
  sch.trace().without_postproc().apply_to(part);
  EXPECT_EQ(show(part.module()), show(marked));
}

}  // namespace
}  // namespace tilewright::schedule

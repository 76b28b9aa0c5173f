// Comparing a schedule with the program it began with, and how much errors say.
#include "schedule_testing.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kSymbolic = R"(
    @T.prim_func
    def main(a: T.handle, c: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n, 7), "int32")
        C = T.match_buffer(c, (n, 7), "int32")
        B = T.alloc_buffer((n, 7), "int32")
        for i, j in T.grid(n, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 100
        for i, j in T.grid(n, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + 1
)";

TEST(Verify, TheSameNumbersPass) {
  Schedule sch(module_of(kSymbolic));
  const auto [i, j] = sch.call("get_loops", "C").loops<2>();
  sch.call("split", i, Factors{None{}, int64_t{4}});
  sch.call("compute_inline", "B");
  sch.verify({.samples = 4, .seed = 1});
}

TEST(Verify, TheFirstElementThatDiffersIsTold) {
  Schedule sch(module_of(kSymbolic));
  sch.call("unsafe_set_dtype", "B", 0, "int8");
  try {
    sch.verify({.samples = 1, .seed = 2});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.text(), "verify: main gives C[0, 0] = 45 instead of 301 with n = 11");
  }
}

// Arguments of every dtype hold numbers, not zeros: a buffer that holds too few of them is noticed.
TEST(Verify, ArgumentsOfSmallTypesHoldNumbers) {
  for (const std::string dtype : {"float16", "bfloat16", "int16", "int4"}) {
    std::string program(kSymbolic);
    for (size_t at; (at = program.find("int32\")")) != std::string::npos;) program.replace(at, 5, dtype);
    for (size_t at; (at = program.find(" * 100")) != std::string::npos;)
      program.replace(at, 6, " * A[vi, vj]");
    Schedule sch(module_of(program));
    sch.verify({.samples = 1, .seed = 1});
    sch.call("unsafe_set_dtype", "B", 0, "bool");
    EXPECT_THROW(sch.verify({.samples = 3, .seed = 1}), UserError) << dtype;
  }
}

TEST(Verify, OtherParametersCannotBeCompared) {
  Schedule sch(module_of(kSymbolic));
  const Var i = make_var("i"), j = make_var("j");
  sch.call("transform_layout", "C", "C",
           IndexMapNode::make(std::vector<Var>{i, j}, std::vector<PrimExpr>{j, i}));
  try {
    sch.verify();
    FAIL();
  } catch (const Unsupported& error) {
    EXPECT_EQ(error.text(), "verify: main takes other parameters than before, so the two cannot be compared");
  }
}

TEST(Verify, EachStepAsItIsApplied) {
  const IRModule module = module_of(kSymbolic);
  Schedule sch(module, {.seed = 2, .verify_numbers = true});
  sch.call("parallel", sch.call("get_loops", "B").loops()[0]);
  try {
    sch.call("unsafe_set_dtype", "B", 0, "int8");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.text(),
              "unsafe_set_dtype: step 5, unsafe_set_dtype(b3, buffer_index=0, dtype=\"int8\"): main gives "
              "C[0, 0] = "
              "45 instead of 301 with n = 11");
  }
}

TEST(ErrorDetail, SaysAsMuchAsIsAsked) {
  const auto text = [](ErrorDetail errors) {
    Schedule sch(module_of(kSymbolic), {.errors = errors});
    try {
      sch.call("unroll", "B");
    } catch (const UserError& error) {
      return error.render();
    }
    return std::string();
  };
  const auto refused = [](ErrorDetail errors) -> std::string {
    Schedule sch(module_of(kSymbolic), {.errors = errors});
    try {
      sch.call("split", sch.call("get_loops", "B").loops()[1], Factors{int64_t{2}, int64_t{3}});
    } catch (const UserError& error) {
      return error.render();
    }
    return {};
  };
  EXPECT_EQ(text(ErrorDetail::kFast), "error: unroll: argument loop must be a loop, but is \"B\"");
  EXPECT_EQ(refused(ErrorDetail::kDetail),
            "error: split: factors 2 * 3 = 6 do not cover loop j of extent 7\n  f.py:7:5\n   6 |     B = "
            "T.alloc_buffer((n, 7), \"int32\")\n   7 |     for i, j in "
            "T.grid(n, 7):\n     |     ^^^^^^^^^^^^^^^^^^^^^^^^^\n   8 |         with T.block(\"B\"):\nhelp: "
            "leave one factor None to have it computed, "
            "e.g. "
            "factors=[None, 3]");
  EXPECT_EQ(refused(ErrorDetail::kFast), "error: split: factors 2 * 3 = 6 do not cover loop j of extent 7");
  EXPECT_EQ(refused(ErrorDetail::kNone), "error: split is refused");
}

}  // namespace
}  // namespace tilewright::schedule

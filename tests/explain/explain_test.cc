// Explanations of kernels whose times and work are known.
#include "tilewright/explain/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/analysis/flops.h"
#include "tilewright/script/parse.h"
#include "tilewright/support/error.h"
#include "tilewright/target/target.h"

namespace tilewright::explain {
namespace {
using schedule::Reason;
using testing::HasSubstr;

tir::PrimFunc parse(const std::string& text) {
  return ir::ref_as<tir::PrimFuncNode>(script::parse(Ref<Source>(new Source("f.py", text))));
}

// A machine that does one operation and reads a byte from its only memory each nanosecond.
const Peaks kSlow{1, 1e9, {{"L1", 1000, 4e9}, {"memory", INT64_MAX, 1e9}}};

TEST(Peaks, TheFirstLevelThatHoldsIt) {
  EXPECT_EQ(kSlow.level_for(0).name, "L1");
  EXPECT_EQ(kSlow.level_for(750).name, "L1");
  EXPECT_EQ(kSlow.level_for(751).name, "memory");
}

TEST(Peaks, AreThoseOfAMachine) {
  const Peaks peaks = peaks_of_machine();
  EXPECT_GE(peaks.num_threads, 1);
  EXPECT_GT(peaks.flops_per_s, 1e8);
  ASSERT_GE(peaks.levels.size(), 3u);
  EXPECT_EQ(peaks.levels.front().name, "L1");
  EXPECT_EQ(peaks.levels.back().name, "memory");
  EXPECT_GT(peaks.levels.front().bytes_per_s, peaks.levels.back().bytes_per_s);
}

TEST(Peaks, EachArithmeticHasItsOwn) {
  EXPECT_EQ(kSlow.of(Arithmetic::kVectors), 1e9);
  EXPECT_EQ(kSlow.of(Arithmetic::kInt8), 1e9);  // no such instructions
  Peaks peaks = kSlow;
  peaks.int8_per_s = 8e9;
  EXPECT_EQ(peaks.of(Arithmetic::kInt8), 8e9);
  EXPECT_EQ(peaks.of(Arithmetic::kBfloat16), 1e9);
}

constexpr const char* kTriangle = R"(
@T.prim_func
def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
    for i, j in T.grid(5, 7):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2) + T.float32(1)
)";

TEST(Lanes, ScalarsTakeAWholeVector) {
  EXPECT_EQ(analysis::count_flops(parse(kTriangle)), 70);
  EXPECT_EQ(analysis::count_lanes(parse(kTriangle), 32), 70 * 8);
}

TEST(Lanes, VectorsAreRoundedUp) {
  const tir::PrimFunc func = parse(R"(
@T.prim_func
def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float64")):
    for i in range(5):
        for j in T.vectorized(7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
    for i in range(5):
        for j in T.vectorized(7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.sqrt(C[vi, vj])
)");
  EXPECT_EQ(analysis::count_lanes(func, 16), 5 * 8 + 5 * 8);   // two vectors of 4, four of 2
  EXPECT_EQ(analysis::count_lanes(func, 64), 5 * 16 + 5 * 8);  // one of 16, one of 8
}

KernelReport report_of(const std::string& program, const Peaks& peaks) {
  const schedule::Schedule sch(ir::with_function(ir::IRModuleNode::make(), "main", parse(program)));
  return explain(sch, "main", target::parse_target("llvm"), peaks);
}

// A machine that no kernel exceeds.
const Peaks kFast{1, 1e12, {{"L1", 1000, 4e12}, {"memory", INT64_MAX, 1e12}}};

TEST(Explain, ABandwidthThatIsTheLimit) {
  const KernelReport report = report_of(kTriangle, kFast);
  EXPECT_EQ(report.time.flops, 70);
  EXPECT_EQ(report.time.bytes, 280);
  EXPECT_EQ(report.level, "L1");
  EXPECT_EQ(report.limit, "arithmetic");
  EXPECT_DOUBLE_EQ(report.least_seconds, 70e-12);  // 280 bytes take as long
  Peaks narrow = kFast;
  narrow.levels[0].bytes_per_s = 1e12;
  EXPECT_EQ(report_of(kTriangle, narrow).limit, "L1 bandwidth");
  const auto vectors = std::find_if(report.attempts.begin(), report.attempts.end(),
                                    [](const schedule::Attempt& each) { return each.rule == "vectorize"; });
  ASSERT_NE(vectors, report.attempts.end());
  EXPECT_TRUE(vectors->is_applied());
  EXPECT_THAT(report.trace, HasSubstr("sch.vectorize("));
}

TEST(Explain, AKernelOfOneThread) {
  Peaks peaks = kSlow;
  peaks.num_threads = 4;
  peaks.flops_per_s = 1e18;
  peaks.levels = {{"memory", INT64_MAX, 1e18}};
  const KernelReport report = report_of(R"(
@T.prim_func
def main(A: T.Buffer((200000,), "float32"), B: T.Buffer((1,), "float32")):
    for k in range(100000):
        with T.block("B"):
            vk = T.axis.remap("R", [k])
            with T.init():
                B[0] = T.float32(0)
            B[0] = B[0] + A[vk * 2]
)",
                                        peaks);
  EXPECT_EQ(report.next.substr(0, 20), "no rule took block B");
  EXPECT_GT(report.gain_seconds, 0);
}

TEST(Explain, DotProductsAreHeldAgainstTheirOwnPeak) {
  Peaks peaks = peaks_of_machine();
  if (peaks.int8_per_s == 0) GTEST_SKIP() << "this machine has no dot products of bytes";
  EXPECT_GT(peaks.int8_per_s, 1.5 * peaks.flops_per_s);
  peaks.levels = {{"memory", INT64_MAX, 1e18}};  // tile registers are as fast as a measured cache
  const KernelReport report = report_of(R"(
@T.prim_func
def main(A: T.Buffer((128, 512), "uint8"), B: T.Buffer((512, 128), "int8"), C: T.Buffer((128, 128), "int32")):
    for i, j, k in T.grid(128, 128, 512):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "int32") * T.cast(B[vk, vj], "int32")
)",
                                        peaks);
  EXPECT_EQ(report.arithmetic, Arithmetic::kInt8);
  EXPECT_EQ(report.limit, "arithmetic");
  EXPECT_DOUBLE_EQ(report.least_seconds, *report.time.flops / peaks.int8_per_s);
  EXPECT_THAT(to_text(report, peaks), HasSubstr("  limit   arithmetic of int8: "));
  EXPECT_THAT(to_text(report, peaks), HasSubstr(" GFLOP/s, bfloat16 "));
}

TEST(Explain, AFunctionThatIsNotThere) {
  const ir::ObjectRef graph = script::parse(
      Ref<Source>(new Source("f.py", "@R.function\ndef f(x: R.Tensor((5,), \"float32\")):\n    return x\n")));
  const schedule::Schedule sch(
      ir::with_function(ir::IRModuleNode::make(), "f", ir::ref_as<ir::BaseFuncNode>(graph)));
  try {
    explain(sch, "f", target::parse_target("llvm"), kSlow);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.text(), "explain: f is no loop program");
  }
}

TEST(Explain, SizesMustBeKnown) {
  const auto error_of = [](const std::string& program) {
    try {
      report_of(program, kSlow);
    } catch (const Error& error) {
      return error.text() + " | " + error.help_text();
    }
    return std::string("no error");
  };
  EXPECT_EQ(
      error_of("@T.prim_func\ndef main(a: T.handle):\n    n = T.int64()\n    A = T.match_buffer(a, (n,), "
               "\"float32\")\n    for i in range(n):\n        A[i] = T.float32(0)\n"),
      "explain: buffer A has a size that is not known | bind it first: PrimFunc.specialize");
  EXPECT_EQ(
      error_of(
          "@T.prim_func\ndef main(n: T.int32, A: T.Buffer((5,), \"float32\")):\n    A[n] = T.float32(0)\n"),
      "explain: parameter n is no buffer | ");
}

// A made-up model: a product that nobody vectorized, and a call of something unknown.
Explanation made_up() {
  KernelReport product;
  product.time = {
      "product<1>", 2, 1e-3, 5e5, 1e5,
  };
  product.share = 0.8;
  product.level = "memory";
  product.limit = "arithmetic";
  product.least_seconds = 5e-4;
  product.vector_use = 0.25;
  product.attempts = {{"T_matmul", "inline", Reason(Reason::kRefused, "it is a reduction")},
                      {"T_matmul", "tile_winograd", Reason(Reason::kOther, "it is a product")},
                      {"T_matmul", "tile_sum", {}}};
  product.trace = "sch.split(l1, [4, 2])\n";
  product.next = "make it faster";
  product.gain_seconds = 3e-4;
  KernelReport packed;
  packed.time = {"my.packed", 1, 2.5e-4, std::nullopt, 0};
  packed.share = 0.2;
  packed.next = "nothing is known";
  return {"model.onnx", 1.5e-3, kSlow, {product, packed}, {{0, 0, 5e-4}, {1, 5e-4, 2.5e-4}, {0, 8e-4, 5e-4}}};
}

TEST(Explain, Text) {
  EXPECT_EQ(to_text(made_up(), 1), R"(model.onnx: 1.50 ms a call
peaks of 1 thread: 1.0 GFLOP/s, L1 4.0 GB/s, memory 1.0 GB/s

kernel           calls      time  share  GFLOP/s  GB/s  lanes  of limit       limit
product<1>           2   1.00 ms   80 %      0.5   0.1   25 %      50 %  arithmetic
my.packed            1  250.0 us   20 %        -     -      -         -           -
between kernels         250.0 us

product<1>
  work    0.5 MFLOP, 100.0 kB in memory; 5.00 FLOP a byte
  limit   arithmetic: 500.0 us at least, 50 % of 1.00 ms is used
  rule    not inline on block T_matmul: it is a reduction
  rule    tile_sum on block T_matmul
  next    make it faster; that may save 300.0 us
)");
  EXPECT_THAT(to_text(made_up(), "product<1>"), HasSubstr("\n\nsch.split(l1, [4, 2])\n"));
  try {
    to_text(made_up(), "product<2>");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.render(), "error: there is no kernel \"product<2>\"\nhelp: did you mean product<1>?");
  }
}

TEST(Explain, TextOfWhatRulesLeave) {
  Explanation scheduled = made_up();
  scheduled.kernels[0].attempts = {
      {"product", "any", Reason(Reason::kForm, "loop i is not a plain serial loop")}};
  EXPECT_THAT(to_text(scheduled), HasSubstr("\n  rules   none: loop i is not a plain serial loop\n"));
}

TEST(Explain, TellsOfABusyMachine) {
  Explanation busy = made_up();
  busy.peaks.is_steady = false;
  constexpr std::string_view kRemark =
      " GB/s\nothers used the machine when its peaks were measured: they may be higher, and are measured "
      "again\n";
  EXPECT_THAT(to_text(busy), HasSubstr(std::string(kRemark)));
  EXPECT_THAT(to_text(made_up()), Not(HasSubstr("others used the machine")));
}

// ---- peaks, and kernels that exceed them

TEST(Peaks, SamplesOfABusyMachineDoNotAgree) {
  EXPECT_TRUE(are_steady({100, 60, 98, 96}));
  EXPECT_FALSE(are_steady({100, 60, 98, 94}));
  EXPECT_FALSE(are_steady({100, 100}));  // too few to tell
}

TEST(Peaks, ACacheIsNotSlowerThanWhatIsBehindIt) {
  Peaks peaks{1, 1e9, {{"L1", 1000, 3e9}, {"L2", 2000, 5e9}, {"memory", INT64_MAX, 4e9}}};
  put_levels_in_order(&peaks);
  EXPECT_EQ(peaks.levels[0].bytes_per_s, 5e9);
  EXPECT_EQ(peaks.levels[1].bytes_per_s, 5e9);
  EXPECT_EQ(peaks.levels[2].bytes_per_s, 4e9);
}

// One call of a kernel that nobody can make faster by what its schedule says.
KernelReport kernel_of(double seconds, double flops, double bytes) {
  KernelReport kernel;
  kernel.time = {"kernel", 1, seconds, flops, bytes};
  kernel.is_parallel = true;
  return kernel;
}

KernelReport judged(KernelReport kernel, const Peaks& peaks) {
  judge(kernel, peaks, 32);
  return kernel;
}

TEST(Peaks, AKernelThatExceedsOneRaisesIt) {
  const KernelReport fast = kernel_of(1e-3, 1.5e6, 1e5);  // half as much again as the machine can do
  const Peaks peaks = raised(kSlow, {fast});
  EXPECT_DOUBLE_EQ(peaks.flops_per_s, 1.5e9);
  EXPECT_EQ(peaks.levels.back().bytes_per_s, 1e9);
  const KernelReport report = judged(fast, peaks);
  EXPECT_EQ(report.limit, "arithmetic");
  EXPECT_DOUBLE_EQ(report.efficiency(), 1);
  EXPECT_EQ(report.next,
            "it is at the machine's limit: only fewer operations or less precision make it faster");
}

TEST(Peaks, AMemoryThatIsRaisedRaisesTheCachesBeforeIt) {
  const Peaks peaks = raised(kSlow, {kernel_of(1e-3, 1e3, 1.9e6), kernel_of(1e-8, 0, 70)});
  EXPECT_DOUBLE_EQ(peaks.levels[1].bytes_per_s, 1.9e9);
  EXPECT_DOUBLE_EQ(peaks.levels[0].bytes_per_s, 7e9);
}

// A look-up of some rows: the bytes of the table are not what it reads.
TEST(Peaks, WhatIsNotDoneRaisesNothing) {
  const KernelReport lookup = kernel_of(1e-6, 0, 1e8);
  const Peaks peaks = raised(kSlow, {lookup});
  EXPECT_EQ(peaks.levels.back().bytes_per_s, 1e9);
  const KernelReport report = judged(lookup, peaks);
  EXPECT_EQ(report.limit, "");
  EXPECT_EQ(
      report.next,
      "its tensors have more than it can have read and written in this time: it uses parts of them, and "
      "how much is not known; its calls are short: fuse it with its neighbours");
  EXPECT_EQ(report.gain_seconds, 0);
}

// ---- advice

TEST(Advice, NothingIsSaidOfPackedFunctions) {
  KernelReport packed = kernel_of(1e-3, 1e3, 1e3);
  packed.time.flops = std::nullopt;
  packed.is_parallel = false;
  packed.is_packed = true;
  Peaks peaks = kSlow;
  peaks.num_threads = 4;
  EXPECT_EQ(judged(packed, peaks).next, "it is a packed function: what it does is not known");
  packed.time.seconds = 1e-7;
  EXPECT_EQ(judged(packed, peaks).next, "it is a packed function: what it does is not known");
}

TEST(Advice, SizesThatAreNotKnown) {
  KernelReport kernel = kernel_of(1e-3, 0, 1e3);
  kernel.time.flops = std::nullopt;
  EXPECT_EQ(judged(kernel, kSlow).next, "how much it does is not known: its loops depend on values");
  kernel = kernel_of(1e-3, 0, 0);
  EXPECT_EQ(judged(kernel, kSlow).next, "it reads and writes nothing");
}

TEST(Advice, FollowsFromTheReason) {
  KernelReport kernel = kernel_of(1e-3, 1e3, 1e3);
  kernel.attempts = {
      {"Y", "vectorize", Reason(Reason::kOpenExtent, "the extent of loop i, n, is known only at run time")}};
  EXPECT_EQ(
      judged(kernel, kSlow).next,
      "no rule took block Y (vectorize: the extent of loop i, n, is known only at run time): fix the size "
      "when it is compiled");
  kernel.attempts = {{"Y", "vectorize", Reason(Reason::kTooSmall, "Y is one element")},
                     {"Y", "parallel", {}}};
  EXPECT_EQ(judged(kernel, kSlow).next,
            "no rule took block Y (vectorize: Y is one element): schedule it by hand");
  kernel.attempts = {{"Y", "tile_attention", Reason(Reason::kOther, "no block has a role")},
                     {"Y", "parallel", Reason(Reason::kTooSmall, "it runs about 7 statements")}};
  EXPECT_EQ(judged(kernel, kSlow).next, "try other tiles: sizes, order of loops, unrolling");
  kernel.attempts = {{"main", "any", Reason(Reason::kForm, "loop i is not a plain serial loop")}};
  EXPECT_EQ(judged(kernel, kSlow).next, "try other tiles: sizes, order of loops, unrolling");
}

TEST(Advice, ALoopOfTheUsersOwnIsParallel) {
  Peaks peaks = kFast;
  peaks.num_threads = 4;
  const KernelReport report = report_of(R"(
@T.prim_func
def main(A: T.Buffer((1000000,), "float32"), B: T.Buffer((1000000,), "float32")):
    for i in T.parallel(1000):
        for j in range(1000):
            with T.block("B"):
                v = T.axis.spatial(1000000, i * 1000 + j)
                B[v] = A[v] * T.float32(2)
)",
                                        peaks);
  EXPECT_TRUE(report.is_parallel);
  EXPECT_THAT(report.next, Not(HasSubstr("it runs on one thread")));
}

TEST(Explain, PageAndJson) {
  const std::string page = to_html(made_up());
  EXPECT_THAT(page, HasSubstr("product&lt;1&gt;"));
  EXPECT_EQ(page.find("product<1>"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);  // needs nothing else
  EXPECT_THAT(to_json(made_up()), HasSubstr("\"efficiency\": 0.5"));
  EXPECT_THAT(to_json(made_up()), HasSubstr("\"limit\": null"));
}

}  // namespace
}  // namespace tilewright::explain

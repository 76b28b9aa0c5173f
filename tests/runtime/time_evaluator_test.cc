#include "tilewright/runtime/time_evaluator.h"

#include "expect_error.h"

namespace tilewright::runtime {
namespace {

TEST(TimeEvaluator, CallsAsOftenAsAsked) {
  int num_calls = 0;
  const Function function = Function::typed("f", [&](int64_t) { ++num_calls; });
  const Value args[] = {7};
  const TimingResult result = time_evaluator(function, args, {.number = 5, .repeat = 7});
  EXPECT_EQ(num_calls, 1 + 5 * 7);
  EXPECT_EQ(result.results_s.size(), 7u);
  EXPECT_LE(result.min_s, result.median_s);
  EXPECT_LE(result.median_s, result.max_s);
  EXPECT_GE(result.std_s, 0);
}

TEST(TimeEvaluator, RepeatsUntilTheMinimumTime) {
  const Function nothing = Function::typed("nothing", [] {});
  const TimingResult result = time_evaluator(nothing, {}, {.number = 1, .repeat = 2, .min_repeat_ms = 5});
  EXPECT_GE(result.results_s[0] * result.number, 5e-3);
  EXPECT_GE(result.results_s[1] * result.number, 5e-3);
}

TEST(TimeEvaluator, CachesAreColdWhenAskedFor) {
  std::vector<int64_t> data(1 << 14, 1);  // 128 KiB: fits in the caches
  int64_t total = 0;
  const Function sum = Function::typed("sum", [&] {
    for (int64_t value : data) total += value;
  });
  const TimingOptions cold{.number = 1, .repeat = 20, .cache_flush_bytes = 64 << 20};
  EXPECT_EQ(time_evaluator(sum, {}, cold).results_s.size(), 20u);
  EXPECT_EQ(total, 21 << 14);  // one to warm up
}

TEST(TimeEvaluator, TextPicksTheUnit) {
  TimingResult result;
  result.mean_s = 1.5e-3;
  result.median_s = 1.25e-3;
  EXPECT_EQ(result.str(), "mean 1.5000 ms, median 1.2500, min 0.0000, max 0.0000, std 0.0000");
}

TEST(TimeEvaluator, OptionsAndErrors) {
  const Function nothing = Function::typed("nothing", [] {});
  EXPECT_ERROR(
      time_evaluator(nothing, {}, {.number = 0}),
      "error: time_evaluator: number = 0, repeat = 1, min_repeat_ms = 0, expected at least 1, 1 and 0");
  EXPECT_ERROR(time_evaluator(nothing, {}, {.cache_flush_bytes = -1}),
               "error: time_evaluator: cache_flush_bytes = -1, expected 0 to 1073741824");
  const Value args[] = {7};
  EXPECT_ERROR(time_evaluator(nothing, args), "error: nothing: got 1 argument, expected 0");
}

}  // namespace
}  // namespace tilewright::runtime

// sample_categorical: a number drawn with given probabilities.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

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
                "error: sample_categorical: probs has 1 element, but candidates 2");
  check_refused(kChain, draw(ArgValue{1, 2}, ArgValue{1.0, -0.5}),
                "error: sample_categorical: probability -0.5 is no number from 0 on");
  check_refused(kChain, draw(ArgValue{1, 2}, ArgValue{0, 0}),
                "error: sample_categorical: all probabilities are 0");
  check_refused(kChain, draw(ArgValue{1, 2}, ArgValue{1, 1}, 2),
                "error: sample_categorical: decision 2 is none of the 2 candidates");
}

}  // namespace
}  // namespace tilewright::schedule

// The analytic model prefers what is fast on any machine.
#include "tilewright/tune/models/analytic_model.h"

#include "../nest_testing.h"

namespace tilewright::tune {
namespace {

double seconds(const std::string& text) { return AnalyticModel(round_machine()).seconds(module_of(text)); }

std::string product(std::string_view loops) {
  return fmt::format(R"(
def main(A: T.Buffer((512, 512), "float32"), B: T.Buffer((512, 512), "float32"), C: T.Buffer((512, 512), "float32")):
{}
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)",
                     loops);
}

TEST(AnalyticModel, prefers_rows_to_columns) {
  EXPECT_LT(seconds(product("    for i, k, j in T.grid(512, 512, 512):")),
            seconds(product("    for j, k, i in T.grid(512, 512, 512):")));
}

TEST(AnalyticModel, predicts_no_less_than_the_arithmetic_takes) {
  // 16 multiply-adds in a cycle, 3.5e9 cycles in a second
  const double least = 512.0 * 512 * 512 / 16 / 3.5e9;
  EXPECT_GE(seconds(product("    for i, k, j in T.grid(512, 512, 512):")), least);
}

TEST(AnalyticModel, scores_are_higher_for_less_time) {
  AnalyticModel model(round_machine());
  std::vector<Candidate> candidates;
  for (const char* loops :
       {"    for i, k, j in T.grid(512, 512, 512):", "    for j, k, i in T.grid(512, 512, 512):"})
    candidates.push_back({Schedule(module_of(product(loops))), {}});
  const std::vector<double> scores = model.predict(candidates);
  EXPECT_GT(scores[0], scores[1]);
  model.update(candidates, {2, 1});  // it learns nothing
  EXPECT_EQ(model.predict(candidates), scores);
}

}  // namespace
}  // namespace tilewright::tune

// The search over designs: what it asks for, that seeds repeat it, and mutations of samples.
#include "tilewright/tune/search.h"

#include <gtest/gtest.h>

#include <set>

#include "tilewright/schedule/steps.h"
#include "tilewright/script/parse.h"
#include "tilewright/tune/rule.h"

namespace tilewright::tune {
namespace {

Schedule matmul() {
  const auto func = ir::ref_as<tir::PrimFuncNode>(script::parse(Ref<Source>(new Source("f.py", R"(@T.prim_func
def main(A: T.Buffer((60, 84), "float32"), B: T.Buffer((84, 72), "float32"), C: T.Buffer((60, 72), "float32")):
    for i, j, k in T.grid(60, 72, 84):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"))));
  return Schedule(ir::with_function(ir::IRModuleNode::make(), "main", func));
}

std::vector<Design> designs() {
  std::vector<Design> found;
  for (const Trace& trace :
       generic_designs(matmul(), "main", target::Features{}, {rule_named("multi_level_tiling")}).traces)
    found.push_back({trace});
  return found;
}

Search search_of(uint64_t seed, std::shared_ptr<CostModel> model = nullptr) {
  if (!model) model = std::make_shared<RandomModel>(seed);
  return Search(matmul(), designs(), {}, std::move(model),
                {.seed = seed, .population = 32, .generations = 2});
}

std::vector<Hash128> hashes(const std::vector<Candidate>& candidates) {
  std::vector<Hash128> found;
  for (const Candidate& each : candidates) found.push_back(each.hash);
  return found;
}

TEST(Search, asks_for_each_candidate_once) {
  Search search = search_of(1);
  std::set<Hash128> seen;
  for (int round = 0; round < 4; ++round) {
    const std::vector<Candidate> candidates = search.ask(16);
    EXPECT_EQ(candidates.size(), 16u);
    for (const Candidate& each : candidates) EXPECT_TRUE(seen.insert(each.hash).second);
    search.tell(candidates, std::vector<double>(candidates.size(), 1.0));
  }
}

// Ranking takes steps to be legal; what is asked for is proved: lanes of a sum are legal if there is one.
TEST(Search, asks_only_for_candidates_that_are_legal) {
  namespace steps = schedule::steps;
  Schedule sch = matmul();
  const std::vector<schedule::LoopRef> loops = steps::get_loops(sch, sch.call("get_block", "C").block());
  // one lane, so that the design itself is legal
  const auto terms =
      sch.call("sample_perfect_tile", loops[2], 2, 64, schedule::ArgValue::List{84, 1}).exprs();
  const auto rows = sch.call("sample_perfect_tile", loops[0], 2, 64).exprs();
  steps::split(sch, loops[0], schedule::Factors(rows.begin(), rows.end()));
  const auto parts = steps::split(sch, loops[2], schedule::Factors(terms.begin(), terms.end()));
  steps::vectorize(sch, parts[1]);
  Search search(matmul(), {{sch.trace()}}, {}, std::make_shared<RandomModel>(3),
                {.seed = 3, .population = 64, .generations = 2});
  const std::vector<Candidate> found = search.ask(8);
  EXPECT_FALSE(found.empty());
  EXPECT_LT(found.size(), 13u);  // divisors of 60 that are at most 64
  for (const Candidate& each : found) {
    const auto decided = each.sch.trace().steps[2].result.as<schedule::ArgValue::List>();
    ASSERT_TRUE(decided);
    EXPECT_EQ(each.sch.get(*(*decided)[1].as<schedule::ExprRef>()), 1);
  }
}

TEST(Search, the_same_seed_and_times_give_the_same_candidates) {
  Search one = search_of(7), two = search_of(7), other = search_of(8);
  for (int round = 0; round < 2; ++round) {
    const std::vector<Candidate> a = one.ask(8), b = two.ask(8);
    EXPECT_EQ(hashes(a), hashes(b));
    EXPECT_NE(hashes(a), hashes(other.ask(8)));
    std::vector<double> seconds;
    for (size_t n = 0; n < a.size(); ++n) seconds.push_back(1.0 + static_cast<double>(n));
    one.tell(a, seconds);
    two.tell(b, seconds);
  }
}

// Prefers long vectors.
class Wide final : public CostModel {
 public:
  std::vector<double> predict(const std::vector<Candidate>& candidates) override {
    std::vector<double> scores;
    for (const Candidate& each : candidates) scores.push_back(width(each.sch.trace()));
    return scores;
  }
  void update(const std::vector<Candidate>&, const std::vector<double>&) override {}

  static double width(const Trace& trace) {
    double last = 0;
    for (const schedule::Instruction& step : trace.steps) {
      if (step.primitive->name != "sample_perfect_tile") continue;
      const auto& factors = *step.args.back().as<schedule::ArgValue::List>();
      if (factors.size() == 4) last = static_cast<double>(*factors.back().as<int64_t>());
    }
    return last;
  }
};

TEST(Search, follows_the_cost_model) {
  Search search = search_of(3, std::make_shared<Wide>());
  const std::vector<Candidate> candidates = search.ask(8);
  double sum = 0;
  for (const Candidate& each : candidates) sum += Wide::width(each.sch.trace());
  EXPECT_GT(sum / 8, 24);  // of at most 64
}

TEST(Search, leaves_out_what_a_postprocessor_refuses) {
  const auto is_narrow = [](Schedule& sch) { return Wide::width(sch.trace()) <= 4; };
  Search search(matmul(), designs(), {is_narrow}, std::make_shared<RandomModel>(1),
                {.seed = 1, .population = 32, .generations = 1});
  const std::vector<Candidate> candidates = search.ask(4);
  EXPECT_FALSE(candidates.empty());
  for (const Candidate& each : candidates) EXPECT_LE(Wide::width(each.sch.trace()), 4);
}

TEST(Mutation, changes_one_sample_and_keeps_the_extent) {
  Random random(1);
  const std::optional<Candidate> start = candidate_of(schedule::Replay(matmul()), designs()[0], 5, {});
  ASSERT_TRUE(start);
  const Trace before = start->sch.trace();
  for (int round = 0; round < 50; ++round) {
    const std::optional<Trace> after = mutated(before, random);
    ASSERT_TRUE(after);
    int changed = 0;
    for (size_t n = 0; n < before.steps.size(); ++n)
      changed += before.steps[n].str() != after->steps[n].str();
    EXPECT_LE(changed, 1);
    EXPECT_TRUE(candidate_of(schedule::Replay(matmul()), {*after}, 6, {}));
  }
}

}  // namespace
}  // namespace tilewright::tune

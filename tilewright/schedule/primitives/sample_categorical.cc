// sample_categorical: one of several integers, drawn with given probabilities.
#include <cmath>
#include <numeric>

#include "tilewright/schedule/core/primitive.h"
#include "tilewright/support/count_text.h"

namespace tilewright::schedule {
namespace {

struct Args {
  std::vector<int64_t> candidates;
  std::vector<double> probs;
  std::optional<int64_t> decision;
  static constexpr std::string_view kRequired[] = {"candidates", "probs"};
  static constexpr auto fields() {
    return std::tuple{field<&Args::candidates>("candidates", "the integers to choose from"),
                      field<&Args::probs>("probs", "how likely each of them is"),
                      field<&Args::decision>("decision", "which one, when it is already decided")};
  }
};

ExprRef apply(State& state, Args& args) {
  const size_t count = args.candidates.size();
  if (count == 0) throw UserError("there are no candidates");
  if (args.probs.size() != count)
    throw UserError("probs has {}, but candidates {}", count_text(args.probs.size(), "element"), count);
  for (double prob : args.probs) {
    if (!(prob >= 0) || !std::isfinite(prob)) throw UserError("probability {} is no number from 0 on", prob);
  }
  const double total = std::accumulate(args.probs.begin(), args.probs.end(), 0.0);
  if (!(total > 0)) throw UserError("all probabilities are 0");
  if (!args.decision) {
    // a point on [0, total), then the candidate whose stretch it is in
    double point = static_cast<double>(state.random()() >> 11) * 0x1p-53 * total;
    size_t chosen = 0;
    for (; chosen + 1 < count && point >= args.probs[chosen]; ++chosen) point -= args.probs[chosen];
    while (args.probs[chosen] == 0) --chosen;  // rounding may lead past the last that is possible
    args.decision = static_cast<int64_t>(chosen);
  }
  if (*args.decision < 0 || *args.decision >= static_cast<int64_t>(count))
    throw UserError("decision {} is none of the {} candidates", *args.decision, count);
  return state.new_expr_ref(args.candidates[static_cast<size_t>(*args.decision)]);
}

}  // namespace

extern constinit const PrimitiveInfo sample_categorical_info = query<apply>("sample_categorical", R"(
Draws one of several integers.

candidates  the integers, at least one
probs       one number >= 0 for each, not all 0; they need not add up to 1
decision    the position of the one to take, when it is already decided; a trace records what was drawn here
Returns     the integer, as a value that split and others take
)");
}  // namespace tilewright::schedule

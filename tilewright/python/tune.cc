// Bindings for the search over schedules.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tilewright/driver/target.h"
#include "tilewright/python/bindings.h"
#include "tilewright/python/locks.h"
#include "tilewright/tune/plan_design.h"
#include "tilewright/tune/rule.h"
#include "tilewright/tune/search.h"

namespace nb = nanobind;

namespace tilewright::python {
namespace {

using tune::Candidate;

// A cost model that is written in Python: predict(candidates) and update(candidates, seconds).
class PythonModel final : public tune::CostModel {
 public:
  explicit PythonModel(nb::object object) : object_(std::move(object)) {}
  ~PythonModel() override {
    locked([&] { object_.reset(); });
  }
  std::vector<double> predict(const std::vector<Candidate>& candidates) override {
    return locked([&] { return nb::cast<std::vector<double>>(object_.attr("predict")(candidates)); });
  }
  void update(const std::vector<Candidate>& candidates, const std::vector<double>& seconds) override {
    locked([&] { object_.attr("update")(candidates, seconds); });
  }

 private:
  nb::object object_;
};

// A function that gives the Schedule it was given, changed or not, or None where the candidate is to be left out.
tune::Postproc postproc_of(nb::object function) {
  return [function = std::move(function)](schedule::Schedule& sch) {
    return locked([&] {
      const nb::object made = function(nb::cast(sch));  // a copy, which the function may keep
      if (made.is_none()) return false;
      sch = nb::cast<schedule::Schedule&>(made);
      return true;
    });
  };
}

std::shared_ptr<tune::CostModel> model_of(nb::object model, uint64_t seed) {
  if (model.is_none()) return std::make_shared<tune::RandomModel>(seed);
  if (nb::isinstance<tune::CostModel>(model)) return nb::cast<std::shared_ptr<tune::CostModel>>(model);
  return std::make_shared<PythonModel>(std::move(model));
}

// (what, weight): a list of primitives whose samples it decides otherwise, or an object with apply(trace, seed), which
// gives a trace or None.
tune::WeightedMutator mutator_of(const nb::handle& pair) {
  const double weight = nb::cast<double>(pair[1]);
  nb::object object = nb::borrow(pair[0]);
  if (nb::isinstance<nb::list>(object)) {
    return {[names = nb::cast<std::vector<std::string>>(object)](const schedule::Trace& trace,
                                                                 tune::Random& random) {
              return tune::mutated(trace, random, names);
            },
            weight};
  }
  return {[object = std::move(object)](const schedule::Trace& trace, tune::Random& random) {
            return locked([&]() -> std::optional<schedule::Trace> {
              const nb::object made = object.attr("apply")(trace, random());
              if (made.is_none()) return std::nullopt;
              return nb::cast<schedule::Trace>(made);
            });
          },
          weight};
}

// A Trace, or a PlanDesign.
tune::Design design_of(const nb::handle& object) {
  if (!nb::isinstance<tune::PlanDesign>(object)) return {nb::cast<schedule::Trace>(object)};
  const auto plan = nb::cast<tune::PlanDesign>(object);
  return {plan.samples, [plan](schedule::Schedule& sch) { plan.finish(sch); }};
}

void make_search(tune::Search* self, const schedule::Schedule& program, const nb::list& designs,
                 std::vector<nb::object> postprocs, nb::object model, uint64_t seed, int64_t population,
                 int64_t generations, const nb::list& mutators, double mutation_share, double random_share) {
  tune::SearchOptions options;
  options.seed = seed;
  options.population = population;
  options.generations = generations;
  options.mutation_share = mutation_share;
  options.random_share = random_share;
  for (const nb::handle pair : mutators) options.mutators.push_back(mutator_of(pair));
  std::vector<tune::Postproc> functions;
  for (nb::object& each : postprocs) functions.push_back(postproc_of(std::move(each)));
  std::vector<tune::Design> all;
  for (const nb::handle each : designs) all.push_back(design_of(each));
  new (self)
      tune::Search(program, std::move(all), std::move(functions), model_of(std::move(model), seed), options);
}

}  // namespace

void bind_tune(nb::module_& m) {
  nb::class_<Candidate>(m, "Candidate", "One way to schedule a kernel, with all samples decided.")
      .def_prop_ro("sch", [](const Candidate& self) { return self.sch; })
      .def_prop_ro("hash", [](const Candidate& self) { return self.hash.hex(); })
      .def_ro("design", &Candidate::design)
      .def_ro("score", &Candidate::score);
  nb::class_<tune::Search>(m, "Search", "Which candidates to measure next.")
      .def("__init__", &make_search, nb::arg("program"), nb::arg("designs"), nb::arg("postprocs"),
           nb::arg("model").none(), nb::arg("seed"), nb::arg("population"), nb::arg("generations"),
           nb::arg("mutators") = nb::list(), nb::arg("mutation_share") = tune::SearchOptions{}.mutation_share,
           nb::arg("random_share") = tune::SearchOptions{}.random_share)
      .def("ask",
           [](tune::Search& self, int64_t count) {
             const Unlocked unlocked;
             return self.ask(count);
           })
      .def("tell",
           [](tune::Search& self, const std::vector<Candidate>& candidates,
              const std::vector<double>& seconds) {
             const Unlocked unlocked;
             self.tell(candidates, seconds);
           })
      .def("candidate",
           [](tune::Search& self, const schedule::Trace& trace) {
             const Unlocked unlocked;
             return self.candidate(trace);
           })
      .def_prop_ro("num_replayed", &tune::Search::num_replayed);
  nb::class_<tune::PlanDesign>(m, "PlanDesign", "The default rules, with samples of what they decide.")
      .def_prop_ro("trace", [](const tune::PlanDesign& self) { return self.samples; });
  m.def("plan_design",
        [](const schedule::Schedule& program, const std::string& func_name, const ir::Target& target) {
          return tune::plan_design(program, func_name, driver::make_generator(target).features);
        });
  m.def("trace_has_samples", &tune::has_samples);
  m.def("undecided_trace", &tune::undecided);
  m.def("mutated_trace",
        [](const schedule::Trace& trace, uint64_t seed, const std::vector<std::string>& primitives) {
          tune::Random random(seed);
          return tune::mutated(trace, random, primitives);
        });
  // the candidate that a trace makes of a program, or None where a step refuses
  m.def(
      "candidate_of",
      [](const schedule::Schedule& program, const schedule::Trace& trace, uint64_t seed) {
        return tune::candidate_of(schedule::Replay(program.proved(0)), {trace}, seed, {});
      },
      nb::arg("program"), nb::arg("trace"), nb::arg("seed") = 0);
  // ([trace], [(block, rule, reason)]) of the generic space
  m.def("generic_designs",
        [](const schedule::Schedule& program, const std::string& func_name, const ir::Target& target) {
          const tune::Designs designs =
              tune::generic_designs(program, func_name, driver::make_generator(target).features);
          nb::list attempts;
          for (const tune::RuleAttempt& each : designs.attempts)
            attempts.append(nb::make_tuple(each.block, each.rule, each.reason));
          return nb::make_tuple(designs.traces, attempts);
        });
}

}  // namespace tilewright::python

// Bindings for the search over schedules.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "tilewright/driver/target.h"
#include "tilewright/python/bindings.h"
#include "tilewright/python/locks.h"
#include "tilewright/schedule/default/choices.h"
#include "tilewright/tune/gpu_rule.h"
#include "tilewright/tune/limits.h"
#include "tilewright/tune/models/gpu_model.h"
#include "tilewright/tune/plan_design.h"
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
  if (nb::isinstance<tune::CodeLimits>(function)) {
    return [limits = nb::cast<tune::CodeLimits>(function)](schedule::Schedule& sch) {
      return !tune::why_beyond(sch, limits);
    };
  }
  if (nb::isinstance<tune::GpuModel>(function)) {
    return [model = nb::cast<tune::GpuModel>(function)](schedule::Schedule& sch) {
      return !model.why_beyond(sch.module());
    };
  }
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

// A rule that is the name of one of ours, or (name, function) of one that is written in Python: function(sch, block)
// gives a list of schedules, or the reason why there is none.
tune::Rule rule_of(const nb::handle& given, const std::optional<target::GpuFeatures>& gpu) {
  if (nb::isinstance<nb::str>(given)) {
    const auto name = nb::cast<std::string>(given);
    return gpu ? tune::gpu_rule_named(name, *gpu) : tune::rule_named(name);
  }
  const nb::object name = given[0], function = given[1];
  const auto apply = [function](const schedule::Schedule& sch, schedule::BlockRef block, const auto&) {
    using Made = schedule::OrReason<std::vector<schedule::Schedule>>;
    const nb::object made = function(sch, block);
    if (nb::isinstance<nb::str>(made))
      return Made(schedule::Reason(schedule::Reason::kOther, "{}", nb::cast<std::string>(made)));
    return Made(nb::cast<std::vector<schedule::Schedule>>(made));
  };
  return {nb::cast<std::string>(name), apply};
}

// ([trace], [(block, rule, reason)]) of the generic space
nb::tuple generic_designs(const schedule::Schedule& program, const std::string& func_name,
                          const ir::Target& target, const nb::object& rules, const nb::dict& by_block,
                          bool allows_other_sums) {
  const driver::Generator generator = driver::make_generator(target);
  std::vector<tune::Rule> all;
  if (rules.is_none())
    all = generator.gpu ? tune::rules_for_gpu(*generator.gpu) : tune::default_rules(allows_other_sums);
  else
    for (const nb::handle each : rules) all.push_back(rule_of(each, generator.gpu));
  std::map<std::string, tune::Rule> own;
  for (const auto& [block, rule] : by_block) own[nb::cast<std::string>(block)] = rule_of(rule, generator.gpu);
  const tune::Designs designs = tune::generic_designs(program, func_name, generator.features, all, own);
  nb::list attempts;
  for (const tune::RuleAttempt& each : designs.attempts)
    attempts.append(nb::make_tuple(each.block, each.rule, each.reason));
  return nb::make_tuple(designs.traces, attempts);
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
          const driver::Generator generator = driver::make_generator(target);
          return generator.gpu ? std::nullopt : tune::plan_design(program, func_name, generator.features);
        });
  // [(name, doc)] of the decisions of the rules that plans take
  m.def("plan_choices", [] {
    std::vector<std::pair<std::string_view, std::string_view>> found;
    for (const schedule::PlanChoice& each : schedule::plan_choices()) found.emplace_back(each.name, each.doc);
    return found;
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
  nb::class_<tune::CodeLimits>(m, "CodeLimits", "What a candidate may be before it is built.")
      .def("__init__",
           [](tune::CodeLimits* self, const ir::Target& target) {
             new (self) tune::CodeLimits(tune::limits_of(driver::make_generator(target).features));
           })
      .def_rw("most_statements", &tune::CodeLimits::most_statements)
      .def_rw("most_vector_bytes", &tune::CodeLimits::most_vector_bytes)
      .def_rw("register_bytes", &tune::CodeLimits::register_bytes)
      .def("why_beyond", [](const tune::CodeLimits& self, const schedule::Schedule& sch) {
        const std::optional<schedule::Reason> why = tune::why_beyond(sch, self);
        return why ? why->text : std::string();
      });
  m.def("generic_designs", &generic_designs, nb::arg("program"), nb::arg("func_name"), nb::arg("target"),
        nb::arg("rules").none() = nb::none(), nb::arg("by_block") = nb::dict(),
        nb::arg("allows_other_sums") = false);
  // [(name, doc)] of the rules for GPUs
  m.def("gpu_schedule_rules", [] {
    std::vector<std::pair<std::string_view, std::string_view>> found;
    for (const tune::GpuRuleInfo* info : tune::all_gpu_rules()) found.emplace_back(info->name, info->doc);
    return found;
  });
  // [(name, doc)] of the rules of the registry, in the order in which they run
  m.def("schedule_rules", [] {
    std::vector<std::pair<std::string_view, std::string_view>> found;
    for (const tune::Rule& rule : tune::default_rules(true)) {
      for (const tune::RuleInfo* info : tune::all_rules()) {
        if (info->name == rule.name) found.emplace_back(info->name, info->doc);
      }
    }
    return found;
  });
}

}  // namespace tilewright::python

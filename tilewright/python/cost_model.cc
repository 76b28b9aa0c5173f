// Bindings for cost models.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tilewright/driver/target.h"
#include "tilewright/python/bindings.h"
#include "tilewright/python/locks.h"
#include "tilewright/tune/models/analytic_model.h"
#include "tilewright/tune/models/boosted_model.h"
#include "tilewright/tune/models/gpu_model.h"

namespace nb = nanobind;

namespace tilewright::python {
namespace {

target::Features features_of(const ir::Target& target) { return driver::make_generator(target).features; }

std::map<std::string, double> program_features(const ir::IRModule& module, const ir::Target& target) {
  const std::vector<std::string> names = tune::program_feature_names();
  const tune::Described described = tune::describe(module, features_of(target));
  std::map<std::string, double> result;
  for (size_t n = 0; n < names.size(); ++n) result[names[n]] = static_cast<double>(described.all[n]);
  return result;
}

}  // namespace

void bind_cost_model(nb::module_& m) {
  using tune::Candidate;
  using tune::CostModel;
  nb::class_<CostModel>(m, "CostModel", "Scores of candidates: higher is faster.")
      .def("predict",
           [](CostModel& self, const std::vector<Candidate>& candidates) {
             const Unlocked unlocked;
             return self.predict(candidates);
           })
      .def("update",
           [](CostModel& self, const std::vector<Candidate>& candidates, const std::vector<double>& seconds) {
             const Unlocked unlocked;
             self.update(candidates, seconds);
           });
  nb::class_<tune::RandomModel, CostModel>(m, "RandomModel").def(nb::init<uint64_t>());
  nb::class_<tune::AnalyticModel, CostModel>(m, "AnalyticModel")
      .def("__init__", [](tune::AnalyticModel* self,
                          const ir::Target& target) { new (self) tune::AnalyticModel(features_of(target)); })
      .def("seconds", [](const tune::AnalyticModel& self, const ir::IRModule& module) {
        const Unlocked unlocked;
        return self.seconds(module);
      });
  nb::class_<tune::GpuModel, CostModel>(m, "GpuModel")
      .def("__init__",
           [](tune::GpuModel* self, const ir::Target& target) {
             new (self) tune::GpuModel(target::gpu_features_of(target).features);
           })
      .def("cycles",
           [](const tune::GpuModel& self, const ir::IRModule& module) {
             const Unlocked unlocked;
             return self.cycles(module);
           })
      .def("why_beyond", [](const tune::GpuModel& self, const ir::IRModule& module) {
        const std::optional<schedule::Reason> why = self.why_beyond(module);
        return why ? why->text : std::string();
      });
  m.def("is_gpu", &target::is_gpu);
  nb::class_<tune::BoostedModel, CostModel>(m, "BoostedModel")
      .def("__init__",
           [](tune::BoostedModel* self, const ir::Target& target, const std::string& library, uint64_t seed) {
             new (self) tune::BoostedModel(features_of(target), tune::XGBoost::open(library), seed);
           })
      .def("save",
           [](const tune::BoostedModel& self) {
             const std::string bytes = self.save();
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("load", [](tune::BoostedModel& self, const nb::bytes& bytes) {
        self.load(std::string(bytes.c_str(), bytes.size()));
      });
  m.def("xgboost_version", [](const std::string& path) { return tune::XGBoost::open(path)->version(); });
  m.def("program_features", &program_features);
}

}  // namespace tilewright::python

// Bindings for schedules of tensor expressions by stages; python/tilewright/compat/te_schedule has their Python form.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tilewright/python/bindings.h"
#include "tilewright/python/convert.h"
#include "tilewright/python/te_tensors.h"
#include "tilewright/schedule/stages/bounds.h"
#include "tilewright/schedule/stages/replay.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/text.h"

namespace tilewright::python {
namespace {

using schedule::StageRef;
using schedule::StageSchedule;
using schedule::TensorStage;
using te::Operation;
using te::Tensor;

// A number, or None.
tir::PrimExpr optional_number(nb::handle value) {
  return value.is_none() ? tir::PrimExpr() : ir::ref_as<ir::PrimExprNode>(from_python(value));
}

std::vector<Tensor> tensors(const std::vector<ir::ObjectRef>& nodes) {
  std::vector<Tensor> found;
  for (const ir::ObjectRef& node : nodes) found.push_back(tensor_of(node));
  return found;
}

std::vector<ir::ObjectRef> nodes(const std::vector<Tensor>& found) { return {found.begin(), found.end()}; }

void set_kind(TensorStage& stage, const tir::IterVar& axis, const std::string& verb) {
  using tir::ForKind;
  const ForKind kind = verb == "parallel"    ? ForKind::kParallel
                       : verb == "vectorize" ? ForKind::kVectorized
                                             : ForKind::kUnrolled;
  stage.set_kind(axis, kind, verb);
}

std::string attachment_name(const TensorStage& stage) {
  switch (stage.attachment) {
    case schedule::Attachment::kRoot: return "root";
    case schedule::Attachment::kInline: return "inline";
    case schedule::Attachment::kAt: return "at";
  }
  return "";
}

// (operation, axis) of the loop around, or None.
nb::object attached(const TensorStage& stage) {
  const std::shared_ptr<const TensorStage> around = stage.attach_stage.lock();
  if (stage.attachment != schedule::Attachment::kAt || !around) return nb::none();
  return nb::make_tuple(ir::ObjectRef(around->op()), ir::ObjectRef(stage.attach_axis));
}

// (schedule of blocks, its function with the names of axes)
std::pair<schedule::Schedule, tir::PrimFunc> replay(const StageSchedule& stages,
                                                    const std::vector<ir::ObjectRef>& args,
                                                    const std::string& name,
                                                    const std::vector<ir::ObjectRef>& strided,
                                                    const std::vector<tir::Buffer>& buffers) {
  schedule::ReplayOptions options{.name = name};
  for (size_t n = 0; n < strided.size(); ++n) options.buffers.emplace_back(tensor_of(strided[n]), buffers[n]);
  schedule::Replayed replayed = schedule::replay_stages(stages, args, options);
  tir::PrimFunc named = replayed.named_func();
  return {std::move(replayed.sch), std::move(named)};
}

void bind_stage(nb::module_& m) {
  nb::class_<TensorStage>(m, "TensorStage", "One operation of a schedule by stages, and its loops.")
      .def_prop_ro("op", [](const TensorStage& self) -> ir::ObjectRef { return self.op(); })
      .def_prop_ro("origin_op", [](const TensorStage& self) -> ir::ObjectRef { return self.first_op(); })
      .def_prop_ro("leaves", &TensorStage::leaves)
      .def_prop_ro("axes", &TensorStage::axes)
      .def_prop_ro("attachment", &attachment_name)
      .def_prop_ro("attached", &attached)
      .def_rw("scope", &TensorStage::scope)
      .def_rw("is_output", &TensorStage::is_output)
      .def(
          "split",
          [](TensorStage& self, const tir::IterVar& parent, nb::handle factor, nb::handle nparts) {
            return self.split(parent, optional_number(factor), optional_number(nparts));
          },
          nb::arg("parent"), nb::arg("factor").none(), nb::arg("nparts").none())
      .def("fuse", &TensorStage::fuse)
      .def("reorder", &TensorStage::reorder)
      .def("set_kind", &set_kind)
      .def("bind", &TensorStage::bind)
      .def("annotate", [](TensorStage& self, const tir::IterVar& axis, std::string key,
                          nb::handle value) { self.annotate(axis, std::move(key), from_python(value)); })
      .def("tensorize",
           [](TensorStage& self, const tir::IterVar& axis, std::string name, std::string whole,
              std::string reset, std::string update) {
             self.tensorize(axis, {std::move(name), std::move(whole), std::move(reset), std::move(update)});
           })
      .def("storage_align", [](TensorStage& self, int64_t axis, int64_t factor,
                               int64_t offset) { self.alignments.push_back({axis, factor, offset}); })
      .def("double_buffer", [](TensorStage& self) { self.is_double_buffered = true; })
      .def("prefetch",
           [](TensorStage& self, const ir::ObjectRef& tensor, const tir::IterVar& axis, nb::handle offset) {
             self.leaf(axis, "prefetch");
             const tir::PrimExpr ahead = optional_number(offset);
             int64_t count = 0;
             const bool is_index = ahead && ahead->dtype.is_scalar() && ahead->dtype.is_integral();
             if (!is_index || (tir::as_const_int(ahead, &count) && count < 0))
               throw UserError("prefetch: the offset is {}, expected an integer of at least 0",
                               ahead ? tir::expr_text(ahead) : "None");
             self.prefetches.push_back({tensor_of(tensor), axis, ahead});
           })
      .def("env_threads",
           [](TensorStage& self, std::vector<std::string> tags) { self.env_threads = std::move(tags); });
}

}  // namespace

void bind_stages(nb::module_& m) {
  bind_stage(m);
  nb::class_<StageSchedule>(m, "StageSchedule", "Stages of tensor expressions, producers first.")
      .def(nb::init<const std::vector<Operation>&>())
      .def_prop_ro("stages", [](const StageSchedule& self) { return self.stages(); })
      .def("stage", [](const StageSchedule& self, const Operation& op) { return self.stage(op); })
      .def("current",
           [](const StageSchedule& self, const ir::ObjectRef& tensor) -> ir::ObjectRef {
             return self.current(tensor_of(tensor));
           })
      .def("cache_read",
           [](StageSchedule& self, const ir::ObjectRef& tensor, const std::string& scope,
              const std::vector<Operation>& readers) -> ir::ObjectRef {
             return self.cache_read(tensor_of(tensor), scope, readers);
           })
      .def("cache_write",
           [](StageSchedule& self, const std::vector<ir::ObjectRef>& given, const std::string& scope) {
             return nodes(self.cache_write(tensors(given), scope));
           })
      .def("rfactor",
           [](StageSchedule& self, const ir::ObjectRef& tensor, const tir::IterVar& axis,
              int64_t factor_axis) { return nodes(self.rfactor(tensor_of(tensor), axis, factor_axis)); })
      .def("compute_at", &StageSchedule::compute_at)
      .def("compute_inline", &StageSchedule::compute_inline)
      .def("compute_root", &StageSchedule::compute_root)
      .def("replay", &replay)
      .def("infer_bounds", &schedule::infer_bounds);
}

}  // namespace tilewright::python

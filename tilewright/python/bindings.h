// The functions that define the extension module, one per file.
#pragma once
#include <nanobind/nanobind.h>

namespace tilewright::python {

void bind_errors(nanobind::module_& m);
void bind_nodes(nanobind::module_& m);
void bind_devices(nanobind::module_& m);
void bind_runtime(nanobind::module_& m);
void bind_script(nanobind::module_& m);
void bind_schedule(nanobind::module_& m);
void bind_stages(nanobind::module_& m);
void bind_intrinsic_rules(nanobind::module_& m);
void bind_te(nanobind::module_& m);
void bind_topi(nanobind::module_& m);
void bind_relax(nanobind::module_& m);
void bind_driver(nanobind::module_& m);
void bind_records(nanobind::module_& m);
void bind_tune(nanobind::module_& m);
void bind_cost_model(nanobind::module_& m);
void bind_machine(nanobind::module_& m);
void bind_analysis(nanobind::module_& m);
void bind_arith(nanobind::module_& m);

}  // namespace tilewright::python

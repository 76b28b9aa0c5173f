// The extension module tilewright._core.
#include "tilewright/python/bindings.h"

NB_MODULE(_core, m) {
  using namespace tilewright::python;
  m.doc() = "The compiled part of tilewright; use the public packages instead.";
  nanobind::set_leak_warnings(false);  // nodes in module globals at exit are not leaks
  bind_errors(m);
  bind_nodes(m);
  bind_devices(m);
  bind_runtime(m);
  bind_script(m);
  bind_schedule(m);
  bind_stages(m);
  bind_intrinsic_rules(m);
  bind_te(m);
  bind_topi(m);
  bind_relax(m);
  bind_records(m);
  bind_driver(m);
  bind_tune(m);
  bind_cost_model(m);
  bind_machine(m);
  bind_analysis(m);
  bind_arith(m);
}

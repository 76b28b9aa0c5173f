// Bindings for the analyzer, integer sets and iterator maps.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tilewright/arith/int_set.h"
#include "tilewright/arith/iter_map.h"
#include "tilewright/python/bindings.h"
#include "tilewright/python/convert.h"
#include "tilewright/support/error.h"

namespace tilewright::python {
namespace {

using arith::Analyzer;
using ir::PrimExpr;
using ir::Range;
using tir::Var;
using Ranges = std::vector<std::pair<Var, Range>>;

// An assumption that holds until close().
struct Assumption {
  std::optional<Analyzer::Scope> scope;
  void close() { scope.reset(); }
};

nb::object bound(int64_t value) {
  if (value == arith::kNegInf || value == arith::kPosInf) return nb::none();
  return nb::int_(value);
}

nb::tuple const_bounds(Analyzer& self, const PrimExpr& expr) {
  const arith::ConstBounds bounds = self.const_bounds(expr);
  return nb::make_tuple(bound(bounds.min), bound(bounds.max));
}

arith::Domains domains(const Ranges& ranges) { return arith::domains_of(ranges); }

arith::IterMapLevel level_of(const std::string& name) {
  for (auto [known, level] : {std::pair{"bijective", arith::IterMapLevel::kBijective},
                              {"surjective", arith::IterMapLevel::kSurjective},
                              {"injective", arith::IterMapLevel::kInjective}}) {
    if (name == known) return level;
  }
  throw UserError("there is no kind of map \"{}\"", name)
      .help("the kinds are bijective, surjective and injective");
}

// (indices in normal form, "") or ([], the reason why there is none)
nb::tuple detect_iter_map(const std::vector<PrimExpr>& indices, const Ranges& ranges,
                          const PrimExpr& predicate, const std::string& level, Analyzer& analyzer) {
  const arith::IterMap map = arith::detect_iter_map(indices, ranges, predicate, level_of(level), analyzer);
  nb::list found;
  if (map) {
    for (const arith::IterSum& sum : map.indices) found.append(nb::cast(arith::to_expr(sum)));
  }
  return nb::make_tuple(found, map.reason);
}

nb::tuple parts_of(const arith::IterSum& sum);

// (var or None, first value of var, the sum or None, extent)
nb::tuple parts_of(const arith::IterMark& mark) {
  const nb::object fused = mark.var ? nb::object(nb::none()) : parts_of(mark.fused);
  return nb::make_tuple(nb::cast(mark.var), nb::cast(mark.min), fused, nb::cast(mark.extent));
}

// ([(mark, lower_factor, extent, scale, as expression)], base, as expression)
nb::tuple parts_of(const arith::IterSum& sum) {
  nb::list args;
  for (const arith::IterSplit& split : sum.args)
    args.append(nb::make_tuple(parts_of(*split.source), nb::cast(split.lower_factor), nb::cast(split.extent),
                               nb::cast(split.scale), nb::cast(arith::to_expr(split))));
  return nb::make_tuple(args, nb::cast(sum.base), nb::cast(arith::to_expr(sum)));
}

// (the digits of each index, "") or ([], the reason why there are none)
nb::tuple iter_map_parts(const std::vector<PrimExpr>& indices, const Ranges& ranges,
                         const PrimExpr& predicate, const std::string& level, Analyzer& analyzer) {
  const arith::IterMap map = arith::detect_iter_map(indices, ranges, predicate, level_of(level), analyzer);
  nb::list found;
  if (map) {
    for (const arith::IterSum& sum : map.indices) found.append(parts_of(sum));
  }
  return nb::make_tuple(found, map.reason);
}

nb::list inverse(const std::vector<PrimExpr>& indices, const Ranges& ranges,
                 const std::vector<PrimExpr>& outputs, Analyzer& analyzer) {
  const arith::IterMap map =
      arith::detect_iter_map(indices, ranges, PrimExpr(), arith::IterMapLevel::kBijective, analyzer);
  if (!map) throw UserError("the map cannot be inverted: {}", map.reason);
  if (outputs.size() != indices.size())
    throw UserError("the map has {} indices, but {} outputs are given", indices.size(), outputs.size());
  nb::list found;
  for (const auto& [var, value] : arith::inverse_affine_iter_map(map, outputs, analyzer))
    found.append(nb::make_tuple(nb::cast(var), nb::cast(value)));
  return found;
}

// ([(outer, outer extent, inner, inner extent)], outer predicate, inner predicate, reason)
nb::tuple subspace_divide(const std::vector<PrimExpr>& indices, const Ranges& ranges,
                          const std::vector<Var>& inner, const PrimExpr& predicate, Analyzer& analyzer) {
  const arith::SubspaceDivision division =
      arith::subspace_divide(indices, ranges, inner, predicate, analyzer);
  nb::list found;
  for (const arith::DividedBinding& part : division.bindings)
    found.append(nb::make_tuple(nb::cast(part.outer), nb::cast(part.outer_extent), nb::cast(part.inner),
                                nb::cast(part.inner_extent)));
  return nb::make_tuple(found, nb::cast(division.outer_predicate), nb::cast(division.inner_predicate),
                        division.reason);
}

}  // namespace

void bind_arith(nb::module_& m) {
  nb::class_<Assumption>(m, "Assumption", "What an analyzer assumes until close().")
      .def("close", &Assumption::close);
  nb::class_<Analyzer>(m, "Analyzer", "What can be known of integer expressions.")
      .def(nb::init<>())
      .def("bind_range", [](Analyzer& self, const Var& var, const Range& range) { self.bind(var, range); })
      .def("bind_value", [](Analyzer& self, const Var& var, const PrimExpr& value) { self.bind(var, value); })
      .def("require", [](Analyzer& self, const PrimExpr& condition) { self.require(condition); })
      .def(
          "assume",
          [](Analyzer& self, const PrimExpr& condition) { return new Assumption{self.assume(condition)}; },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def("simplify", [](Analyzer& self, const PrimExpr& expr) { return self.simplify(expr); })
      .def("can_prove", [](Analyzer& self, const PrimExpr& condition) { return self.can_prove(condition); })
      .def("can_prove_equal",
           [](Analyzer& self, const PrimExpr& a, const PrimExpr& b) { return self.can_prove_equal(a, b); })
      .def("const_bounds", &const_bounds)
      .def("modular_set",
           [](Analyzer& self, const PrimExpr& expr) {
             const arith::ModularSet set = self.modular_set(expr);
             return nb::make_tuple(set.coeff, set.base);
           })
      .def("interval",
           [](Analyzer& self, const PrimExpr& expr, const Ranges& ranges) {
             const arith::Interval set = arith::eval_interval(expr, domains(ranges), self);
             return nb::make_tuple(nb::cast(set.min), nb::cast(set.max));
           })
      .def("deduce_bound",
           [](Analyzer& self, const Var& var, const PrimExpr& condition, const Ranges& ranges) -> nb::object {
             const auto set = arith::deduce_bound(var, condition, domains(ranges), self);
             if (!set) return nb::none();
             return nb::make_tuple(nb::cast(set->min), nb::cast(set->max));
           });
  m.def("detect_iter_map", &detect_iter_map);
  m.def("iter_map_parts", &iter_map_parts);
  m.def("normalize_iter_map", &arith::normalize);
  m.def("inverse_affine_iter_map", &inverse);
  m.def("padded_ranges", &arith::padded_ranges);
  m.def("subspace_divide", &subspace_divide);
  m.def("simplify_program", [](const tir::PrimFunc& func) { return arith::simplify(func); });
}

}  // namespace tilewright::python

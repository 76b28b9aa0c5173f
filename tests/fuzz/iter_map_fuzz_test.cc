// Random iterator maps, made by splitting and fusing loops and then sometimes spoilt: what is claimed of them
// is checked by enumeration of all iterations.
#include <gtest/gtest.h>

#include <set>

#include "fuzz.h"
#include "show.h"
#include "tilewright/arith/iter_map.h"
#include "tilewright/ir/walk.h"

namespace tilewright::fuzz {
using namespace arith;
using arith_test::show;

struct MapCase {
  explicit MapCase(uint64_t seed) : random(seed) {
    std::vector<Axis> axes;
    const int64_t num_loops = random.between(1, 3);
    for (int64_t n = 0; n < num_loops; ++n) {
      Var var = make_var(std::string(1, "ijkl"[n]));
      const int64_t min = random.chance(80) ? 0 : random.between(-3, 3);
      const int64_t extent = random.pick(std::vector<int64_t>{1, 2, 3, 4, 4, 6, 8, 12});
      ranges.emplace_back(var, make_range(imm(min), imm(extent)));
      axes.push_back({PrimExpr(var) - min, extent});
    }
    for (int64_t n = random.between(0, 4); n > 0; --n) transform(&axes);
    for (const Axis& axis : axes) bindings.push_back(axis.value);
    if (random.chance(25)) spoil();
  }

  Random random;
  IterRanges ranges;
  std::vector<PrimExpr> bindings;
  PrimExpr predicate;
  bool is_regular = true;  // bijective by construction

  // Calls fn(point) for each iteration where the predicate holds.
  template <class F>
  void for_each_point(F fn) const {
    Point point;
    enumerate(0, &point, fn);
  }

  std::vector<int64_t> values(const Point& point) const {
    std::vector<int64_t> result;
    for (const PrimExpr& binding : bindings) result.push_back(*evaluate(binding, point));
    return result;
  }

  std::string text() const {
    std::string result;
    for (const PrimExpr& binding : bindings) result += show(binding) + ", ";
    for (const auto& [var, range] : ranges)
      result += "\n  " + var->name_hint + " in [" + show(range->min) + ", +" + show(range->extent) + ")";
    return result + (predicate ? "\n  where " + show(predicate) : "");
  }

 private:
  struct Axis {
    PrimExpr value;
    int64_t extent;
  };

  void transform(std::vector<Axis>* axes) {
    const auto which = static_cast<size_t>(random.between(0, static_cast<int64_t>(axes->size()) - 1));
    Axis& axis = (*axes)[which];
    switch (random.between(0, 3)) {
      case 0: {  // split, mostly by a divisor
        const int64_t factor = random.pick(std::vector<int64_t>{2, 2, 3, 4});
        if (axis.extent % factor != 0) {
          if (!random.chance(15)) return;
          is_regular = false;
        }
        const Axis inner{floormod(axis.value, factor), factor};
        axis = {floordiv(axis.value, factor), (axis.extent + factor - 1) / factor};
        axes->push_back(inner);
        return;
      }
      case 1: {  // fuse with the last
        if (axes->size() < 2 || which + 1 == axes->size()) return;
        const Axis last = axes->back();
        axes->pop_back();
        Axis& outer = (*axes)[which];
        outer = {outer.value * last.extent + last.value, outer.extent * last.extent};
        return;
      }
      case 2: {  // cut by a predicate
        if (axis.extent < 3 || random.chance(50)) return;
        axis.extent -= random.between(1, axis.extent / 2);
        const PrimExpr condition = axis.value < axis.extent;
        predicate = predicate ? logical_and(predicate, condition) : condition;
        is_regular = false;
        return;
      }
      default: std::swap(axis, axes->front());
    }
  }

  void spoil() {
    is_regular = false;
    const auto which = static_cast<size_t>(random.between(0, static_cast<int64_t>(bindings.size()) - 1));
    switch (random.between(0, 4)) {
      case 0: bindings.erase(bindings.begin() + static_cast<ptrdiff_t>(which)); break;
      case 1: bindings[which] = bindings[which] * random.between(-1, 3); break;
      case 2: bindings[which] = bindings[which] + random.pick(ranges).first * random.between(1, 4); break;
      case 3:
        bindings[which] = floordiv(bindings[which] + random.between(-2, 3), random.between(1, 3));
        break;
      default: bindings[which] = bindings[which] + random.between(-4, 4);
    }
  }

  template <class F>
  void enumerate(size_t loop, Point* point, F& fn) const {
    if (loop == ranges.size()) {
      if (!predicate || *evaluate(predicate, *point)) fn(*point);
      return;
    }
    const int64_t min = *evaluate(ranges[loop].second->min, *point),
                  extent = *evaluate(ranges[loop].second->extent, *point);
    for (int64_t n = 0; n < extent; ++n) {
      (*point)[ranges[loop].first.get()] = min + n;
      enumerate(loop + 1, point, fn);
    }
  }
};

template <class F>
void for_each_map(int64_t fast_count, F check) {
  const uint64_t first = seed() * 1000003;
  const int64_t count = num_cases(fast_count);
  for (int64_t n = 0; n < count && !testing::Test::HasFailure(); ++n) {
    SCOPED_TRACE("case " + std::to_string(first + static_cast<uint64_t>(n)));
    MapCase one(first + static_cast<uint64_t>(n));
    check(one);
  }
}

// How many points the normal form says the indices take.
int64_t claimed_size(const IterMap& map) {
  int64_t size = 1, extent;
  for (const IterSum& index : map.indices) {
    for (const IterSplit& digit : index.args) {
      if (!as_const_int(digit.extent, &extent)) return -1;
      size *= extent;
    }
  }
  return size;
}

TEST(IterMapFuzz, ClaimsHoldByEnumeration) {
  int64_t num_regular = 0, num_found = 0;
  for_each_map(2000, [&](MapCase& one) {
    std::set<std::vector<int64_t>> images;
    int64_t num_points = 0;
    one.for_each_point([&](const Point& point) {
      images.insert(one.values(point));
      ++num_points;
    });
    if (num_points == 0) return;
    Analyzer analyzer;
    const auto num_images = static_cast<int64_t>(images.size());
    const IterMap bijective =
        detect_iter_map(one.bindings, one.ranges, one.predicate, IterMapLevel::kBijective, analyzer);
    if (bijective) {
      ASSERT_EQ(num_images, num_points) << one.text();
      ASSERT_EQ(num_images, claimed_size(bijective)) << one.text();
    }
    if (detect_iter_map(one.bindings, one.ranges, one.predicate, IterMapLevel::kInjective, analyzer))
      ASSERT_EQ(num_images, num_points) << one.text();
    const IterMap surjective =
        detect_iter_map(one.bindings, one.ranges, one.predicate, IterMapLevel::kSurjective, analyzer);
    if (surjective) ASSERT_EQ(num_images, claimed_size(surjective)) << one.text();
    num_regular += one.is_regular;
    num_found += one.is_regular && bijective;
  });
  EXPECT_GE(num_found * 100, num_regular * 97)
      << num_found << " of " << num_regular << " regular maps were found";
}

TEST(IterMapFuzz, InversesGiveTheLoopsBack) {
  for_each_map(1000, [](MapCase& one) {
    Analyzer analyzer;
    const IterMap map =
        detect_iter_map(one.bindings, one.ranges, one.predicate, IterMapLevel::kBijective, analyzer);
    if (!map) return;
    std::vector<Var> outputs;
    std::vector<PrimExpr> output_exprs;
    for (size_t n = 0; n < one.bindings.size(); ++n)
      output_exprs.push_back(outputs.emplace_back(make_var("y")));
    const auto inverse = inverse_affine_iter_map(map, output_exprs, analyzer);
    one.for_each_point([&](const Point& point) {
      Point image;
      const std::vector<int64_t> values = one.values(point);
      for (size_t n = 0; n < outputs.size(); ++n) image[outputs[n].get()] = values[n];
      for (const auto& [var, value] : inverse)
        ASSERT_EQ(*evaluate(value, image), point.at(var.get())) << one.text() << show(value);
    });
  });
}

TEST(IterMapFuzz, NormalFormsHaveEqualValues) {
  for_each_map(1000, [](MapCase& one) {
    Analyzer analyzer;
    const std::vector<PrimExpr> normal = normalize(one.bindings, one.ranges, one.predicate, analyzer);
    one.for_each_point([&](const Point& point) {
      const std::vector<int64_t> values = one.values(point);
      for (size_t n = 0; n < values.size(); ++n)
        ASSERT_EQ(evaluate(normal[n], point), values[n]) << one.text() << "\n " << show(normal[n]);
    });
  });
}

bool uses_any(const PrimExpr& expr, const std::vector<Var>& vars) {
  bool found = false;
  walk(expr, [&](const VarNode* var) {
    for (const Var& wanted : vars) found |= wanted.get() == var;
  });
  return found;
}

TEST(IterMapFuzz, TilesMakeUpTheBindings) {
  int64_t num_divided = 0;
  for_each_map(1500, [&](MapCase& one) {
    Analyzer analyzer;
    std::vector<Var> inside, outside;
    for (const auto& [var, range] : one.ranges) (one.random.chance(50) ? inside : outside).push_back(var);
    const SubspaceDivision division =
        subspace_divide(one.bindings, one.ranges, inside, one.predicate, analyzer);
    if (!division) return;
    ++num_divided;
    ASSERT_FALSE(uses_any(division.outer_predicate, inside));
    ASSERT_FALSE(uses_any(division.inner_predicate, outside));
    for (const DividedBinding& binding : division.bindings) {
      ASSERT_FALSE(uses_any(binding.outer, inside)) << one.text();
      ASSERT_FALSE(uses_any(binding.inner, outside)) << one.text();
    }
    one.for_each_point([&](const Point& point) {
      const std::vector<int64_t> values = one.values(point);
      ASSERT_TRUE(*evaluate(division.outer_predicate, point) && *evaluate(division.inner_predicate, point))
          << one.text();
      for (size_t n = 0; n < values.size(); ++n) {
        const DividedBinding& binding = division.bindings[n];
        const int64_t outer = *evaluate(binding.outer, point), inner = *evaluate(binding.inner, point);
        const int64_t extent = *evaluate(binding.inner_extent, point),
                      first = *evaluate(binding.outer_min, point);
        ASSERT_EQ(outer * extent + inner, values[n]) << one.text();
        ASSERT_TRUE(inner >= 0 && inner < extent) << one.text();
        ASSERT_TRUE(outer >= first && outer < first + *evaluate(binding.outer_extent, point)) << one.text();
      }
    });
  });
  EXPECT_GT(num_divided, 100);
}

}  // namespace tilewright::fuzz

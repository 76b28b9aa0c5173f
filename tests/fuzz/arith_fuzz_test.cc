// Random integer expressions: what the analyzer says of them is compared with their values.
#include <gtest/gtest.h>

#include "fuzz.h"
#include "show.h"
#include "tilewright/arith/int_set.h"

namespace tilewright::fuzz {
using namespace arith;
using arith_test::show;

// A variable: constant range, symbolic range below another variable, or free.
struct Domain {
  Var var;
  PrimExpr min, extent;  // null: free, sampled around zero
};

class Generator {
 public:
  explicit Generator(Random& random) : random_(random) {
    dtype_ = random.chance(70) ? kInt32 : kInt64;
    if (random.chance(25)) {
      make_symbolic();
      return;
    }
    const int64_t count = random.between(1, 4);
    for (int64_t n = 0; n < count; ++n) {
      Domain domain{make_var(std::string(1, "ijkl"[n]), dtype_), nullptr, nullptr};
      const int64_t form = random.between(0, 9);
      if (form < 6) {
        domain.min = literal(random.chance(70) ? 0 : random.between(-5, 5));
        domain.extent = literal(random.pick(std::vector<int64_t>{1, 2, 3, 4, 5, 7, 8, 12, 16}));
      } else if (form < 8 && n > 0) {
        domain.min = literal(0);
        domain.extent = random.pick(domains).var;
      }
      domains.push_back(domain);
    }
  }

  std::vector<Domain> domains;
  PrimExpr shape_condition;  // of symbolic extents: n >= 1 and m >= 1

  PrimExpr integer(int depth) {
    if (depth == 0 || random_.chance(12)) return leaf();
    switch (random_.between(0, 15)) {
      case 0:
      case 1:
      case 2: return AddNode::make(integer(depth - 1), integer(depth - 1));
      case 3: return SubNode::make(integer(depth - 1), integer(depth - 1));
      case 4:
      case 5: return MulNode::make(integer(depth - 1), factor());
      case 6: return MulNode::make(integer(depth - 1), integer(depth - 1));
      case 7:
      case 8: return FloorDivNode::make(integer(depth - 1), divisor());
      case 9:
      case 10: return FloorModNode::make(integer(depth - 1), divisor());
      case 11: return MinNode::make(integer(depth - 1), integer(depth - 1));
      case 12: return MaxNode::make(integer(depth - 1), integer(depth - 1));
      case 13: return split_and_joined(integer(depth - 1));
      case 14:
        return random_.chance(30)
                   ? PrimExpr(random_.chance(50) ? PrimExpr(DivNode::make(integer(depth - 1), divisor()))
                                                 : PrimExpr(ModNode::make(integer(depth - 1), divisor())))
                   : fused();
      default: {
        PrimExpr condition = this->condition(depth - 1), a = integer(depth - 1), b = integer(depth - 1);
        if (random_.chance(30)) return call(dtype_, "if_then_else", {condition, a, b});
        return SelectNode::make(condition, a, b);
      }
    }
  }

  PrimExpr condition(int depth) {
    if (depth > 0 && random_.chance(30)) {
      switch (random_.between(0, 2)) {
        case 0: return AndNode::make(condition(depth - 1), condition(depth - 1));
        case 1: return OrNode::make(condition(depth - 1), condition(depth - 1));
        default: return NotNode::make(condition(depth - 1));
      }
    }
    static const std::vector<Kind> kinds = {Kind::kLT, Kind::kLE, Kind::kGT, Kind::kGE, Kind::kEQ, Kind::kNE};
    const int inner = depth > 0 ? depth - 1 : 0;
    PrimExpr a = integer(inner), b = random_.chance(50) ? literal(random_.between(-20, 40)) : integer(inner);
    return make_binary(random_.pick(kinds), a, b);
  }

  void bind_all(Analyzer& analyzer) {
    for (const Domain& domain : domains) {
      if (domain.min) analyzer.bind(domain.var, make_range(domain.min, domain.extent));
    }
  }

  // A point of the domains; nothing where a range is empty.
  std::optional<Point> point() {
    Point values;
    for (const Domain& domain : domains) {
      int64_t low = -9, extent = 22;
      if (domain.min) low = *evaluate(domain.min, values), extent = *evaluate(domain.extent, values);
      if (extent <= 0) return std::nullopt;
      values[domain.var.get()] = random_.between(low, low + extent - 1);
    }
    return values;
  }

 private:
  // i in [0, n) and j in [0, m): strides and divisors are often n or m
  void make_symbolic() {
    is_symbolic_ = true;
    const Var n = make_var("n", dtype_), m = make_var("m", dtype_);
    domains = {{n, nullptr, nullptr}, {m, nullptr, nullptr}};
    domains.push_back({make_var("i", dtype_), literal(0), n});
    domains.push_back({make_var("j", dtype_), literal(0), m});
    shape_condition = AndNode::make(n >= 1, m >= 1);
  }
  PrimExpr factor() {
    if (is_symbolic_ && random_.chance(60)) return domains[static_cast<size_t>(random_.between(0, 1))].var;
    return literal(random_.pick(kFactors));
  }

  static inline const std::vector<int64_t> kFactors = {-3, -1, 2, 2, 3, 4, 4, 5, 8, 16};
  PrimExpr literal(int64_t value) { return imm(value, dtype_); }
  PrimExpr leaf() {
    if (random_.chance(75)) return random_.pick(domains).var;
    return literal(random_.between(-8, 16));
  }
  PrimExpr divisor() {
    if (is_symbolic_ && random_.chance(50)) return domains[static_cast<size_t>(random_.between(0, 1))].var;
    if (random_.chance(6)) return random_.pick(domains).var;
    if (random_.chance(8)) return literal(-random_.between(1, 8));
    return literal(random_.pick(std::vector<int64_t>{1, 2, 2, 3, 4, 4, 5, 6, 8, 12, 16}));
  }
  // x // c * c + x % c, and parts of it
  PrimExpr split_and_joined(const PrimExpr& x) {
    PrimExpr c = literal(random_.pick(std::vector<int64_t>{2, 3, 4, 8})),
             d = literal(random_.pick(std::vector<int64_t>{2, 3, 4}));
    PrimExpr quotient = FloorDivNode::make(x, c), remainder = FloorModNode::make(x, c);
    if (random_.chance(40)) return AddNode::make(MulNode::make(quotient, c), remainder);
    if (random_.chance(50))
      return AddNode::make(MulNode::make(FloorModNode::make(quotient, d), c), remainder);
    return SubNode::make(x, MulNode::make(quotient, c));
  }
  PrimExpr stride() {
    if (is_symbolic_ && random_.chance(70)) return domains[static_cast<size_t>(random_.between(0, 1))].var;
    return literal(random_.pick(std::vector<int64_t>{2, 3, 4, 5, 7, 8, 12, 16}));
  }
  // i * c + j with strides that often fit the extents
  PrimExpr fused() {
    PrimExpr total = random_.pick(domains).var;
    for (int64_t n = random_.between(1, 2); n > 0; --n)
      total = AddNode::make(MulNode::make(total, stride()), random_.pick(domains).var);
    return total;
  }

  Random& random_;
  DataType dtype_;
  bool is_symbolic_ = false;
};

std::string show(const Point& point) {
  std::string text;
  for (const auto& [var, value] : point) text += " " + var->name_hint + "=" + std::to_string(value);
  return text;
}

struct Case {
  explicit Case(uint64_t case_seed) : random(case_seed), generator(random) {
    assumption = generator.shape_condition;
    if (random.chance(35)) {
      const PrimExpr condition = generator.condition(2);
      assumption = assumption ? PrimExpr(AndNode::make(assumption, condition)) : condition;
    }
    if (random.chance(50) && assumption) analyzer.require(assumption);
    generator.bind_all(analyzer);
    if (assumption) analyzer.require(assumption);
  }

  std::string where(const PrimExpr& expr) {
    std::string text = show(expr) + "\n";
    for (const Domain& domain : generator.domains) {
      text += "  " + domain.var->name_hint;
      if (domain.min) text += " in [" + show(domain.min) + ", +" + show(domain.extent) + ")";
    }
    if (assumption) text += "\n  assuming " + show(assumption);
    return text;
  }

  std::vector<Point> points(int64_t count) {
    std::vector<Point> found;
    for (int64_t n = 0; n < count; ++n) {
      auto point = generator.point();
      if (point && (!assumption || evaluate(assumption, *point).value_or(0)))
        found.push_back(std::move(*point));
    }
    return found;
  }

  Random random;
  Generator generator;
  Analyzer analyzer;
  PrimExpr assumption;
};

template <class F>
void for_each_case(int64_t fast_count, F check) {
  const uint64_t first = seed() * 1000003;
  const int64_t count = num_cases(fast_count);
  for (int64_t n = 0; n < count && !testing::Test::HasFailure(); ++n) {
    const uint64_t case_seed = first + static_cast<uint64_t>(n);
    SCOPED_TRACE("case " + std::to_string(case_seed));
    Case one(case_seed);
    check(one);
  }
}

constexpr int64_t kPoints = 40;

TEST(ArithFuzz, SimplifiedExpressionsHaveEqualValues) {
  for_each_case(6000, [](Case& one) {
    const PrimExpr expr = one.random.chance(60) ? one.generator.integer(4) : one.generator.condition(3);
    const PrimExpr simple = one.analyzer.simplify(expr);
    ASSERT_EQ(simple->dtype, expr->dtype);
    for (const Point& point : one.points(kPoints)) {
      const auto before = evaluate(expr, point);
      if (before)
        ASSERT_EQ(before, evaluate(simple, point))
            << one.where(expr) << "\n  => " << show(simple) << "\n  at" << show(point);
    }
  });
}

TEST(ArithFuzz, WhatIsProvedHolds) {
  for_each_case(6000, [](Case& one) {
    const PrimExpr condition = one.generator.condition(3);
    if (!one.analyzer.can_prove(condition)) return;
    for (const Point& point : one.points(kPoints)) {
      const auto value = evaluate(condition, point);
      if (value) ASSERT_EQ(*value, 1) << one.where(condition) << "\n  at" << show(point);
    }
  });
}

TEST(ArithFuzz, BoundsAndModularSetsHoldAllValues) {
  for_each_case(3000, [](Case& one) {
    const PrimExpr expr = one.generator.integer(3);
    const ConstBounds bounds = one.analyzer.const_bounds(expr);
    const ModularSet modular = one.analyzer.modular_set(expr);
    for (const Point& point : one.points(kPoints)) {
      const auto value = evaluate(expr, point);
      if (!value) continue;
      ASSERT_TRUE(bounds.contains(*value))
          << one.where(expr) << "\n  in " << bounds.min << ", " << bounds.max << " at" << show(point);
      const bool is_member = modular.coeff == 0 ? *value == modular.base
                                                : floormod_int(*value - modular.base, modular.coeff) == 0;
      ASSERT_TRUE(is_member) << one.where(expr) << "\n  = " << modular.base << " mod " << modular.coeff
                             << " at" << show(point);
    }
  });
}

TEST(ArithFuzz, IntervalsHoldAllValues) {
  for_each_case(3000, [](Case& one) {
    const PrimExpr expr = one.generator.integer(3);
    Domains domains;
    for (const Domain& domain : one.generator.domains) {
      if (domain.min && one.random.chance(60))
        domains[domain.var.get()] = Interval::of(make_range(domain.min, domain.extent));
    }
    const Interval set = eval_interval(expr, domains, one.analyzer);
    for (const Point& point : one.points(kPoints)) {
      const auto value = evaluate(expr, point);
      if (!value) continue;
      Point outside = point;  // the ends use no variable that has a domain
      for (const auto& [var, domain] : domains) outside.erase(var);
      if (const auto low = set.min ? evaluate(set.min, outside) : std::nullopt)
        ASSERT_LE(*low, *value) << one.where(expr) << "\n  >= " << show(set.min) << " at" << show(point);
      if (const auto high = set.max ? evaluate(set.max, outside) : std::nullopt)
        ASSERT_GE(*high, *value) << one.where(expr) << "\n  <= " << show(set.max) << " at" << show(point);
    }
  });
}

TEST(ArithFuzz, SimplifyingTwiceChangesNothingMore) {
  int64_t num_changed = 0, total = 0;
  for_each_case(3000, [&](Case& one) {
    const PrimExpr once = one.analyzer.simplify(one.generator.integer(3));
    ++total;
    num_changed += one.analyzer.simplify(once) != once;
  });
  EXPECT_LE(num_changed * 100, total) << num_changed << " of " << total;
}

}  // namespace tilewright::fuzz

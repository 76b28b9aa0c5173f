// A small evaluator of unscheduled loop programs for numeric tests: every element is a double, rounded to its
// dtype.
#pragma once
#include <cmath>
#include <map>
#include <numeric>

#include "tilewright/ir/field.h"
#include "tilewright/te/create_prim_func.h"
#include "tilewright/tir/arithmetic.h"

namespace tilewright::testing {
using namespace tir;

struct Array {
  std::vector<int64_t> shape;
  std::vector<double> data;
  DataType dtype = kFloat32;

  static Array zeros(std::vector<int64_t> shape, DataType dtype = kFloat32) {
    const int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    return {std::move(shape), std::vector<double>(static_cast<size_t>(size)), dtype};
  }
  /// Distinct small values, some negative, from a fixed recurrence.
  static Array some(std::vector<int64_t> shape, DataType dtype = kFloat32, unsigned seed = 1) {
    Array array = zeros(std::move(shape), dtype);
    unsigned state = seed * 2654435761u + 12345u;
    for (double& value : array.data) {
      state = state * 1664525u + 1013904223u;
      const int number = static_cast<int>((state >> 16) % 41) - 20;
      value = dtype.is_float() ? number / 8.0 : dtype.is_bool() ? number & 1 : number;
    }
    return array;
  }
  double& at(const std::vector<int64_t>& index) {
    int64_t offset = 0;
    for (size_t n = 0; n < shape.size(); ++n) {
      if (index[n] < 0 || index[n] >= shape[n])
        throw InternalError("evaluate: index {} of dimension {} is outside 0..{}", index[n], n, shape[n] - 1);
      offset = offset * shape[n] + index[n];
    }
    return data[static_cast<size_t>(offset)];
  }
};

class Evaluator {
 public:
  /// Runs `func` on arrays in parameter order; scalars as arrays without dimensions.
  void run(const PrimFunc& func, const std::vector<Array*>& args) {
    TILEWRIGHT_CHECK(args.size() == func->params.size(), "{} arguments for {} parameters", args.size(),
                     func->params.size());
    for (size_t n = 0; n < args.size(); ++n) {
      const Buffer& buffer = func->buffers[n];
      if (!buffer) {
        vars_[func->params[n].get()] = args[n]->data[0];
        continue;
      }
      TILEWRIGHT_CHECK(buffer->shape.size() == args[n]->shape.size(), "argument {} has {} dimensions", n,
                       args[n]->shape.size());
      TILEWRIGHT_CHECK(buffer->dtype == args[n]->dtype, "argument {} is {}", n, args[n]->dtype.str());
      for (size_t axis = 0; axis < buffer->shape.size(); ++axis) {
        if (is<VarNode>(buffer->shape[axis]))
          vars_[buffer->shape[axis].get()] = static_cast<double>(args[n]->shape[axis]);
      }
      arrays_[buffer.get()] = args[n];
    }
    for (size_t n = 0; n < args.size(); ++n) {
      for (size_t axis = 0; func->buffers[n] && axis < args[n]->shape.size(); ++axis)
        TILEWRIGHT_CHECK(integer(func->buffers[n]->shape[axis]) == args[n]->shape[axis],
                         "argument {} dimension {} is {}", n, axis, args[n]->shape[axis]);
    }
    exec(func->body);
  }

 private:
  static double rounded(double value, DataType dtype) {
    if (dtype == kFloat32) return static_cast<float>(value);
    if (dtype.is_integral() || dtype.is_bool())
      return static_cast<double>(wrap_int(static_cast<int64_t>(value), dtype));
    return value;
  }
  int64_t integer(const PrimExpr& expr) { return static_cast<int64_t>(eval(expr)); }
  std::vector<int64_t> integers(const std::vector<PrimExpr>& exprs) {
    std::vector<int64_t> values;
    for (const PrimExpr& expr : exprs) values.push_back(integer(expr));
    return values;
  }

  double eval(const PrimExpr& expr) {
    if (const auto* node = expr.as<IntImmNode>()) return static_cast<double>(node->value);
    if (const auto* node = expr.as<FloatImmNode>()) return node->value;
    if (expr.as<tir::VarNode>()) {
      auto found = vars_.find(expr.get());
      TILEWRIGHT_CHECK(found != vars_.end(), "variable {} has no value", expr.as<tir::VarNode>()->name_hint);
      return found->second;
    }
    if (const auto* node = expr.as<CastNode>())
      return rounded(std::trunc(eval(node->value)) == eval(node->value) || node->dtype.is_float()
                         ? eval(node->value)
                         : std::trunc(eval(node->value)),
                     node->dtype);
    if (const auto* node = expr.as<NotNode>()) return eval(node->a) == 0;
    if (const auto* node = expr.as<SelectNode>())
      return eval(node->condition) != 0 ? eval(node->true_value) : eval(node->false_value);
    if (const auto* node = expr.as<BufferLoadNode>()) return array(node->buffer).at(integers(node->indices));
    if (const auto* node = expr.as<LetNode>()) {
      vars_[node->var.get()] = eval(node->value);
      return eval(node->body);
    }
    if (const auto* node = expr.as<BinaryOpNode>()) return binary_value(node);
    if (const auto* node = expr.as<tir::CallNode>()) return call_value(node);
    throw InternalError("evaluate: no rule for {}", info_of(*expr)->name);
  }

  double binary_value(const BinaryOpNode* node) {
    const double a = eval(node->a);
    if (node->kind == Kind::kAnd) return a != 0 && eval(node->b) != 0;
    if (node->kind == Kind::kOr) return a != 0 || eval(node->b) != 0;
    const double b = eval(node->b);
    if (node->a->dtype.is_float()) {
      if (node->kind == Kind::kFloorDiv) return rounded(std::floor(a / b), node->dtype);
      if (node->kind == Kind::kFloorMod) return rounded(a - std::floor(a / b) * b, node->dtype);
      if (node->kind == Kind::kMod) return rounded(std::fmod(a, b), node->dtype);
      auto value = fold_float(node->kind, a, b, DataType::float_(64));
      TILEWRIGHT_CHECK(value, "evaluate: float operation");
      return rounded(*value, node->dtype);
    }
    auto value = fold_int(node->kind, static_cast<int64_t>(a), static_cast<int64_t>(b), node->a->dtype);
    TILEWRIGHT_CHECK(value, "evaluate: integer operation on {} and {}", a, b);
    return static_cast<double>(*value);
  }

  double call_value(const tir::CallNode* node) {
    const std::string& name = node->op.as<OpNode>()->name;
    if (name == "tir.if_then_else")
      return eval(node->args[0]) != 0 ? eval(node->args[1]) : eval(node->args[2]);
    using F = double (*)(double);
    static const std::map<std::string, F> kUnary = {
        {"tir.exp", std::exp},
        {"tir.log", std::log},
        {"tir.sqrt", std::sqrt},
        {"tir.sin", std::sin},
        {"tir.cos", std::cos},
        {"tir.tan", std::tan},
        {"tir.tanh", std::tanh},
        {"tir.erf", std::erf},
        {"tir.floor", std::floor},
        {"tir.ceil", std::ceil},
        {"tir.trunc", std::trunc},
        {"tir.round", std::nearbyint},
        {"tir.nearbyint", std::nearbyint},
        {"tir.fabs", std::fabs},
        {"tir.abs", std::fabs},
        {"tir.rsqrt", [](double x) { return 1 / std::sqrt(x); }},
        {"tir.sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
        {"tir.isnan", [](double x) { return double(std::isnan(x)); }},
        {"tir.isinf", [](double x) { return double(std::isinf(x)); }},
        {"tir.isfinite", [](double x) { return double(std::isfinite(x)); }},
        {"tir.asin", std::asin},
        {"tir.acos", std::acos},
        {"tir.atan", std::atan},
        {"tir.sinh", std::sinh},
        {"tir.cosh", std::cosh},
        {"tir.asinh", std::asinh},
        {"tir.acosh", std::acosh},
        {"tir.atanh", std::atanh},
        {"tir.log2", std::log2},
        {"tir.log10", std::log10},
        {"tir.log1p", std::log1p},
        {"tir.exp2", std::exp2}};
    if (auto found = kUnary.find(name); found != kUnary.end())
      return rounded(found->second(eval(node->args[0])), node->dtype);
    auto bits = [&](size_t n) { return static_cast<int64_t>(eval(node->args[n])); };
    if (name == "tir.pow") return rounded(std::pow(eval(node->args[0]), eval(node->args[1])), node->dtype);
    if (name == "tir.fmod") return rounded(std::fmod(eval(node->args[0]), eval(node->args[1])), node->dtype);
    if (name == "tir.bitwise_and") return static_cast<double>(bits(0) & bits(1));
    if (name == "tir.bitwise_or") return static_cast<double>(bits(0) | bits(1));
    if (name == "tir.bitwise_xor") return static_cast<double>(bits(0) ^ bits(1));
    if (name == "tir.bitwise_not") return rounded(static_cast<double>(~bits(0)), node->dtype);
    if (name == "tir.shift_left") return rounded(static_cast<double>(bits(0) << bits(1)), node->dtype);
    if (name == "tir.shift_right") return static_cast<double>(bits(0) >> bits(1));
    throw InternalError("evaluate: no rule for {}", name);
  }

  Array& array(const Buffer& buffer) {
    auto found = arrays_.find(buffer.get());
    TILEWRIGHT_CHECK(found != arrays_.end(), "buffer {} has no memory", buffer->name);
    return *found->second;
  }

  void exec(const Stmt& stmt) {
    if (const auto* node = stmt.as<SeqStmtNode>()) {
      for (const Stmt& item : node->seq) exec(item);
    } else if (const auto* node = stmt.as<ForNode>()) {
      const int64_t min = integer(node->min), extent = integer(node->extent);
      for (int64_t n = 0; n < extent; ++n) {
        vars_[node->loop_var.get()] = static_cast<double>(min + n);
        exec(node->body);
      }
    } else if (const auto* node = stmt.as<BlockRealizeNode>()) {
      exec_block(node);
    } else if (const auto* node = stmt.as<BufferStoreNode>()) {
      const double value = rounded(eval(node->value), node->buffer->dtype);
      array(node->buffer).at(integers(node->indices)) = value;
    } else if (const auto* node = stmt.as<LetStmtNode>()) {
      vars_[node->var.get()] = eval(node->value);
      exec(node->body);
    } else if (const auto* node = stmt.as<IfThenElseNode>()) {
      if (eval(node->condition) != 0)
        exec(node->then_case);
      else if (node->else_case)
        exec(node->else_case);
    } else if (!is<EvaluateNode>(stmt)) {
      throw InternalError("evaluate: no rule for {}", info_of(*stmt)->name);
    }
  }

  void exec_block(const BlockRealizeNode* node) {
    if (eval(node->predicate) == 0) return;
    bool starts = true;
    for (size_t n = 0; n < node->iter_values.size(); ++n) {
      const IterVar& axis = node->block->iter_vars[n];
      const double value = eval(node->iter_values[n]);
      vars_[axis->var.get()] = value;
      if (axis->iter_type == IterType::kReduce && value != eval(axis->dom->min)) starts = false;
    }
    for (const Buffer& buffer : node->block->alloc_buffers) {
      owned_.push_back(std::make_unique<Array>(Array::zeros(integers(buffer->shape), buffer->dtype)));
      for (double& value : owned_.back()->data) value = NAN;  // a read before a write shows
      arrays_[buffer.get()] = owned_.back().get();
    }
    if (starts && node->block->init) exec(node->block->init);
    exec(node->block->body);
  }

  std::map<const Object*, double> vars_;
  std::map<const Object*, Array*> arrays_;
  std::vector<std::unique_ptr<Array>> owned_;
};

/// The values of `output` for `inputs` (placeholders and their arrays).
inline Array evaluate(const te::Tensor& output, const std::vector<std::pair<te::Tensor, Array>>& inputs) {
  std::vector<ObjectRef> params;
  std::vector<Array> arrays;
  for (const auto& [tensor, value] : inputs) {
    params.push_back(tensor);
    arrays.push_back(value);
  }
  std::vector<int64_t> shape;
  for (const PrimExpr& extent : output.shape()) shape.push_back(extent.as<IntImmNode>()->value);
  params.push_back(output);
  arrays.push_back(Array::zeros(shape, output.dtype()));
  std::vector<Array*> args;
  for (Array& array : arrays) args.push_back(&array);
  Evaluator().run(te::create_prim_func(params), args);
  return arrays.back();
}

inline te::Shape dims(std::initializer_list<int64_t> extents, DataType dtype = kInt64) {
  te::Shape shape;
  for (int64_t extent : extents) shape.push_back(imm(extent, dtype));
  return shape;
}

}  // namespace tilewright::testing

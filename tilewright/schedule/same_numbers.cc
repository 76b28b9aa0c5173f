#include "tilewright/schedule/same_numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "tilewright/analysis/interpreter.h"
#include "tilewright/analysis/interpreter/scalar.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
using namespace tir;
namespace {

constexpr int64_t kLengths[] = {3, 5, 7, 11, 13};

analysis::Scalar number(DataType dtype, int64_t value) {
  if (dtype.is_float()) return analysis::float_scalar(static_cast<double>(value));
  return analysis::int_scalar(dtype.is_bool() ? value & 1 : value);
}

void set_element(runtime::Tensor& tensor, int64_t n, int64_t value) {
  const DataType dtype = tensor.dtype();
  analysis::store_element(tensor.data_as<char>(), n * dtype.bits, dtype, number(dtype, value));
}

double element(const runtime::Tensor& tensor, int64_t n) {
  const DataType dtype = tensor.dtype();
  const analysis::Scalar value = analysis::load_element(tensor.data_as<char>(), n * dtype.bits, dtype);
  return dtype.is_float() ? value.f : static_cast<double>(value.i);
}

// The largest difference of sums in another order, relative to 1 + their value: some units in the last place.
double tolerance(DataType dtype) {
  if (!dtype.is_float()) return 0;
  return is_small_float(dtype) ? std::ldexp(4.0, -float_format(dtype).mantissa_bits) : 1e-4;
}

bool is_same(double expected, double found, DataType dtype) {
  if (expected == found || (std::isnan(expected) && std::isnan(found))) return true;
  return std::abs(expected - found) <= tolerance(dtype) * (1 + std::abs(expected));
}

// One set of arguments: small whole numbers, so that sums are exact in any order.
struct Sample {
  std::vector<runtime::Tensor> tensors;  // one per buffer parameter
  std::vector<int64_t> scalars;          // one per other parameter
  std::string sizes;                     // "n = 5, m = 7"
};

Sample draw(const PrimFunc& func, std::mt19937_64& random) {
  Sample sample;
  Substitution lengths;
  auto length_of = [&](const VarNode* var) {
    auto [known, is_new] = lengths.try_emplace(var);
    if (!is_new) return;
    const int64_t length = kLengths[random() % std::size(kLengths)];
    known->second = make_const_int(var->dtype, length);
    sample.sizes += fmt::format("{}{} = {}", sample.sizes.empty() ? "" : ", ", var->name_hint, length);
  };
  for (size_t n = 0; n < func->params.size(); ++n) {
    const Buffer& buffer = func->buffers[n];
    if (!buffer) {
      length_of(func->params[n].get());
      int64_t value = 0;
      as_const_int(ref_as<PrimExprNode>(lengths.at(func->params[n].get())), &value);
      sample.scalars.push_back(value);
      continue;
    }
    runtime::Shape shape;
    for (const PrimExpr& extent : buffer->shape) {
      walk(extent, [&](const VarNode* var) { length_of(var); });
      int64_t value = 0;
      TILEWRIGHT_CHECK(as_const_int(arith::simplify(substitute(extent, lengths)), &value),
                       "the shape of {} is not known", buffer->name);
      shape.push_back(value);
    }
    runtime::Tensor tensor = runtime::Tensor::zeros(shape, buffer->dtype);
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      set_element(tensor, i, static_cast<int64_t>(random() % 7) - 3);
    sample.tensors.push_back(std::move(tensor));
  }
  return sample;
}

std::vector<runtime::Tensor> run(const PrimFunc& func, const Sample& sample,
                                 const analysis::InterpretOptions& options) {
  std::vector<runtime::Tensor> tensors;
  std::vector<runtime::Value> args;
  size_t next_scalar = 0;
  for (size_t n = 0; n < func->params.size(); ++n) {
    if (!func->buffers[n]) {
      args.emplace_back(sample.scalars[next_scalar++]);
      continue;
    }
    tensors.push_back(sample.tensors[tensors.size()].copy());
    args.emplace_back(tensors.back());
  }
  analysis::interpret(func, args, options);
  return tensors;
}

std::vector<int64_t> position(const runtime::Tensor& tensor, int64_t n) {
  std::vector<int64_t> index(tensor.shape().size());
  for (size_t dim = index.size(); dim-- > 0;) {
    index[dim] = n % tensor.shape()[dim];
    n /= tensor.shape()[dim];
  }
  return index;
}

/// One function before and after.
struct Pair {
  std::string name;
  PrimFunc before, after;
};

void compare(const Pair& pair, const Sample& sample, const std::vector<runtime::Tensor>& expected,
             const std::vector<runtime::Tensor>& found, const std::string& what) {
  size_t parameter = 0;
  for (size_t n = 0; n < expected.size(); ++n, ++parameter) {
    while (!pair.before->buffers[parameter]) ++parameter;
    for (int64_t i = 0; i < expected[n].num_elements(); ++i) {
      const double one = element(expected[n], i), other = element(found[n], i);
      if (!is_same(one, other, expected[n].dtype()))
        throw UserError("{}: {} gives {}[{}] = {} instead of {}{}{}", what, pair.name,
                        pair.before->buffers[parameter]->name, fmt::join(position(expected[n], i), ", "),
                        other, one, sample.sizes.empty() ? "" : " with ", sample.sizes);
    }
  }
}

// Runs both functions on one sample.  Returns  whether `max_steps`, which `num_steps` comes nearer to, were
// enough.
bool run_sample(const Pair& pair, const Sample& sample, int64_t max_steps, int64_t* num_steps,
                const std::string& what) {
  std::vector<std::vector<runtime::Tensor>> results;
  for (const PrimFunc& func : {pair.before, pair.after}) {
    analysis::InterpretOptions options;
    options.max_steps = max_steps - *num_steps;
    options.num_steps = num_steps;
    try {
      results.push_back(run(func, sample, options));
    } catch (const UserError&) {
      if (*num_steps > max_steps) return false;
      throw;
    }
  }
  compare(pair, sample, results[0], results[1], what);
  return true;
}

void compare_samples(const Pair& pair, const Sampling& sampling, std::mt19937_64& random,
                     const std::string& what, Compared* compared) {
  int64_t num_steps = 0;
  for (int64_t n = 0; n < sampling.samples; ++n) {
    const Sample sample = draw(pair.before, random);
    if (!run_sample(pair, sample, sampling.max_steps, &num_steps, what)) {
      if (n == 0)
        throw UserError("{}: one sample of {} takes more than {} iterations of its loops", what, pair.name,
                        sampling.max_steps)
            .help("max_steps allows more; the same steps on smaller extents take fewer");
      compared->num_left_out += sampling.samples - n;
      break;
    }
    compared->samples.push_back({pair.name, sample.sizes});
  }
  compared->num_steps += num_steps;
}

bool has_same_parameters(const PrimFunc& a, const PrimFunc& b) {
  for (size_t n = 0; n < a->buffers.size(); ++n) {
    if (a->buffers[n] != b->buffers[n]) return false;
  }
  return a->params.size() == b->params.size();
}

}  // namespace

Compared require_same_numbers(const IRModule& before, const IRModule& after, const Sampling& sampling,
                              const std::string& what) {
  std::mt19937_64 random(sampling.seed);
  Compared compared;
  for (size_t n = 0; n < before->functions.size(); ++n) {
    const Pair pair{before->global_vars[n]->name_hint, ref_as<PrimFuncNode>(before->functions[n]),
                    ref_as<PrimFuncNode>(after->functions[n])};
    if (!pair.before || pair.before == pair.after) continue;
    if (!has_same_parameters(pair.before, pair.after))
      throw Unsupported("{}: {} takes other parameters than before, so the two cannot be compared", what,
                        pair.name);
    compare_samples(pair, sampling, random, what, &compared);
  }
  return compared;
}

}  // namespace tilewright::schedule

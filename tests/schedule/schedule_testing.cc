#include "schedule_testing.h"

#include <cmath>
#include <random>

#include "tilewright/analysis/interpreter.h"
#include "tilewright/analysis/interpreter/scalar.h"
#include "tilewright/ir/services.h"
#include "tilewright/script/parse.h"
#include "tilewright/script/print.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

IRModule module_of(std::string_view text) {
  const ObjectRef parsed = script::parse(Ref<Source>(new Source("f.py", dedent(text))));
  if (is<IRModuleNode>(parsed)) return ref_as<IRModuleNode>(parsed);
  const PrimFunc func = ref_as<PrimFuncNode>(parsed);
  return with_function(IRModuleNode::make(), func->attrs.get_string("global_symbol", "main"), func);
}

std::string show(const IRModule& module) { return script::print(module); }

namespace {

// Small whole numbers: sums are exact in any order, so that equal means equal.
runtime::Tensor random_tensor(const Buffer& buffer, std::mt19937_64& random) {
  runtime::Shape shape;
  for (const PrimExpr& extent : buffer->shape) {
    int64_t value = 0;
    EXPECT_TRUE(as_const_int(extent, &value)) << buffer->name;
    shape.push_back(value);
  }
  runtime::Tensor tensor = runtime::Tensor::zeros(shape, buffer->dtype);
  for (int64_t n = 0; n < tensor.num_elements(); ++n) {
    const auto value = static_cast<int64_t>(random() % 7) - 3;
    const DataType dtype = buffer->dtype;
    analysis::store_element(tensor.data_as<char>(), n * dtype.bits, dtype,
                            dtype.is_float() ? analysis::float_scalar(static_cast<double>(value))
                                             : analysis::int_scalar(dtype.is_int() ? value : value & 1));
  }
  return tensor;
}

std::vector<runtime::Tensor> run(const PrimFunc& func, const std::vector<runtime::Tensor>& inputs,
                                 const analysis::InterpretOptions& options) {
  std::vector<runtime::Tensor> tensors;
  std::vector<runtime::Value> args;
  for (const runtime::Tensor& input : inputs) {
    tensors.push_back(input.copy());
    args.emplace_back(tensors.back());
  }
  analysis::interpret(func, args, options);
  return tensors;
}

}  // namespace

void expect_same_numbers(const IRModule& a, const IRModule& b, uint64_t seed,
                         const analysis::InterpretOptions& options) {
  std::mt19937_64 random(seed);
  for (size_t n = 0; n < a->functions.size(); ++n) {
    const PrimFunc before = ref_as<PrimFuncNode>(a->functions[n]),
                   after = ref_as<PrimFuncNode>(b->functions[n]);
    std::vector<runtime::Tensor> inputs;
    for (const Buffer& buffer : before->buffers) inputs.push_back(random_tensor(buffer, random));
    const std::vector<runtime::Tensor> expected = run(before, inputs, {}),
                                       found = run(after, inputs, options);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(
          std::memcmp(expected[i].data(), found[i].data(), static_cast<size_t>(expected[i].num_bytes())), 0)
          << "parameter " << before->buffers[i]->name << " differs after\n"
          << show(b);
  }
}

namespace {
void expect_equal(const IRModule& found, const IRModule& expected, std::string_view what) {
  for (size_t n = 0; n < expected->functions.size(); ++n) {
    const auto difference = first_mismatch(found->functions[n], expected->functions[n]);
    EXPECT_FALSE(difference) << what << ": " << difference->path << ": " << difference->reason << "\nfound\n"
                             << show(found) << "\nexpected\n"
                             << show(expected);
    if (difference) return;
  }
}
}  // namespace

void check_schedule(std::string_view before, const Steps& steps, std::string_view after) {
  const IRModule module = module_of(before);
  Schedule schedule(module, {.seed = 1, .verify_steps = true});
  try {
    steps(schedule);
  } catch (const Error& error) {
    FAIL() << error.render() << "\n" << show(schedule.module());
  }
  if (!after.empty()) expect_equal(schedule.module(), module_of(after), "the result");
  try {
    expect_same_numbers(module, schedule.module());
  } catch (const Error& error) {
    FAIL() << error.render() << "\n" << show(schedule.module());
  }
  Schedule again(module, {.seed = 2, .verify_steps = true});
  schedule.trace().apply_to(again);
  expect_equal(again.module(), schedule.module(), "the replayed trace");
  Schedule loaded(module, {.seed = 3});
  Trace::load_json(schedule.trace().save_json()).simplified().apply_to(loaded);
  expect_equal(loaded.module(), schedule.module(), "the trace replayed from JSON");
}

void check_refused(std::string_view before, const Steps& steps, std::string_view expected) {
  Schedule schedule(module_of(before), {.seed = 1, .verify_steps = true});
  std::string text = dedent(expected);
  while (text.ends_with('\n')) text.pop_back();
  try {
    steps(schedule);
    FAIL() << "no error, but\n" << show(schedule.module());
  } catch (const Error& error) {
    EXPECT_EQ(error.render(), text);
  }
  schedule.state().verify_tree();
}

}  // namespace tilewright::schedule

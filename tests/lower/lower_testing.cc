#include "lower_testing.h"

#include <cstring>
#include <random>

#include "tilewright/analysis/interpreter.h"
#include "tilewright/analysis/verify.h"
#include "tilewright/ir/services.h"
#include "tilewright/script/parse.h"
#include "tilewright/script/print.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

std::string dedent(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  const size_t width = text.find_first_not_of(' ');
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out.append(text.substr(std::min(width, end), end - std::min(width, end))).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string show(const PrimFunc& func) {
  return script::print(with_function(IRModuleNode::make(), "main", func));
}

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
    const auto value = static_cast<int64_t>(random() % 4);
    if (buffer->dtype == kFloat32)
      tensor.data_as<float>()[n] = static_cast<float>(value);
    else if (buffer->dtype == kInt32)
      tensor.data_as<int32_t>()[n] = static_cast<int32_t>(value);
    else if (const auto bits = is_small_float(buffer->dtype)
                                   ? encode_float(static_cast<double>(value), float_format(buffer->dtype))
                                   : 0;
             buffer->dtype.bits == 16)
      tensor.data_as<uint16_t>()[n] = static_cast<uint16_t>(bits);
    else if (is_small_float(buffer->dtype) || buffer->dtype.is_bool())
      tensor.data_as<uint8_t>()[n] = static_cast<uint8_t>(bits);
    else
      ADD_FAILURE() << "no random " << buffer->dtype.str();
  }
  return tensor;
}

std::vector<runtime::Tensor> run(const PrimFunc& func) {
  std::mt19937_64 random(0);
  std::vector<runtime::Tensor> tensors;
  std::vector<runtime::Value> args;
  for (size_t n = 0; n < func->params.size(); ++n) {
    if (func->buffers[n]) {
      tensors.push_back(random_tensor(func->buffers[n], random));
      args.emplace_back(tensors.back());
    } else {
      args.emplace_back(static_cast<int64_t>(3 + n));
    }
  }
  analysis::InterpretOptions options;
  options.check_races = false;  // some loops of the tests are meant to be told apart by their order
  analysis::interpret(func, args, options);
  return tensors;
}

PrimFunc run_pass(Pass pass, const PrimFunc& before) {
  PrimFunc after = pass(before);
  try {
    analysis::verify(after, {.axes_match_loops = false});
    expect_same_numbers(before, after);
  } catch (const Error& error) {
    ADD_FAILURE() << error.render() << "\n" << show(after);
  }
  return after;
}

}  // namespace

PrimFunc func_of(std::string_view text) {
  return ref_as<PrimFuncNode>(script::parse(Ref<Source>(new Source("f.py", dedent(text)))));
}

void expect_same_numbers(const PrimFunc& before, const PrimFunc& after) {
  const std::vector<runtime::Tensor> expected = run(before), found = run(after);
  for (size_t n = 0; n < expected.size(); ++n)
    EXPECT_EQ(std::memcmp(expected[n].data(), found[n].data(), static_cast<size_t>(expected[n].num_bytes())),
              0)
        << "buffer " << n << " differs after\n"
        << show(after);
}

void check_pass(Pass pass, std::string_view before, std::string_view after) {
  const PrimFunc found = run_pass(pass, func_of(before)), expected = func_of(after);
  const auto difference = first_mismatch(found, expected);
  EXPECT_FALSE(difference) << difference->path << ": " << difference->reason << "\nfound\n"
                           << show(found) << "\nexpected\n"
                           << show(expected);
}

void check_numbers(Pass pass, std::string_view before) {
  const PrimFunc func = func_of(before);
  EXPECT_NE(run_pass(pass, func), func);
}

void check_unchanged(Pass pass, std::string_view program) {
  const PrimFunc func = func_of(program), found = pass(func);
  EXPECT_EQ(found, func) << show(found);
}

}  // namespace tilewright::lower

#include "lower_testing.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "tilewright/analysis/interpreter.h"
#include "tilewright/analysis/interpreter/scalar.h"
#include "tilewright/analysis/verify.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/script/parse.h"
#include "tilewright/script/print.h"
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
    const DataType dtype = buffer->dtype;
    analysis::store_element(tensor.data_as<char>(), n * dtype.bits, dtype,
                            dtype.is_float() ? analysis::float_scalar(static_cast<double>(value))
                                             : analysis::int_scalar(dtype.is_bool() ? value & 1 : value));
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

PrimFunc run_pass(const Pass& pass, const PrimFunc& before) {
  PrimFunc after = pass.run(before);
  try {
    const PrimFunc complete = with_views_declared(after);
    analysis::verify(complete, {.axes_match_loops = false});
    expect_same_numbers(before, complete);
  } catch (const Error& error) {
    ADD_FAILURE() << error.render() << "\n" << show(after);
  }
  return after;
}

}  // namespace

Pass::Pass(const char* name) : run([name](const PrimFunc& func) { return run_step(name, func); }) {}

PrimFunc run_step(std::string_view name, const PrimFunc& func, const ir::AttrMap& options) {
  return find_step(name).run(func, options);
}

PrimFunc func_of(std::string_view text) {
  return ref_as<PrimFuncNode>(script::parse(Ref<Source>(new Source("f.py", dedent(text)))));
}

PrimFunc with_views_declared(const PrimFunc& func) {
  std::vector<Buffer> views;
  auto meet = [&](const Buffer& buffer) {
    for (const Buffer& param : func->buffers) {
      if (param && param != buffer && param->data == buffer->data &&
          std::find(views.begin(), views.end(), buffer) == views.end())
        views.push_back(buffer);
    }
  };
  walk(
      func->body, [&](const BufferLoadNode* load) { meet(load->buffer); },
      [&](const BufferStoreNode* store) { meet(store->buffer); });
  Stmt body = func->body;
  for (const Buffer& view : views) body = DeclBufferNode::make(view, body);
  return views.empty() ? func : with(func, [&](PrimFuncNode& n) { n.body = body; });
}

void expect_same_numbers(const PrimFunc& before, const PrimFunc& after) {
  const std::vector<runtime::Tensor> expected = run(before), found = run(after);
  for (size_t n = 0; n < expected.size(); ++n)
    EXPECT_EQ(std::memcmp(expected[n].data(), found[n].data(), static_cast<size_t>(expected[n].num_bytes())),
              0)
        << "buffer " << n << " differs after\n"
        << show(after);
}

void check_pass(const Pass& pass, std::string_view before, std::string_view after) {
  const PrimFunc found = run_pass(pass, func_of(before)), expected = func_of(after);
  const auto difference = first_mismatch(found, expected);
  EXPECT_FALSE(difference) << difference->path << ": " << difference->reason << "\nfound\n"
                           << show(found) << "\nexpected\n"
                           << show(expected);
}

void check_numbers(const Pass& pass, std::string_view before) {
  const PrimFunc func = func_of(before);
  EXPECT_NE(run_pass(pass, func), func);
}

void check_unchanged(const Pass& pass, std::string_view program) {
  const PrimFunc func = func_of(program), found = pass.run(func);
  EXPECT_EQ(found, func) << show(found);
}

}  // namespace tilewright::lower

// tilewright run: runs a model on arrays from a file.
#include <algorithm>
#include <chrono>

#include "tilewright/cli/command.h"
#include "tilewright/cli/files.h"
#include "tilewright/cli/json.h"
#include "tilewright/cli/npy.h"
#include "tilewright/cli/signature.h"
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/support/error.h"

namespace tilewright::cli {
namespace {
using runtime::Value;

struct Options {
  ModelOptions model;
  CompileFlags flags = {};
  InputOptions input;
  std::string output;
  bool is_forced = false, is_json = false;
};

// Adds the tensors of `value`; `holds_strings`: pairs of bytes and ends are strings.
void collect(const Value& value, bool holds_strings, std::vector<NamedTensor>& tensors) {
  if (!value.is(runtime::ValueKind::kTuple)) {
    tensors.push_back({"", value.as_tensor("an output of the model"), {}});
    return;
  }
  const std::vector<Value>& fields = value.as_tuple();
  if (holds_strings && fields.size() == 2 && fields[0].is(runtime::ValueKind::kTensor)) {
    tensors.push_back({"", fields[1].as_tensor(), fields[0].as_tensor()});
    return;
  }
  for (const Value& field : fields) collect(field, holds_strings, tensors);
}

// What was computed on a device, copied from there.
Value on_host(const Value& value) {
  if (value.is(runtime::ValueKind::kTensor)) {
    const runtime::Tensor tensor = value.as_tensor("an output of the model");
    return tensor.device().is_cpu() ? value : Value(tensor.to(runtime::Device::cpu()));
  }
  if (!value.is(runtime::ValueKind::kTuple)) return value;
  std::vector<Value> fields;
  for (const Value& field : value.as_tuple()) fields.push_back(on_host(field));
  return Value::tuple(std::move(fields));
}

std::vector<NamedTensor> named_outputs(const runtime::vm::BytecodeFunction& function, const Value& result) {
  std::vector<NamedTensor> outputs;
  const auto holds_strings = [](const runtime::vm::Description& output) {
    return output.type.starts_with("string") || output.type.starts_with("sequence of strings");
  };
  const bool has_strings = std::any_of(function.results.begin(), function.results.end(), holds_strings);
  if (has_strings) {  // then the result has a field for each output
    for (size_t n = 0; n < function.results.size(); ++n)
      collect(result.as_tuple().at(n), holds_strings(function.results[n]), outputs);
  } else {
    collect(result, false, outputs);
  }
  for (size_t n = 0; n < outputs.size(); ++n) {
    const bool has_name = outputs.size() == function.results.size();
    outputs[n].name = has_name ? function.results[n].name : fmt::format("output_{}", n);
  }
  return outputs;
}

void require_array_file(const std::string& path) {
  if (!path.ends_with(".npz") && !path.ends_with(".npy"))
    throw UserError("\"{}\" is not a file of arrays", path).help("its name must end in .npz or .npy");
}

std::string file_bytes(const Options& options, const std::vector<NamedTensor>& outputs) {
  if (!options.output.ends_with(".npy")) return write_npz(outputs);
  if (outputs.size() != 1)
    throw UserError("\"{}\" holds one array, but the model has {} outputs", options.output, outputs.size())
        .help("write a .npz");
  if (outputs[0].text) return write_npy_strings(outputs[0].tensor, outputs[0].text);
  return write_npy(outputs[0].tensor, fmt::format("output \"{}\"", outputs[0].name));
}

std::string dtype_text(const NamedTensor& output) {
  return output.text ? "string" : output.tensor.dtype().str();
}

std::string result_text(const Options& options, const std::vector<NamedTensor>& outputs, double seconds) {
  if (options.is_json) {
    Json list = Json::array();
    for (const NamedTensor& output : outputs) {
      list.push_back(
          {{"name", output.name},
           {"dtype", dtype_text(output)},
           {"shape", std::vector<int64_t>(output.tensor.shape().begin(), output.tensor.shape().end())}});
    }
    Json result = {{"seconds", seconds}, {"outputs", list}};
    if (!options.output.empty()) result["file"] = options.output;
    return json_text(result);
  }
  std::string text;
  for (const NamedTensor& output : outputs)
    text += fmt::format("{}  {}{}  {}\n", output.name, dtype_text(output),
                        runtime::shape_str(output.tensor.shape()),
                        output.text ? preview_strings(output.tensor, output.text) : preview(output.tensor));
  if (!options.output.empty()) text += fmt::format("wrote {}\n", options.output);
  return text;
}

void run(const Options& options) {
  require_onnx_for(options.flags, options.model);
  runtime::set_num_threads(options.model.num_threads);
  std::optional<Output> output;
  if (!options.output.empty()) {
    require_array_file(options.output);
    output.emplace(options.output, options.is_forced);
  }
  Progress progress(options.model.is_quiet);
  const Model model = load_model(options.model, progress);
  if (options.input.file.empty() && !options.input.is_random && !model.main().parameters.empty())
    throw UserError("run: no inputs were given")
        .help("give a .npz with --input, or --random SEED; the inputs are:{}",
              list_text(model.main().parameters));
  const std::vector<Value> inputs = make_inputs(options.input, model);
  const auto start = std::chrono::steady_clock::now();
  const Value result = on_host(call_main(model, inputs));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const std::vector<NamedTensor> outputs = named_outputs(model.main(), result);
  progress.stage("run", taken.count());
  if (output) {
    output->write(file_bytes(options, outputs));
    output->commit();
  }
  print(result_text(options, outputs, taken.count()));
}

std::function<void()> add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->flags = add_model_options(app, options->model, "an ONNX file, or a library that `compile` made");
  add_input_options(
      app, options->input,
      "a .npz of numpy with one array for each input, under its name; or a .npy if there is one input");
  app.add_option("--output,-o", options->output,
                 "the .npz to write, with one array for each output; or a .npy if there is one output");
  add_device_option(app, options->model);
  app.add_flag("--force,-f", options->is_forced, "replace the output if it exists");
  app.add_flag("--json", options->is_json, "print the result as JSON");
  return [options] {
    take_target_of_device(options->flags, options->model);
    run(*options);
  };
}

}  // namespace

extern constinit const Command run_info = {
    .name = "run",
    .doc = "run a model, or a library that compile made, on arrays of numpy",
    .place = 2,
    .add = add,
    .examples = R"(examples:
  tilewright run model.onnx --input x.npz --output y.npz
  tilewright run model.so --input image.npy
  tilewright run model.onnx --random 0 --dim batch=4
  tilewright run model.onnx --random 0 --device cuda:0
)",
};

}  // namespace tilewright::cli

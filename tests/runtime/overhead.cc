// Measures the cost of calls: build the target runtime_overhead and run it (benchmarks/cases.toml has the empty calls).
#include <benchmark/benchmark.h>

#include "tilewright/runtime/thread_pool.h"
#include "tilewright/runtime/vm/builder.h"
#include "tilewright/runtime/vm/virtual_machine.h"

using namespace tilewright;
using namespace tilewright::runtime;
using namespace tilewright::runtime::vm;

namespace {

extern "C" int32_t empty_kernel(void*, const TilewrightAny*, int32_t, TilewrightAny*) { return 0; }

Module kernels() {
  static const uint32_t version = TILEWRIGHT_KERNEL_ABI_VERSION;
  return Module::from_symbols({"kernels", "jit",
                               [](const std::string& symbol) -> void* {
                                 if (symbol == "__tilewright_abi_version")
                                   return const_cast<uint32_t*>(&version);
                                 return symbol == "__tvm_ffi_empty" ? reinterpret_cast<void*>(&empty_kernel)
                                                                    : nullptr;
                               },
                               nullptr});
}

Value tensor() { return Tensor::zeros(Shape{5, 7}, kFloat32); }

// main(x: float32[5, 7]), which calls the empty kernel `num_calls` times, each with a new tensor of the arena
VirtualMachine machine(int64_t num_calls) {
  ExecutableBuilder builder;
  FunctionBuilder main(builder, "main", {{"x", ""}}, {});
  main.check_tensor(main.parameter(0), "x", kFloat32, {imm(5), imm(7)});
  if (num_calls > 0) main.arena(imm(1024));
  for (int64_t n = 0; n < num_calls; ++n) {
    const Register temporary = main.arena_tensor(imm(n % 4 * 256), kFloat32, {imm(5), imm(7)});
    main.call_kernel("empty", {main.parameter(0), temporary});
  }
  main.ret(main.parameter(0));
  builder.add(main.finish());
  return VirtualMachine(builder.finish(), kernels());
}

void typed_function(benchmark::State& state) {
  const Function add = Function::typed("add", [](int64_t a, int64_t b) { return a + b; });
  const Value numbers[] = {1, 2};
  for (auto _ : state) benchmark::DoNotOptimize(add.call(numbers));
}
BENCHMARK(typed_function);

// a compiled loop program of two tensors that does nothing
void empty_kernel_call(benchmark::State& state) {
  const Module module = kernels();
  const Function kernel = module.get_function("empty");
  const Value tensors[] = {tensor(), tensor()};
  for (auto _ : state) benchmark::DoNotOptimize(kernel.call(tensors));
}
BENCHMARK(empty_kernel_call);

// a graph function that gives back its tensor, and that calls so many kernels, each with a tensor of the
// arena
void graph_call(benchmark::State& state) {
  const VirtualMachine vm = machine(state.range(0));
  const Value x = tensor();
  for (auto _ : state) benchmark::DoNotOptimize(vm.invoke("main", {&x, 1}));
}
BENCHMARK(graph_call)->ArgName("kernels")->Arg(0)->Arg(1)->Arg(100);

void empty_tensor(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Tensor::empty(Shape{5, 7}, kFloat32));
}
BENCHMARK(empty_tensor);

void parallel_loop(benchmark::State& state) {
  const auto threads = static_cast<int>(state.range(0));
  ThreadScope scope(threads);
  for (auto _ : state) parallel_for(threads, 1, [](int64_t, int64_t) {});
}
BENCHMARK(parallel_loop)->ArgName("threads")->Arg(1)->Arg(2)->Arg(4)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();

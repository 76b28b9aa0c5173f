// Prints what calls cost, in ns (the least of several rounds): build the target runtime_overhead and run it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>

#include "tilewright/runtime/thread_pool.h"
#include "tilewright/runtime/vm/builder.h"
#include "tilewright/runtime/vm/virtual_machine.h"

using namespace tilewright;
using namespace tilewright::runtime;
using namespace tilewright::runtime::vm;

namespace {

template <class Call>
double least_ns(int calls, Call call) {
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 30; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < calls; ++n) call();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    least = std::min(least, taken.count() / calls);
  }
  return least;
}

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

// main(x: float32[5, 7]), which calls the empty kernel `num_calls` times, each with a new tensor of the arena
VirtualMachine machine(int num_calls) {
  ExecutableBuilder builder;
  FunctionBuilder main(builder, "main", {{"x", ""}}, {});
  main.check_tensor(main.parameter(0), "x", kFloat32, {imm(5), imm(7)});
  if (num_calls > 0) main.arena(imm(1024));
  for (int n = 0; n < num_calls; ++n) {
    const Register temporary = main.arena_tensor(imm(n % 4 * 256), kFloat32, {imm(5), imm(7)});
    main.call_kernel("empty", {main.parameter(0), temporary});
  }
  main.ret(main.parameter(0));
  builder.add(main.finish());
  return VirtualMachine(builder.finish(), kernels());
}

}  // namespace

int main() {
  const Function add = Function::typed("add", [](int64_t a, int64_t b) { return a + b; });
  const Value numbers[] = {1, 2};
  std::printf("typed function of two ints   %8.1f\n", least_ns(10000, [&] { add.call(numbers); }));
  const Function kernel = kernels().get_function("empty");
  const Value tensors[] = {Tensor::zeros(Shape{5, 7}, kFloat32), Tensor::zeros(Shape{5, 7}, kFloat32)};
  std::printf("compiled function, 2 tensors %8.1f\n", least_ns(10000, [&] { kernel.call(tensors); }));
  const VirtualMachine none = machine(0), hundred = machine(100);
  const double empty_ns = least_ns(5000, [&] { none.invoke("main", {tensors, 1}); });
  std::printf("vm: empty function           %8.1f\n", empty_ns);
  const double hundred_ns = least_ns(300, [&] { hundred.invoke("main", {tensors, 1}); });
  std::printf("vm: tensor and kernel call   %8.1f\n", (hundred_ns - empty_ns) / 100);
  std::printf("empty tensor, 140 bytes      %8.1f\n",
              least_ns(3000, [&] { Tensor::empty(Shape{5, 7}, kFloat32); }));
  for (int threads : {1, 2, 4}) {
    ThreadScope scope(threads);
    const double loop_ns = least_ns(500, [&] { parallel_for(threads, 1, [](int64_t, int64_t) {}); });
    std::printf("parallel loop, %d threads     %8.1f\n", threads, loop_ns);
  }
}

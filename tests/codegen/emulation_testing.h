// Kernels in CUDA C on the emulation.
#pragma once
#include <dlfcn.h>

#include "kernel_testing.h"

namespace tilewright::codegen {

// A text as a library, made by the stand-in of nvcc.
class Emulated {
 public:
  explicit Emulated(const std::string& text) {
    const auto nvcc = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() /
                      "lib/cuda_emulation/nvcc";
    std::ofstream(folder_ / "f.cu") << text;
    messages = output_of(fmt::format("{} -cubin -arch=sm_90a -o {} {}", nvcc.string(),
                                     (folder_ / "f.cubin").string(), (folder_ / "f.cu").string()));
    library_ = dlopen((folder_ / "f.cubin").c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  ~Emulated() {
    if (library_) dlclose(library_);
  }

  /// The status of a launch: 0 if it is right.
  int launch(const std::string& kernel, const tir::PrimFunc& func, const int64_t* block,
             const std::vector<Value>& args) const {
    using Launch = int (*)(const unsigned*, const unsigned*, unsigned, void**);
    const auto function =
        reinterpret_cast<Launch>(dlsym(library_, ("tilewright_emulated_" + kernel).c_str()));
    const auto* sizes =
        static_cast<const int*>(dlsym(library_, ("tilewright_emulated_sizes_" + kernel).c_str()));
    const std::array<size_t, 3> extents = grid_of(func);
    unsigned grid[3], threads[3];
    for (size_t n = 0; n < 3; ++n) {
      grid[n] = static_cast<unsigned>(extents[n]);
      threads[n] = static_cast<unsigned>(block[n]);
    }
    std::vector<std::array<char, 8>> values(args.size());
    std::vector<void*> places;
    for (size_t n = 0; n < args.size(); ++n) {
      const auto put = [&](auto value) { std::memcpy(values[n].data(), &value, sizeof value); };
      if (func->buffers[n])
        put(args[n].as_tensor().data_as<char>());
      else if (func->params[n]->dtype.is_float())
        put(2.5f);
      else
        put(int64_t{3});
      EXPECT_EQ(sizes[n], func->buffers[n] ? 8 : func->params[n]->dtype.num_bytes());
      places.push_back(values[n].data());
    }
    EXPECT_EQ(sizes[args.size()], 0);
    return function(grid, threads, 0, places.data());
  }

  std::string messages;

 private:
  TestFolder folder_;
  void* library_ = nullptr;
};

}  // namespace tilewright::codegen

// Images of the emulated GPU: shared libraries that the stand-in for nvcc makes of CUDA text. For each kernel K
// they export
//   extern "C" const int tilewright_emulated_sizes_K[];   the bytes of each argument, then 0
//   extern "C" int tilewright_emulated_K(const unsigned grid[3], const unsigned block[3],
//                                        unsigned dynamic_shared_bytes, void** arguments);   0, or an error
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace tilewright::emulation {

using KernelCode = int (*)(const unsigned*, const unsigned*, unsigned, void**);

struct Kernel {
  std::string name;
  KernelCode code = nullptr;
  std::vector<size_t> sizes;  // of the arguments, in bytes
  int allowed_shared_bytes = 48 * 1024;
};

struct Image {
  std::shared_ptr<void> library;
  std::vector<std::unique_ptr<Kernel>> kernels;  // those that somebody asked for
};

/// Loads the image that begins at `bytes`. Null, and why in `problem`, if it is none.
std::unique_ptr<Image> load_image(const void* bytes, std::string& problem);
/// The kernel of that name; null if the image has none.
Kernel* find_kernel(Image& image, const std::string& name);

}  // namespace tilewright::emulation

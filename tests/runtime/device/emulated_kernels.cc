// An image as the emulation's nvcc makes them (tilewright/emulation/emulated_image.h), written by hand.
#include <cstdint>
#include <vector>

namespace {

template <class T>
T argument(void** arguments, int position) {
  return *static_cast<T*>(arguments[position]);
}

unsigned product(const unsigned sizes[3]) { return sizes[0] * sizes[1] * sizes[2]; }

}  // namespace

extern "C" {

extern const int tilewright_emulated_sizes_add[] = {8, 8, 8, 4, 0};
int tilewright_emulated_add(const unsigned grid[3], const unsigned block[3], unsigned, void** arguments) {
  const auto *a = argument<const float*>(arguments, 0), *b = argument<const float*>(arguments, 1);
  auto* c = argument<float*>(arguments, 2);
  const int n = argument<int>(arguments, 3);
  for (int i = 0; i < static_cast<int>(product(grid) * product(block)) && i < n; ++i) c[i] = a[i] + b[i];
  return 0;
}

// each block turns the order of its elements around
extern const int tilewright_emulated_sizes_reverse[] = {8, 0};
int tilewright_emulated_reverse(const unsigned grid[3], const unsigned block[3], unsigned shared_bytes,
                                void** arguments) {
  std::vector<char> memory(shared_bytes);
  auto* shared = reinterpret_cast<int*>(memory.data());
  for (unsigned n = 0; n < grid[0]; ++n) {
    int* a = argument<int*>(arguments, 0) + n * block[0];
    for (unsigned i = 0; i < block[0]; ++i) shared[i] = a[i];
    for (unsigned i = 0; i < block[0]; ++i) a[i] = shared[block[0] - 1 - i];
  }
  return 0;
}

extern const int tilewright_emulated_sizes_behind[] = {8, 4, 0};
int tilewright_emulated_behind(const unsigned*, const unsigned*, unsigned, void** arguments) {
  argument<float*>(arguments, 0)[argument<int>(arguments, 1)] = 1;
  return 0;
}

extern const int tilewright_emulated_sizes_fails[] = {0};
int tilewright_emulated_fails(const unsigned*, const unsigned*, unsigned, void**) { return 1; }

}  // extern "C"

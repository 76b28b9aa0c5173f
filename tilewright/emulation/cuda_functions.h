// The functions that CUDA C brings: barriers, warp operations, bits, atomics, math.  Private to tilewright_cuda_emulation.h.
#pragma once

// ---- barriers and warp operations; macros, so that errors name the line

#define __syncthreads() tw_emulation::block_barrier(__LINE__)
#define TW_FIRST(a, ...) a
#define __syncwarp(...) \
  tw_emulation::warp_exchange(TW_FIRST(__VA_ARGS__ __VA_OPT__(, ) ~0u), "__syncwarp", __LINE__, nullptr, 0)
#define __shfl_sync(...) tw_emulation::shuffle_from(__LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) tw_emulation::shuffle_up(__LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) tw_emulation::shuffle_down(__LINE__, __VA_ARGS__)
#define __shfl_xor_sync(...) tw_emulation::shuffle_xor(__LINE__, __VA_ARGS__)
#define __ballot_sync(mask, predicate) tw_emulation::ballot(__LINE__, mask, predicate)
#define __any_sync(mask, predicate) (tw_emulation::ballot(__LINE__, mask, predicate) != 0)
#define __all_sync(mask, predicate) (tw_emulation::ballot(__LINE__, mask, !(predicate)) == 0)

namespace tw_emulation {

template <class T>
T shuffle_from(int line, unsigned mask, T value, int from, int width = 32) {
  const int begin = static_cast<int>(lane()) / width * width;
  return shuffle(mask, value, static_cast<unsigned>(begin + (from & (width - 1))), "__shfl_sync", line);
}
template <class T>
T shuffle_up(int line, unsigned mask, T value, unsigned delta, int width = 32) {
  return shuffle(mask, value, within(static_cast<int>(lane() - delta), width), "__shfl_up_sync", line);
}
template <class T>
T shuffle_down(int line, unsigned mask, T value, unsigned delta, int width = 32) {
  return shuffle(mask, value, within(static_cast<int>(lane() + delta), width), "__shfl_down_sync", line);
}
template <class T>
T shuffle_xor(int line, unsigned mask, T value, int bits, int width = 32) {
  return shuffle(mask, value, within(static_cast<int>(lane()) ^ bits, width), "__shfl_xor_sync", line);
}
inline unsigned ballot(int line, unsigned mask, int predicate) {
  const Slot* all = warp_exchange(mask, "__ballot_sync", line, &predicate, sizeof predicate);
  unsigned result = 0;
  for (unsigned n = 0; n < 32; ++n) {
    int value;
    memcpy(&value, all[n].bytes, sizeof value);
    if ((mask & existing_lanes()) >> n & 1 && value != 0) result |= 1u << n;
  }
  return result;
}

}  // namespace tw_emulation

inline unsigned __activemask() { return tw_emulation::existing_lanes(); }
inline void __threadfence() {}
inline void __threadfence_block() {}

// ---- bits

template <class To, class From>
inline To tw_bit_cast(From a) {
  static_assert(sizeof(To) == sizeof(From), "a value of the same size");
  To b;
  memcpy(&b, &a, sizeof b);
  return b;
}
inline int __float_as_int(float a) { return tw_bit_cast<int>(a); }
inline unsigned __float_as_uint(float a) { return tw_bit_cast<unsigned>(a); }
inline float __int_as_float(int a) { return tw_bit_cast<float>(a); }
inline float __uint_as_float(unsigned a) { return tw_bit_cast<float>(a); }
inline long long __double_as_longlong(double a) { return tw_bit_cast<long long>(a); }
inline double __longlong_as_double(long long a) { return tw_bit_cast<double>(a); }
inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
inline int __clz(int a) { return a == 0 ? 32 : __builtin_clz(static_cast<unsigned>(a)); }
inline int __clzll(long long a) { return a == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(a)); }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __dp4a(int a, int b, int sum) {
  signed char x[4], y[4];
  memcpy(x, &a, 4), memcpy(y, &b, 4);
  for (int n = 0; n < 4; ++n) sum += x[n] * y[n];
  return sum;
}
template <class T>
inline T __ldg(const T* place) {
  return *place;
}

// ---- atomics: one thread runs at a time

template <class T, class U>
inline T tw_exchange(T* place, U value) {
  const T old = *place;
  *place = static_cast<T>(value);
  return old;
}
template <class T, class U>
inline T atomicAdd(T* place, U value) {
  return tw_exchange(place, *place + static_cast<T>(value));
}
template <class T, class U>
inline T atomicMax(T* place, U value) {
  return tw_exchange(place, *place > static_cast<T>(value) ? *place : static_cast<T>(value));
}
template <class T, class U>
inline T atomicMin(T* place, U value) {
  return tw_exchange(place, *place < static_cast<T>(value) ? *place : static_cast<T>(value));
}
template <class T, class U>
inline T atomicExch(T* place, U value) {
  return tw_exchange(place, value);
}
template <class T, class U, class V>
inline T atomicCAS(T* place, U compare, V value) {
  return *place == static_cast<T>(compare) ? tw_exchange(place, value) : *place;
}

// ---- math

using std::isfinite;
using std::isinf;
using std::isnan;
template <class T>
inline T min(T a, T b) {
  return a < b ? a : b;
}
template <class T>
inline T max(T a, T b) {
  return a > b ? a : b;
}
inline float rsqrtf(float a) { return 1 / sqrtf(a); }
inline double rsqrt(double a) { return 1 / sqrt(a); }
inline float __expf(float a) { return expf(a); }
inline float __logf(float a) { return logf(a); }
inline float __powf(float a, float b) { return powf(a, b); }
inline float __sinf(float a) { return sinf(a); }
inline float __cosf(float a) { return cosf(a); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
// functions of libdevice that programs name
#define TW_LIBDEVICE(name)                                               \
  extern "C" inline float __nv_##name##f(float a) { return name##f(a); } \
  extern "C" inline double __nv_##name(double a) { return name(a); }
TW_LIBDEVICE(exp)
TW_LIBDEVICE(exp2)
TW_LIBDEVICE(log)
TW_LIBDEVICE(log2)
TW_LIBDEVICE(log10)
TW_LIBDEVICE(sqrt)
TW_LIBDEVICE(rsqrt)
TW_LIBDEVICE(sin)
TW_LIBDEVICE(cos)
TW_LIBDEVICE(tan)
TW_LIBDEVICE(tanh)
TW_LIBDEVICE(erf)
TW_LIBDEVICE(floor)
TW_LIBDEVICE(ceil)
#undef TW_LIBDEVICE
inline float __saturatef(float a) { return a > 0 ? (a < 1 ? a : 1) : 0; }

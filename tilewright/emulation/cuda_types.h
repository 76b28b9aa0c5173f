// The types that CUDA C brings: vectors, float16, bfloat16.  Private to tilewright_cuda_emulation.h.
#pragma once
#include <cstdint>
#include <cstring>

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

#define TW_VECTORS(name, type)                                                           \
  struct name##1 { type x; };                                                            \
  struct alignas(2 * sizeof(type)) name##2 { type x, y; };                               \
  struct name##3 { type x, y, z; };                                                      \
  struct alignas(sizeof(type) < 8 ? 4 * sizeof(type) : 16) name##4 { type x, y, z, w; }; \
  inline name##1 make_##name##1(type x) { return {x}; }                                  \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }                       \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }            \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
TW_VECTORS(char, signed char)
TW_VECTORS(uchar, unsigned char)
TW_VECTORS(short, short)
TW_VECTORS(ushort, unsigned short)
TW_VECTORS(int, int)
TW_VECTORS(uint, unsigned)
TW_VECTORS(longlong, long long)
TW_VECTORS(ulonglong, unsigned long long)
TW_VECTORS(float, float)
TW_VECTORS(double, double)
#undef TW_VECTORS

// ---- float16

using half = _Float16;
using __half = _Float16;
struct alignas(4) half2 {
  half x, y;
};
using __half2 = half2;
inline half2 make_half2(half x, half y) { return {x, y}; }
inline half2 __halves2half2(half x, half y) { return {x, y}; }
inline float __half2float(half a) { return a; }
inline half __float2half(float a) { return static_cast<half>(a); }
inline half __float2half_rn(float a) { return static_cast<half>(a); }
inline half2 __float2half2_rn(float a) { return {static_cast<half>(a), static_cast<half>(a)}; }
inline half2 __floats2half2_rn(float a, float b) { return {static_cast<half>(a), static_cast<half>(b)}; }
inline float2 __half22float2(half2 a) { return {a.x, a.y}; }
inline half __low2half(half2 a) { return a.x; }
inline half __high2half(half2 a) { return a.y; }
inline half __hadd(half a, half b) { return a + b; }
inline half __hsub(half a, half b) { return a - b; }
inline half __hmul(half a, half b) { return a * b; }
inline half2 __hadd2(half2 a, half2 b) {
  return {static_cast<half>(a.x + b.x), static_cast<half>(a.y + b.y)};
}
inline half2 __hmul2(half2 a, half2 b) {
  return {static_cast<half>(a.x * b.x), static_cast<half>(a.y * b.y)};
}
inline bool __hisnan(half a) { return a != a; }
inline unsigned short __half_as_ushort(half a) {
  unsigned short bits;
  memcpy(&bits, &a, sizeof bits);
  return bits;
}
inline half __ushort_as_half(unsigned short bits) {
  half a;
  memcpy(&a, &bits, sizeof a);
  return a;
}

// ---- bfloat16: the upper half of a float

struct __nv_bfloat16 {
  unsigned short bits = 0;
  __nv_bfloat16() = default;
  explicit __nv_bfloat16(float value) {
    uint32_t all;
    memcpy(&all, &value, sizeof all);
    const bool is_nan = (all & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<unsigned short>(is_nan ? 0x7fc0 : (all + 0x7fff + (all >> 16 & 1)) >> 16);
  }
  operator float() const {
    const uint32_t all = static_cast<uint32_t>(bits) << 16;
    float value;
    memcpy(&value, &all, sizeof value);
    return value;
  }
};
inline float __bfloat162float(__nv_bfloat16 a) { return a; }
inline __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
inline __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  __nv_bfloat16 a;
  a.bits = bits;
  return a;
}

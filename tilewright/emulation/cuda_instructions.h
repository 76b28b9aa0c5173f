// The functions of our own by which texts name instructions (codegen/device/cuda_instructions.h), which they define by
// PTX unless TILEWRIGHT_CUDA_EMULATION is defined.  Private to tilewright_cuda_emulation.h.
#pragma once

#define TILEWRIGHT_CUDA_EMULATION 1

// ---- asynchronous copies

inline void tw_cp_async16(void* to, const void* from) { tw_emulation::copy_async(to, from, 16); }
inline void tw_cp_async8(void* to, const void* from) { tw_emulation::copy_async(to, from, 8); }
inline void tw_cp_async4(void* to, const void* from) { tw_emulation::copy_async(to, from, 4); }
alignas(16) static const unsigned char tw_zeros[16] = {};
inline void tw_cp_async16_if(void* to, const void* from, bool condition) {
  tw_emulation::copy_async(to, condition ? from : tw_zeros, 16);
}
inline void tw_cp_async8_if(void* to, const void* from, bool condition) {
  tw_emulation::copy_async(to, condition ? from : tw_zeros, 8);
}
inline void tw_cp_async4_if(void* to, const void* from, bool condition) {
  tw_emulation::copy_async(to, condition ? from : tw_zeros, 4);
}
inline void tw_cp_commit() { tw_emulation::commit_copies(); }
template <int kOpen>
inline void tw_cp_wait() {
  tw_emulation::wait_copies(kOpen);
}

namespace tw_emulation {

// Matrices of 8 x 8 elements of 16 bits: lane n brings the address of a row, row n % 8 of matrix n / 8, and gets
// elements 2 * (n % 4) and the next of row n / 4 of each (PTX ISA, ldmatrix).
template <unsigned kMatrices, bool kTransposed>
void ldmatrix(void* to, const void* row) {
  const Slot* all = warp_exchange(~0u, "ldmatrix", 0, &row, sizeof row);
  const auto place = [&](unsigned matrix, unsigned n, unsigned byte) {
    const char* from;
    memcpy(&from, all[matrix * 8 + n].bytes, sizeof from);
    return from + byte;
  };
  for (unsigned matrix = 0; matrix < kMatrices; ++matrix) {
    for (unsigned part = 0; part < 2; ++part) {
      const char* from = kTransposed ? place(matrix, lane() % 4 * 2 + part, lane() / 4 * 2)
                                     : place(matrix, lane() / 4, lane() % 4 * 4 + part * 2);
      memcpy(static_cast<char*>(to) + matrix * 4 + part * 2, from, 2);
    }
  }
}

// ---- products: how the elements of matrices are read

struct f16 {
  using Bits = half;
  static float value(Bits a) { return a; }
};
struct bf16 {
  using Bits = uint16_t;
  static float value(Bits a) { return __uint_as_float(static_cast<unsigned>(a) << 16); }
};
struct tf32 {
  using Bits = uint32_t;
  static float value(Bits a) { return __uint_as_float(a & ~0x1fffu); }
};
struct s8 {
  using Bits = int8_t;
  static int value(Bits a) { return a; }
};
struct u8 {
  using Bits = uint8_t;
  static int value(Bits a) { return a; }
};
template <int kExponentBits>
inline float value_of_float8(uint8_t a) {
  constexpr int kMantissaBits = 7 - kExponentBits, kBias = (1 << (kExponentBits - 1)) - 1;
  const int exponent = a >> kMantissaBits & ((1 << kExponentBits) - 1),
            mantissa = a & ((1 << kMantissaBits) - 1);
  const bool is_special = kExponentBits == 4 ? (a & 127) == 127 : exponent == 31;
  const float magnitude = is_special      ? (kExponentBits == 5 && mantissa == 0 ? INFINITY : NAN)
                          : exponent == 0 ? ldexpf(static_cast<float>(mantissa), 1 - kBias - kMantissaBits)
                                          : ldexpf(static_cast<float>(mantissa + (1 << kMantissaBits)),
                                                   exponent - kBias - kMantissaBits);
  return a & 128 ? -magnitude : magnitude;
}
struct e4m3 {
  using Bits = uint8_t;
  static float value(Bits a) { return value_of_float8<4>(a); }
};
struct e5m2 {
  using Bits = uint8_t;
  static float value(Bits a) { return value_of_float8<5>(a); }
};

// C[16, 8] += A[16, k] @ B[k, 8].  A register has kPack neighbours along k.  Lane 4 * g + t has, of A, in register r row
// g + 8 * (r % 2) and columns kPack * t + 4 * kPack * (r / 2) on; of B in register r column g and rows kPack * t +
// 4 * kPack * r on; of C at n row g + 8 * (n / 2) and column 2 * t + n % 2 (PTX ISA, fragments of mma.m16n8k*).
template <unsigned kColumns, class A, class B, class Sum, class Wide, bool kSaturates>
void mma(void* sums, const void* a, const void* b) {
  constexpr unsigned kPack = 4 / sizeof(typename A::Bits);
  struct Parts {
    typename A::Bits a[kColumns / 2];
    typename B::Bits b[kColumns / 4];
  } mine;
  memcpy(mine.a, a, sizeof mine.a), memcpy(mine.b, b, sizeof mine.b);
  const Slot* all = warp_exchange(~0u, "mma", 0, &mine, sizeof mine);
  for (unsigned n = 0; n < 4; ++n) {
    const unsigned row = lane() / 4 + n / 2 * 8, column = lane() % 4 * 2 + n % 2;
    Sum& sum = static_cast<Sum*>(sums)[n];
    Wide wide = sum;
    for (unsigned k = 0; k < kColumns; ++k) {
      const unsigned part = k / (4 * kPack), t = k % (4 * kPack) / kPack, place = k % kPack;
      Parts left, right;
      memcpy(&left, all[row % 8 * 4 + t].bytes, sizeof left);
      memcpy(&right, all[column * 4 + t].bytes, sizeof right);
      wide += static_cast<Wide>(A::value(left.a[(row / 8 + 2 * part) * kPack + place])) *
              static_cast<Wide>(B::value(right.b[part * kPack + place]));
    }
    if (kSaturates && wide > static_cast<Wide>(INT32_MAX)) wide = INT32_MAX;
    if (kSaturates && wide < static_cast<Wide>(INT32_MIN)) wide = INT32_MIN;
    sum = static_cast<Sum>(wide);
  }
}

}  // namespace tw_emulation

#define TW_LDMATRIX(name, count, is_transposed) \
  inline void name(void* to, const void* from) { tw_emulation::ldmatrix<count, is_transposed>(to, from); }
TW_LDMATRIX(tw_ldmatrix_x1, 1, false)
TW_LDMATRIX(tw_ldmatrix_x2, 2, false)
TW_LDMATRIX(tw_ldmatrix_x4, 4, false)
TW_LDMATRIX(tw_ldmatrix_x1_trans, 1, true)
TW_LDMATRIX(tw_ldmatrix_x2_trans, 2, true)
TW_LDMATRIX(tw_ldmatrix_x4_trans, 4, true)
#undef TW_LDMATRIX

#define TW_MMA(name, k, a, b, sum, wide, saturates)                                                  \
  inline void name(void* sums, const void* left, const void* right) {                                \
    tw_emulation::mma<k, tw_emulation::a, tw_emulation::b, sum, wide, saturates>(sums, left, right); \
  }
TW_MMA(tw_mma_m16n8k8_f16_f16_f32, 8, f16, f16, float, float, false)
TW_MMA(tw_mma_m16n8k8_f16_f16_f16, 8, f16, f16, half, float, false)
TW_MMA(tw_mma_m16n8k16_f16_f16_f32, 16, f16, f16, float, float, false)
TW_MMA(tw_mma_m16n8k16_f16_f16_f16, 16, f16, f16, half, float, false)
TW_MMA(tw_mma_m16n8k8_bf16_bf16_f32, 8, bf16, bf16, float, float, false)
TW_MMA(tw_mma_m16n8k16_bf16_bf16_f32, 16, bf16, bf16, float, float, false)
TW_MMA(tw_mma_m16n8k4_tf32_tf32_f32, 4, tf32, tf32, float, float, false)
TW_MMA(tw_mma_m16n8k8_tf32_tf32_f32, 8, tf32, tf32, float, float, false)
#define TW_MMA_BYTES(a, b)                                                        \
  TW_MMA(tw_mma_m16n8k16_##a##_##b##_s32, 16, a, b, int, int64_t, false)          \
  TW_MMA(tw_mma_m16n8k32_##a##_##b##_s32, 32, a, b, int, int64_t, false)          \
  TW_MMA(tw_mma_m16n8k16_##a##_##b##_s32_saturated, 16, a, b, int, int64_t, true) \
  TW_MMA(tw_mma_m16n8k32_##a##_##b##_s32_saturated, 32, a, b, int, int64_t, true)
TW_MMA_BYTES(s8, s8)
TW_MMA_BYTES(s8, u8)
TW_MMA_BYTES(u8, s8)
TW_MMA_BYTES(u8, u8)
#undef TW_MMA_BYTES
TW_MMA(tw_mma_m16n8k32_e4m3_e4m3_f32, 32, e4m3, e4m3, float, float, false)
TW_MMA(tw_mma_m16n8k32_e4m3_e5m2_f32, 32, e4m3, e5m2, float, float, false)
TW_MMA(tw_mma_m16n8k32_e5m2_e4m3_f32, 32, e5m2, e4m3, float, float, false)
TW_MMA(tw_mma_m16n8k32_e5m2_e5m2_f32, 32, e5m2, e5m2, float, float, false)
#undef TW_MMA

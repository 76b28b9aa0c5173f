// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2.3 (VEX) and the
// pages of LDTILECFG, TILELOADD, TILEZERO, TILESTORED, TILERELEASE, TDPBF16PS and TDPBSSD.
#include "amx_emulator.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tilewright::testing {
namespace {

struct Tile {
  uint16_t row_bytes = 0;
  uint8_t rows = 0;
  alignas(64) uint8_t data[16][64] = {};
};

struct State {
  bool is_configured = false;
  Tile tiles[8];
};

thread_local State state;
std::atomic<int64_t> configurations, loads, stores, products, releases, zeros;
bool is_emulated = false;

[[noreturn]] void refuse(const char* reason) {
  std::fprintf(stderr, "amx_emulator: a processor would refuse this: %s\n", reason);
  std::abort();
}

enum Prefix { kNone, k66, kF3, kF2 };

struct Instruction {
  uint8_t opcode = 0;
  Prefix prefix = kNone;
  int mod = 0, reg = 0, rm = 0, vvvv = 0;
  bool r = false, x = false, b = false;  // high bits of register numbers
  const uint8_t* modrm = nullptr;
  int length = 0;
};

// A three byte VEX prefix of map 0F38; false for other bytes.
bool decode(const uint8_t* at, Instruction* found) {
  if (at[0] != 0xC4 || (at[1] & 0x1F) != 2 || (at[2] & 0x84) != 0) return false;
  found->r = !(at[1] & 0x80), found->x = !(at[1] & 0x40), found->b = !(at[1] & 0x20);
  found->vvvv = (~at[2] >> 3) & 15;
  found->prefix = static_cast<Prefix>(at[2] & 3);
  found->opcode = at[3];
  found->modrm = at + 4;
  found->mod = at[4] >> 6, found->reg = (at[4] >> 3) & 7, found->rm = at[4] & 7;
  found->length = 5;
  return true;
}

uint64_t register_value(const ucontext_t* context, int number) {
  static constexpr int kNames[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uint64_t>(context->uc_mcontext.gregs[kNames[number]]);
}

int32_t displacement(const uint8_t* at, int bytes) {
  if (bytes == 1) return static_cast<int8_t>(*at);
  int32_t value = 0;
  if (bytes == 4) std::memcpy(&value, at, 4);
  return value;
}

// Where the operand in memory begins; for sibmem the index register is the distance of rows.
uint8_t* address(const ucontext_t* context, Instruction& found, uint64_t* stride) {
  const uint8_t* next = found.modrm + 1;
  int bytes = found.mod == 1 ? 1 : found.mod == 2 ? 4 : 0;
  uint64_t base = 0;
  *stride = 0;
  if (found.rm == 4) {
    const int sib = *next++;
    const int base_number = sib & 7, index_number = ((sib >> 3) & 7) | (found.x ? 8 : 0);
    if (index_number != 4) *stride = register_value(context, index_number) << (sib >> 6);
    if (base_number == 5 && found.mod == 0)
      bytes = 4;
    else
      base = register_value(context, base_number | (found.b ? 8 : 0));
  } else if (found.rm == 5 && found.mod == 0) {
    bytes = 4;
    base = reinterpret_cast<uint64_t>(next + 4);  // from the end of the instruction
  } else {
    base = register_value(context, found.rm | (found.b ? 8 : 0));
  }
  found.length = static_cast<int>(next - found.modrm) + 4 + bytes;
  return reinterpret_cast<uint8_t*>(base + static_cast<uint64_t>(int64_t{displacement(next, bytes)}));
}

const bool has_registers = __builtin_cpu_supports("amx-tile");

void configure(const uint8_t* from) {
  if (from[0] != 1 || from[1] != 0) refuse("a palette other than 1");
  for (int n = 0; n < 8; ++n) {
    Tile tile;
    std::memcpy(&tile.row_bytes, from + 16 + 2 * n, 2);
    tile.rows = from[48 + n];
    if (tile.row_bytes > 64 || tile.rows > 16 || (tile.row_bytes == 0) != (tile.rows == 0))
      refuse("a shape of a tile");
    state.tiles[n] = tile;
  }
  state.is_configured = true;
  ++configurations;
}

// Without the permission a processor raises SIGILL where data is touched, but keeps shapes itself: they are
// in the state that the system saves for the handler (XSAVE, component 17).
void take_config_of_processor(const ucontext_t* context) {
  uint32_t size = 0, offset = 0, unused = 0;
  __cpuid_count(0xD, 17, size, offset, unused, unused);
  const uint8_t* config = reinterpret_cast<const uint8_t*>(context->uc_mcontext.fpregs) + offset;
  bool is_known = state.is_configured;
  for (int n = 0; n < 8; ++n) {
    uint16_t row_bytes;
    std::memcpy(&row_bytes, config + 16 + 2 * n, 2);
    is_known = is_known && state.tiles[n].row_bytes == row_bytes && state.tiles[n].rows == config[48 + n];
  }
  if (!is_known) configure(config);
}

Tile& tile(int number) {
  if (!state.is_configured || number > 7 || state.tiles[number].rows == 0) refuse("a tile without a shape");
  return state.tiles[number];
}

float as_float(const uint8_t* at) {
  uint16_t bits;
  std::memcpy(&bits, at, 2);
  const auto is_denormal = (bits & 0x7F80) == 0;
  return std::bit_cast<float>(static_cast<uint32_t>(is_denormal ? bits & 0x8000 : bits) << 16);
}

int32_t byte(const uint8_t* at, bool is_signed) { return is_signed ? static_cast<int8_t>(*at) : *at; }

// sums[m][n] += products of group k of rows[m] and of columns[k][n], over k
void multiply(const Instruction& found) {
  Tile &sums = tile(found.reg), &rows = tile(found.rm), &columns = tile(found.vvvv);
  if (found.reg == found.rm || found.reg == found.vvvv || found.rm == found.vvvv)
    refuse("one tile as two operands");
  if (sums.rows != rows.rows || sums.row_bytes != columns.row_bytes || rows.row_bytes != 4 * columns.rows)
    refuse("shapes that do not fit");
  for (int m = 0; m < sums.rows; ++m) {
    for (int n = 0; n < sums.row_bytes / 4; ++n) {
      float even = 0, odd = 0, old;
      uint32_t total;
      std::memcpy(&total, &sums.data[m][4 * n], 4);
      std::memcpy(&old, &sums.data[m][4 * n], 4);
      for (int k = 0; k < columns.rows; ++k) {
        const uint8_t *a = &rows.data[m][4 * k], *b = &columns.data[k][4 * n];
        if (found.opcode == 0x5C) {
          even += as_float(a) * as_float(b);
          odd += as_float(a + 2) * as_float(b + 2);
          continue;
        }
        const bool is_a_signed = found.prefix == kF2 || found.prefix == kF3,
                   is_b_signed = found.prefix == kF2 || found.prefix == k66;
        for (int byte_of = 0; byte_of < 4; ++byte_of)
          total += static_cast<uint32_t>(byte(a + byte_of, is_a_signed) * byte(b + byte_of, is_b_signed));
      }
      const float sum = old + (even + odd);
      std::memcpy(&sums.data[m][4 * n], found.opcode == 0x5C ? static_cast<const void*>(&sum) : &total, 4);
    }
  }
  ++products;
}

bool run(const ucontext_t* context, Instruction& found) {
  uint64_t stride = 0;
  if (has_registers) take_config_of_processor(context);
  if (found.opcode == 0x49 && found.prefix == kNone && found.mod == 3) {
    state = {};
    ++releases;
  } else if (found.opcode == 0x49 && found.prefix == kF2 && found.mod == 3) {
    Tile& each = tile(found.reg);
    std::memset(each.data, 0, sizeof(each.data));
    ++zeros;
  } else if (found.opcode == 0x49 && found.prefix == kNone) {
    configure(address(context, found, &stride));
  } else if (found.opcode == 0x4B && found.mod != 3 && found.rm == 4 && found.prefix != kNone) {
    uint8_t* memory = address(context, found, &stride);
    Tile& each = tile(found.reg);
    for (int row = 0; row < each.rows; ++row, memory += stride) {
      if (found.prefix == kF3)
        std::memcpy(memory, each.data[row], each.row_bytes);
      else
        std::memcpy(each.data[row], memory, each.row_bytes);
    }
    ++(found.prefix == kF3 ? stores : loads);
  } else if ((found.opcode == 0x5C && found.prefix == kF3) || found.opcode == 0x5E) {
    multiply(found);
  } else {
    return false;
  }
  return true;
}

void handle(int, siginfo_t*, void* raw) {
  auto* context = static_cast<ucontext_t*>(raw);
  const auto* at = reinterpret_cast<const uint8_t*>(context->uc_mcontext.gregs[REG_RIP]);
  Instruction found;
  if (!decode(at, &found) || !run(context, found)) {
    signal(SIGILL, SIG_DFL);  // the instruction is run again, and ends the process
    return;
  }
  context->uc_mcontext.gregs[REG_RIP] += found.length;
}

// arch_prctl(ARCH_REQ_XCOMP_PERM, 18) succeeds, whatever the system has.
bool allow_permission() {
  constexpr uint32_t kRequest = 0x1023;
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kRequest, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(steps)), steps};
  // of all threads of this process
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

// True if this process may use the processor's tile registers already.
bool is_permitted() {
  constexpr long kGetPermission = 0x1022, kTileData = 18;
  uint64_t features = 0;
  return syscall(SYS_arch_prctl, kGetPermission, &features) == 0 && (features >> kTileData & 1) != 0;
}

// A process without permission gets SIGILL on processors that have the registers, too.
bool start() {
  if (is_permitted()) return true;
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  return is_emulated = allow_permission() && sigaction(SIGILL, &action, nullptr) == 0;
}

}  // namespace

bool emulate_amx() {
  static const bool is_ready = start();
  return is_ready;
}
bool is_amx_emulated() { return is_emulated; }
AmxCounts amx_counts() { return {configurations, loads, stores, products, releases, zeros}; }
bool are_releases_counted() { return is_emulated && !has_registers; }
void reset_amx_counts() {
  state = {};
  configurations = loads = stores = products = releases = zeros = 0;
}

}  // namespace tilewright::testing
#else
namespace tilewright::testing {
bool emulate_amx() { return false; }
bool is_amx_emulated() { return false; }
bool are_releases_counted() { return false; }
AmxCounts amx_counts() { return {}; }
void reset_amx_counts() {}
}  // namespace tilewright::testing
#endif

// AMX on any processor: a signal handler runs the instructions.
#pragma once
#include <cstdint>

namespace tilewright::testing {

/// Instructions that were run since the last call of reset().
struct AmxCounts {
  int64_t configurations = 0, loads = 0, stores = 0, products = 0, releases = 0, zeros = 0;
};

/// Makes this process run AMX instructions by the handler of SIGILL, which ends the process on a use that a
/// processor would refuse (shapes that do not fit, registers without a shape); arch_prctl gives a permission
/// that is none, so that processors with tile registers raise SIGILL as well.  Only a process that has the
/// permission already runs its own instructions.  False if this process cannot be made to: not x86-64 Linux,
/// or filters of system calls are not allowed.
bool emulate_amx();
/// True if instructions are run by the handler, and thus counted.
bool is_amx_emulated();
/// True if each configuration and release of tiles is counted; on processors with the registers a
/// configuration counts only when shapes change.
bool are_releases_counted();
/// Of all threads.
AmxCounts amx_counts();
void reset_amx_counts();

}  // namespace tilewright::testing

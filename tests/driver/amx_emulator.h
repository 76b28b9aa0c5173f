// AMX on processors without it: instructions that the processor does not know are run by the signal handler.
#pragma once
#include <cstdint>

namespace tilewright::testing {

/// What was run since the last call of reset().
struct AmxCounts {
  int64_t configurations = 0, loads = 0, stores = 0, products = 0, releases = 0;
};

/// Makes this process run AMX instructions: the processor's own if it has them, else by the handler of
/// SIGILL, which ends the process on a use that a processor would refuse (shapes that do not fit, registers
/// without a shape).  Also lets arch_prctl give the permission.  False if this process cannot be made to: not
/// x86-64 Linux, or filters of system calls are not allowed.
bool emulate_amx();
/// Whether instructions are run by the handler, and thus counted.
bool is_amx_emulated();
/// Of all threads.
AmxCounts amx_counts();
void reset_amx_counts();

}  // namespace tilewright::testing

// Numbers of the analytic cost model that no description of hardware gives.
#pragma once
#include "tilewright/target/costs.h"

namespace tilewright::tune {

struct ModelCosts {
  double hertz = 3.5e9;
  double cache_share = 0.75;
  double l3_bytes = 16 << 20;
  double l3_bytes_per_cycle = 16;
  double narrow_rate = 2;
  double divide_cycles = 8;
  double math_instructions = 16;
  double choice_steps = 2;
  double gather_cycles = 1;
  double forward_cycles = 7;
  double loop_instructions = 3;
  double entry_cycles = 6;
  double window_instructions = 320;
  double unrolled_instructions = 300;
  double kept_instructions = 4096;
  double decode_cycles = 0.5;

  static constexpr auto fields() {
    using C = ModelCosts;
    using target::CostField;
    constexpr std::string_view kZen4 = "AMD Software Optimization Guide for the Zen 4 Microarchitecture";
    return std::tuple{
        CostField{&C::hertz, "hertz", "per second",
                  "of a core: predicted seconds of all candidates scale by it", "servers run at 3 to 4 GHz"},
        CostField{&C::cache_share, "cache_share", "", "of a cache that data may fill and stay there",
                  "explain::Peaks::level_for counts on three quarters, too"},
        CostField{&C::l3_bytes, "l3_bytes", "bytes", "of the cache behind L2 that one program may count on",
                  "half of the 32 MiB that eight cores of a Zen 4 share"},
        CostField{&C::l3_bytes_per_cycle, "l3_bytes_per_cycle", "bytes", "that come from there in a cycle",
                  "16 lines in flight (L1 miss address buffers of a Zen 4: 24) of 64 bytes in 60 cycles"},
        CostField{&C::narrow_rate, "narrow_rate", "per cycle",
                  "instructions on narrow vectors that start where those on whole ones take two units",
                  kZen4},
        CostField{&C::divide_cycles, "divide_cycles", "cycles",
                  "from one division of whole vectors to the next", kZen4},
        CostField{&C::math_instructions, "math_instructions", "", "of exp and the like",
                  "exp by codegen/llvm: a polynomial of degree 7, and the powers of two"},
        CostField{&C::choice_steps, "choice_steps", "", "one after the other, of a maximum or a choice",
                  "a comparison and a blend, as NaN is to come out"},
        CostField{&C::gather_cycles, "gather_cycles", "cycles",
                  "of each lane that is loaded or stored by itself, and put into its place",
                  "a load, and an insertion on one of two shuffle units"},
        CostField{&C::forward_cycles, "forward_cycles", "cycles",
                  "until a load sees what a store before it wrote", kZen4},
        CostField{&C::loop_instructions, "loop_instructions", "", "of an iteration: count, compare, branch",
                  "the code of x86, of which two may fuse"},
        CostField{
            &C::entry_cycles, "entry_cycles", "cycles", "of entering and leaving a loop",
            "half of the 11 to 18 cycles of a mispredicted branch, as short loops are predicted (Zen 4)"},
        CostField{
            &C::kept_instructions, "kept_instructions", "",
            "of a loop's body that need not be decoded again (op cache of a Zen 4: 6,750, two for some)",
            kZen4},
        CostField{&C::decode_cycles, "decode_cycles", "cycles",
                  "of an instruction that is decoded again: long vector instructions, 32 bytes in two cycles",
                  kZen4}};
  }
};

inline constexpr ModelCosts kModelCosts;

}  // namespace tilewright::tune

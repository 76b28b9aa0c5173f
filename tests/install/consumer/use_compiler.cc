// Uses the compiler's library from C++: a target is parsed and printed, and an error of ours is caught by its
// class.
#include <cstdio>

#include "tilewright/support/error.h"
#include "tilewright/target/target.h"

int main() {
  const tilewright::ir::Target target = tilewright::target::parse_target("llvm -mcpu=core-avx2");
  std::printf("%s\n", target->str().c_str());
  try {
    tilewright::target::parse_target("");
  } catch (const tilewright::UserError& error) {
    std::printf("%s\n", error.text().c_str());
    return 0;
  }
  return 1;
}

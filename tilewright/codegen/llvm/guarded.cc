#include "tilewright/codegen/llvm/guarded.h"

#include <llvm/Support/ErrorHandling.h>
#include <setjmp.h>

#include <cstdio>
#include <new>
#include <string>

#include "tilewright/codegen/llvm/target.h"
#include "tilewright/support/error.h"

namespace tilewright::codegen {
namespace {

enum Reason { kOutOfMemory = 1, kFatal = 2 };

// The place to which the innermost guarded call of a thread jumps on failure.
struct Escape {
  jmp_buf place;
  Escape* outer;
  char text[400];  // LLVM's message
};
thread_local Escape* innermost = nullptr;
std::new_handler previous_handler = nullptr;

// Called by operator new of any library of the process when there is no memory.
void on_no_memory() {
  if (innermost) longjmp(innermost->place, kOutOfMemory);
  if (!previous_handler) throw std::bad_alloc();
  previous_handler();
}

// The same for LLVM's own calls of malloc.
void on_no_memory_of_llvm(void*, const char*, bool) { on_no_memory(); }

[[noreturn]] void refuse_fatal(const std::string& text) {
  throw Unsupported("LLVM cannot compile this code: {}", text)
      .help("an intrinsic may need a CPU or feature that the target lacks");
}

// LLVM ends the process for code that it cannot compile, such as an intrinsic of another CPU, unless the
// handler does not return.
[[noreturn]] void on_fatal_error(void*, const char* reason, bool) {
  const llvm::StringRef text = llvm::StringRef(reason).trim();
  if (!innermost) refuse_fatal(text.str());
  std::snprintf(innermost->text, sizeof innermost->text, "%.*s", static_cast<int>(text.size()), text.data());
  longjmp(innermost->place, kFatal);
}

void install_handlers() {
  static const bool done = [] {
    previous_handler = std::set_new_handler(&on_no_memory);
    llvm::install_bad_alloc_error_handler(&on_no_memory_of_llvm);
    llvm::install_fatal_error_handler(&on_fatal_error);
    return true;
  }();
  (void)done;
}

// Restores the state, also if `call` throws.
struct Leave {
  Escape* outer;
  ~Leave() { innermost = outer; }
};

}  // namespace

void guarded_detail::run(void (*call)(void*), void* body) {
  initialize_targets();
  install_handlers();
  Escape escape;
  escape.outer = innermost;
  if (const int reason = _setjmp(escape.place)) {
    innermost = escape.outer;
    forget_target_machines();
    if (reason == kOutOfMemory) throw std::bad_alloc();
    refuse_fatal(escape.text);
  }
  innermost = &escape;
  const Leave leave{escape.outer};
  call(body);
}

}  // namespace tilewright::codegen

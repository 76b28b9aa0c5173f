#include "tilewright/analysis/interpreter/async_copies.h"

#include <algorithm>

#include "tilewright/ir/expr.h"
#include "tilewright/support/error.h"

namespace tilewright::analysis {
namespace {

int64_t size_in_bits(const AsyncCopy& copy) { return static_cast<int64_t>(copy.bytes.size()) * 8; }

}  // namespace

void AsyncCopies::begin(size_t thread, AsyncCopy copy) {
  copy.to->mark_pending(copy.byte * 8, size_in_bits(copy), true);
  threads_[thread].copies.push_back(std::move(copy));
}

void AsyncCopies::close_group(size_t thread) {
  OfThread& mine = threads_[thread];
  ++mine.num_closed;
  for (AsyncCopy& copy : mine.copies) {
    if (copy.group == 0) copy.group = mine.num_closed;
  }
}

std::vector<AsyncCopy> AsyncCopies::wait(size_t thread, int64_t num_open) {
  OfThread& mine = threads_[thread];
  std::vector<AsyncCopy> ended;
  while (!mine.copies.empty() && mine.copies.front().group != 0 &&
         mine.copies.front().group <= mine.num_closed - num_open) {
    AsyncCopy& copy = mine.copies.front();
    copy.to->mark_pending(copy.byte * 8, size_in_bits(copy), false);
    copy.to->mark_written(copy.byte * 8, size_in_bits(copy));
    std::copy(copy.bytes.begin(), copy.bytes.end(), copy.to->data + copy.byte);
    ended.push_back(std::move(copy));
    mine.copies.pop_front();
  }
  return ended;
}

void AsyncCopies::require_none(size_t thread) const {
  if (threads_[thread].copies.empty()) return;
  const AsyncCopy& copy = threads_[thread].copies.front();
  throw UserError(copy.node, "{} ends, but has not waited for its asynchronous copy to byte {} of {}{}",
                  copy.thread, copy.byte, copy.to->name, copy.at)
      .help("{}T.ptx_wait_group(0) before the thread ends", copy.group ? "" : "T.ptx_commit_group(), and ");
}

void AsyncCopies::fail_pending(const Memory& memory, int64_t bit, const ir::ObjectRef& node,
                               const std::string& what, const std::string& at) const {
  const AsyncCopy* found = nullptr;
  for (const OfThread& thread : threads_) {
    for (const AsyncCopy& copy : thread.copies) {
      const int64_t begin = copy.byte * 8 / memory.unit * memory.unit;
      if (copy.to == &memory && bit + memory.unit > begin && bit < copy.byte * 8 + size_in_bits(copy))
        found = &copy;
    }
  }
  TILEWRIGHT_CHECK(found, "no copy to {} is running", memory.name);
  throw UserError(node,
                  "{} while an asynchronous copy to it is running: {} began it{} and has not waited for it{}",
                  what, found->thread, found->at, at)
      .note(found->node, "the copy begins here")
      .help(
          "T.ptx_commit_group() after the copy and T.ptx_wait_group(...) before the access; other threads "
          "also need a "
          "barrier between");
}

}  // namespace tilewright::analysis

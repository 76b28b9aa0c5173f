#include "tilewright/analysis/interpreter/memory.h"

#include <algorithm>

namespace tilewright::analysis {

Parting parting(const Strand* a, const Strand* b) {
  if (!a || !b) return {};
  const Strand *first = a, *second = b;
  while (a->depth > b->depth) a = a->parent;
  while (b->depth > a->depth) b = b->parent;
  Parting last;
  // the outermost level at which both are in the same run of a loop but in different iterations; successive
  // runs of one loop never overlap
  for (; a && b && a != b; a = a->parent, b = b->parent) {
    if (a->run == b->run)
      last = {a, b, first, second};
    else
      last = {};
  }
  return last;
}

void Memory::reset(int64_t size) {
  own.assign(static_cast<size_t>(size), 0);
  data = own.data();
  num_bytes = size;
  written.assign(static_cast<size_t>(num_units()), 0);
  pending.clear();
  forget_touches();
}

std::shared_ptr<Memory> Memory::empty_copy() const {
  auto copy = std::make_shared<Memory>();
  copy->name = name;
  copy->unit = unit;
  copy->reset(num_bytes);
  return copy;
}

void Memory::take_contents(const Memory& other) {
  std::copy_n(other.data, other.num_bytes, data);
  if (written.empty()) written.assign(static_cast<size_t>(num_units()), 1);
  if (other.written.empty())
    std::fill(written.begin(), written.end(), uint8_t{1});
  else
    written = other.written;
}

bool Memory::is_written(int64_t begin, int64_t size) const {
  if (written.empty()) return true;
  for (int64_t n = begin / unit; n * unit < begin + size; ++n) {
    if (!written[static_cast<size_t>(n)]) return false;
  }
  return true;
}

void Memory::mark_written(int64_t begin, int64_t size, bool is_there) {
  const auto set = [&](std::vector<uint8_t>& flags, bool value) {
    for (int64_t n = begin / unit; n * unit < begin + size && !flags.empty(); ++n)
      flags[static_cast<size_t>(n)] = value;
  };
  set(written, is_there);
  set(changed, true);
}

bool Memory::is_pending(int64_t begin, int64_t size) const {
  if (pending.empty()) return false;
  for (int64_t n = begin / unit; n * unit < begin + size; ++n) {
    if (pending[static_cast<size_t>(n)]) return true;
  }
  return false;
}

void Memory::mark_pending(int64_t begin, int64_t size, bool is_running) {
  if (pending.empty()) pending.resize(static_cast<size_t>(num_units()));
  for (int64_t n = begin / unit; n * unit < begin + size; ++n) pending[static_cast<size_t>(n)] = is_running;
}

Parting Memory::touch(int64_t begin, int64_t size, const Strand* strand, bool is_write, bool* was_write) {
  if (!strand && touches_.empty()) return {};
  if (touches_.empty()) touches_.resize(static_cast<size_t>(num_units()));
  for (int64_t n = begin / unit; n * unit < begin + size; ++n) {
    if (Parting found = touch_unit(&touches_[static_cast<size_t>(n)], strand, is_write, was_write))
      return found;
  }
  return {};
}

// Little history is needed: if two accesses do not part, the later one parts from any future access wherever
// the earlier one does, because the loops that only contained the earlier one have ended.
Parting Memory::touch_unit(Touch* touch, const Strand* strand, bool is_write, bool* was_write) {
  if (Parting found = parting(touch->writer, strand)) return *was_write = true, found;
  if (is_write) {
    for (const Strand* reader : touch->readers) {
      if (Parting found = parting(reader, strand)) return *was_write = false, found;
    }
    touch->readers.clear();
    touch->writer = strand;
    return {};
  }
  if (!touch->readers.empty() && touch->readers.back() == strand) return {};
  std::vector<const Strand*> kept;
  std::vector<uint64_t> runs;
  for (const Strand* reader : touch->readers) {
    const Parting part = parting(reader, strand);
    if (!part || std::find(runs.begin(), runs.end(), part.first->run) != runs.end()) continue;
    kept.push_back(reader);
    runs.push_back(part.first->run);
  }
  kept.push_back(strand);
  touch->readers = std::move(kept);
  return {};
}

}  // namespace tilewright::analysis

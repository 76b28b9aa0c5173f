// The pool of strings of a call; strings that come in and go out.
#include "tilewright/runtime/builtin/strings.h"

#include <algorithm>
#include <functional>

#include "tilewright/runtime/builtin/builtin.h"
#include "tilewright/support/error.h"
#include "tilewright/support/utf8.h"

namespace tilewright::runtime::builtin {

Texts::Texts(const Value& bytes, const Value& ends, std::string_view what)
    : bytes_(bytes.as_tensor(what).compact()), ends_(ends.as_tensor(what).compact()) {
  bool fits = bytes_.dtype() == DataType::uint(8) && ends_.dtype() == kInt64;
  int64_t before = 0;
  for (int64_t n = 0; fits && n < size(); ++n) {
    const int64_t end = ends_.data_as<int64_t>()[n];
    fits = end >= before && end <= bytes_.num_elements();
    before = end;
  }
  if (!fits)
    throw UserError("{}: its strings do not end inside of their bytes, one after another", what)
        .help(
            "a tensor of strings is a pair: uint8 with the bytes, and int64 with the number of bytes up to "
            "the end "
            "of each string");
}

std::string_view Texts::at(int64_t n) const {
  const auto* ends = ends_.data_as<int64_t>();
  const int64_t first = n > 0 ? ends[n - 1] : 0;
  return {bytes_.data_as<char>() + first, static_cast<size_t>(ends[n] - first)};
}

std::string_view StringPool::text(int64_t id) const {
  const int64_t count = model_.size();
  if (id < 0 || id >= size()) throw InternalError("string {} of a pool of {}", id, size());
  return id < count ? model_.at(id) : std::string_view(added_[static_cast<size_t>(id - count)]);
}

// The slot that has `text`, or the free one where it belongs.
size_t StringPool::slot_of(std::string_view text) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = std::hash<std::string_view>()(text) & mask;
  while (slots_[slot] != 0 && added_[slots_[slot] - 1] != text) slot = (slot + 1) & mask;
  return slot;
}

int64_t StringPool::id(std::string_view text) const {
  int64_t low = 0, high = model_.size();
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (model_.at(middle) < text)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < model_.size() && model_.at(low) == text) return low;
  if (2 * added_.size() >= slots_.size()) {
    slots_.assign(std::max<size_t>(2 * slots_.size(), 64), 0);
    for (size_t n = 0; n < added_.size(); ++n) slots_[slot_of(added_[n])] = n + 1;
  }
  const size_t slot = slot_of(text);
  if (slots_[slot] == 0) {
    added_.emplace_back(text);
    slots_[slot] = added_.size();
  }
  return model_.size() + static_cast<int64_t>(slots_[slot]) - 1;
}

Value StringPool::call(Args args) const {
  require_arguments(name, args, 1);
  return text(args[0].as_int(name));
}

const StringPool& pool_of(Args args) {
  const Function function = args[0].as_function("the pool of strings");
  const auto* pool = dynamic_cast<const StringPool*>(function.object());
  if (!pool) throw UserError("{} is no pool of strings", function.name());
  return *pool;
}

namespace {

Value string_pool(Args args) {
  return Function(Ref<FunctionObject>(new StringPool(Texts(args[0], args[1], "string_pool"))));
}

Value ids_of(const StringPool& pool, const Value& value, const std::string& what) {
  if (value.is_none()) return value;
  const std::vector<Value>& fields = value.as_tuple(what);
  if (fields.empty() || !fields[0].is(ValueKind::kTensor)) {
    std::vector<Value> elements;
    for (const Value& field : fields) elements.push_back(ids_of(pool, field, what));
    return Value::tuple(std::move(elements));
  }
  if (fields.size() != 2) throw UserError("{}: {} is no pair of bytes and ends", what, value.type_str());
  const Texts texts(fields[0], fields[1], what);
  return pooled(pool, texts.shape(), [&](int64_t n) {
    const std::string_view text = texts.at(n);
    if (const size_t at = utf8_fault(text); at != std::string_view::npos)
      throw UserError("{}: string {} is not UTF-8, from byte {} on", what, n, at)
          .help("encode it as UTF-8; other bytes are numbers, a tensor of uint8");
    return text;
  });
}

// pool, pair, or a sequence or optional value of pairs, name for messages
Value string_ids(Args args) {
  return ids_of(pool_of(args), args[1], fmt::format("input \"{}\"", args[2].as_string("string_ids")));
}

Value texts_of(const StringPool& pool, const Value& value) {
  if (value.is_none()) return value;
  if (value.is(ValueKind::kTuple)) {
    std::vector<Value> elements;
    for (const Value& field : value.as_tuple()) elements.push_back(texts_of(pool, field));
    return Value::tuple(std::move(elements));
  }
  const Tensor ids = value.as_tensor("string_texts").compact();
  const Tensor ends = Tensor::empty(ids.shape(), kInt64);
  std::string bytes;
  for (int64_t n = 0; n < ids.num_elements(); ++n) {
    bytes += pool.text(ids.data_as<int64_t>()[n]);
    ends.data_as<int64_t>()[n] = static_cast<int64_t>(bytes.size());
  }
  const auto count = static_cast<int64_t>(bytes.size());
  return Value::tuple({Tensor::copy_of(bytes.data(), bytes.size(), {&count, 1}, DataType::uint(8)), ends});
}

// pool, ids, or a sequence or optional value of ids
Value string_texts(Args args) { return texts_of(pool_of(args), args[1]); }

constexpr Entry kEntries[] = {{"tilewright.string_pool", string_pool, 2},
                              {"tilewright.string_ids", string_ids, 3},
                              {"tilewright.string_texts", string_texts, 2}};

}  // namespace

std::span<const Entry> string_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin

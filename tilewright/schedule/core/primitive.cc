// Conversion of generic values to the arguments of primitives, and the table of primitives.
#include "tilewright/schedule/core/primitive.h"

#include "tilewright/support/near.h"

namespace tilewright::schedule {

std::span<const PrimitiveInfo* const> all_primitives() { return {k_primitives, k_primitives_count}; }

const PrimitiveInfo& find_primitive(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PrimitiveInfo* primitive : all_primitives()) {
    if (primitive->name == name) return *primitive;
    names.push_back(primitive->name);
  }
  throw UserError("there is no schedule primitive \"{}\"", name).help("{}", nearest_names_text(name, names));
}

ArgValue::ArgValue() = default;
ArgValue::ArgValue(const ArgValue&) = default;
ArgValue::ArgValue(ArgValue&&) noexcept = default;
ArgValue& ArgValue::operator=(const ArgValue&) = default;
ArgValue& ArgValue::operator=(ArgValue&&) noexcept = default;
ArgValue::~ArgValue() = default;
bool operator==(const ArgValue& a, const ArgValue& b) { return a.data == b.data; }

ArgValue::ArgValue(const BufferArg& buffer) {
  if (const auto* index = std::get_if<int64_t>(&buffer.which))
    data = *index;
  else if (const auto* name = std::get_if<std::string>(&buffer.which))
    data = *name;
  else if (const auto* side = std::get_if<std::pair<std::string, int64_t>>(&buffer.which))
    data = List{ArgValue(side->first), ArgValue(side->second)};
  else
    data = ObjectRef(std::get<Buffer>(buffer.which));
}

namespace primitive_detail {
namespace {

[[noreturn]] void wrong_type(const ArgValue& value, std::string_view name, std::string_view expected) {
  throw UserError("argument {} must be {}, but is {}", name, expected, value.str());
}

// An integer as a node: an extent, say.
const IntImmNode* constant_of(const ArgValue& value) {
  const auto* node = value.as<ObjectRef>();
  return node ? node->as<IntImmNode>() : nullptr;
}

template <class T>
void read_as(const ArgValue& value, std::string_view name, std::string_view expected, T* out) {
  const T* found = value.as<T>();
  if (!found) wrong_type(value, name, expected);
  *out = *found;
}

}  // namespace

void read(const ArgValue& value, std::string_view name, bool* out) {
  if (const auto* integer = value.as<int64_t>(); integer && (*integer == 0 || *integer == 1))
    *out = *integer != 0;
  else
    read_as(value, name, "True or False", out);
}
void read(const ArgValue& value, std::string_view name, int64_t* out) {
  if (const auto* truth = value.as<bool>())
    *out = *truth;
  else if (const IntImmNode* constant = constant_of(value))
    *out = constant->value;
  else
    read_as(value, name, "an integer", out);
}
void read(const ArgValue& value, std::string_view name, double* out) {
  if (const auto* integer = value.as<int64_t>())
    *out = static_cast<double>(*integer);
  else
    read_as(value, name, "a number", out);
}
void read(const ArgValue& value, std::string_view name, std::string* out) {
  read_as(value, name, "a string", out);
}
void read(const ArgValue& value, std::string_view name, BlockRef* out) {
  read_as(value, name, "a block", out);
}
void read(const ArgValue& value, std::string_view name, LoopRef* out) { read_as(value, name, "a loop", out); }

void read(const ArgValue& value, std::string_view name, PlaceRef* out) {
  if (const auto* block = value.as<BlockRef>())
    *out = *block;
  else if (const auto* loop = value.as<LoopRef>())
    *out = *loop;
  else
    wrong_type(value, name, "a block or a loop");
}

void read(const ArgValue& value, std::string_view name, Factor* out) {
  if (value.is_none())
    *out = None{};
  else if (const auto* integer = value.as<int64_t>())
    *out = *integer;
  else if (const IntImmNode* constant = constant_of(value))
    *out = constant->value;
  else if (const auto* sampled = value.as<ExprRef>())
    *out = *sampled;
  else
    wrong_type(value, name, "an integer, a sampled value or None");
}

void read(const ArgValue& value, std::string_view name, BufferArg* out) {
  const auto* list = value.as<ArgValue::List>();
  const auto* node = value.as<ObjectRef>();
  if (const auto* index = value.as<int64_t>())
    out->which = *index;
  else if (const auto* text = value.as<std::string>())
    out->which = *text;
  else if (node && is<BufferNode>(*node))
    out->which = ref_as<BufferNode>(*node);
  else if (list && list->size() == 2 && (*list)[0].as<std::string>() && (*list)[1].as<int64_t>())
    out->which = std::pair{*(*list)[0].as<std::string>(), *(*list)[1].as<int64_t>()};
  else
    wrong_type(value, name, "a number, the name of a buffer, (\"read\" | \"write\", number) or a buffer");
}

// Plain values become the nodes that attributes hold in scripts, so that T.block_attr says the same.
void read(const ArgValue& value, std::string_view name, ObjectRef* out) {
  if (const auto* truth = value.as<bool>())
    *out = IntImmNode::make(kBoolType, int64_t{*truth});
  else if (const auto* integer = value.as<int64_t>())
    *out = IntImmNode::make(kInt64, *integer);
  else if (const auto* number = value.as<double>())
    *out = FloatImmNode::make(DataType::float_(64), *number);
  else if (const auto* text = value.as<std::string>())
    *out = StringImmNode::make(*text);
  else if (const auto* node = value.as<ObjectRef>(); node && *node)
    *out = *node;
  else if (const auto* list = value.as<ArgValue::List>()) {
    std::vector<ObjectRef> items(list->size());
    for (size_t n = 0; n < items.size(); ++n) read((*list)[n], name, &items[n]);
    *out = ArrayNode::make(std::move(items));
  } else
    wrong_type(value, name, "a number, a string, a list of them or a node");
}

const ArgValue::List& list_of(const ArgValue& value, std::string_view name, std::string_view item_type) {
  const auto* list = value.as<ArgValue::List>();
  if (!list) throw UserError("argument {} must be a list of {}, but is {}", name, item_type, value.str());
  return *list;
}

void wrong_node(const ObjectRef& node, std::string_view name, std::string_view expected) {
  throw UserError("argument {} must be of type {}, but is of type {}", name, expected, info_of(*node)->name);
}

}  // namespace primitive_detail
}  // namespace tilewright::schedule

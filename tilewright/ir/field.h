// Field tables at run time: the view of a node that generic services and the Python bindings have.
#pragma once
#include <span>

#include "tilewright/ir/node.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright::ir {

enum class FieldType : uint8_t {
  kInt,
  kBool,
  kFloat,
  kString,
  kDType,
  kEnum,
  kNode,
  kNodeList,
  kIntList,
  kStringList,
  kAttrs,
  kTensor,
  kSpan
};

using FieldValue =
    std::variant<int64_t, bool, double, std::string, DataType, ObjectRef, std::vector<ObjectRef>,
                 std::vector<int64_t>, std::vector<std::string>, AttrMap, runtime::Tensor, Span>;

struct FieldInfo {
  std::string_view name, doc;
  Role role;
  FieldType type;
  FieldValue (*get)(const Object*);
  /// Raises InternalError if the value has another type, or is a node of a kind that the field cannot hold.
  void (*set)(Object*, FieldValue);
  // Access without copies, for kNode (one item) and kNodeList; null otherwise.
  size_t (*num_nodes)(const Object*);
  const Object* (*node)(const Object*, size_t);
  std::span<const std::string_view> enum_names;  // for kEnum: the names of values 0, 1, ...
};

struct NodeInfo {
  std::string_view name;  // "tir.For": layer and struct name
  Kind kind;
  std::span<const FieldInfo> fields;
  void (*destroy)(const Object*);
  Object* (*clone)(const Object*);  // a copy without references, to be changed and then put in a Ref
  Object* (*create)();              // a node with default fields and without references
  void (*verify)(Object*);          // may be null
};

inline const NodeInfo* info_of(const Object& object) { return node_info(object.kind); }
/// The info of the node called `name` ("tir.For"), or null.
const NodeInfo* find_node_info(std::string_view name);

}  // namespace tilewright::ir

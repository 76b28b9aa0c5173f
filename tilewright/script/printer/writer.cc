#include "tilewright/script/printer/writer.h"

#include "tilewright/ir/field.h"
#include "tilewright/ir/services.h"
#include "tilewright/target/target.h"
#include "tilewright/te/te.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/range_end.h"

namespace tilewright::script {
using namespace tir;

Writer::Writer(const PrintOptions& options, Dialect dialect)
    : options(options), dialect(dialect), step_(static_cast<size_t>(options.indent_spaces)) {
  alias = options.tir_alias;
  tir_prefix_ = options.tir_alias + ".";
  relax_prefix_ = options.relax_alias + ".";
  floats_as_doubles = dialect != Dialect::kNative;
  for (const std::string& word : {options.ir_alias, options.tir_alias, options.relax_alias})
    names.reserve(word);
  names.reserve("metadata");
}

void Writer::define_name(const Object* node, std::string_view hint) {
  const size_t begin = out.size();
  out += names.define(node, hint);
  place(node, begin);
}

std::string Writer::name_of(const Object* node) {
  if (const std::string* name = names.find(node)) return *name;
  // a free variable of the printed node: its hint, made unique
  return names.define(node, ExprWriter::name_of(node));
}

void Writer::define(const VarNode* var) {
  if (!names.find(var)) names.define(var, var->name_hint);
}

void Writer::typed(const PrimExpr& expr) {
  const DataType bare = std::exchange(bare_int, DataType::void_());
  this->expr(expr);
  bare_int = bare;
}

void Writer::shape(const std::vector<PrimExpr>& dims) {
  out += '(';
  exprs(dims);
  out += dims.size() == 1 ? ",)" : ")";
}

// In attributes, numbers without a type are int64 and float64.
void Writer::attribute(const ObjectRef& value) {
  if (!value) {
    out += "None";
  } else if (const auto* literal = value.as<IntImmNode>()) {
    if (literal->dtype.is_bool())
      out += literal->value ? "True" : "False";
    else if (literal->dtype == kInt64)
      out += fmt::format("{}", literal->value);
    else
      typed(ref_as<PrimExprNode>(value));
  } else if (const auto* real = value.as<FloatImmNode>(); real && real->dtype == DataType::float_(64)) {
    const std::string text = float_text(real->value, real->dtype);
    if (text[0] == '"')
      expr(ref_as<PrimExprNode>(value));
    else
      out += text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  } else if (is<PrimExprNode>(value)) {
    expr(ref_as<PrimExprNode>(value));
  } else if (const auto* list = value.as<ArrayNode>()) {
    out += '[';
    for (size_t n = 0; n < list->items.size(); ++n) {
      if (n) out += ", ";
      attribute(list->items[n]);
    }
    out += ']';
  } else if (const auto* dict = value.as<DictNode>()) {
    attributes(dict->items);
  } else {
    other(value.get());
  }
}

void Writer::attributes(const AttrMap& attrs) {
  out += '{';
  bool first = true;
  for (const auto& [key, value] : attrs) {
    if (!first) out += ", ";
    first = false;
    out += quoted(key) + ": ";
    attribute(value);
  }
  out += '}';
}

// True if the text of the target determines all of it except its host.
static bool reads_back(const TargetNode* target) {
  const Target alone = with(Target(target), [](TargetNode& n) { n.host = nullptr; });
  try {
    return structural_equal(target::parse_target(alone->str()), alone);
  } catch (const UserError&) {
    return false;  // attributes of an unknown kind
  }
}

void Writer::other(const Object* node) {
  const ObjectRef ref(node);
  if (const auto* global = ref.as<GlobalVarNode>()) {
    out += function_prefix + identifier(global->name_hint);
  } else if (const auto* reducer = ref.as<CommReducerNode>()) {
    comm_reducer(reducer);
  } else if (const auto* map = ref.as<IndexMapNode>()) {
    index_map(map);
  } else if (is<BufferNode>(ref)) {
    out += name_of(node);
  } else if (is<BufferRegionNode>(ref)) {
    region(ref_as<BufferRegionNode>(ref));
  } else if (const auto* range = ref.as<RangeNode>()) {
    out += tir_prefix_ + "Range(";
    expr(range->min);
    out += ", ";
    derived(end_of(range->min, range->extent));
    out += ')';
  } else if (const auto* target = ref.as<TargetNode>(); target && reads_back(target)) {
    out += fmt::format("{}target({}", tir_prefix_, quoted(target->str()));
    if (target->host) {
      out += ", host=";
      other(target->host.get());
    }
    out += ')';
  } else if (const auto* tensor = ref.as<te::TeTensorNode>()) {
    out += identifier(tensor->op->name);
  } else if (is<TypeNode>(ref)) {
    type(ref_as<TypeNode>(ref));
  } else {
    in_metadata(info_of(*node)->name, ref);
  }
}

void Writer::in_metadata(std::string_view key, const ObjectRef& value) {
  auto found = metadata_.find(key);
  if (found == metadata_.end()) found = metadata_.emplace(std::string(key), std::vector<ObjectRef>{}).first;
  std::vector<ObjectRef>& values = found->second;
  size_t index = 0;
  while (index < values.size() && values[index] != value) ++index;
  if (index == values.size()) values.push_back(value);
  out += is_2022() ? fmt::format("meta[{}][{}]", key, index)
                   : fmt::format("metadata[{}][{}]", quoted(key), index);
}

std::string Writer::metadata_text() const {
  AttrMap all;
  for (const auto& [key, values] : metadata_) all.set(key, ArrayNode::make(values));
  if (all.empty()) return "";
  return fmt::format("metadata = tvm.ir.load_json({})\n", quoted(save_json(DictNode::make(all))));
}

}  // namespace tilewright::script

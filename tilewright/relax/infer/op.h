// The operators of graphs.  The folder ops/ is the registry: each file defines an OpTable of one or more
// rows.
//
//   struct Attrs {
//     DataType out_dtype = DataType::void_();
//     static constexpr auto fields() {...}
//   };
//   // raises UserError with operator, argument and shapes; adds what the extents must satisfy to `require`
//   Type infer(const Call& call, const Attrs& attrs, Requirements& require);
//   // returns std::vector<te::Tensor> if the result is a tuple
//   te::Tensor lower(const LowerInput& in, const Attrs& attrs);
//
//   constexpr OpInfo kOps[] = {
//       op<infer, lower, Attrs>("relax.matmul", "x1, x2", "...", FusePattern::kOutFusable)};
//   constinit const OpTable matmul_info = op_table(kOps, "where the operators are documented");
#pragma once
#include <string_view>
#include <vector>

#include "tilewright/ir/options.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/requirements.h"
#include "tilewright/te/compute.h"

namespace tilewright::relax {

/// The dependence of the result's elements on those of the arguments, for fusion; the easiest to fuse first.
enum class FusePattern : uint8_t {
  kElementwise,  // element i needs element i of arguments of the same shape
  kBroadcast,    // the same, but arguments may lack dimensions
  kInjective,    // element i needs one element of each argument: reshape, transpose, slice
  kReduction,    // an element needs many elements of the argument, each used once: sum, max
  kOutFusable,   // expensive; elementwise work on its result can be fused into it: matmul, conv
  kTuple,        // only groups values
  kOpaque,       // never fused
};

/// The input of a TE lowering.
struct LowerInput {
  const Call& call;                           // with inferred types
  std::vector<std::vector<te::Tensor>> args;  // per argument: a tensor, the fields of a tuple, or nothing

  size_t size() const { return args.size(); }
  const te::Tensor& operator[](size_t n) const { return args.at(n).at(0); }
  bool has(size_t n) const { return n < args.size() && !args[n].empty(); }
  /// The extents of the result, or of its field `n` if it is a tuple.
  const Shape& out_shape(size_t n = 0) const;
  DataType out_dtype(size_t n = 0) const;
  /// The values of argument `n`, a shape or a tuple of scalars.
  Shape shape(size_t n) const;
  /// The value of argument `n`, a scalar.
  PrimExpr scalar(size_t n) const;
};

struct OpInfo {
  std::string_view name;  // "relax.nn.conv2d"
  std::string_view args;  // "data, weight"; an optional one ends in "?"; "*" at the end: any number more
  std::string_view doc;
  FusePattern pattern;
  Type (*infer)(const Call& call, Requirements& require);
  std::vector<te::Tensor> (*lower)(const LowerInput& input);  // null: the VM runs it, or a pass replaces it
  std::vector<OptionInfo> (*attrs)();
  AttrMap (*complete)(const AttrMap& attrs, std::string_view what);  // all attributes, with defaults
  bool is_pure = true;
  std::string_view packed = {};  // the runtime function that implements it, instead of `lower`
};

/// The operators of one file of ops/.
struct OpTable {
  const OpInfo* rows;
  size_t count;
  std::string_view source;  // the documentation of the operators
};
extern const OpTable* const k_ops[];
extern const std::size_t k_ops_count;

/// The operator called `name` ("relax.add" or "add"), or null.
const OpInfo* find_op(std::string_view name);
/// The same; raises UserError with the nearest names if there is none.
const OpInfo& lookup_op(std::string_view name);
/// All operators, by name.
std::vector<const OpInfo*> all_ops();
/// The source of the documentation of `info`, one of all_ops().
std::string_view source_of(const OpInfo& info);
/// The operator of `call`, or null if its op is no known Op.
const OpInfo* op_of(const CallNode* call);
/// The names of the arguments, without the marks "?" and "*".
std::vector<std::string_view> arg_names(const OpInfo& info);

/// A call of `name` with its attributes completed, without type (BlockBuilder and infer_type add it).
/// Raises UserError for an unknown operator, a wrong number of arguments or a wrong attribute.
Call call_op(std::string_view name, std::vector<Expr> args, AttrMap attrs = {}, Span span = {});
/// R.reshape(x, R.shape(shape))
Expr reshaped(const Expr& x, const std::vector<int64_t>& shape);

// ---- rows
namespace op_detail {
std::string_view short_name(std::string_view name);
template <auto kLower, class Attrs>
std::vector<te::Tensor> lowered(const LowerInput& input, std::string_view what) {
  auto result = [&] {
    if constexpr (std::is_invocable_v<decltype(kLower), const LowerInput&>)
      return kLower(input);
    else
      return kLower(input, from_attrs<Attrs>(input.call->attrs, what));
  }();
  if constexpr (std::is_same_v<decltype(result), te::Tensor>)
    return {std::move(result)};
  else
    return result;
}
std::string_view what_of(const Call& call);
// kInfer takes the call and, if it declares them, its attributes and requirements.
template <auto kInfer, class Attrs>
Type inferred(const Call& call, Requirements& require) {
  using Function = decltype(kInfer);
  const auto attrs = [&] { return from_attrs<Attrs>(call->attrs, what_of(call)); };
  if constexpr (std::is_invocable_v<Function, const Call&>)
    return kInfer(call);
  else if constexpr (std::is_invocable_v<Function, const Call&, Requirements&>)
    return kInfer(call, require);
  else if constexpr (std::is_invocable_v<Function, const Call&, Attrs>)
    return kInfer(call, attrs());
  else
    return kInfer(call, attrs(), require);
}
}  // namespace op_detail

struct NoAttrs {
  static constexpr auto fields() { return std::tuple{}; }
};

template <auto kInfer, auto kLower, class Attrs = NoAttrs>
constexpr OpInfo op(std::string_view name, std::string_view args, std::string_view doc, FusePattern pattern,
                    bool is_pure = true) {
  OpInfo info{
      name,
      args,
      doc,
      pattern,
      nullptr,
      nullptr,
      &option_schema<Attrs>,
      [](const AttrMap& attrs, std::string_view what) { return to_attrs(from_attrs<Attrs>(attrs, what)); },
      is_pure};
  info.infer = [](const Call& call, Requirements& require) -> Type {
    return op_detail::inferred<kInfer, Attrs>(call, require);
  };
  if constexpr (!std::is_null_pointer_v<decltype(kLower)>)
    info.lower = [](const LowerInput& input) {
      return op_detail::lowered<kLower, Attrs>(input, op_detail::what_of(input.call));
    };
  return info;
}

/// A row for an operator that the runtime function `packed` implements.  The function gets, in order,
///   the tensors and scalars of the call,
///   the attributes (dtypes and trailing empty ones are left out),
///   the tensors of the result to write, if all their shapes are known; otherwise it allocates them.
template <auto kInfer, class Attrs = NoAttrs>
constexpr OpInfo runtime_op(std::string_view name, std::string_view args, std::string_view doc,
                            std::string_view packed) {
  OpInfo info = op<kInfer, nullptr, Attrs>(name, args, doc, FusePattern::kOpaque);
  info.packed = packed;
  return info;
}

template <size_t N>
constexpr OpTable op_table(const OpInfo (&rows)[N], std::string_view source) {
  return {rows, N, source};
}

}  // namespace tilewright::relax

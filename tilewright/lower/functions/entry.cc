#include "tilewright/lower/functions/entry.h"

#include <fmt/ranges.h>

#include <functional>
#include <unordered_set>

#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/raise_error.h"
#include "tilewright/lower/common/written_params.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/runtime/device.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::lower {
namespace {

const DataType kHandle = DataType::handle();

PrimExpr peek(DataType dtype, PrimExpr pointer, int64_t offset) {
  return call(dtype, "peek", {std::move(pointer), imm(offset, kInt64)});
}

class Entry {
 public:
  Entry(const std::string& name, const PrimFunc& func, const KernelAbi& abi, const TensorPlace& place)
      : name_(escaped(name)), func_(func), abi_(abi), place_(place) {}

  PrimFunc make(const GlobalVar& compute, const std::vector<Var>& scalars) {
    check_count();
    // extents may use scalars and dimensions from later parameters
    std::vector<Var> tensors(func_->params.size());
    for (size_t n = 0; n < func_->params.size(); ++n) {
      if (!func_->buffers[n]) scalar(n, func_->params[n]);
    }
    for (size_t n = 0; n < func_->params.size(); ++n) {
      if (func_->buffers[n]) tensors[n] = tensor(n, func_->buffers[n]);
    }
    std::vector<PrimExpr> pointers;
    for (size_t n = 0; n < func_->params.size(); ++n) {
      if (func_->buffers[n]) pointers.push_back(data(n, func_->buffers[n], tensors[n]));
    }
    check_derived();
    if (place_.device_id) bind(place_.device_id, imm(0));  // of a function without tensors
    for (const Var& var : scalars) {
      // the pointer that lower_returns stores to is not bound by any parameter
      if (var->dtype.is_handle() && !bound_.count(var.get())) {
        pointers.push_back(result_);
        continue;
      }
      TILEWRIGHT_CHECK(bound_.count(var.get()), "{}: no parameter gives the value of variable {}", name_,
                       var->name_hint);
      pointers.push_back(var);
    }
    Stmt body = EvaluateNode::make(CallNode::make(kInt32, Expr(compute), std::move(pointers)));
    for (auto wrap = steps_.rbegin(); wrap != steps_.rend(); ++wrap) body = (*wrap)(std::move(body));
    AttrMap attrs{{"global_symbol", string_imm(TILEWRIGHT_KERNEL_PREFIX + name_)},
                  {std::string(kLoweredKind), string_imm(std::string(kEntry))},
                  {std::string(kKernelParams), string_imm(description())}};
    return with(func_, [&](PrimFuncNode& changed) {
      changed.params = {self_, args_, num_args_, result_};
      changed.buffers.assign(4, nullptr);
      changed.body = body;
      changed.attrs = std::move(attrs);
    });
  }

 private:
  // One line per parameter: 'w' if its elements may be written, else 'r', then its type.
  std::string description() const {
    const std::vector<bool> written = written_params(func_);
    std::string lines;
    for (size_t n = 0; n < func_->params.size(); ++n) {
      const Buffer& buffer = func_->buffers[n];
      std::vector<std::string> extents;
      if (buffer) {
        for (const PrimExpr& extent : buffer->shape) extents.push_back(expr_text(extent));
      }
      lines += fmt::format("{}{}: {}{}\n", written[n] ? 'w' : 'r',
                           buffer ? buffer->name : func_->params[n]->name_hint,
                           buffer ? buffer->dtype.str() : func_->params[n]->dtype.str(),
                           buffer ? fmt::format("[{}]", fmt::join(extents, ", ")) : "");
    }
    return lines;
  }

  // ---- steps, outermost first
  void let(const Var& var, PrimExpr value) {
    steps_.push_back([var, value = std::move(value)](Stmt rest) -> Stmt {
      return LetStmtNode::make(value, var, std::move(rest));
    });
  }
  Var let(std::string name, PrimExpr value) {
    Var var = make_var(std::move(name), value->dtype);
    let(var, std::move(value));
    return var;
  }
  void refuse_if(PrimExpr condition, Stmt error) {
    steps_.push_back([condition = std::move(condition), error = std::move(error)](Stmt rest) -> Stmt {
      return seq({IfThenElseNode::make(condition, error), std::move(rest)});
    });
  }

  std::string param_name(size_t n) const {
    return escaped(func_->buffers[n] ? func_->buffers[n]->name : func_->params[n]->name_hint);
  }

  void check_count() {
    std::vector<std::string> names;
    for (size_t n = 0; n < func_->params.size(); ++n) names.push_back(param_name(n));
    const int64_t count = static_cast<int64_t>(names.size());
    refuse_if(not_equal(num_args_, imm(count)),
              raise_error("TypeError",
                          fmt::format("{}: %d arguments given, expected {} ({})", name_, count,
                                      fmt::join(names, ", ")),
                          {num_args_}));
  }

  // A pointer as an integer; some machines have 32-bit pointers.
  PrimExpr peek_address(PrimExpr pointer, int64_t offset) const {
    if (abi_.has_wide_pointers()) return peek(kInt64, std::move(pointer), offset);
    return tir::cast(kInt64, peek(DataType::uint(32), std::move(pointer), offset));
  }

  // ---- tensors
  // The tensor of parameter `n`, with type and shape checked.
  Var tensor(size_t n, const Buffer& buffer) {
    const std::string name = param_name(n);
    const int64_t slot = static_cast<int64_t>(n) * static_cast<int64_t>(sizeof(TilewrightAny));
    const Var code = let(name + "_code", peek(kInt32, args_, slot));
    const PrimExpr is_object = equal(code, imm(kTilewrightTensor));
    refuse_if(logical_and(not_equal(code, imm(kTilewrightDLTensor)), not_equal(code, imm(kTilewrightTensor))),
              raise_error("TypeError", fmt::format("{}: argument {} is not a tensor", name_, name), {}));
    const PrimExpr address = peek_address(args_, slot + 8) +
                             select(is_object, imm(TILEWRIGHT_OBJECT_HEADER_BYTES, kInt64), imm(0, kInt64));
    const Var described = let(name + "_tensor", call(kHandle, "reinterpret", {address}));
    check_type(name, buffer, described);
    const Var shape = let(name + "_shape", peek(kHandle, described, abi_.shape()));
    check_shape(name, buffer, shape);
    return described;
  }

  // The address of its elements, compact or with the strides of the program.
  PrimExpr data(size_t n, const Buffer& buffer, const Var& described) {
    const std::string name = param_name(n);
    strides(name, buffer, described);
    if (const auto* var = buffer->elem_offset.as<VarNode>()) bind(Var(var), imm(0, kInt64));
    return data_pointer(name, buffer, described);
  }

  void check_type(const std::string& name, const Buffer& buffer, const Var& tensor) {
    const PrimExpr device = peek(kInt32, tensor, abi_.device());
    const std::string wanted = place_.device_type == kDLCPU
                                   ? "the CPU"
                                   : fmt::format("{} ({}); tensor.to(device) copies it", place_.device_type,
                                                 device_name(place_.device_type));
    refuse_if(
        not_equal(device, imm(place_.device_type)),
        raise_error("ValueError",
                    fmt::format("{}: argument {} is on device type %d, expected {}", name_, name, wanted),
                    {device}));
    if (place_.device_id) check_device_id(name, peek(kInt32, tensor, abi_.device() + 4));
    const PrimExpr ndim = peek(kInt32, tensor, abi_.ndim());
    const int64_t expected_ndim = static_cast<int64_t>(buffer->shape.size());
    refuse_if(not_equal(ndim, imm(expected_ndim)),
              raise_error("ValueError",
                          fmt::format("{}: argument {} is %d-dimensional, expected {}-dimensional", name_,
                                      name, expected_ndim),
                          {ndim}));
    const DataType dtype = buffer->dtype;
    const int64_t bits = dtype.code | dtype.bits << 8 | static_cast<int64_t>(dtype.lanes) << 16;
    const PrimExpr given = peek(kInt32, tensor, abi_.dtype());
    refuse_if(not_equal(given, imm(bits)),
              raise_error("TypeError",
                          fmt::format("{}: argument {} has dtype %s, expected {}", name_, name, dtype.str()),
                          {call(kHandle, "dtype_text", {given})}));
  }

  void check_device_id(const std::string& name, const PrimExpr& given) {
    if (!bound_.count(place_.device_id.get())) return bind(place_.device_id, given);
    refuse_if(not_equal(given, place_.device_id),
              raise_error("ValueError",
                          fmt::format("{}: argument {} is on device %d, but those before are on device %d",
                                      name_, name),
                          {given, place_.device_id}));
  }

  // "cuda"
  static std::string device_name(int32_t type) {
    const std::string device = runtime::Device{type}.str();
    return device.substr(0, device.find(':'));
  }

  // Compares known extents; binds a variable at its first occurrence; checks of expressions of variables come
  // at the end.
  void check_shape(const std::string& name, const Buffer& buffer, const Var& shape) {
    PrimExpr wrong = bool_imm(false);
    std::vector<std::string> given_text, expected_text;
    std::vector<PrimExpr> given, expected_values;
    std::vector<std::pair<Var, PrimExpr>> new_vars;
    std::unordered_set<const VarNode*> new_here;
    for (size_t axis = 0; axis < buffer->shape.size(); ++axis) {
      const PrimExpr& extent = buffer->shape[axis];
      const PrimExpr actual = peek(kInt64, shape, static_cast<int64_t>(axis) * 8);
      given_text.push_back("%lld");
      given.push_back(actual);
      const auto* var = extent.as<VarNode>();
      if (const auto* number = extent.as<IntImmNode>()) {
        wrong = logical_or(wrong, not_equal(actual, imm(number->value, kInt64)));
        expected_text.push_back(std::to_string(number->value));
      } else if (var && bound_.count(var)) {
        wrong = logical_or(wrong, not_equal(actual, tir::cast(kInt64, extent)));
        expected_text.push_back("%lld");
        expected_values.push_back(tir::cast(kInt64, extent));
      } else {
        if (var && new_here.insert(var).second)
          new_vars.emplace_back(Var(var), actual);
        else
          derived_.push_back({name, axis, actual, extent});
        expected_text.push_back(escaped(expr_text(extent)));
      }
    }
    std::vector<PrimExpr> values = given;
    values.insert(values.end(), expected_values.begin(), expected_values.end());
    if (!is_zero(wrong))
      refuse_if(wrong, raise_error("ValueError",
                                   fmt::format("{}: argument {} has shape [{}], expected [{}]", name_, name,
                                               fmt::join(given_text, ", "), fmt::join(expected_text, ", ")),
                                   values));
    for (const auto& [var, value] : new_vars) bind(var, value);
  }

  // A tensor without strides in the program must be compact; stride variables take the strides of the tensor.
  void strides(const std::string& name, const Buffer& buffer, const Var& tensor) {
    if (buffer->shape.empty()) return;
    const Var given = let(name + "_strides", peek(kHandle, tensor, abi_.strides()));
    const PrimExpr is_null = call(kBoolType, "isnullptr", {given});
    PrimExpr row_major = imm(1, kInt64), wrong = bool_imm(false);
    for (size_t axis = buffer->shape.size(); axis-- > 0;) {
      const PrimExpr extent = tir::cast(kInt64, buffer->shape[axis]);
      const PrimExpr actual = peek(kInt64, given, static_cast<int64_t>(axis) * 8);
      if (!buffer->strides.empty()) {
        const PrimExpr stride = call(kInt64, "if_then_else", {is_null, row_major, actual});
        if (const auto* var = buffer->strides[axis].as<VarNode>())
          bind(Var(var), stride);
        else
          derived_.push_back({name + " strides", axis, stride, buffer->strides[axis]});
      } else if (!is_one(extent)) {
        wrong =
            logical_or(wrong, logical_and(not_equal(extent, imm(1, kInt64)), not_equal(actual, row_major)));
      }
      row_major = row_major * extent;
    }
    if (!is_zero(wrong))
      refuse_if(
          call(kBoolType, "if_then_else", {is_null, bool_imm(false), wrong}),
          raise_error("ValueError",
                      fmt::format("{}: argument {} is not compact in row-major order", name_, name), {}));
  }

  void require_aligned(const std::string& name, const PrimExpr& address, int64_t alignment) {
    if (alignment > 1)
      refuse_if(not_equal(call(kInt64, "bitwise_and", {address, imm(alignment - 1, kInt64)}), imm(0, kInt64)),
                raise_error("ValueError",
                            fmt::format("{}: the data of argument {} is not aligned to {} bytes", name_, name,
                                        alignment),
                            {}));
  }

  PrimExpr data_pointer(const std::string& name, const Buffer& buffer, const Var& tensor) {
    const Var address =
        let(name + "_address", peek_address(tensor, abi_.data()) + peek(kInt64, tensor, abi_.byte_offset()));
    const int64_t alignment = std::max<int64_t>(place_.least_alignment, buffer->dtype.element().num_bytes());
    require_aligned(name, address, alignment);
    PrimExpr count = imm(1, kInt64);
    for (const PrimExpr& extent : buffer->shape) count = count * tir::cast(kInt64, extent);
    if (!is_zero(count))
      refuse_if(
          logical_and(equal(address, imm(0, kInt64)), not_equal(count, imm(0, kInt64))),
          raise_error("ValueError", fmt::format("{}: the data of argument {} is null", name_, name), {}));
    return call(kHandle, "reinterpret", {address});
  }

  // ---- scalars
  void scalar(size_t n, const Var& param) {
    const std::string name = param_name(n);
    const int64_t slot = static_cast<int64_t>(n) * static_cast<int64_t>(sizeof(TilewrightAny));
    const Var code = let(name + "_code", peek(kInt32, args_, slot));
    const PrimExpr is_int = logical_or(equal(code, imm(kTilewrightInt)), equal(code, imm(kTilewrightBool)));
    const PrimExpr as_int = peek(kInt64, args_, slot + 8);
    const DataType dtype = param->dtype;
    if (dtype.is_handle()) {
      require_aligned(name, peek_address(args_, slot + 8), place_.least_alignment);
      bind(param, peek(kHandle, args_, slot + 8));
    } else if (dtype.is_float()) {
      const PrimExpr is_float = equal(code, imm(kTilewrightFloat));
      refuse_if(logical_not(logical_or(is_int, is_float)),
                raise_error("TypeError", fmt::format("{}: argument {} is not a number", name_, name), {}));
      const DataType wide = DataType::float_(64);
      bind(param, tir::cast(dtype, call(wide, "if_then_else",
                                        {is_float, peek(wide, args_, slot + 8), tir::cast(wide, as_int)})));
    } else {
      refuse_if(logical_not(is_int),
                raise_error("TypeError", fmt::format("{}: argument {} is not an integer", name_, name), {}));
      check_range(name, dtype, as_int);
      bind(param, dtype.is_bool() ? not_equal(as_int, imm(0, kInt64)) : tir::cast(dtype, as_int));
    }
  }

  // Checks that the dtype can represent the number.
  void check_range(const std::string& name, DataType dtype, const PrimExpr& given) {
    const bool is_signed = dtype.is_int(), is_unsigned = dtype.is_uint();
    if (!is_unsigned && (!is_signed || dtype.bits >= 64)) return;
    const int64_t first = is_signed ? -(int64_t{1} << (dtype.bits - 1)) : 0;
    PrimExpr outside = given < imm(first, kInt64);
    std::string range = "not negative";
    if (dtype.bits < 64) {
      const int64_t last = (int64_t{1} << (is_signed ? dtype.bits - 1 : dtype.bits)) - 1;
      outside = logical_or(outside, given > imm(last, kInt64));
      range = fmt::format("from {} to {}", first, last);
    }
    refuse_if(outside, raise_error("ValueError",
                                   fmt::format("{}: argument {} is %lld, but {} is {}", name_, name,
                                               dtype.str(), range),
                                   {given}));
  }

  void bind(const Var& var, PrimExpr value) {
    if (!bound_.insert(var.get()).second) return;
    let(var, tir::cast(var->dtype, std::move(value)));
  }

  void check_derived() {
    for (const Derived& dim : derived_) {
      const PrimExpr expected = tir::cast(kInt64, dim.expected);
      refuse_if(not_equal(dim.actual, expected),
                raise_error("ValueError",
                            fmt::format("{}: dimension {} of argument {} is %lld, expected {} = %lld", name_,
                                        dim.axis, dim.name, escaped(expr_text(dim.expected))),
                            {dim.actual, expected}));
    }
  }

  struct Derived {
    std::string name;
    size_t axis;
    PrimExpr actual, expected;
  };

  std::string name_;
  const PrimFunc& func_;
  const KernelAbi& abi_;
  const TensorPlace& place_;
  Var self_ = make_var("self", kHandle), args_ = make_var("args", kHandle),
      num_args_ = make_var("num_args", kInt32), result_ = make_var("result", kHandle);
  std::vector<std::function<Stmt(Stmt)>> steps_;
  std::unordered_set<const VarNode*> bound_;
  std::vector<Derived> derived_;
};

}  // namespace

PrimFunc make_entry(const std::string& name, const PrimFunc& func, const GlobalVar& compute,
                    const std::vector<Var>& scalars, const KernelAbi& abi, const TensorPlace& place) {
  return Entry(name, func, abi, place).make(compute, scalars);
}

}  // namespace tilewright::lower

#include "tilewright/relax/fold/evaluate_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "tilewright/runtime/thread_pool.h"
#include "tilewright/tir/builder.h"

namespace tilewright::relax {
namespace {
using namespace tir;

const DataType kFloat64 = DataType::float_(64);

// coefficients of the loops, outermost first, then the constant
using Affine = std::vector<int64_t>;

// One access: the position of its elements as an affine function of the loops.
struct Access {
  char* data = nullptr;
  DataType dtype;
  Affine element;            // row-major position in the tensor
  int64_t num_elements = 0;  // of the tensor
};

// An expression, evaluated for a row of the innermost loop at a time.
struct Term {
  enum class Op { kLoad, kConstant, kAdd, kSub, kMul, kDiv, kSqrt, kCast };
  Op op = Op::kConstant;
  bool is_float32 = true;  // rounded to float32, else float64
  double constant = 0;
  size_t access = 0;
  std::vector<Term> operands;
};

constexpr int64_t kMostIterations = int64_t{1} << 34;  // more than any tensor has elements

// The number of executions of the innermost statement; more than kMostIterations if that is too many.
int64_t num_iterations_of(const std::vector<int64_t>& extents) {
  int64_t count = 1;
  if (std::any_of(extents.begin(), extents.end(), [](int64_t extent) { return extent <= 0; })) return 0;
  for (int64_t extent : extents) {
    if (extent > kMostIterations / count) return kMostIterations + 1;
    count *= extent;
  }
  return count;
}

class RowProgram {
 public:
  RowProgram(const PrimFunc& func, std::span<const runtime::Tensor> args) {
    for (size_t n = 0; n < args.size() && n < func->buffers.size(); ++n) {
      if (func->buffers[n]) tensors_[func->buffers[n].get()] = args[n];
    }
    if (!args.empty() && args.size() == func->buffers.size()) output_ = func->buffers.back().get();
  }

  // True if the program has the form that evaluate_rows accepts.
  bool understand(const PrimFunc& func);
  void run();

 private:
  bool understand_block(const BlockRealizeNode* realize);
  std::optional<Affine> affine(const PrimExpr& expr) const;
  std::optional<size_t> access(const Buffer& buffer, const std::vector<PrimExpr>& indices);
  bool is_inside(const Affine& index, int64_t extent) const;
  std::optional<Term> term(const PrimExpr& expr);
  int64_t offset(size_t access) const;
  int64_t step(size_t access) const { return accesses_[access].element[extents_.size() - 1]; }
  void remove_loop(size_t loop);
  void join_loops();
  void order_loops();
  bool has_own_elements() const;
  void run_parts(int64_t begin, int64_t end, int64_t num_rows, int64_t part);
  void copy_row();
  bool is_single(const Term& term) const;
  template <class Number>
  void store_row(std::vector<std::vector<Number>>& rows);
  template <class Number>
  void compute_row(const Term& term, size_t depth, std::vector<std::vector<Number>>& rows);
  template <class Number>
  void load_row(const Access& access, int64_t at, int64_t step, std::vector<Number>& row) const;

  std::unordered_map<const Object*, runtime::Tensor> tensors_;
  const Object* output_ = nullptr;                    // the buffer that is stored to
  std::unordered_map<const Object*, Affine> values_;  // of loop variables and block axes
  std::vector<int64_t> extents_;
  std::vector<int64_t> position_;  // of the outer loops
  struct {
    int64_t begin = 0, count = 0;
  } row_;  // the part of the innermost loop that is computed
  std::vector<Access> accesses_;
  size_t target_ = 0;
  Term value_;
  // values of terms by depth in value_; float32 if all terms are
  std::vector<std::vector<float>> singles_;
  std::vector<std::vector<double>> doubles_;
};

bool RowProgram::understand(const PrimFunc& func) {
  const auto* root = func->body.as<BlockRealizeNode>();
  if (!root || !root->block->iter_vars.empty() || !root->block->alloc_buffers.empty()) return false;
  std::vector<const tir::VarNode*> loops;
  Stmt body = root->block->body;
  while (const auto* loop = body.as<ForNode>()) {
    int64_t extent;
    if (!is_zero(loop->min) || !as_const_int(loop->extent, &extent)) return false;
    loops.push_back(loop->loop_var.get());
    extents_.push_back(extent);
    body = loop->body;
  }
  if (loops.empty()) extents_.push_back(1);
  for (size_t n = 0; n < loops.size(); ++n) {
    Affine& value = values_[loops[n]];
    value.assign(extents_.size() + 1, 0);
    value[n] = 1;
  }
  const auto* realize = body.as<BlockRealizeNode>();
  return realize && num_iterations_of(extents_) <= kMostIterations && understand_block(realize);
}

bool RowProgram::understand_block(const BlockRealizeNode* realize) {
  const BlockNode* block = realize->block.get();
  const auto* store = block->body.as<BufferStoreNode>();
  if (!is_one(realize->predicate) || block->init || !block->alloc_buffers.empty() ||
      !block->match_buffers.empty() || !store || store->predicate)
    return false;
  for (size_t n = 0; n < block->iter_vars.size(); ++n) {
    std::optional<Affine> value = affine(realize->iter_values[n]);
    if (!value) return false;
    values_[block->iter_vars[n]->var.get()] = *value;
  }
  if (store->buffer.get() != output_) return false;
  const std::optional<size_t> target = access(store->buffer, store->indices);
  std::optional<Term> value = target ? term(store->value) : std::nullopt;
  if (!value) return false;
  target_ = *target;
  value_ = std::move(*value);
  const DataType dtype = accesses_[target_].dtype;
  if (value_.op == Term::Op::kLoad) return accesses_[value_.access].dtype == dtype;
  return dtype == kFloat32 || dtype == kFloat64;
}

std::optional<Affine> RowProgram::affine(const PrimExpr& expr) const {
  if (const auto* cast = expr.as<CastNode>())
    return cast->dtype.is_integral() && cast->value->dtype.is_integral() ? affine(cast->value) : std::nullopt;
  if (auto known = values_.find(expr.get()); known != values_.end()) return known->second;
  Affine result(extents_.size() + 1, 0);
  if (as_const_int(expr, &result.back())) return result;
  const auto* operation = expr.as<BinaryOpNode>();
  if (!operation || !(is<AddNode>(expr) || is<SubNode>(expr) || is<MulNode>(expr))) return std::nullopt;
  const std::optional<Affine> a = affine(operation->a), b = affine(operation->b);
  int64_t factor;
  if (!a || !b || (is<MulNode>(expr) && !as_const_int(operation->b, &factor))) return std::nullopt;
  for (size_t n = 0; n < result.size(); ++n)
    result[n] = is<MulNode>(expr)   ? (*a)[n] * factor
                : is<AddNode>(expr) ? (*a)[n] + (*b)[n]
                                    : (*a)[n] - (*b)[n];
  return result;
}

bool RowProgram::is_inside(const Affine& index, int64_t extent) const {
  int64_t least = index.back(), most = index.back();
  for (size_t n = 0; n < extents_.size(); ++n)
    (index[n] < 0 ? least : most) += index[n] * std::max<int64_t>(extents_[n] - 1, 0);
  return least >= 0 && most < extent;
}

std::optional<size_t> RowProgram::access(const Buffer& buffer, const std::vector<PrimExpr>& indices) {
  auto found = tensors_.find(buffer.get());
  if (found == tensors_.end() || !buffer->strides.empty() || !buffer->axis_separators.empty() ||
      (buffer->elem_offset && !is_zero(buffer->elem_offset)))
    return std::nullopt;
  const runtime::Tensor& tensor = found->second;
  if (static_cast<size_t>(tensor.ndim()) != indices.size() || buffer->dtype != tensor.dtype() ||
      buffer->dtype.bits % 8 != 0)
    return std::nullopt;
  Access result{tensor.data_as<char>(), buffer->dtype, Affine(extents_.size() + 1, 0), tensor.num_elements()};
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    const std::optional<Affine> index = affine(indices[axis]);
    const int64_t extent = tensor.shape()[axis];
    if (!index || !is_inside(*index, extent)) return std::nullopt;
    for (size_t n = 0; n < index->size(); ++n) result.element[n] = result.element[n] * extent + (*index)[n];
  }
  accesses_.push_back(std::move(result));
  return accesses_.size() - 1;
}

std::optional<Term> RowProgram::term(const PrimExpr& expr) {
  Term result;
  if (const auto* load = expr.as<BufferLoadNode>()) {
    // rows are loaded as a whole before they are stored; a program that reads its output would need its
    // elements one by one
    if (load->predicate || load->buffer.get() == output_) return std::nullopt;
    const std::optional<size_t> at = access(load->buffer, load->indices);
    if (!at) return std::nullopt;
    result.op = Term::Op::kLoad;
    result.access = *at;
    return result;
  }
  if (expr->dtype != kFloat32 && expr->dtype != kFloat64) return std::nullopt;
  result.is_float32 = expr->dtype == kFloat32;
  std::vector<PrimExpr> operands;
  if (const auto* number = expr.as<FloatImmNode>()) {
    result.constant = result.is_float32 ? static_cast<float>(number->value) : number->value;
  } else if (const auto* operation = expr.as<BinaryOpNode>()) {
    using Op = Term::Op;
    if (is<AddNode>(expr))
      result.op = Op::kAdd;
    else if (is<SubNode>(expr))
      result.op = Op::kSub;
    else if (is<MulNode>(expr))
      result.op = Op::kMul;
    else if (is<DivNode>(expr))
      result.op = Op::kDiv;
    else
      return std::nullopt;
    operands = {operation->a, operation->b};
  } else if (const auto* cast = expr.as<CastNode>()) {
    result.op = Term::Op::kCast;
    operands = {cast->value};
  } else if (const auto* call = expr.as<tir::CallNode>()) {
    const auto* op = call->op.as<OpNode>();
    if (!op || op->name != "tir.sqrt") return std::nullopt;
    result.op = Term::Op::kSqrt;
    operands = call->args;
  } else {
    return std::nullopt;
  }
  // small integers are read as float64 and may only be cast to floats
  auto may_stand = [&](const PrimExpr& operand) {
    const DataType dtype = operand->dtype;
    return dtype == kFloat32 || dtype == kFloat64 ||
           (result.op == Term::Op::kCast && is<BufferLoadNode>(operand) &&
            (dtype == kInt32 || dtype == DataType::int_(8) || dtype == DataType::uint(8)));
  };
  for (const PrimExpr& operand : operands) {
    std::optional<Term> part = may_stand(operand) ? term(operand) : std::nullopt;
    if (!part) return std::nullopt;
    result.operands.push_back(std::move(*part));
  }
  return result;
}

int64_t RowProgram::offset(size_t access) const {
  const Affine& element = accesses_[access].element;
  int64_t result = element.back() + element[position_.size()] * row_.begin;
  for (size_t n = 0; n < position_.size(); ++n) result += element[n] * position_[n];
  return result;
}

template <class Number>
void RowProgram::load_row(const Access& access, int64_t at, int64_t step, std::vector<Number>& row) const {
  auto fill = [&]<class T>(const T*) {
    const T* data = reinterpret_cast<const T*>(access.data) + at;
    if (step == 0) return std::fill(row.begin(), row.end(), static_cast<Number>(*data));
    if (step == 1) {  // compilers vectorise this loop
      std::transform(data, data + row.size(), row.begin(),
                     [](T value) { return static_cast<Number>(value); });
      return;
    }
    for (size_t n = 0; n < row.size(); ++n)
      row[n] = static_cast<Number>(data[static_cast<int64_t>(n) * step]);
  };
  const DataType dtype = access.dtype;
  if (dtype == kFloat32) return fill(static_cast<const float*>(nullptr));
  if (dtype == kFloat64) return fill(static_cast<const double*>(nullptr));
  if (dtype == kInt32) return fill(static_cast<const int32_t*>(nullptr));
  if (dtype == DataType::int_(8)) return fill(static_cast<const int8_t*>(nullptr));
  fill(static_cast<const uint8_t*>(nullptr));
}

// True if float32 can hold all terms: integers become floats by one rounding in any case.
bool RowProgram::is_single(const Term& term) const {
  if (term.op == Term::Op::kLoad) return accesses_[term.access].dtype != kFloat64;
  return term.is_float32 && std::all_of(term.operands.begin(), term.operands.end(),
                                        [&](const Term& operand) { return is_single(operand); });
}

// Evaluates `term` into rows[depth].  Sums, products, quotients and square roots of float32 values are
// computed in double precisely enough that rounding gives the float32 result.  Source: Figueroa, "When is
// double rounding innocuous?", SIGNUM 30(3), 1995
template <class Number>
void RowProgram::compute_row(const Term& term, size_t depth, std::vector<std::vector<Number>>& rows) {
  using Op = Term::Op;
  if (rows.size() < depth + 2) rows.resize(depth + 2, std::vector<Number>(static_cast<size_t>(row_.count)));
  for (size_t n = 0; n < term.operands.size(); ++n) compute_row(term.operands[n], depth + n, rows);
  std::vector<Number>& row = rows[depth];
  const std::vector<Number>& other = rows[depth + 1];
  switch (term.op) {
    case Op::kLoad: return load_row(accesses_[term.access], offset(term.access), step(term.access), row);
    case Op::kConstant: row.assign(row.size(), static_cast<Number>(term.constant)); return;
    case Op::kAdd:
      for (size_t n = 0; n < row.size(); ++n) row[n] += other[n];
      break;
    case Op::kSub:
      for (size_t n = 0; n < row.size(); ++n) row[n] -= other[n];
      break;
    case Op::kMul:
      for (size_t n = 0; n < row.size(); ++n) row[n] *= other[n];
      break;
    case Op::kDiv:
      for (size_t n = 0; n < row.size(); ++n) row[n] /= other[n];
      break;
    case Op::kSqrt:
      for (Number& value : row) value = std::sqrt(value);
      break;
    case Op::kCast: break;
  }
  if (term.is_float32) {
    for (Number& value : row) value = static_cast<Number>(static_cast<float>(value));
  }
}

void RowProgram::remove_loop(size_t loop) {
  const auto at = static_cast<std::ptrdiff_t>(loop);
  extents_.erase(extents_.begin() + at);
  for (Access& access : accesses_) access.element.erase(access.element.begin() + at);
}

// Joins two loops if every access walks its tensor as one loop would, and drops loops of one iteration, so
// that rows become long (weights [1024, 256, 1, 1] times scales [1024, 1, 1, 1]: rows of 256, not of 1).
void RowProgram::join_loops() {
  for (size_t n = extents_.size(); n-- > 0 && extents_.size() > 1;) {
    if (extents_[n] == 1) remove_loop(n);
  }
  for (size_t n = extents_.size() - 1; n-- > 0;) {
    const bool is_one_walk = std::all_of(accesses_.begin(), accesses_.end(), [&](const Access& access) {
      return access.element[n] == access.element[n + 1] * extents_[n + 1];
    });
    if (!is_one_walk) continue;
    extents_[n + 1] *= extents_[n];
    remove_loop(n);
  }
}

// True if every iteration stores a different element, so that iterations may run in any order.
bool RowProgram::has_own_elements() const {
  int64_t inner = 1;
  for (size_t n = extents_.size(); n-- > 0;) {
    if (accesses_[target_].element[n] != inner) return false;
    inner *= extents_[n];
  }
  return true;
}

// Orders the loops around the rows by their stride in memory, so that neighbouring
// elements are read in sequence.
void RowProgram::order_loops() {
  const std::vector<int64_t> extents = extents_;
  const Affine& steps = accesses_[value_.access].element;
  std::vector<size_t> order(extents.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end() - 1,
            [steps = steps](size_t a, size_t b) { return std::pair(steps[b], a) < std::pair(steps[a], b); });
  for (size_t n = 0; n < order.size(); ++n) extents_[n] = extents[order[n]];
  for (Access& access : accesses_) {
    const Affine element = access.element;
    for (size_t n = 0; n < order.size(); ++n) access.element[n] = element[order[n]];
  }
}

void RowProgram::copy_row() {
  const Access &to = accesses_[target_], &from = accesses_[value_.access];
  const int64_t bytes = to.dtype.num_bytes(), to_step = step(target_), from_step = step(value_.access);
  char* target = to.data + offset(target_) * bytes;
  const char* source = from.data + offset(value_.access) * bytes;
  auto copy = [&]<int64_t kBytes>() {
    for (int64_t n = 0; n < row_.count; ++n)
      std::memcpy(target + n * to_step * kBytes, source + n * from_step * kBytes, kBytes);
  };
  switch (bytes) {
    case 1: return copy.operator()<1>();
    case 2: return copy.operator()<2>();
    case 4: return copy.operator()<4>();
    case 8: return copy.operator()<8>();
    default:
      for (int64_t n = 0; n < row_.count; ++n)
        std::memcpy(target + n * to_step * bytes, source + n * from_step * bytes, static_cast<size_t>(bytes));
  }
}

template <class Number>
void RowProgram::store_row(std::vector<std::vector<Number>>& rows) {
  const Access& to = accesses_[target_];
  const auto store = [&]<class T>(T* data) {
    const int64_t step = this->step(target_);
    if (step == 1) {
      std::transform(rows[0].begin(), rows[0].end(), data,
                     [](Number value) { return static_cast<T>(value); });
      return;
    }
    for (size_t n = 0; n < rows[0].size(); ++n)
      data[static_cast<int64_t>(n) * step] = static_cast<T>(rows[0][n]);
  };
  if (to.dtype == kFloat32)
    store(reinterpret_cast<float*>(to.data) + offset(target_));
  else
    store(reinterpret_cast<double*>(to.data) + offset(target_));
}

// Runs parts of rows from `begin` to `end` - 1: the first part of all rows comes before the second of any.
void RowProgram::run_parts(int64_t begin, int64_t end, int64_t num_rows, int64_t part) {
  position_.assign(extents_.size() - 1, 0);
  const auto compute = [&](auto& rows) {
    compute_row(value_, 0, rows);
    store_row(rows);
  };
  const bool is_copy = value_.op == Term::Op::kLoad, are_single = is_single(value_);
  for (int64_t n = begin; n < end; ++n) {
    int64_t rest = n % num_rows;
    for (size_t loop = position_.size(); loop-- > 0;) {
      position_[loop] = rest % extents_[loop];
      rest /= extents_[loop];
    }
    const int64_t first = n / num_rows * part, count = std::min(part, extents_.back() - first);
    if (count != row_.count) singles_.clear(), doubles_.clear();
    row_ = {first, count};
    if (is_copy)
      copy_row();
    else if (are_single)
      compute(singles_);
    else
      compute(doubles_);
  }
}

void RowProgram::run() {
  constexpr int64_t kPart = 512;             // elements that stay in L1
  constexpr int64_t kMinParallel = 1 << 16;  // elements
  const int64_t num_iterations = num_iterations_of(extents_);
  if (num_iterations > 0) join_loops();
  const bool has_any_order = num_iterations > 0 && has_own_elements();
  // all elements are stored anyway: without memset all threads touch the pages first, not one before
  if (const Access& target = accesses_[target_]; !has_any_order || num_iterations != target.num_elements)
    std::memset(target.data, 0, static_cast<size_t>(target.num_elements * target.dtype.num_bytes()));
  if (num_iterations == 0) return;
  int64_t num_rows = 1;
  if (has_any_order && value_.op == Term::Op::kLoad) order_loops();
  for (size_t n = 0; n + 1 < extents_.size(); ++n) num_rows *= extents_[n];
  const int64_t part = has_any_order ? std::min(kPart, extents_.back()) : extents_.back();
  const int64_t num_parts = ((extents_.back() - 1) / part + 1) * num_rows;
  if (!has_any_order || num_parts * part < kMinParallel) return run_parts(0, num_parts, num_rows, part);
  runtime::parallel_for(num_parts, kMinParallel / part, [&](int64_t begin, int64_t end) {
    RowProgram own = *this;
    own.run_parts(begin, end, num_rows, part);
  });
}

}  // namespace

bool evaluate_rows(const PrimFunc& func, std::span<const runtime::Tensor> args) {
  RowProgram program(func, args);
  if (!program.understand(func)) return false;
  program.run();
  return true;
}

}  // namespace tilewright::relax

// Kernels as functions: threads, shared memory, statements.
#include "tilewright/codegen/device/printer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/surroundings.h"
#include "tilewright/support/error.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/pointer_use.h"
#include "tilewright/tir/text.h"

namespace tilewright::codegen {
namespace {

// Iterations of a loop that indexes arrays of a thread: if it is written out, they can be registers.
constexpr int64_t kMostUnrolled = 16, kMostUnrolledInnermost = 64;

// 0 for x, 1 for y, 2 for z; -1 for tags that kernels do not have
int axis_of(std::string_view tag) {
  const bool is_known = tag.starts_with("blockIdx.") || tag.starts_with("threadIdx.");
  return is_known && tag.back() >= 'x' && tag.back() <= 'z' ? tag.back() - 'x' : -1;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  lines.push_back(text.substr(begin));
  return lines;
}

std::string wrapped_lines(const std::string& text) {
  std::string result;
  for (const std::string& each : split_lines(text)) result += wrapped(each);
  return result;
}

bool uses(const PrimExpr& expr, const VarNode* var) {
  bool found = false;
  walk(expr, [&](const VarNode* each) { found |= each == var; });
  return found;
}

// A number of blocks, without the cast to the dtype of the loop.
std::string blocks_text(const PrimExpr& extent) {
  const auto* cast = extent.as<CastNode>();
  return expr_text(cast ? cast->value : extent);
}

}  // namespace

LaunchShape launch_shape(const PrimFuncNode* func) {
  LaunchShape shape;
  walk(func->body, [&](const ForNode* loop) {
    if (loop->for_kind != ForKind::kThreadBinding) return;
    const int axis = axis_of(loop->thread_tag);
    if (axis < 0)
      throw InternalError("loop {} over {} was not lowered before code generation", loop->loop_var->name_hint,
                          loop->thread_tag);
    if (loop->thread_tag.starts_with("blockIdx")) {
      shape.grid[axis] = loop->extent;
    } else if (!as_const_int(loop->extent, &shape.block[axis])) {
      throw InternalError("the extent of loop {} over {} is {}, no constant", loop->loop_var->name_hint,
                          loop->thread_tag, expr_text(loop->extent));
    }
  });
  return shape;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto is_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_of_name(text[at - 1])) && (end == text.size() || !is_of_name(text[end]))) return true;
  }
  return false;
}

DevicePrinter::DevicePrinter(DeviceUnit& unit, const DeviceKernel& kernel, const Spelling& spelling,
                             std::string_view language, std::set<std::string, std::less<>> reserved)
    : SourcePrinter(kernel.func, Names(std::move(reserved))),
      unit_(unit),
      kernel_(kernel),
      spelling_(spelling),
      language_(language),
      shape_(launch_shape(kernel.func)) {
  walk(func_->body,
       [&](const AllocBufferNode* node) { scopes_[node->buffer->data.get()] = node->buffer->scope(); });
}

std::string DevicePrinter::scope_of(const VarNode* data) const {
  const auto found = scopes_.find(data);
  return found == scopes_.end() ? "global" : found->second;
}

std::string DevicePrinter::type_name(DataType dtype) const {
  if (dtype.is_scalar()) return spelling_.type(dtype);
  std::string name = vector_name(dtype);
  if (name.empty()) throw Unsupported("{} has no vectors of dtype {}", language_, dtype.str());
  return name;
}

std::string DevicePrinter::memory_type_name(DataType dtype) const {
  const bool shares_bytes = dtype.is_integral() && dtype.bits < 8;
  return spelling_.type(dtype.is_bool() || shares_bytes ? DataType::uint(8) : dtype);
}

// ---- the function

// "3 x 5 blocks of 8 x 8 threads"
std::string DevicePrinter::comment() const {
  std::string grid = "1", block = std::to_string(shape_.block[0]);
  if (shape_.grid[0]) grid = blocks_text(shape_.grid[0]);
  for (int axis = 1; axis < 3; ++axis) {
    const bool is_last = axis == 2 || (!shape_.grid[2] && shape_.block[2] == 1);
    if (shape_.grid[axis] || (!is_last && shape_.grid[2]))
      grid += " x " + (shape_.grid[axis] ? blocks_text(shape_.grid[axis]) : "1");
    if (shape_.block[axis] > 1 || (!is_last && shape_.block[2] > 1))
      block += " x " + std::to_string(shape_.block[axis]);
  }
  return fmt::format("// {}: {} {} of {} threads\n", kernel_.function, grid, grid == "1" ? "block" : "blocks",
                     block);
}

std::string DevicePrinter::print() {
  std::vector<std::string> params;
  for (size_t n = 0; n < func_->params.size(); ++n) {
    const VarNode* var = func_->params[n].get();
    const std::string name = names_.declare(var);
    params.push_back(param(var, name, n));
  }
  const std::string first = head(params);
  depth_ = 1;
  find_numbers();
  declare_shared();
  stmt(func_->body);
  std::string text = comment() + wrapped_lines(first);
  for (const std::string& each : lines_) text += wrapped(each);
  return text + "}\n";
}

// All languages can have shared memory at the beginning of a kernel, some of them only there.
void DevicePrinter::declare_shared() {
  std::unordered_set<const VarNode*> vectors;
  walk(
      func_->body,
      [&](const BufferLoadNode* node) {
        if (!node->dtype.is_scalar()) vectors.insert(node->buffer->data.get());
      },
      [&](const BufferStoreNode* node) {
        if (!node->value->dtype.is_scalar()) vectors.insert(node->buffer->data.get());
      });
  walk(func_->body, [&](const AllocBufferNode* node) {
    const Buffer& buffer = node->buffer;
    const std::string scope = buffer->scope();
    if (scope == "local") return;
    if (scope == "warp" || (scope != "shared" && scope != "shared.dyn"))
      throw Unsupported("buffer {} is in scope {}, but kernels have memory in scopes shared and local",
                        buffer->name, scope)
          .help("give set_scope or cache_read another scope");
    int64_t count = 0;
    if (buffer->shape.size() != 1 || !as_const_int(buffer->shape[0], &count))
      throw Unsupported("buffer {} in scope {} has no constant size", buffer->name, scope)
          .help("split loops so that a block needs a constant part of it");
    const VarNode* data = buffer->data.get();
    const std::string& name = names_.declare(data);
    const std::string type = memory_type_name(buffer->dtype);
    const bool is_aligned = vectors.count(data) != 0 || pointee(data) != buffer->dtype;
    count = std::max<int64_t>(count, 1);
    for (const std::string& each : split_lines(scope == "shared" ? shared_array(type, name, count, is_aligned)
                                                                 : dynamic_array(type, name, count)))
      line(each);
  });
}

void DevicePrinter::thread_loop(const ForNode* node) {
  const auto scope = analyzer_.enter();
  lower::learn_range(node, analyzer_);
  const VarNode* var = node->loop_var.get();
  if (is_used(var, 1)) {
    // a variable that lowering named after its axis, blockIdx.x or blockIdx_x, is "bx"
    std::string own = var->name_hint;
    std::replace(own.begin(), own.end(), '_', '.');
    const std::string axis{node->thread_tag[0], node->thread_tag.back()};
    const std::string name = names_.declare(own == node->thread_tag ? axis : var->name_hint);
    names_.set(var, name);
    line(fmt::format("const {} {} = {};", type_name(var->dtype), name, index_of(node->thread_tag)));
  }
  stmt(node->body);
}

// True if instructions get the address of vectors in the memory.
bool DevicePrinter::is_pointed_to(const VarNode* data) const {
  bool found = false;
  walk(func_->body, [&](const CallNode* node) {
    for (size_t n = 0; n < node->args.size(); ++n) {
      const BufferLoadNode* load = pointed_to(node->args[n]);
      found |= load && !load->dtype.is_scalar() && load->buffer->data.get() == data;
    }
  });
  return found;
}

// Arrays of a thread that have one element, and are not used as pointers, are variables.
void DevicePrinter::find_numbers() {
  walk(func_->body, [&](const AllocBufferNode* node) {
    int64_t count = 0;
    const Buffer& buffer = node->buffer;
    if (buffer->scope() == "local" && buffer->shape.size() == 1 && as_const_int(buffer->shape[0], &count) &&
        count == 1)
      numbers_.insert(buffer->data.get());
  });
  const auto look = [&](const Buffer& buffer, const std::vector<PrimExpr>& indices) {
    const VarNode* data = buffer->data.get();
    if (indices.size() != 1 || !is_zero(indices[0]) || pointee(data) != buffer->dtype) numbers_.erase(data);
  };
  walk(
      func_->body, [&](const BufferLoadNode* each) { look(each->buffer, each->indices); },
      [&](const BufferStoreNode* each) { look(each->buffer, each->indices); },
      [&](const DeclBufferNode* each) { numbers_.erase(each->buffer->data.get()); },
      [&](const LetStmtNode* let) { numbers_.erase(let->value.as<VarNode>()); },
      [&](const CallNode* call) {
        const bool is_address = is_call_of(call, "tir.address_of");
        for (const PrimExpr& arg : call->args) {
          numbers_.erase(arg.as<VarNode>());
          const auto* load = arg.as<BufferLoadNode>();
          if (load && is_address) numbers_.erase(load->buffer->data.get());
        }
      });
}

std::string DevicePrinter::element(const Buffer& buffer, const std::vector<PrimExpr>& indices) {
  const VarNode* data = buffer->data.get();
  return numbers_.count(data) ? names_.of(data) : SourcePrinter::element(buffer, indices);
}

std::string DevicePrinter::loop_name(const ForNode* node) const {
  const std::string& name = node->loop_var->name_hint;
  return name.find("_fused") == std::string::npos ? name : "i";
}

// "float x = 0.0f;" where that is the first thing that is done.
void DevicePrinter::define_number(const AllocBufferNode* node) {
  const VarNode* data = node->buffer->data.get();
  const auto* list = node->body.as<SeqStmtNode>();
  const auto* first = (list ? list->seq[0] : node->body).as<BufferStoreNode>();
  bool is_defined = first && first->buffer->data.get() == data && !first->predicate;
  walk(is_defined ? first->value : PrimExpr(),
       [&](const BufferLoadNode* load) { is_defined &= load->buffer->data.get() != data; });
  const std::string value = is_defined ? " = " + text(first->value) : "";
  line(fmt::format("{} {}{};", memory_type_name(node->buffer->dtype), names_.declare(data), value));
  if (!is_defined) return stmt(node->body);
  for (size_t n = 1; list && n < list->seq.size(); ++n) stmt(list->seq[n]);
}

void DevicePrinter::alloc(const AllocBufferNode* node) {
  const Buffer& buffer = node->buffer;
  if (numbers_.count(buffer->data.get())) return define_number(node);
  if (scope_of(buffer->data.get()) == "local") {
    int64_t count = 0;
    if (buffer->shape.size() != 1 || !as_const_int(buffer->shape[0], &count))
      throw Unsupported("buffer {} in scope local has no constant size", buffer->name)
          .help("split loops so that a thread needs a constant part of it");
    const std::string prefix = is_pointed_to(buffer->data.get()) ? alignment(16) : "";
    line(fmt::format("{}{} {}[{}];", prefix, memory_type_name(buffer->dtype),
                     names_.declare(buffer->data.get()), std::max<int64_t>(count, 1)));
  }
  stmt(node->body);
}

// Arrays of a thread can be registers only if each index is a constant.
std::string DevicePrinter::loop_hint(const ForNode* node) {
  int64_t extent = 0;
  if (!as_const_int(node->extent, &extent) || extent < 2) return "";
  const bool is_asked =
      node->for_kind == ForKind::kUnrolled || node->annotations.get_bool("pragma_unroll", false);
  bool indexes_registers = false, is_innermost = true;
  const auto look = [&](const Buffer& buffer, const std::vector<PrimExpr>& indices) {
    indexes_registers |= scope_of(buffer->data.get()) == "local" && uses(indices[0], node->loop_var.get());
  };
  walk(
      node->body, [&](const BufferLoadNode* each) { look(each->buffer, each->indices); },
      [&](const BufferStoreNode* each) { look(each->buffer, each->indices); },
      [&](const ForNode*) { is_innermost = false; });
  indexes_registers &= extent <= (is_innermost ? kMostUnrolledInnermost : kMostUnrolled);
  return is_asked || indexes_registers ? "#pragma unroll" : "";
}

void DevicePrinter::fail(std::string_view, std::string_view message) {
  throw Unsupported("a kernel cannot report an error: {}", message)
      .help("check it before the loops over blocks and threads");
}

// True if a thread may read what another one wrote to memory that is no array of the kernel.
bool DevicePrinter::exchanges_global_memory() const {
  bool found = false;
  walk(func_->body, [&](const BufferLoadNode* node) {
    const VarNode* data = node->buffer->data.get();
    found |= scope_of(data) == "global" && is_written(data);
  });
  return found;
}

Code DevicePrinter::sync(const CallNode* node) {
  const auto* scope = node->args.empty() ? nullptr : node->args[0].as<StringImmNode>();
  const std::string name = scope ? scope->value : "";
  if (name == "shared" || name == "shared.dyn") {
    line(block_barrier(exchanges_global_memory()));
  } else if (name == "warp") {
    line(warp_barrier(node));
  } else {
    throw Unsupported(node, "a barrier of scope {} is not supported in {}", name, language_)
        .help("end the kernel there: the next one sees what it wrote");
  }
  return {};
}

}  // namespace tilewright::codegen

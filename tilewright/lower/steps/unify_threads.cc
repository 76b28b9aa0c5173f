// Gives each kernel one loop for each axis, around everything else.
//   for i in T.thread_binding(8, "blockIdx.x"):          for bx in T.thread_binding(8, "blockIdx.x"):
//       for j in T.thread_binding(32, "threadIdx.x"):        for tx in T.thread_binding(32, "threadIdx.x"):
//           S[j] = A[i, j]                          ->           S[tx] = A[bx, tx]
//       for k in T.thread_binding(32, "threadIdx.x"):            B[bx, tx] = S[31 - tx]
//           B[i, k] = S[31 - k]
// A kernel is an outermost loop over blocks or threads.  What stands in none of the loops over an axis is done by all
// of its threads.  Buffers that one thread uses alone become registers.
#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/free_vars.h"
#include "tilewright/lower/common/join_sequences.h"
#include "tilewright/lower/common/thread_axes.h"
#include "tilewright/lower/step.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::lower {
namespace {

struct Axis {
  Var var = {};  // null: the kernel does not have it
  PrimExpr extent = {};
};
using Axes = std::array<Axis, kKernelAxes.size()>;

// Where the loop or T.launch_thread `where` begins.
void add(Axes& axes, size_t axis, const Var& var, const PrimExpr& extent, const ObjectRef& where) {
  const std::string_view tag = kKernelAxes[axis];
  if (is_thread_axis(tag) && !is<IntImmNode>(extent))
    throw UserError(where, "{} has {} iterations of {}, a number that is known only when the kernel runs",
                    var->name_hint, expr_text(extent), tag)
        .help("split the loop by the number of threads of a block, and bind the inner loop");
  Axis& known = axes[axis];
  if (known.var) return;
  std::string name(tag);
  std::replace(name.begin(), name.end(), '.', '_');
  known = {make_var(name), extent};  // devices count blocks and threads in 32 bits
}

Axes axes_of(const Stmt& kernel) {
  Axes axes;
  arith::Analyzer analyzer;
  ir::walk(
      kernel,
      [&](const ForNode* loop) {
        if (const auto axis = kernel_axis(loop))
          add(axes, *axis, loop->loop_var, analyzer.simplify(loop->extent), ObjectRef(loop));
      },
      [&](const AttrStmtNode* attr) {
        if (const IterVarNode* axis = launched_axis(attr))
          add(axes, *kernel_axis(axis->thread_tag), axis->var, analyzer.simplify(attr->value),
              ObjectRef(attr));
      });
  return axes;
}

// Buffers of scope global that a kernel allocates for one thread: inside of all loops over threads.
Stmt with_private_memory(const Stmt& kernel) {
  return rewrite(kernel, [&](auto& self, const AllocBufferNode* node) -> Stmt {
    if (node->buffer->scope() != "global") return self.children(node);
    if (has_kernel(node->body))
      throw UserError(node, "the threads of a block share buffer {}, which is in scope global",
                      node->buffer->name)
          .help("put it into scope shared: sch.set_scope(block, 0, \"shared\")");
    const Var data = pointer_var(node->buffer->data->name_hint, node->buffer->dtype, "local");
    const Buffer own = with(node->buffer, [&](BufferNode& changed) { changed.data = data; });
    self.replace_uses(node->buffer.get(), own);
    self.replace_uses(node->buffer->data.get(), data);
    return AllocBufferNode::make(own, node->annotations, self(node->body), node->span);
  });
}

Stmt without_inner_loops(const Stmt& kernel, const Axes& axes) {
  const auto replaced = [&](auto& self, size_t axis, const Var& var, const Stmt& body) {
    self.replace_uses(var.get(), tir::cast(var->dtype, axes[axis].var));
    return self(body);
  };
  return rewrite(
      kernel, join_sequences,
      [&](auto& self, const ForNode* loop) -> Stmt {
        const auto axis = kernel_axis(loop);
        return axis ? replaced(self, *axis, loop->loop_var, loop->body) : self.children(loop);
      },
      [&](auto& self, const AttrStmtNode* attr) -> Stmt {
        const IterVarNode* launched = launched_axis(attr);
        return launched ? replaced(self, *kernel_axis(launched->thread_tag), launched->var, attr->body)
                        : self.children(attr);
      });
}

// The variables of loops and lets of a kernel.
std::unordered_set<const Object*> defined_in(const Stmt& kernel) {
  std::unordered_set<const Object*> defined;
  ir::walk(
      kernel, [&](const ForNode* loop) { defined.insert(loop->loop_var.get()); },
      [&](const LetStmtNode* let) { defined.insert(let->var.get()); });
  return defined;
}

// The grid is computed before the kernel runs.
void require_known_before(const Axes& axes, const Stmt& kernel) {
  const std::unordered_set<const Object*> defined = defined_in(kernel);
  for (size_t n = 0; n < axes.size(); ++n) {
    if (!axes[n].var) continue;
    ir::walk(
        axes[n].extent,
        [&](const VarNode* var) {
          if (defined.count(var))
            throw UserError(
                kernel,
                "the number of iterations of {}, {}, depends on {}, which changes inside of the kernel",
                kKernelAxes[n], expr_text(axes[n].extent), var->name_hint)
                .help("bind a loop whose extent is the same for all blocks");
        },
        [&](const BufferLoadNode* load) {
          throw UserError(
              kernel, "the number of iterations of {}, {}, is read from {}, which is in the device's memory",
              kKernelAxes[n], expr_text(axes[n].extent), load->buffer->name)
              .help("bind a loop whose extent is given by shapes and numbers");
        });
  }
}

bool is_one_thread(const Axes& axes) {
  return std::ranges::all_of(axes, [](const Axis& axis) { return !axis.var || is_one(axis.extent); });
}

// Memory of scope global and open size that the only thread of a kernel allocates, taken out of it: registers have a
// constant number.
Stmt without_open_memory(const Stmt& kernel, std::vector<AllocBuffer>* taken) {
  const std::unordered_set<const Object*> defined = defined_in(kernel);
  const auto is_known_before = [&](const PrimExpr& extent) {
    bool is_known = true;
    ir::walk(
        extent, [&](const VarNode* var) { is_known &= !defined.contains(var); },
        [&](const BufferLoadNode*) { is_known = false; });
    return is_known;
  };
  return rewrite(kernel, [&](auto& self, const AllocBufferNode* node) -> Stmt {
    const std::vector<PrimExpr>& shape = node->buffer->shape;
    const bool is_open =
        std::ranges::any_of(shape, [](const PrimExpr& extent) { return !is<IntImmNode>(extent); });
    if (node->buffer->scope() != "global" || !is_open || !std::ranges::all_of(shape, is_known_before))
      return self.children(node);
    taken->push_back(AllocBuffer(node));
    return self(node->body);
  });
}

Stmt unified(const Stmt& whole) {
  const Axes axes = axes_of(whole);
  require_known_before(axes, whole);
  std::vector<AllocBuffer> outside;
  const Stmt kernel = is_one_thread(axes) ? without_open_memory(whole, &outside) : whole;
  Stmt stmt = without_inner_loops(with_private_memory(kernel), axes);
  for (size_t n = axes.size(); n-- > 0;) {
    const Axis& axis = axes[n];
    if (axis.var)
      stmt =
          ForNode::make(imm(0, axis.var->dtype), tir::cast(axis.var->dtype, axis.extent), axis.var,
                        ForKind::kThreadBinding, std::string(kKernelAxes[n]), AttrMap(), stmt, kernel->span);
  }
  for (const AllocBuffer& alloc : outside)
    stmt = AllocBufferNode::make(alloc->buffer, alloc->annotations, stmt, alloc->span);
  return stmt;
}

// A kernel of a function: its place among them, and the loop or T.launch_thread that it is.
struct Kernel {
  size_t number;
  ObjectRef stmt;

  std::string str() const {
    const auto* loop = stmt.as<ForNode>();
    const Var& var = loop ? loop->loop_var : launched_axis(stmt.as<AttrStmtNode>())->var;
    return fmt::format("{} of loop {}", number, var->name_hint);
  }
};

std::vector<Kernel> kernels_of(const PrimFunc& func) {
  std::vector<Kernel> found;
  const auto add = [&](bool is_kernel, const Object* node) {
    if (is_kernel) found.push_back({found.size(), ObjectRef(node)});
    return !is_kernel;
  };
  ir::walk(
      func, [&](const ForNode* loop) { return add(kernel_axis(loop).has_value(), loop); },
      [&](const AttrStmtNode* attr) { return add(launched_axis(attr) != nullptr, attr); });
  return found;
}

bool uses_memory(const Kernel& kernel, const Buffer& buffer) {
  bool found = false;
  ir::walk(
      kernel.stmt.get(), [&](const VarNode* var) { found |= var == buffer->data.get(); },
      [&](const BufferLoadNode* load) {
        found |= load->buffer->data == buffer->data;
        return true;
      },
      [&](const BufferStoreNode* store) {
        found |= store->buffer->data == buffer->data;
        return true;
      });
  return found;
}

// Registers and shared memory end with their kernel.
void require_one_kernel(const AllocBufferNode* node, const std::vector<Kernel>& kernels) {
  if (node->buffer->scope() == "global") return;
  std::vector<Kernel> users;
  std::ranges::copy_if(kernels, std::back_inserter(users),
                       [&](const Kernel& kernel) { return uses_memory(kernel, node->buffer); });
  if (users.size() < 2) return;
  throw UserError(node, "kernels {} and {} use buffer {}, which is in scope {} and ends with a kernel",
                  users[0].str(), users[1].str(), node->buffer->name, node->buffer->scope())
      .help(
          "put it into memory that outlives kernels, sch.set_scope(block, 0, \"global\"), or make one kernel "
          "of "
          "them");
}

PrimFunc unify_threads(const PrimFunc& func) {
  const std::vector<Kernel> kernels = kernels_of(func);
  return rewrite(
      func,
      [](auto& self, const ForNode* loop) -> Stmt {
        return kernel_axis(loop) ? unified(Stmt(loop)) : Stmt(self.children(loop));
      },
      [](auto& self, const AttrStmtNode* attr) -> Stmt {
        return launched_axis(attr) ? unified(Stmt(attr)) : Stmt(self.children(attr));
      },
      [&](auto& self, const AllocBufferNode* node) -> Stmt {
        require_one_kernel(node, kernels);
        return self.children(node);
      });
}

}  // namespace

extern constinit const StepInfo unify_threads_info = {
    .name = "unify_threads",
    .doc = "a kernel has one loop for each axis, around everything else",
    .without = kBlocks,
    .run = without_options<unify_threads>,
};

}  // namespace tilewright::lower

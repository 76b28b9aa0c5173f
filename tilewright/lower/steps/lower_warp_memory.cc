// Memory of a warp becomes registers of its lanes.
//   W = T.alloc_buffer((4, 32, 8), scope="warp")        W = T.alloc_buffer((4, 8), scope="local")
//   W[k, tx, n] = A[k, tx, n]                     ->    W[k, n] = A[k, tx, n]
//   B[k, tx, n] = W[k, 31 - tx, n]                      B[k, tx, n] = T.tvm_warp_shuffle(4294967295, W[k, n], 31 - tx, 32, 32)
// The lanes are threadIdx.x.  One dimension of the buffer, as long as a warp, is theirs: each lane writes its own place of
// it alone.  What it reads of another lane at a place that is the same for all of them is shuffled.
#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/surroundings.h"
#include "tilewright/lower/common/thread_axes.h"
#include "tilewright/lower/step.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/pointer_use.h"
#include "tilewright/tir/text.h"
#include "tilewright/tir/uses.h"

namespace tilewright::lower {
namespace {

constexpr std::string_view kLanes = "threadIdx.x";

struct Options {
  int64_t warp_size = 0;
  static constexpr auto fields() {
    return std::tuple{
        ir::field<&Options::warp_size>("warp_size", "threads that exchange registers; 0: none can")};
  }
};

struct Registers {
  Buffer buffer;    // of each lane
  size_t lane = 0;  // the dimension that is gone
};

std::vector<PrimExpr> without(std::vector<PrimExpr> items, size_t n) {
  items.erase(items.begin() + static_cast<ptrdiff_t>(n));
  return items;
}

class Distributor {
 public:
  explicit Distributor(int64_t warp_size) : warp_size_(warp_size) {}

  Stmt run(const Stmt& body) {
    return rewrite(
        body,
        [&](auto& self, const ForNode* loop) -> Stmt {
          const bool is_lanes = loop->thread_tag == kLanes && kernel_axis(loop);
          if (is_lanes) lanes_ = For(loop);
          For changed = rewrite_loop(self, loop, analyzer_);
          if (is_lanes) lanes_ = nullptr;
          return changed;
        },
        [&](auto& self, const AllocBufferNode* node) -> Stmt {
          if (node->buffer->scope() != "warp") return self.children(node);
          distribute(node);
          const Buffer own = registers_.at(node->buffer.get()).buffer;
          return AllocBufferNode::make(own, node->annotations, self(node->body), node->span);
        },
        [&](auto& self, const BufferStoreNode* node) -> Stmt {
          const BufferStore store = self.children(node);
          const Registers* found = find(node->buffer);
          if (!found) return store;
          require_own_lane(store->buffer, store->indices[found->lane], ObjectRef(node));
          return BufferStoreNode::make(found->buffer, store->value, without(store->indices, found->lane),
                                       store->predicate, store->span);
        },
        [&](auto& self, const CallNode* node) -> PrimExpr { return call(self, node); },
        [&](auto& self, const BufferLoadNode* node) -> PrimExpr {
          const BufferLoad load = self.children(node);
          const Registers* found = find(node->buffer);
          return found ? value_of(load, *found) : load;
        });
  }

 private:
  const Registers* find(const Buffer& buffer) const {
    const auto found = registers_.find(buffer.get());
    return found == registers_.end() ? nullptr : &found->second;
  }

  bool is_own_lane(const PrimExpr& index) {
    return index->dtype.is_scalar() &&
           analyzer_.can_prove_equal(index, tir::cast(index->dtype, lanes_->loop_var));
  }

  // What a call points to is its own.
  template <class Self>
  PrimExpr call(Self& self, const CallNode* node) {
    std::vector<PrimExpr> args;
    for (size_t n = 0; n < node->args.size(); ++n) {
      const BufferLoadNode* load = pointed_to(node->args[n]);
      const Registers* found = load ? find(load->buffer) : nullptr;
      if (!found) {
        args.push_back(self(node->args[n]));
        continue;
      }
      const std::vector<PrimExpr> indices = self(load->indices);
      require_own_lane(load->buffer, indices[found->lane], ObjectRef(load));
      args.push_back(tir::call(
          DataType::handle(), "tir.address_of",
          {BufferLoadNode::make(found->buffer, without(indices, found->lane), PrimExpr(), load->span)}));
    }
    return args == node->args ? PrimExpr(node)
                              : PrimExpr(CallNode::make(node->dtype, node->op, std::move(args),
                                                        node->annotations, node->span));
  }

  PrimExpr value_of(const BufferLoad& load, const Registers& registers) {
    const PrimExpr lane = load->indices[registers.lane];
    const BufferLoad own = BufferLoadNode::make(registers.buffer, without(load->indices, registers.lane),
                                                load->predicate, load->span);
    if (is_own_lane(lane)) return own;
    for (const PrimExpr& index : own->indices) {
      if (!index->dtype.is_scalar() || uses(index, lanes_->loop_var.get()))
        refuse(load->buffer, lane, ObjectRef(load));
    }
    return tir::call(own->dtype, "tvm_warp_shuffle",
                     {make_const_int(DataType::uint(32), int64_t{0xffffffff}), own, tir::cast(kInt32, lane),
                      imm(warp_size_), imm(warp_size_)});
  }

  void require_own_lane(const Buffer& buffer, const PrimExpr& lane, const ObjectRef& where) {
    if (!is_own_lane(lane)) refuse(buffer, lane, where);
  }
  [[noreturn]] void refuse(const Buffer& buffer, const PrimExpr& lane, const ObjectRef& where) {
    throw UserError(where,
                    "buffer {} is in scope warp, and a thread touches the part of lane {}, not its own",
                    buffer->name, expr_text(lane))
        .help("bind a loop of {} iterations to {} and let it be the lane", warp_size_, kLanes);
  }

  void distribute(const AllocBufferNode* node) {
    const Buffer& buffer = node->buffer;
    if (warp_size_ == 0)
      throw Unsupported(node, "buffer {} is in scope warp, and threads of this target have no warps",
                        buffer->name)
          .help("keep it in scope local or shared");
    if (!lanes_ || !is_const_int(lanes_->extent, warp_size_))
      throw UserError(node, "buffer {} is in scope warp, but its kernel has no {} threads along {}",
                      buffer->name, warp_size_, kLanes)
          .help("bind a loop of {} iterations to {}, and the warps of a block to threadIdx.y", warp_size_,
                kLanes);
    const size_t lane = lane_dimension(node);
    const Var data = pointer_var(buffer->data->name_hint, buffer->dtype, "local");
    registers_[buffer.get()] = {with(buffer,
                                     [&](BufferNode& changed) {
                                       changed.data = data;
                                       changed.shape = without(buffer->shape, lane);
                                       if (!buffer->strides.empty())
                                         changed.strides = without(buffer->strides, lane);
                                     }),
                                lane};
  }

  // The dimension as long as a warp in which what is written, and what calls point to, is at the thread's own place.
  size_t lane_dimension(const AllocBufferNode* node) {
    const Buffer& buffer = node->buffer;
    std::vector<const std::vector<PrimExpr>*> places;
    bool is_passed_on = false;
    ir::walk(
        node->body,
        [&](const BufferStoreNode* store) {
          if (store->buffer == buffer) places.push_back(&store->indices);
        },
        [&](const CallNode* call) {
          for (size_t n = 0; n < call->args.size(); ++n) {
            const BufferLoadNode* load = pointed_to(call->args[n]);
            if (load && load->buffer == buffer) places.push_back(&load->indices);
          }
        },
        [&](const VarNode* var) { is_passed_on |= var == buffer->data.get(); });
    if (is_passed_on)
      throw Unsupported(node, "buffer {} is in scope warp, and its pointer is passed on", buffer->name)
          .help("pass T.address_of(...) of the elements of a lane, {}[..., tx, 0:n]", buffer->name);
    for (size_t n = buffer->shape.size(); n-- > 0;) {
      if (!is_const_int(buffer->shape[n], warp_size_)) continue;
      const auto names_lane = [&](const std::vector<PrimExpr>* place) {
        return uses((*place)[n], lanes_->loop_var.get());
      };
      if (std::ranges::all_of(places, names_lane)) return n;
    }
    throw UserError(node, "buffer {} is in scope warp, but no dimension of {} is that of its {} lanes",
                    buffer->name, indices_text(buffer->shape), warp_size_)
        .help("give it one of {} elements, in which each thread writes at {}", warp_size_, kLanes);
  }

  const int64_t warp_size_;
  arith::Analyzer analyzer_;
  For lanes_;  // the loop over threads of a warp around the statement
  std::unordered_map<const BufferNode*, Registers> registers_;
};

bool has_warp_memory(const Stmt& stmt) {
  bool found = false;
  ir::walk(stmt, [&](const AllocBufferNode* node) { found |= node->buffer->scope() == "warp"; });
  return found;
}

PrimFunc lower_warp_memory(const PrimFunc& func, const ir::AttrMap& attrs) {
  const auto options = ir::from_attrs<Options>(attrs, "lower_warp_memory");
  if (!has_warp_memory(func->body)) return func;
  return with(func,
              [&](PrimFuncNode& changed) { changed.body = Distributor(options.warp_size).run(func->body); });
}

}  // namespace

extern constinit const StepInfo lower_warp_memory_info = {
    .name = "lower_warp_memory",
    .doc = "memory of a warp is registers of its lanes",
    .uses = kManyDimensions,
    .without = kBlocks,
    .run = lower_warp_memory,
    .schema = &ir::option_schema<Options>,
};

}  // namespace tilewright::lower

// Random primitives with random arguments on small programs of many shapes: each is refused or changes the
// program.
#pragma once
#include <random>

#include "schedule_testing.h"

namespace tilewright::schedule {

inline constexpr std::string_view kFuzzPrograms[] = {
    R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 6), "float32"), C: T.Buffer((5, 6), "float32")):
        Y = T.alloc_buffer((5, 6))
        for i, j, k in T.grid(5, 6, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(5, 6):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
    )",
    R"(
    @T.prim_func
    def main(A: T.Buffer((18,), "float32"), D: T.Buffer((13,), "float32")):
        B = T.alloc_buffer((18,))
        C = T.alloc_buffer((16,))
        for i in range(18):
            with T.block("B"):
                vi = T.axis.spatial(18, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(16):
            with T.block("C"):
                vi = T.axis.spatial(16, i)
                C[vi] = B[vi] + B[vi + 1] + B[vi + 2]
        for i in range(13):
            with T.block("D"):
                vi = T.axis.spatial(13, i)
                D[vi] = C[vi + 3] - C[vi]
    )",
    R"(
    @T.prim_func
    def main(A: T.Buffer((4, 9), "float32"), D: T.Buffer((4, 9), "float32")):
        M = T.alloc_buffer((4,))
        S = T.alloc_buffer((4,))
        E = T.alloc_buffer((4, 9))
        for i, k in T.grid(4, 9):
            with T.block("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = T.float32(-100)
                M[vi] = T.max(M[vi], A[vi, vk])
        for i, j in T.grid(4, 9):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = A[vi, vj] - M[vi]
        for i, k in T.grid(4, 9):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + E[vi, vk]
        for i, j in T.grid(4, 9):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = E[vi, vj] * S[vi]
    )",
    R"(
    @T.prim_func
    def main(A: T.Buffer((6, 7), "float32"), B: T.Buffer((7, 8), "float32"), C: T.Buffer((42,), "float32")):
        T6 = T.alloc_buffer((7, 6))
        for i, j in T.grid(6, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi + 1, vj] = B[vi, vj + 1] + A[vi, vj]
        for i, j in T.grid(7, 6):
            with T.block("T6"):
                vi, vj = T.axis.remap("SS", [i, j])
                T6[vi, vj] = A[vj, vi] + B[vj, vi]
        for i in range(42):
            with T.block("C"):
                vi = T.axis.spatial(42, i)
                C[vi] = T6[vi // 6, vi % 6] * T.float32(3)
    )",
    R"(
    @T.prim_func
    def main(A: T.Buffer((5, 6), "int32"), C: T.Buffer((5, 6), "int32")):
        B = T.alloc_buffer((6, 7), "int32")
        for i, j in T.grid(6, 7):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = 0
        for i, j in T.grid(5, 6):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi + 1, vj] = B[vi, vj + 1] + A[vi, vj]
        for i, j in T.grid(5, 6):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi + 1, vj]
    )",
    R"(
    @T.prim_func
    def main(A: T.Buffer((2, 5, 7), "float32"), W: T.Buffer((3, 2, 3, 3), "float32"), D: T.Buffer((3, 5, 7), "float32")):
        P = T.alloc_buffer((2, 7, 9))
        C = T.alloc_buffer((3, 5, 7))
        for c, i, j in T.grid(2, 7, 9):
            with T.block("P"):
                vc, vi, vj = T.axis.remap("SSS", [c, i, j])
                P[vc, vi, vj] = T.if_then_else(
                    1 <= vi and vi < 6 and 1 <= vj and vj < 8, A[vc, vi - 1, vj - 1], T.float32(0)
                )
        for o, i, j, c, p, q in T.grid(3, 5, 7, 2, 3, 3):
            with T.block("C"):
                vo, vi, vj, vc, vp, vq = T.axis.remap("SSSRRR", [o, i, j, c, p, q])
                with T.init():
                    C[vo, vi, vj] = T.float32(0)
                C[vo, vi, vj] = C[vo, vi, vj] + P[vc, vi + vp, vj + vq] * W[vo, vc, vp, vq]
        for o, i, j in T.grid(3, 5, 7):
            with T.block("D"):
                vo, vi, vj = T.axis.remap("SSS", [o, i, j])
                D[vo, vi, vj] = T.max(C[vo, vi, vj], T.float32(0))
    )",
    R"(
    @T.prim_func
    def main(A: T.Buffer((11,), "int8"), C: T.Buffer((5,), "int32"), S: T.Buffer((1,), "int32")):
        M = T.alloc_buffer((5,), "int8")
        for i, k in T.grid(5, 3):
            with T.block("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = T.int8(-128)
                M[vi] = T.max(M[vi], A[vi * 2 + vk])
        for i in range(5):
            with T.block("C"):
                vi = T.axis.spatial(5, i)
                C[vi] = T.Cast("int32", M[4 - vi])
        for i in range(5):
            with T.block("S"):
                vi = T.axis.reduce(5, i)
                with T.init():
                    S[0] = 0
                S[0] = S[0] + C[vi]
    )",
    R"(
    @T.prim_func
    def main(A: T.Buffer((3, 4, 5), "float32"), B: T.Buffer((3, 6, 5), "float32"), D: T.Buffer((6, 12), "float32")):
        C = T.alloc_buffer((3, 4, 6))
        for b, i, j, k in T.grid(3, 4, 6, 5):
            with T.block("C"):
                vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
                with T.init():
                    C[vb, vi, vj] = T.float32(0)
                C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vk] * B[vb, vj, vk]
        for i, j in T.grid(6, 12):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = C[vj // 4, vj % 4, vi] + T.float32(1)
    )",
};

class RandomSchedule {
 public:
  RandomSchedule(std::string_view program, uint64_t seed)
      : before_(module_of(program)), random_(seed), sch_(before_, {.seed = seed, .verify_steps = true}) {}

  const IRModule& before() const { return before_; }
  const Schedule& schedule() const { return sch_; }
  uint64_t number() { return random_(); }

  /// Tries one step; false if it was refused.
  bool step() {
    refresh();
    if (loops_.empty()) return false;
    try {
      return apply_one(), true;
    } catch (const UserError&) {
    } catch (const Unsupported&) {
    } catch (const InternalError& error) {
      ADD_FAILURE() << error.render() << "\nsteps before:\n"
                    << sch_.trace().simplified().str() << show(sch_.module());
    }
    return false;
  }

 private:
  // Handles on everything there is now.
  void refresh() {
    loops_.clear();
    blocks_.clear();
    const State::Func& func = sch_.state().funcs()[0];
    collect(func.root);
  }
  void collect(NodeId id) {
    for (NodeId child : sch_.state().node(id).children) {
      if (!sch_.state().node(child).is_loop()) {
        const BlockRef block = block_ref(child);
        blocks_.push_back(block);
        for (LoopRef loop : sch_.call("get_loops", block).loops()) loops_.push_back(loop);
      }
      collect(child);
    }
  }
  BlockRef block_ref(NodeId id) {
    NodeId scope = sch_.state().scope_of(id);
    const BlockRef owner =
        sch_.state().scope_of(scope) == kNoNode ? sch_.call("get_block", "root").block() : block_ref(scope);
    for (BlockRef block : sch_.call("get_child_blocks", owner).blocks()) {
      if (sch_.state()[block] == id) return block;
    }
    throw InternalError("a block is not among the children of its scope");
  }

  template <class T>
  T pick(const std::vector<T>& items) {
    return items[random_() % items.size()];
  }
  int64_t number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  Result loops_of_nest(size_t count, std::string_view name) {
    std::vector<LoopRef> nest = sch_.call("get_loops", pick(blocks_)).loops();
    if (name == "reorder") std::shuffle(nest.begin(), nest.end(), random_);
    const size_t first = nest.empty() ? 0 : random_() % nest.size();
    std::vector<LoopRef> chosen(nest.begin() + static_cast<long>(first),
                                nest.begin() + static_cast<long>(std::min(nest.size(), first + count)));
    return sch_.call(name, chosen);
  }

  void apply_one() {
    switch (random_() % 21) {
      case 0:
      case 1: sch_.call("split", pick(loops_), Factors{None{}, number(1, 5)}); break;
      case 2: loops_of_nest(2, "fuse"); break;
      case 3:
      case 4: loops_of_nest(static_cast<size_t>(number(2, 4)), "reorder"); break;
      case 5: sch_.call("parallel", pick(loops_)); break;
      case 6: sch_.call("vectorize", pick(loops_)); break;
      case 7: sch_.call("unroll", pick(loops_)); break;
      case 8:
      case 9: sch_.call("compute_at", pick(blocks_), pick(loops_), number(0, 1) == 1, number(-2, 1)); break;
      case 10:
      case 11:
        sch_.call("reverse_compute_at", pick(blocks_), pick(loops_), number(0, 1) == 1, number(-2, 1));
        break;
      case 12: sch_.call("compute_inline", pick(blocks_)); break;
      case 13: sch_.call("reverse_compute_inline", pick(blocks_)); break;
      case 14: sch_.call("cache_read", pick(blocks_), number(0, 2), "global"); break;
      case 15: sch_.call("cache_write", pick(blocks_), number(0, 1), "global"); break;
      case 16: sch_.call("decompose_reduction", pick(blocks_), pick(loops_)); break;
      case 17: sch_.call("rfactor", pick(loops_), number(-1, 1)); break;
      case 18: sch_.call("blockize", pick(loops_)); break;
      case 20: sch_.call("set_scope", pick(blocks_), number(0, 0), "local"); break;
      default: sch_.call("add_unit_loop", pick(blocks_)); break;
    }
  }

  IRModule before_;
  std::mt19937_64 random_;
  Schedule sch_;
  std::vector<LoopRef> loops_;
  std::vector<BlockRef> blocks_;
};

}  // namespace tilewright::schedule

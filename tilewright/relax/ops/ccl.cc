// Communication between workers.  There is one process, which is worker 0 of 1, so each
// operator is the identity.
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

void require_one_worker(const Call& call, int64_t num_workers) {
  if (num_workers != 1)
    throw Unsupported(call, "{}: {} workers", name_of(call), num_workers).help("programs run in one process");
}
Type infer_same(const Call& call) { return Type(tensor_arg(call, 0)); }

struct ReduceAttrs {
  std::string op_type = "sum";
  bool in_group = true;
  static constexpr auto fields() {
    return std::tuple{
        field<&ReduceAttrs::op_type>("op_type", "\"sum\", \"prod\", \"min\", \"max\" or \"avg\""),
        field<&ReduceAttrs::in_group>("in_group", "whether among the workers of a group only")};
  }
};
Type infer_allreduce(const Call& call, const ReduceAttrs& attrs) {
  for (const char* known : {"sum", "prod", "min", "max", "avg"}) {
    if (attrs.op_type == known) return infer_same(call);
  }
  fail(call, "op_type is \"{}\", expected \"sum\", \"prod\", \"min\", \"max\" or \"avg\"", attrs.op_type);
}

struct GatherAttrs {
  int64_t num_workers = 1;
  bool in_group = true;
  static constexpr auto fields() {
    return std::tuple{field<&GatherAttrs::num_workers>("num_workers", "number of workers: 1"),
                      field<&GatherAttrs::in_group>("in_group", "whether among the workers of a group only")};
  }
};
Type infer_allgather(const Call& call, const GatherAttrs& attrs) {
  require_one_worker(call, attrs.num_workers);
  return infer_same(call);
}

struct ScatterAttrs {
  int64_t num_workers = 1, axis = 0;
  static constexpr auto fields() {
    return std::tuple{field<&ScatterAttrs::num_workers>("num_workers", "number of workers: 1"),
                      field<&ScatterAttrs::axis>("axis", "the dimension that is divided among the workers")};
  }
};
Type infer_scatter(const Call& call, const ScatterAttrs& attrs) {
  require_one_worker(call, attrs.num_workers);
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (x->ndim >= 0) normalize_axis(call, attrs.axis, x->ndim);
  return infer_same(call);
}

struct GroupAttrs {
  bool in_group = true;
  static constexpr auto fields() {
    return std::tuple{field<&GroupAttrs::in_group>("in_group", "whether among the workers of a group only")};
  }
};
Type infer_broadcast(const Call& call, const GroupAttrs&) { return infer_same(call); }

template <class Attrs>
te::Tensor lower_copy(const LowerInput& in, const Attrs&) {
  return in[0];
}

constexpr FusePattern kOpaque = FusePattern::kOpaque;
constexpr OpInfo kOps[] = {
    op<infer_allreduce, lower_copy<ReduceAttrs>, ReduceAttrs>("relax.ccl.allreduce", "x",
                                                              "The reduction over all workers.", kOpaque),
    op<infer_allgather, lower_copy<GatherAttrs>, GatherAttrs>(
        "relax.ccl.allgather", "x", "Concatenates the tensors of all workers.", kOpaque),
    op<infer_broadcast, lower_copy<GroupAttrs>, GroupAttrs>("relax.ccl.broadcast_from_worker0", "x",
                                                            "The tensor of worker 0.", kOpaque),
    op<infer_scatter, lower_copy<ScatterAttrs>, ScatterAttrs>(
        "relax.ccl.scatter_from_worker0", "x", "This worker's part of the tensor of worker 0.", kOpaque),
};

}  // namespace

extern constinit const OpTable ccl_info =
    op_table(kOps, "docs.nvidia.com/deeplearning/nccl (collective operations)");

}  // namespace tilewright::relax

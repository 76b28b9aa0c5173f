/* A library as a compiler of ours would write it, for module_test and c_api_test. */
#include "tilewright/runtime/kernel_abi.h"

#ifndef KERNEL_VERSION
#define KERNEL_VERSION TILEWRIGHT_KERNEL_ABI_VERSION
#endif
#ifndef WITHOUT_VERSION
const uint32_t __tilewright_abi_version = KERNEL_VERSION;
#endif
const TilewrightHost* __tilewright_host = 0;
const char __tilewright_names[] = "add_one\nfails\nfirst_dimension\n";

struct Closure {
  const float* from;
  float* to;
};

static int32_t add_range(void* closure, int64_t begin, int64_t end) {
  const struct Closure* state = closure;
  for (int64_t n = begin; n < end; ++n) state->to[n] = state->from[n] + 1.0f;
  return 0;
}

/* add_one(x, y): y = x + 1 for compact float32 tensors */
int32_t __tvm_ffi_add_one(void* self, const TilewrightAny* args, int32_t num_args, TilewrightAny* result) {
  if (num_args != 2 || args[0].type_index != kTilewrightDLTensor ||
      args[1].type_index != kTilewrightDLTensor) {
    __tilewright_host->set_error("TypeError", "add_one: expected two tensors");
    return -1;
  }
  const DLTensor *x = args[0].v_ptr, *y = args[1].v_ptr;
  struct Closure closure = {x->data, y->data};
  int64_t extent = 1;
  for (int32_t axis = 0; axis < x->ndim; ++axis) extent *= x->shape[axis];
  return __tilewright_host->parallel_for(add_range, &closure, extent, 64);
}

int32_t __tvm_ffi_fails(void* self, const TilewrightAny* args, int32_t num_args, TilewrightAny* result) {
  __tilewright_host->set_error("ValueError", "fails: as it should");
  return -1;
}

int32_t __tvm_ffi_first_dimension(void* self, const TilewrightAny* args, int32_t num_args,
                                  TilewrightAny* result) {
  result->type_index = kTilewrightInt;
  result->v_int64 = ((const DLTensor*)args[0].v_ptr)->shape[0];
  return 0;
}

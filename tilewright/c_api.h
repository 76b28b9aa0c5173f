/* The C interface of libtilewright_runtime: load a compiled model and run it.  C11 and C++; stable across
   versions with the same TILEWRIGHT_C_API_VERSION.

     TilewrightModule* model;
     if (tilewright_module_load("mlp.so", &model) != 0) { puts(tilewright_last_error()); return 1; }
     TilewrightTensor *x, *y;
     int64_t shape[] = {1, 784}, num_results;
     tilewright_tensor_create(shape, 2, (DLDataType){2, 32, 1}, &x);
     memcpy(tilewright_tensor_info(x)->data, pixels, 784 * sizeof(float));
     tilewright_module_run(model, "main", &x, 1, &y, 1, &num_results);

   Functions that return int32_t return 0, or -1 and leave a message in tilewright_last_error.  On error,
   outputs are untouched.  A null handle is an error, except for *_free, which ignore it.  All may be called
   from any thread; one tensor may be written by one thread at a time. */
#pragma once
#include "tilewright/runtime/dlpack.h"
#include "tilewright/runtime/kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TILEWRIGHT_C_API_VERSION 1

typedef struct TilewrightTensor TilewrightTensor;
typedef struct TilewrightModule TilewrightModule;

/* "0.1.0"; lives as long as the library. */
const char* tilewright_version(void);
/* TILEWRIGHT_C_API_VERSION of the library; compare it with that of this header. */
uint32_t tilewright_c_api_version(void);

/* The message of the last error of this thread; "" if there was none.  Valid until the next error of this
 * thread. */
const char* tilewright_last_error(void);
enum {
  kTilewrightNoError = 0,
  kTilewrightUserError = 1,    /* an argument or file is wrong */
  kTilewrightUnsupported = 2,  /* right, but beyond what this build can do */
  kTilewrightInternalError = 3 /* a bug of tilewright */
};
/* What kind of error that was. */
int32_t tilewright_last_error_kind(void);

/* -- devices and threads -- */

/* The number of devices of a DLDeviceType that this build can run on. */
int32_t tilewright_num_devices(int32_t device_type);
/* Threads that calls made by this thread use. */
int32_t tilewright_num_threads(int32_t* num_threads);
/* Sets it: 1 to 1024, or 0 for the default (TILEWRIGHT_NUM_THREADS, else what affinity and cgroup allow). */
int32_t tilewright_set_num_threads(int32_t num_threads);

/* -- tensors: in CPU memory, made here or lent by others through DLPack -- */

/* A compact tensor with uninitialised elements, aligned to 64 bytes. */
int32_t tilewright_tensor_create(const int64_t* shape, int32_t ndim, DLDataType dtype,
                                 TilewrightTensor** tensor);
/* A tensor over the caller's compact elements, without a copy.  release(context), if not null, is called when
   nothing uses them any more; on error it is not called. */
int32_t tilewright_tensor_view(void* data, const int64_t* shape, int32_t ndim, DLDataType dtype,
                               void (*release)(void* context), void* context, TilewrightTensor** tensor);
/* Takes over `managed` without a copy, also on error. */
int32_t tilewright_tensor_from_dlpack(DLManagedTensorVersioned* managed, TilewrightTensor** tensor);
int32_t tilewright_tensor_from_dlpack_unversioned(DLManagedTensor* managed, TilewrightTensor** tensor);
/* A description for another framework, which keeps the data alive until its deleter is called. */
int32_t tilewright_tensor_to_dlpack(const TilewrightTensor* tensor, DLManagedTensorVersioned** managed);
/* Where and what the elements are; valid as long as the tensor.  Null for a null tensor. */
const DLTensor* tilewright_tensor_info(const TilewrightTensor* tensor);
/* Copies all elements, in row-major order, to `data`, which has exactly `num_bytes` bytes. */
int32_t tilewright_tensor_read(const TilewrightTensor* tensor, void* data, uint64_t num_bytes);
void tilewright_tensor_free(TilewrightTensor* tensor);

/* -- modules: shared libraries that tilewright compiled -- */

int32_t tilewright_module_load(const char* path, TilewrightModule** module);
void tilewright_module_free(TilewrightModule* module);
/* Calls a function of a compiled model with tensors.  A parameter or result of strings, whose type is "string[n]", is two
   tensors: the bytes of all strings in UTF-8 (uint8), and for each string the number of bytes up to its end (int64, the
   shape of the strings).  The results (one, or the fields of a tuple, nested ones
   flattened) go to results[0 .. capacity-1]; each must be freed.  Fails if there are more, or if one is no
   tensor. */
int32_t tilewright_module_run(const TilewrightModule* module, const char* function,
                              TilewrightTensor* const* args, int64_t num_args, TilewrightTensor** results,
                              int64_t capacity, int64_t* num_results);
/* Calls any function of a module, as kernel_abi.h says: kernels take their outputs as arguments.  Tensors are
   kTilewrightDLTensor with tilewright_tensor_info.  `result` may be null; it receives none, a number, a
   dtype, a device or a pointer. */
int32_t tilewright_module_call(const TilewrightModule* module, const char* function,
                               const TilewrightAny* args, int32_t num_args, TilewrightAny* result);

/* What a model has: functions, their parameters and results as people know them, e.g. "x" and "float32[n,
 * 784]". */
typedef struct TilewrightDescription {
  const char* name; /* both valid as long as the module */
  const char* type;
} TilewrightDescription;
int32_t tilewright_module_num_functions(const TilewrightModule* module, int64_t* count);
int32_t tilewright_module_function_name(const TilewrightModule* module, int64_t index, const char** name);
int32_t tilewright_module_num_parameters(const TilewrightModule* module, const char* function,
                                         int64_t* count);
int32_t tilewright_module_parameter(const TilewrightModule* module, const char* function, int64_t index,
                                    TilewrightDescription* description);
int32_t tilewright_module_num_results(const TilewrightModule* module, const char* function, int64_t* count);
int32_t tilewright_module_result(const TilewrightModule* module, const char* function, int64_t index,
                                 TilewrightDescription* description);

/* -- packed functions that models call by name -- */

/* Registers `kernel`, called with `self`, for the whole process.  An error if the name is taken, unless
 * `override`. */
int32_t tilewright_register_function(const char* name, TilewrightKernel kernel, void* self, int32_t override);
/* What such a function calls before it returns -1.  kind as in TilewrightHost.set_error. */
void tilewright_set_error(const char* kind, const char* message);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* The contract between compiled code and its callers: value layout, kernel type, exported symbols, host
   services. C11 and C++; no other file of tilewright is needed to write or to call a kernel.

   The calling convention is that of tvm-ffi 0.1 (apache-tvm-ffi), so that any of its hosts (PyTorch, JAX,
   Python) can load a library of ours and call it.  A compiled library exports:

     __tvm_ffi_<name>            TilewrightKernel: the function <name>
     __tilewright_abi_version    const uint32_t = TILEWRIGHT_KERNEL_ABI_VERSION of the compiler
     __tilewright_host           const TilewrightHost*, null in the file; our loader sets it before the first
                                 call
     __tilewright_names          const char[]: the names of the functions, each followed by '\n', then a 0
     __tilewright_params_<name>  const char[]: a line per parameter of <name>: 'w' if it may write the
                                 elements, else 'r', then for example "B: float32[n, 128]", then '\n'; a 0 at
                                 the end.  Optional: without it nothing is known about the parameters
     __tilewright_blob           const unsigned char[]: bytes of the VM executable; only in a compiled model.
                                 If not aligned to 64 bytes, its constants are copied
     __tilewright_blob_size      const uint64_t: the number of these bytes
     __tilewright_device_code    const unsigned char[]: kernels of devices (runtime/device/device_code.h); only
                                 where functions launch some.  Our loader registers them
     __tilewright_device_code_size  const uint64_t: the number of these bytes

   A host that is not ours leaves __tilewright_host null.  Then a kernel runs its parallel loops serially,
   takes temporary memory with malloc (aligned_alloc) and free, and reports errors through the weak symbol
   `void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message)` if that is not null. */
#pragma once
#include "tilewright/runtime/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TILEWRIGHT_KERNEL_ABI_VERSION 1u

#define TILEWRIGHT_KERNEL_PREFIX "__tvm_ffi_"
#define TILEWRIGHT_ABI_VERSION_SYMBOL "__tilewright_abi_version"
#define TILEWRIGHT_HOST_SYMBOL "__tilewright_host"
#define TILEWRIGHT_NAMES_SYMBOL "__tilewright_names"
#define TILEWRIGHT_PARAMS_PREFIX "__tilewright_params_"
#define TILEWRIGHT_BLOB_SYMBOL "__tilewright_blob"
#define TILEWRIGHT_BLOB_SIZE_SYMBOL "__tilewright_blob_size"

/* The kind of value in a TilewrightAny.  Codes below kTilewrightStaticObject are plain values; for the others
   `v_ptr` points to a reference-counted object of tvm-ffi, which a kernel may read but neither keep nor
   release. */
enum {
  kTilewrightNone = 0,
  kTilewrightInt = 1,       /* v_int64 */
  kTilewrightBool = 2,      /* v_int64, 0 or 1 */
  kTilewrightFloat = 3,     /* v_float64 */
  kTilewrightPointer = 4,   /* v_ptr, opaque */
  kTilewrightDtype = 5,     /* v_dtype */
  kTilewrightDevice = 6,    /* v_device */
  kTilewrightDLTensor = 7,  /* v_ptr is a DLTensor*; this is how our runtime passes every tensor */
  kTilewrightRawStr = 8,    /* v_str, ends with 0; valid during the call */
  kTilewrightBytes = 9,     /* v_ptr is a TilewrightByteArray*; valid during the call */
  kTilewrightSmallStr = 11, /* up to 7 bytes in v_bytes, their number in `padding` */
  kTilewrightSmallBytes = 12,
  kTilewrightStaticObject = 64,
  /* v_ptr + TILEWRIGHT_OBJECT_HEADER_BYTES points to */
  kTilewrightStr = 65,   /* a TilewrightByteArray */
  kTilewrightShape = 69, /* {const int64_t*, size_t} */
  kTilewrightTensor = 70 /* a DLTensor */
};

/* Every tvm-ffi object opens with {uint64 counts, int32 type_index, uint32 padding, pointer deleter}. */
#define TILEWRIGHT_OBJECT_HEADER_BYTES 24

typedef struct TilewrightByteArray {
  const char* data;
  size_t size;
} TilewrightByteArray;

/* One argument or result: 16 bytes, code at 0, payload at 8. */
typedef struct TilewrightAny {
  int32_t type_index; /* a code of the enum above */
  uint32_t padding;   /* 0, except the length of a small string */
  union {
    int64_t v_int64;
    double v_float64;
    void* v_ptr;
    const char* v_str;
    DLDataType v_dtype;
    DLDevice v_device;
    char v_bytes[8];
  };
} TilewrightAny;

/* A compiled function.
   self     ignored by compiled code; closures of other hosts pass their state
   args     num_args values, valid during the call.  A tensor arrives as kTilewrightDLTensor or
            kTilewrightTensor; a kernel must check type, dtype, ndim, shape and strides itself.  Tensors from
            our runtime are compact (strides null or row-major), and data + byte_offset is aligned to at least
            the element size.
   result   set to none by the caller; a kernel that returns a number stores it here
   returns  0, or -1 after it has reported an error */
typedef int32_t (*TilewrightKernel)(void* self, const TilewrightAny* args, int32_t num_args,
                                    TilewrightAny* result);

/* Iterations [begin, end) of a parallel loop.  Returns 0, or -1 after it has reported an error. */
typedef int32_t (*TilewrightParallelBody)(void* closure, int64_t begin, int64_t end);

/* Services of the process that loaded the code.  The table and its functions live until the process ends. All
   may be called from any thread, and from inside a parallel body.  Later versions only append members. */
typedef struct TilewrightHost {
  uint32_t version;     /* TILEWRIGHT_KERNEL_ABI_VERSION of the host; at least that of the library */
  uint32_t num_members; /* function pointers that follow */

  /* Covers 0 .. extent-1 with calls of body on disjoint ranges, on several threads; returns when all are
     done.  Does nothing if extent <= 0.  Each range has at least `grain` >= 1 iterations (the last may have
     fewer).  Returns 0, or -1 if a call of body returned a value other than 0: ranges not yet begun are then
     skipped, and the first failure's error becomes the current error of the calling thread. */
  int32_t (*parallel_for)(TilewrightParallelBody body, void* closure, int64_t extent, int64_t grain);

  /* Makes (kind, message) the current error of this thread; both are copied.  The caller then returns -1.
     Kinds: "ValueError", "TypeError", "IndexError", "RuntimeError", "MemoryError", "InternalError". */
  void (*set_error)(const char* kind, const char* message);

  /* Temporary memory of at least `bytes` bytes, aligned to `alignment` (a power of two <= 4096),
     uninitialised; null after reporting an error.  Cheap: freed blocks are kept per thread.  Free it in
     reverse order, on the same thread, before the kernel (or the parallel body that allocated it) returns. */
  void* (*workspace_alloc)(uint64_t bytes, uint64_t alignment);
  void (*workspace_free)(void* pointer);

  /* Calls the packed function `name` of the global registry (functions of the same library are called
     directly).  `result` must be none on entry; it receives none, a number, a dtype, a device or a pointer;
     any other result is an error.  Returns 0 or -1 like a kernel. */
  int32_t (*call_packed)(const char* name, const TilewrightAny* args, int32_t num_args,
                         TilewrightAny* result);
} TilewrightHost;

#ifdef __cplusplus
} /* extern "C" */
#endif

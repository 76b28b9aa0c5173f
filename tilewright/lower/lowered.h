// The input of code generators: a module of lowered functions.  lower/pipeline.h makes it.
//
// One PrimFunc `f` becomes, in this order,
//   f_body_<n>   for each outermost parallel loop: attrs "lowered_kind" = "parallel_body";
//                params: begin, end (int64), then the data pointers and scalars that the body uses
//   f_compute    attrs "lowered_kind" = "compute";
//                params: the data pointer of each buffer parameter, then scalars (symbolic dimensions in
//                order of first appearance, scalar parameters)
//   f            attrs "lowered_kind" = "entry", "global_symbol" = "__tvm_ffi_f", "kernel_params" = the text
//                of __tilewright_params_f;
//                params: self (handle), args (handle, to TilewrightAny), num_args (int32), result (handle),
//                as TilewrightKernel of runtime/kernel_abi.h.
//                It checks the arguments with peek and raise_error and calls f_compute.
// For a GPU there are no parallel bodies, but
//   f_kernel_<n>  for each outermost loop over blocks or threads: attrs "lowered_kind" = "device_kernel";
//                 params: the data pointers, then the scalars that it uses.  Its body is one loop for each axis that it
//                 has, blockIdx.z, .y, .x, threadIdx.z, .y, .x from the outside to the inside; then statements without
//                 loops over threads.  Extents of threadIdx are constants.  Memory of scope shared has constant size, and
//                 threads wait by tvm_storage_sync("shared").
// and f_compute launches them: call_packed(name of the kernel, device type, device id, grid x, y, z, block x, y, z, bytes
// of dynamic shared memory, the kernel's arguments).  The driver replaces the name by that of the registry.
// Kernels return nothing.  All others return an int32 status: 0 at the end of the body, -1 after an error.  A call of a lowered
// function is Call(int32, GlobalVar, args) in an Evaluate; a status other than 0 makes the caller return -1
// at once.
//
// Statements   For (serial), While, IfThenElse, SeqStmt, LetStmt, BufferStore, AllocBuffer, DeclBuffer,
//              Evaluate.  An AssertStmt has become raise_error.  A For may carry the annotations
//              "pragma_unroll" (bool) and those of tir/loop_hints.h for the code generator.
// Expressions  No ProducerLoad, no Reduce.  Vectors are Ramp, Broadcast, Shuffle and operators on them.
// Buffers      One dimension, no strides, elem_offset null; an access has one index (a Ramp of stride 1 is a
//              contiguous vector).  `data` is a parameter, a let variable, or defined by AllocBuffer.
//              data_alignment is the alignment of `data` in bytes that an access may assume.
//              AllocBuffer with constant extent up to kMaxStackBytes goes on the stack, others to the
//              workspace; the scope "local" asks for registers.
// Builtins     Only lowered code has peek(pointer, byte offset), poke(pointer, byte offset, value),
//              raise_error(kind, printf format, values...), dtype_text(DLDataType as uint32) and
//              call_parallel(name of a parallel_body, extent, grain, arguments...).
// With attrs "tir.noalias", no two pointer parameters of a function alias.
#pragma once
#include <cstdint>
#include <string_view>

namespace tilewright::lower {

/// Attribute of a lowered module: LLVM IR texts that define functions it calls, from "pragma_import_llvm".
inline constexpr std::string_view kImportLlvm = "import_llvm";
/// The same in C, from "pragma_import_c".
inline constexpr std::string_view kImportC = "import_c";
inline constexpr int64_t kMaxStackBytes = 64 * 1024;
/// True if the message of raise_error for `format` may need more than 512 bytes; it needs less than 4096.
constexpr bool is_long_format(std::string_view format) { return format.size() > 400; }
inline constexpr std::string_view kLoweredKind = "lowered_kind";
inline constexpr std::string_view kKernelParams = "kernel_params";
inline constexpr std::string_view kEntry = "entry", kCompute = "compute", kParallelBody = "parallel_body",
                                  kDeviceKernel = "device_kernel";

}  // namespace tilewright::lower

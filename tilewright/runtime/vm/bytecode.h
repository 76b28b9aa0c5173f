// The VM executable as plain data: relax/vm_codegen produces it, save and load store it, and the
// VirtualMachine runs it. It is written with ExecutableBuilder (vm/builder.h), which has a method for every
// instruction.
//
// A function call has registers that hold any Value (parameters first), and int registers: int64 values for
// shape arithmetic, which never touch the heap.  It has an arena on each device, memory in which the compiler places all
// tensors that do not outlive the call.  Frames (registers, tensor descriptions, arena) are kept between
// calls, so that a call whose tensors are in the arena allocates nothing.  Jumps only go forward: what repeats
// is kLoop, which asks before each iteration whether the application wants to stop.  Below, R marks an index of a register and I one of an int register.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/runtime/tensor.h"
#include "tilewright/support/dtype.h"

namespace tilewright::runtime::vm {

/// One more argument of an instruction.
struct Operand {
  enum class Kind : uint32_t {
    kNone = 0,       // the value none
    kRegister = 1,   // value of register R `index`
    kInt = 2,        // value of int register I `index`; in a dimension pattern: the dimension must equal it
    kBind = 3,       // dimension pattern: the dimension is stored in int register I `index`
    kAnyDim = 4,     // dimension pattern: any extent; bits: 0, or 1 + the string that messages show for it
    kImmediate = 5,  // bits is an int64; in a dimension pattern: the dimension must equal it
    kFloat = 6,      // bits is a double
    kBool = 7,       // bits is 0 or 1
    kString = 8,     // string `index` of the executable
    kDtype = 9,      // bits is code | bits << 8 | lanes << 16
    kDevice = 10,    // index is the type, bits the id
  };
  Kind kind = Kind::kNone;
  uint32_t index = 0;
  int64_t bits = 0;
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// In the comments, `args` are the operands of the instruction: num_operands of them from operands[b] on.
/// A "size" operand is kImmediate or kInt; a "dimension pattern" kImmediate, kInt, kBind or kAnyDim;
/// a "value" operand anything but kBind and kAnyDim.
enum class Opcode : uint8_t {
  // -- checks of arguments: each raises a UserError that names the value and both types --
  kCheckTensor = 0,     // R a is a tensor; args: name string, dtype (void: any), number of dims (-1: any),
                        // dimension patterns
  kCheckShape = 1,      // R a is a shape; args: name string, number of dims (-1: any), dimension patterns
  kCheckKind = 2,       // R a is of ValueKind dst; args: name string, number of fields of a tuple (-1: any)
  kCheckEqual = 3,      // I a == I b', args: what string, kInt b'.  "{what} is {a}, expected {b'}"
  kCheckDivisible = 4,  // I a is a multiple of I b', args: what string, kInt b'
  kRequire = 5,         // I a is not 0; args: format string with {} for each of the sizes that follow
  kAlignTensor = 6,     // replaces tensor R a by a copy that is aligned to 64 bytes, if it is not aligned and
                        // has args[0] to args[1] bytes (immediates)

  // -- int registers --
  kLoadDim = 10,  // I dst = dimension b of tensor or shape R a
  kLoadInt = 11,  // I dst = value of R a: an int, a bool, or a CPU tensor of one integer or bool element
  kSetInt = 12,   // I dst = args[0], a size
  kAdd = 13,      // I dst = I a + I b; this and the next two raise UserError on overflow
  kSub = 14,
  kMul = 15,
  kFloorDiv = 16,  // rounds down; UserError when I b is 0
  kFloorMod = 17,  // sign of the divisor
  kMin = 18,
  kMax = 19,
  kEqual = 20,  // 1 or 0
  kLess = 21,   // 1 or 0

  // -- memory --
  kArena = 30,        // the arena has at least args[0] bytes (a size), aligned to 64
  kArenaTensor = 31,  // R dst = tensor in the arena; args: offset in bytes (a size, multiple of 64), dtype,
                      // dims (sizes)
  kNewTensor = 32,    // R dst = tensor with its own memory, which may be returned; args: dtype, dims (sizes)
  kReshape = 33,      // R dst = compact tensor R a reshaped; args: dims (sizes), same number of elements
  kConstant = 34,     // R dst = constant b

  // -- calls --
  kCallKernel = 40,    // calls callee a with the value operands args, outputs included; drops its result
  kCallPacked = 41,    // R dst = result of callee a with args
  kCallFunction = 42,  // R dst = result of function a of this executable with args
  kCallClosure = 43,   // R dst = result of function value R a with args
  kMakeClosure = 44,   // R dst = function a of this executable with its last parameters bound to args
  kLoop = 45,          // R dst = results of a loop whose body is function value R a; args: see vm/loop.h

  // -- values --
  kSet = 50,        // R dst = args[0], any value operand: moves a register, boxes a number, loads a string
  kMakeTuple = 51,  // R dst = tuple of args
  kGetItem = 52,    // R dst = field b of tuple R a
  kMakeShape = 53,  // R dst = shape of args (sizes)
  kShapeOf = 54,    // R dst = shape of tensor R a
  kTensorToShape = 55,  // R dst = shape with the elements of R a, a one-dimensional CPU tensor of integers
  kKill = 56,           // R a = none: the value is no longer needed

  // -- control; b is the index of the instruction to continue with, greater than this one's --
  kJump = 60,
  kJumpIfZero = 61,   // if I a == 0
  kJumpIfFalse = 62,  // if R a is false: a bool, an int, or a CPU tensor of one integer or bool element
  kReturn = 63,       // the result is R a.  Constants and tensors of the arena in it are copied
};

/// 16 bytes.  The meaning of dst, a and b depends on the opcode; with operands, b is the index of the first.
struct Instruction {
  Opcode opcode = Opcode::kReturn;
  uint8_t device = 0;  // where memory is made, a constant lies, arguments are expected and a callee runs
  uint16_t num_operands = 0;
  uint32_t dst = 0;
  uint32_t a = 0;
  uint32_t b = 0;
  friend bool operator==(const Instruction&, const Instruction&) = default;
};
static_assert(sizeof(Instruction) == 16 && sizeof(Operand) == 16);

/// The name and type of a parameter or result, for display only: `type` is a text such as "float32[n, 784]".
/// Types are checked by instructions.
struct Description {
  std::string name;
  std::string type;
  friend bool operator==(const Description&, const Description&) = default;
};

struct BytecodeFunction {
  std::string name;
  bool is_public = true;  // may be called by name from outside; private ones only by instructions
  std::vector<Description> parameters;  // in registers 0 .. n-1 at the start of the function
  std::vector<Description> results;     // one, or the fields of the tuple that is returned
  uint32_t num_registers = 0;           // >= number of parameters
  uint32_t num_ints = 0;
  std::vector<std::string> int_names;  // of the first int registers: symbolic dimensions, for messages
  std::vector<Instruction> code;       // the last one is kReturn or kJump; every path ends in kReturn
  std::vector<Operand> operands;
};

/// Information about a model for people and tools, e.g. {"target", "llvm"}, {"flops.matmul", "200704"}.  The
/// machine does not use it.
struct Note {
  std::string name, text;
};

/// Everything that indices in instructions refer to.
struct Executable {
  std::vector<BytecodeFunction> functions;  // names are unique
  std::vector<Tensor> constants;            // CPU, compact, read-only
  std::vector<std::string>
      callees;  // kernels and packed functions, looked up in the module, then in the registry
  std::vector<std::string> strings;
  std::vector<Note> notes = {};
  /// The devices that Instruction::device counts, as the program was compiled for them; none: one CPU.
  std::vector<Device> devices = {};
  /// The text of the note called `name`; "" if there is none.
  std::string_view note(std::string_view name) const {
    for (const Note& entry : notes) {
      if (entry.name == name) return entry.text;
    }
    return "";
  }
};

}  // namespace tilewright::runtime::vm

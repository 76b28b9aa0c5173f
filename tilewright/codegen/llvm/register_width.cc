// The width of SVE and RVV registers, which is only known at run time: compares the required with the actual
// one.
//   function f() vscale_range(2, 16)          for 256 bits of SVE, or more
//   entry:  check_registers(): if (vscale < 2) return raise_format("RuntimeError", ..., vscale * 128)
// With that attribute LLVM keeps a vector of the program, <8 x float>, in one register.  It masks the lanes
// beyond, so that wider registers compute the same; narrower ones would silently lose lanes.
// Source: LLVM Language Reference, vscale_range; Arm C Language Extensions, RISC-V "V": vscale is the width
// of a register over 128 bits and over 64 bits.
#include "tilewright/codegen/llvm/emitter.h"

namespace tilewright::codegen {
namespace {

struct Scale {
  uint64_t unit_bits, most;
  const char* advice;
};

Scale scale_of(const NativeTarget& target) {
  if (target.triple.starts_with("riscv"))
    return {64, 1024, "compile it with -vector-width=%lld, and without features that promise more (zvl*b)"};
  return {128, 16, "compile it with -vector-width=%lld"};
}

}  // namespace

void ModuleEmitter::set_register_width(llvm::Function* function) const {
  if (target.least_register_bits == 0) return;
  const Scale scale = scale_of(target);
  const auto least = static_cast<uint64_t>(target.least_register_bits) / scale.unit_bits;
  function->addFnAttr(llvm::Attribute::getWithVScaleRangeArgs(
      module.getContext(), static_cast<unsigned>(least), static_cast<unsigned>(scale.most)));
}

llvm::Function* ModuleEmitter::check_registers_function() {
  constexpr const char* kName = "tilewright_check_registers";
  if (llvm::Function* known = module.getFunction(kName)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::Function* function = helper(kName, llvm::Type::getInt32Ty(context), {});
  // this function must not have the attribute, or LLVM would remove the check as redundant
  function->removeFnAttr(llvm::Attribute::VScaleRange);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
  auto *wide = llvm::BasicBlock::Create(context, "wide", function),
       *narrow = llvm::BasicBlock::Create(context, "narrow", function);
  const Scale scale = scale_of(target);
  llvm::Value* bits = builder.CreateVScale(builder.getInt64(scale.unit_bits));
  llvm::ConstantInt* least = builder.getInt64(static_cast<uint64_t>(target.least_register_bits));
  builder.CreateCondBr(builder.CreateICmpUGE(bits, least), wide, narrow);
  builder.SetInsertPoint(wide);
  builder.CreateRet(builder.getInt32(0));
  builder.SetInsertPoint(narrow);
  builder.CreateRet(builder.CreateCall(
      raise_format_function(false),
      {text("RuntimeError"),
       text("this code is for vector registers of %lld bits or more, but those of this machine have %lld: " +
            std::string(scale.advice)),
       least, bits, bits}));
  return function;
}

}  // namespace tilewright::codegen

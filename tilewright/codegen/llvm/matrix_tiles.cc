// Nests of matrix tiles -> AMX: tdpbf16ps, tdpbssd and its kin.
//   entry:        allow_tiles(); ldtilecfg [shapes]
//   the nest:     tileloadd sums; for terms: tileloadd rows, columns; tdp..; tilestored sums
//   each return:  tilerelease
// The registers have one set of shapes while a function runs, unless its nests need several.
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18 (Intel AMX);
// Documentation/arch/x86/xstate.rst of Linux for arch_prctl.
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/TargetParser/Triple.h>

#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/loop_hints.h"

namespace tilewright::codegen {
namespace {

llvm::Intrinsic::ID instruction_of(const TileNest& nest) {
  using namespace llvm::Intrinsic;
  if (nest.sum.dtype.is_float()) return x86_tdpbf16ps;
  const bool is_row_signed = nest.row.dtype.is_int(), is_column_signed = nest.column.dtype.is_int();
  if (is_row_signed) return is_column_signed ? x86_tdpbssd : x86_tdpbsud;
  return is_column_signed ? x86_tdpbusd : x86_tdpbuud;
}

bool has_instruction(const NativeTarget& target, const TileNest& nest) {
  return target.has(nest.sum.dtype.is_float() ? "amx-bf16" : "amx-int8");
}

// Sums first, then rows, then columns.
std::vector<TileRegister> register_shapes(const TileNest& nest) {
  const auto bytes = [](int64_t words) { return static_cast<uint16_t>(4 * words); };
  const auto count = [](int64_t rows) { return static_cast<uint8_t>(rows); };
  std::vector<TileRegister> shapes(nest.sum.offsets.size(),
                                   {bytes(nest.shape.columns), count(nest.shape.rows)});
  shapes.insert(shapes.end(), nest.row.offsets.size(), {bytes(nest.shape.groups), count(nest.shape.rows)});
  shapes.insert(shapes.end(), nest.column.offsets.size(),
                {bytes(nest.shape.columns), count(nest.shape.groups)});
  return shapes;
}

// The 64 bytes that ldtilecfg reads.
llvm::Constant* configuration(llvm::Module& module, const std::vector<TileRegister>& shapes) {
  std::vector<uint8_t> bytes(64);
  bytes[0] = 1;  // the palette: 8 registers of up to 16 rows of 64 bytes
  for (size_t n = 0; n < shapes.size(); ++n) {
    bytes[16 + 2 * n] = static_cast<uint8_t>(shapes[n].row_bytes);
    bytes[48 + n] = shapes[n].rows;
  }
  llvm::Constant* data = llvm::ConstantDataArray::get(module.getContext(), bytes);
  auto* variable = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                            data, "tile_config");
  variable->setAlignment(llvm::Align(64));
  return variable;
}

// Whether other functions run in between, which may use tile registers themselves.
bool has_calls(const Stmt& body) {
  bool found = false;
  walk(body, [&](const CallNode* call) {
    const auto* op = call->op.as<OpNode>();
    found |= !op || op->name.starts_with("tir.call_");
  });
  return found;
}

}  // namespace

// Linux gives a process tile registers when it asks for them, once.
llvm::Function* ModuleEmitter::allow_tiles_function() {
  constexpr const char* kName = "tilewright_allow_tiles";
  if (llvm::Function* known = module.getFunction(kName)) return known;
  constexpr uint64_t kArchPrctl = 158, kRequestPermission = 0x1023, kTileData = 18;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type *i8 = llvm::Type::getInt8Ty(context), *i64 = llvm::Type::getInt64Ty(context);
  auto* is_allowed = new llvm::GlobalVariable(module, i8, false, llvm::GlobalValue::InternalLinkage,
                                              llvm::ConstantInt::get(i8, 0), "are_tiles_allowed");
  llvm::Function* function = helper(kName, llvm::Type::getInt32Ty(context), {});
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
  auto *ask = llvm::BasicBlock::Create(context, "ask", function),
       *allowed = llvm::BasicBlock::Create(context, "allowed", function),
       *done = llvm::BasicBlock::Create(context, "done", function),
       *refused = llvm::BasicBlock::Create(context, "refused", function);
  builder.CreateCondBr(builder.CreateIsNotNull(builder.CreateLoad(i8, is_allowed)), done, ask);
  builder.SetInsertPoint(ask);
  llvm::Value* status = builder.CreateCall(
      external("syscall", i64, {i64}, true),
      {builder.getInt64(kArchPrctl), builder.getInt64(kRequestPermission), builder.getInt64(kTileData)});
  builder.CreateCondBr(builder.CreateIsNull(status), allowed, refused);
  builder.SetInsertPoint(allowed);
  builder.CreateStore(builder.getInt8(1), is_allowed);
  builder.CreateBr(done);
  builder.SetInsertPoint(done);
  builder.CreateRet(builder.getInt32(0));
  builder.SetInsertPoint(refused);
  builder.CreateRet(builder.CreateCall(
      raise_function(),
      {text("RuntimeError"), text("the system does not let this process use the tile registers of AMX")}));
  return function;
}

void FunctionEmitter::find_tile_nests() {
  if (!module_.target.has("amx-tile")) return;
  walk(func_->body, [&](const ForNode* loop) {
    if (!loop->annotations.get_bool(kMatrixTiles, false)) return;
    TileNest nest = tile_nest(loop);
    if (has_instruction(module_.target, nest)) tile_nests_.emplace(loop, std::move(nest));
  });
}

void FunctionEmitter::configure_tiles() {
  if (tile_nests_.empty()) return;
  if (llvm::Triple(module_.target.triple).isOSLinux())
    return_if_failed(builder_.CreateCall(module_.allow_tiles_function()));
  uses_tiles_ = true;
  // scheduling models of other processors let LLVM choose other registers at the end, which have other shapes
  function_->addFnAttr("tune-cpu", "sapphirerapids");
  const std::vector<TileRegister> shapes = register_shapes(tile_nests_.begin()->second);
  has_one_tile_config_ = !has_calls(func_->body);
  for (const auto& [loop, nest] : tile_nests_) has_one_tile_config_ &= register_shapes(nest) == shapes;
  if (has_one_tile_config_) load_tile_config(shapes);
}

void FunctionEmitter::load_tile_config(const std::vector<TileRegister>& shapes) {
  builder_.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {configuration(module_.module, shapes)});
}

void FunctionEmitter::release_tiles() {
  if (uses_tiles_) builder_.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, {});
}

void FunctionEmitter::emit_tile_nest(const TileNest& nest) {
  if (!has_one_tile_config_) load_tile_config(register_shapes(nest));
  const size_t first_row = nest.sum.offsets.size(), first_column = first_row + nest.row.offsets.size();
  const auto move = [&](llvm::Intrinsic::ID instruction, const TileOperand& operand, size_t first) {
    llvm::Value* begin = element_pointer(operand.buffer, operand.index);
    const int64_t bytes = operand.dtype.num_bytes();
    for (size_t n = 0; n < operand.offsets.size(); ++n) {
      llvm::Value* tile =
          builder_.CreateConstInBoundsGEP1_64(i8_, begin, static_cast<uint64_t>(operand.offsets[n] * bytes));
      builder_.CreateIntrinsic(instruction, {},
                               {builder_.getInt8(static_cast<uint8_t>(first + n)), tile,
                                builder_.getInt64(static_cast<uint64_t>(operand.stride * bytes))});
    }
  };
  const auto number = [&](size_t n) { return builder_.getInt8(static_cast<uint8_t>(n)); };
  const auto multiply = [&] {
    move(llvm::Intrinsic::x86_tileloadd64, nest.row, first_row);
    move(llvm::Intrinsic::x86_tileloadd64, nest.column, first_column);
    for (const TileProduct& product : nest.products)
      builder_.CreateIntrinsic(
          instruction_of(nest), {},
          {number(product.sum), number(first_row + product.row), number(first_column + product.column)});
  };
  const std::function<void(size_t)> repeat = [&](size_t depth) {
    if (depth == nest.terms.size()) return multiply();
    emit_loop(nest.terms[depth], [&] { repeat(depth + 1); });
  };
  move(llvm::Intrinsic::x86_tileloadd64, nest.sum, 0);
  repeat(0);
  move(llvm::Intrinsic::x86_tilestored64, nest.sum, 0);
}

}  // namespace tilewright::codegen

// Translates nests of matrix tiles to AMX instructions: tdpbf16ps, tdpbssd and its variants.
//   entry:        allow_tiles(); ldtilecfg [shapes]
//   the nest:     tileloadd sums, or tilezero; for terms: tileloaddt1 or tileloadd rows, tileloadd columns;
//                 tdp..; at intervals a tilestored to unused memory; tilestored sums
//   each return:  tilerelease
// The registers keep one set of shapes while a function runs, unless its nests need several.
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18 (Intel AMX);
// Documentation/arch/x86/xstate.rst of Linux for arch_prctl.
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <bit>

#include "tilewright/arith/analyzer.h"
#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
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
  bytes[0] = 1;  // palette 1: 8 registers of up to 16 rows of 64 bytes
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

// The index of the tiles of `operand` in iteration `n` of the unrolled loop.
PrimExpr index_in_iteration(const TileNest& nest, const TileOperand& operand, int64_t n) {
  if (!nest.unrolled) return operand.index;
  const Var& var = nest.unrolled;
  return arith::Analyzer().simplify(substitute(operand.index, {{var.get(), imm(n, var->dtype)}}));
}

// The loop over terms, and the number of its iterations between stores of a tile to unused memory: a store
// that comes more than 0.6 us after the previous one takes 0.25 us (measured on a Xeon with an L2 of 2 MiB,
// with 128 and more products between stores), whatever is read and from where.
struct IdleStores {
  std::optional<size_t> depth;
  int64_t interval = 1;  // a power of two
};
IdleStores idle_stores(const TileNest& nest) {
  constexpr int64_t kMostProducts = 96, kProducts = 64;
  auto products = static_cast<int64_t>(nest.products.size()) * nest.num_unrolled;
  for (size_t depth = nest.terms.size(); depth-- > 0;) {
    int64_t extent = 0;  // a symbolic extent may be long
    const bool is_known = as_const_int(nest.terms[depth]->extent, &extent);
    if (!is_known || extent > kMostProducts / products)
      return {depth, static_cast<int64_t>(
                         std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, kProducts / products))))};
    products *= std::max<int64_t>(1, extent);
  }
  return {};
}

// True if `stmt` calls other functions, which may use tile registers themselves.
bool has_calls(const Stmt& body) {
  bool found = false;
  walk(body, [&](const CallNode* call) {
    const auto* op = call->op.as<OpNode>();
    found |= !op || op->name.starts_with("tir.call_");
  });
  return found;
}

}  // namespace

// On Linux, a process must request the tile registers once.
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
  if (tile_nests_.empty()) return;
  walk(func_->body, [&](const SeqStmtNode* seq) {
    for (size_t n = 0; n + 1 < seq->seq.size(); ++n) find_zeros(seq->seq[n], seq->seq[n + 1]);
  });
}

// Finds nests inside `next` that begin with the zeros that `stmt` writes; `stmt` is then left out.
void FunctionEmitter::find_zeros(const Stmt& stmt, const Stmt& next) {
  const auto* loop = next.as<ForNode>();
  while (loop && !tile_nests_.contains(loop)) loop = loop->body.as<ForNode>();
  if (!loop) return;
  TileNest& nest = tile_nests_.at(loop);
  if (loop == next.get()) {
    nest.begins_with_zero = sets_to_zero(stmt, nest);
  } else {
    nest.block = block_of_zeros(stmt, next, loop, nest);
    nest.begins_with_zero = nest.block != nullptr;
  }
  if (nest.begins_with_zero) left_out_.insert(stmt.get());
}

void FunctionEmitter::configure_tiles() {
  if (tile_nests_.empty()) return;
  if (llvm::Triple(module_.target.triple).isOSLinux())
    return_if_failed(builder_.CreateCall(module_.allow_tiles_function()));
  uses_tiles_ = true;
  // with the scheduling models of other processors, LLVM may finally choose other registers, which have other
  // shapes
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

// Stores a register to unused memory every `interval` iterations of a loop.
void FunctionEmitter::emit_idle_store(const Var& loop_var, int64_t interval, uint8_t number) {
  constexpr uint64_t kTileBytes = 1024, kRowBytes = 64;
  if (!idle_tile_) idle_tile_ = entry_alloca(i8_, kTileBytes, kRowBytes, "idle_tile");
  llvm::BasicBlock *store = new_block("idle_store"), *next = new_block("stored");
  llvm::Value* counter = values_.at(loop_var.get());
  const auto mask = llvm::ConstantInt::get(counter->getType(), static_cast<uint64_t>(interval - 1));
  builder_.CreateCondBr(builder_.CreateICmpEQ(builder_.CreateAnd(counter, mask), mask), store, next);
  builder_.SetInsertPoint(store);
  builder_.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64, {},
                           {builder_.getInt8(number), idle_tile_, builder_.getInt64(kRowBytes)});
  builder_.CreateBr(next);
  builder_.SetInsertPoint(next);
}

// Prefetches the columns that come after those at `columns`; each iteration that reads `columns` prefetches
// its share.
void FunctionEmitter::fetch_next_columns(const TileNest& nest, llvm::Value* columns) {
  constexpr uint64_t kTileBytes = 1024;
  const auto line_bytes = static_cast<uint64_t>(module_.target.line_bytes);
  if (nest.next_columns == 0 || !panel_iteration_.number) return;
  const uint64_t lines = nest.column.offsets.size() * kTileBytes / line_bytes,
                 share = (lines - 1) / panel_iteration_.count + 1;
  llvm::Value* distance = builder_.CreateMul(panel_iteration_.number, builder_.getInt64(share * line_bytes));
  llvm::Value* begin = builder_.CreateGEP(
      i8_, columns,
      builder_.CreateAdd(distance, builder_.getInt64(static_cast<uint64_t>(nest.next_columns))));
  for (uint64_t n = 0; n < share; ++n)
    fetch_line(builder_.CreateConstGEP1_64(i8_, begin, n * line_bytes), kL2Cache);
}

// Sums begin with zero, or with the result of `load`: inside a block, the sums of the previous iteration.
void FunctionEmitter::begin_sums(const TileNest& nest, const std::function<void()>& load) {
  const auto zero = [&] {
    for (size_t n = 0; n < nest.sum.offsets.size(); ++n)
      builder_.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {},
                               {builder_.getInt8(static_cast<uint8_t>(n))});
  };
  if (!nest.begins_with_zero) return load();
  if (!nest.block) return zero();
  llvm::BasicBlock *first = new_block("first_terms"), *others = new_block("other_terms"),
                   *begun = new_block("begun");
  llvm::Value* iteration = values_.at(nest.block->loop_var.get());
  builder_.CreateCondBr(builder_.CreateICmpEQ(iteration, emit_index(nest.block->min)), first, others);
  builder_.SetInsertPoint(first);
  zero();
  builder_.CreateBr(begun);
  builder_.SetInsertPoint(others);
  load();
  builder_.CreateBr(begun);
  builder_.SetInsertPoint(begun);
}

void FunctionEmitter::emit_tile_nest(const TileNest& nest) {
  if (!has_one_tile_config_) load_tile_config(register_shapes(nest));
  const size_t first_row = nest.sum.offsets.size(), first_column = first_row + nest.row.offsets.size();
  const auto move = [&](llvm::Intrinsic::ID instruction, const TileOperand& operand, const PrimExpr& index,
                        size_t first) {
    llvm::Value* begin = element_pointer(operand.buffer, index);
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
  const llvm::Intrinsic::ID load = llvm::Intrinsic::x86_tileloadd64,
                            load_row = nest.is_row_streamed ? llvm::Intrinsic::x86_tileloaddt164 : load;
  const auto multiply = [&] {
    PrimExpr row, column;           // the tiles in registers
    std::vector<PrimExpr> fetched;  // operands whose next tiles are being prefetched
    for (int64_t n = 0; n < nest.num_unrolled; ++n) {
      const PrimExpr next_row = index_in_iteration(nest, nest.row, n),
                     next_column = index_in_iteration(nest, nest.column, n);
      if (!row || !is_same_index(row, next_row)) move(load_row, nest.row, next_row, first_row);
      if (!column || !is_same_index(column, next_column)) {
        move(load, nest.column, next_column, first_column);
        const auto is_same = [&](const PrimExpr& other) { return is_same_index(other, next_column); };
        if (std::none_of(fetched.begin(), fetched.end(), is_same)) {
          fetch_next_columns(nest, element_pointer(nest.column.buffer, next_column));
          fetched.push_back(next_column);
        }
      }
      row = next_row, column = next_column;
      for (const TileProduct& product : nest.products)
        builder_.CreateIntrinsic(
            instruction_of(nest), {},
            {number(product.sum), number(first_row + product.row), number(first_column + product.column)});
    }
  };
  const IdleStores idle = idle_stores(nest);
  const auto last = static_cast<uint8_t>(first_column + nest.column.offsets.size() - 1);
  const std::function<void(size_t)> repeat = [&](size_t depth) {
    if (depth == nest.terms.size()) return multiply();
    const ForNode* loop = nest.terms[depth];
    emit_loop(loop, [&] {
      repeat(depth + 1);
      if (depth == idle.depth) emit_idle_store(loop->loop_var, idle.interval, last);
    });
  };
  begin_sums(nest, [&] { move(load, nest.sum, nest.sum.index, 0); });
  repeat(0);
  move(llvm::Intrinsic::x86_tilestored64, nest.sum, nest.sum.index, 0);
}

}  // namespace tilewright::codegen

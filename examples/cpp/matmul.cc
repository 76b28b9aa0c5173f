// A matrix product with the C++ interface: written as a formula, scheduled, compiled, run, checked and timed.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tilewright/driver/build.h"
#include "tilewright/runtime/time_evaluator.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/script/print.h"
#include "tilewright/support/error.h"
#include "tilewright/target/target.h"
#include "tilewright/te/create_prim_func.h"

using namespace tilewright;
using namespace tilewright::tir;
using runtime::Tensor;

constexpr int64_t kRows = 126, kColumns = 128, kInner = 127;
constexpr int64_t kTileRows = 6, kTileColumns = 16;

// C[i, j] = sum over k of A[i, k] * B[k, j], as loops in the order they are written
PrimFunc formula() {
  const te::Tensor a = te::placeholder({imm(kRows), imm(kInner)}, kFloat32, "A");
  const te::Tensor b = te::placeholder({imm(kInner), imm(kColumns)}, kFloat32, "B");
  const IterVar k = te::reduce_axis(imm(kInner), "k");
  const te::Tensor c = te::compute({imm(kRows), imm(kColumns)},
                                   [&](Var i, Var j) { return te::sum(a(i, k->var) * b(k->var, j), {k}); },
                                   {.name = "C", .axis_names = {"i", "j"}});
  return te::create_prim_func({a, b, c}, {.global_symbol = "matmul"});
}

// Tiles of 6 x 16 elements, a row of a tile in one vector, rows of tiles on several threads.
void tile(schedule::Schedule& sch) {
  using namespace schedule;
  const BlockRef block = steps::get_block(sch, "C", "matmul");
  const std::vector<LoopRef> loops = steps::get_loops(sch, block);
  const std::vector<LoopRef> rows = steps::split(sch, loops[0], {None{}, kTileRows});
  const std::vector<LoopRef> columns = steps::split(sch, loops[1], {None{}, kTileColumns});
  const LoopRef terms = loops[2];
  steps::reorder(sch, {rows[0], columns[0], terms, rows[1], columns[1]});
  steps::decompose_reduction(sch, block, terms);
  steps::vectorize(sch, columns[1]);
  steps::parallel(sch, rows[0]);
}

float error_of(const Tensor& a, const Tensor& b, const Tensor& c) {
  float largest = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < kInner; ++k)
        sum += a.data_as<float>()[i * kInner + k] * b.data_as<float>()[k * kColumns + j];
      largest = std::max(largest, std::abs(sum - c.data_as<float>()[i * kColumns + j]));
    }
  }
  return largest;
}

Tensor numbers(int64_t rows, int64_t columns) {
  const Tensor tensor = Tensor::empty(std::vector<int64_t>{rows, columns}, kFloat32);
  for (int64_t n = 0; n < rows * columns; ++n) tensor.data_as<float>()[n] = static_cast<float>(n % 17) / 17;
  return tensor;
}

int main() try {
  schedule::Schedule sch(ir::with_function(ir::IRModuleNode::make(), "matmul", formula()));
  tile(sch);
  std::printf("%s\n", script::print(sch.module()).c_str());

  const runtime::Module library = driver::build(sch.module(), target::parse_target("llvm"));
  const Tensor a = numbers(kRows, kInner), b = numbers(kInner, kColumns);
  const Tensor c = Tensor::empty(std::vector<int64_t>{kRows, kColumns}, kFloat32);
  const runtime::Function matmul = library.get_function("matmul");
  matmul(a, b, c);
  std::printf("largest error %g\n", static_cast<double>(error_of(a, b, c)));
  const std::vector<runtime::Value> args = {a, b, c};
  std::printf("%s\n", runtime::time_evaluator(matmul, args, {.number = 100, .repeat = 5}).str().c_str());
  return error_of(a, b, c) < 1e-3f ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.render().c_str());
  return 2;
}

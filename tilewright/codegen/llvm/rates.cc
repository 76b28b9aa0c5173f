#include "tilewright/codegen/llvm/rates.h"

#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCSchedule.h>
#include <llvm/TargetParser/Triple.h>

#include <map>
#include <memory>

#include "tilewright/support/error.h"

namespace tilewright::codegen {
namespace {

// LLVM's names of a multiply-add, a load and a store of whole vectors.
struct Opcodes {
  llvm::StringRef fma, load, store;
  int64_t fma_instructions = 1;
};

std::optional<Opcodes> opcodes_for(const llvm::MCSubtargetInfo& info, int64_t vector_bits) {
  const llvm::Triple& triple = info.getTargetTriple();
  const auto has = [&](llvm::StringRef feature) { return info.checkFeatures(("+" + feature).str()); };
  if (triple.isX86() && has("fma")) {
    if (vector_bits >= 512) return Opcodes{"VFMADD231PSZr", "VMOVUPSZrm", "VMOVUPSZmr"};
    if (vector_bits >= 256) return Opcodes{"VFMADD231PSYr", "VMOVUPSYrm", "VMOVUPSYmr"};
    return Opcodes{"VFMADD231PSr", "VMOVUPSrm", "VMOVUPSmr"};
  }
  if (triple.isX86() && has("avx")) return Opcodes{"VMULPSYrr", "VMOVUPSYrm", "VMOVUPSYmr", 2};
  if (triple.isX86()) return Opcodes{"MULPSrr", "MOVUPSrm", "MOVUPSmr", 3};
  if (triple.isAArch64() && has("sve") && vector_bits > 128)
    return Opcodes{"FMLA_ZPmZZ_S", "LDR_ZXI", "STR_ZXI"};
  if (triple.isAArch64()) return Opcodes{"FMLAv4f32", "LDRQui", "STRQui"};
  return std::nullopt;
}

// The inverse of the cycles until another such instruction can start, and the cycles until its result is
// available.
struct Speed {
  double per_cycle = 0;
  int64_t latency = 0;
};

// Looks up an instruction by name; cached, since an architecture has up to 20,000 instructions.
unsigned number_of(llvm::StringRef opcode, const llvm::MCInstrInfo& instructions) {
  thread_local std::map<std::string, unsigned, std::less<>> known;
  if (const auto found = known.find(opcode); found != known.end()) return found->second;
  unsigned number = 0;
  while (number < instructions.getNumOpcodes() && instructions.getName(number) != opcode) ++number;
  TILEWRIGHT_CHECK(number < instructions.getNumOpcodes(), "LLVM has no instruction {}", opcode.str());
  return known.emplace(opcode.str(), number).first->second;
}

std::optional<Speed> speed_of(llvm::StringRef opcode, const llvm::MCInstrInfo& instructions,
                              const llvm::MCSubtargetInfo& info) {
  const unsigned kind = instructions.get(number_of(opcode, instructions)).getSchedClass();
  const llvm::MCSchedClassDesc* known = info.getSchedModel().getSchedClassDesc(kind);
  if (!known->isValid() || known->isVariant()) return std::nullopt;
  const double cycles = llvm::MCSchedModel::getReciprocalThroughput(info, *known);
  const int latency = llvm::MCSchedModel::computeInstrLatency(info, *known);
  if (!(cycles > 0) || latency <= 0) return std::nullopt;
  return Speed{1 / cycles, latency};
}

}  // namespace

std::optional<target::Rates> rates_of(const llvm::Target& backend, const llvm::MCSubtargetInfo& info,
                                      int64_t vector_bits) {
  const std::optional<Opcodes> opcodes = opcodes_for(info, vector_bits);
  const llvm::MCSchedModel& model = info.getSchedModel();
  if (!opcodes || !model.hasInstrSchedModel() || model.IssueWidth == 0) return std::nullopt;
  const std::unique_ptr<llvm::MCInstrInfo> instructions(backend.createMCInstrInfo());
  const std::optional<Speed> fma = speed_of(opcodes->fma, *instructions, info),
                             load = speed_of(opcodes->load, *instructions, info),
                             store = speed_of(opcodes->store, *instructions, info);
  if (!fma || !load || !store) return std::nullopt;
  return target::Rates{.fma_per_cycle = fma->per_cycle,
                       .fma_latency = fma->latency,
                       .loads_per_cycle = load->per_cycle,
                       .stores_per_cycle = store->per_cycle,
                       .issue_width = model.IssueWidth,
                       .fma_instructions = opcodes->fma_instructions};
}

}  // namespace tilewright::codegen

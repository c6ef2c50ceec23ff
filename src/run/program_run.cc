#include "run/program_run.h"

#include <optional>
#include <tuple>

#include "base/clock.h"
#include "base/error.h"

namespace mete {
namespace {

double UsSince(int64_t start_ns) { return double(NowNs() - start_ns) * 1e-3; }

void RunShare(Ready& share, std::span<const ConstView> in, std::span<const View> out, Inbox& inbox) {
  try {
    share.Run(in, out, {.cancel = &inbox.failed()});
  } catch (const Error& error) {
    if (error.code() == Code::kCancelled) inbox.ThrowIfFailed();  // which says why
    throw;
  }
}

MakeTensor OwnOr(const MakeTensor& shared, Processor& processor) {
  MakeTensor own = processor.SharedMemory();
  return own ? own : shared;
}

// Tells each graph of a program how many bytes of constants the other graphs have, which all run between two
// runs of it.
Program WithOtherConstants(Program program) {
  int64_t all = 0;
  for (const ProgramStage& stage : program.stages) all += ConstantBytes(stage.graph);
  for (ProgramStage& stage : program.stages)
    stage.graph.other_constant_bytes = all - ConstantBytes(stage.graph);
  return program;
}

}  // namespace

PreparedProgram::PreparedProgram(Program program, int index, Processor& processor, const MakeReady& make,
                                 const MakeTensor& shared)
    : program_(WithOtherConstants(std::move(program))),
      index_(index),
      processor_(processor),
      buffers_(OwnOr(shared, processor)) {
  for (size_t s = 0; s < program_.stages.size(); ++s) {
    const auto& [graph, threads] = std::tie(program_.stages[s].graph, program_.stages[s].threads);
    if (graph.nodes.empty()) ready_.push_back(nullptr);
    else ready_.push_back(threads ? processor.PrepareAsPlanned(graph, *threads) : make(graph));
    homes_.push_back(HomesOf(s));
  }
}

// Finds the outputs that are rows of a need of the next stage, beside rows from other processors. Such an
// output is written to its place in this need.
std::vector<PreparedProgram::Home> PreparedProgram::HomesOf(size_t s) const {
  const Graph& graph = program_.stages[s].graph;
  std::vector<Home> homes(graph.outputs.size());
  if (s + 1 == program_.stages.size()) return homes;
  const std::vector<ProgramNeed>& needs = program_.stages[s + 1].needs;
  for (size_t n = 0; n < needs.size(); ++n) {
    if (needs[n].sources.size() < 2) continue;
    for (const NeedSource& source : needs[n].sources)
      if (source.processor == index_ && size_t(source.hold) < homes.size() && source.cut.all() &&
          graph.value(graph.outputs[size_t(source.hold)]).type == needs[n].type &&
          homes[size_t(source.hold)].need < 0 && IsContiguous(source.at, needs[n].shape))
        homes[size_t(source.hold)] = {int(n), source.at};
  }
  return homes;
}

void ProgramMemory::Clear() {
  for (auto* tensors : {&held, &needs, &inputs, &begun, &next_begun, &next_held}) tensors->clear();
  in.clear();
  out.clear();
}

void PreparedProgram::Run(std::span<const Tensor> inputs, Inbox& inbox, Outbox& outbox, Turn& turn,
                          ProgramMemory& memory) const {
  memory.Clear();
  memory.held.assign(inputs.begin(), inputs.end());
  memory.times.assign(program_.stages.size(), {});
  try {
    RunStages(inbox, outbox, turn, memory);
  } catch (...) {
    memory.Clear();
    throw;
  }
}

void PreparedProgram::RunStages(Inbox& inbox, Outbox& outbox, Turn& turn, ProgramMemory& memory) const {
  for (size_t s = 0; s < program_.stages.size(); ++s) {
    for (const ProgramSend& send : program_.stages[s].sends)
      outbox.Send(send.to, {int(s), send.need, send.source},
                  processor_.Export(Piece(memory.held[size_t(send.hold)], send.cut)));
    RunStage(s, inbox, turn, memory);
  }
}

void PreparedProgram::RunStage(size_t s, Inbox& inbox, Turn& turn, ProgramMemory& memory) const {
  const ProgramStage& stage = program_.stages[s];
  const int64_t start_ns = NowNs();
  for (size_t n = 0; n < stage.needs.size(); ++n) memory.needs.push_back(Gather(s, n, inbox, memory));
  memory.times[s].wait_us = UsSince(start_ns);
  if (s + 1 < program_.stages.size()) memory.next_begun.resize(program_.stages[s + 1].needs.size());
  if (ready_[s]) Compute(s, inbox, turn, memory);
  for (const NeedPart& p : stage.kept) memory.next_held.push_back(PartOf(s, p, memory));
  memory.held.swap(memory.next_held);
  memory.begun.swap(memory.next_begun);
  for (auto* tensors : {&memory.needs, &memory.inputs, &memory.next_held, &memory.next_begun})
    tensors->clear();
}

void PreparedProgram::Compute(size_t s, Inbox& inbox, Turn& turn, ProgramMemory& memory) const {
  const ProgramStage& stage = program_.stages[s];
  memory.in.clear();
  memory.out.clear();
  for (const NeedPart& p : stage.inputs) {
    memory.inputs.push_back(PartOf(s, p, memory));
    memory.in.push_back(memory.inputs.back().view());
  }
  for (size_t i = 0; i < stage.graph.outputs.size(); ++i) {
    memory.next_held.push_back(OutputOf(s, i, memory));
    memory.out.push_back(memory.next_held.back().mutable_view());
  }
  std::optional<Turn::Taken> taken;
  if (!processor_.OrdersShares()) taken.emplace(turn, [&] { inbox.Check(); });
  const int64_t compute_ns = NowNs();
  RunShare(*ready_[s], memory.in, memory.out, inbox);
  memory.times[s].compute_us = UsSince(compute_ns);
}

Tensor PreparedProgram::Piece(const Tensor& whole, const Part& part) const {
  if (IsContiguous(part, whole.shape())) return Cut(whole, part);
  Tensor piece = buffers_.Take(whole.type(), ShapeOf(part, whole.shape()));
  Place(whole.view(), Part::All(), piece.mutable_view(), part);
  return piece;
}

// Returns a part of a need. If this processor held the part as one piece, that piece is still there, and no
// copy is made from the whole need. For example, half of the channels of a value with channels last is not
// contiguous in the whole.
Tensor PreparedProgram::PartOf(size_t s, const NeedPart& p, const ProgramMemory& memory) const {
  for (const NeedSource& source : program_.stages[s].needs[size_t(p.need)].sources)
    if (source.processor == index_ && source.at == p.cut)
      return Piece(memory.held[size_t(source.hold)], source.cut);
  return Piece(memory.needs[size_t(p.need)], p.cut);
}

Tensor PreparedProgram::OutputOf(size_t s, size_t i, ProgramMemory& memory) const {
  const Value& output = program_.stages[s].graph.value(program_.stages[s].graph.outputs[i]);
  const Home& home = homes_[s][i];
  if (home.need < 0) return buffers_.Take(output.type, output.shape);
  const ProgramNeed& need = program_.stages[s + 1].needs[size_t(home.need)];
  Tensor& whole = memory.next_begun[size_t(home.need)];
  if (!whole.has_value()) whole = buffers_.Take(need.type, need.shape);
  return Cut(whole, home.at);
}

// Returns what the stage needs, put together from its pieces. A need of one piece is that piece, without a
// copy.
Tensor PreparedProgram::Gather(size_t s, size_t n, Inbox& inbox, const ProgramMemory& memory) const {
  const ProgramNeed& need = program_.stages[s].needs[n];
  const auto piece = [&](size_t k) {
    const NeedSource& source = need.sources[k];
    if (source.processor != index_) return processor_.Import(inbox.Take({int(s), int(n), int(k)}));
    return Piece(memory.held[size_t(source.hold)], source.cut);
  };
  if (need.sources.size() == 1 && need.sources[0].at.all()) return piece(0);
  const bool begun = n < memory.begun.size() && memory.begun[n].has_value();
  Tensor whole = begun ? memory.begun[n] : buffers_.Take(need.type, need.shape);
  const auto lies_there = [&](const NeedSource& source) {
    if (!begun || source.processor != index_) return false;
    const std::vector<Home>& homes = homes_[s - 1];
    return size_t(source.hold) < homes.size() && homes[size_t(source.hold)].need == int(n) &&
           homes[size_t(source.hold)].at == source.at;
  };
  // The pieces of other processors are placed last, because they may still be computed.
  for (const bool own : {true, false})
    for (size_t k = 0; k < need.sources.size(); ++k)
      if ((need.sources[k].processor == index_) == own && !lies_there(need.sources[k]))
        Place(piece(k).view(), need.sources[k].at, whole.mutable_view(), Part::All());
  return whole;
}

}  // namespace mete

#include "run/program_run.h"

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

}  // namespace

PreparedProgram::PreparedProgram(Program program, int index, Processor& processor, const MakeReady& make)
    : program_(std::move(program)), index_(index), processor_(processor) {
  for (size_t s = 0; s < program_.stages.size(); ++s) {
    const Graph& graph = program_.stages[s].graph;
    ready_.push_back(graph.nodes.empty() ? nullptr : make(graph));
    homes_.push_back(HomesOf(s));
  }
}

// An output that one need of the next stage has as rows beside those of others is written where they will be.
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

std::vector<Tensor> PreparedProgram::Run(std::vector<Tensor> inputs, Inbox& inbox, Outbox& outbox, Turn& turn,
                                         std::span<StageTimes> times) const {
  State state{std::move(inputs), {}};
  for (size_t s = 0; s < program_.stages.size(); ++s) {
    for (const ProgramSend& send : program_.stages[s].sends)
      outbox.Send(send.to, {int(s), send.need, send.source},
                  processor_.Export(Cut(state.held[size_t(send.hold)], send.cut)));
    RunStage(s, state, inbox, turn, times[s]);
  }
  return std::move(state.held);
}

void PreparedProgram::RunStage(size_t s, State& state, Inbox& inbox, Turn& turn, StageTimes& times) const {
  const ProgramStage& stage = program_.stages[s];
  const int64_t start_ns = NowNs();
  std::vector<Tensor> needs;
  for (size_t n = 0; n < stage.needs.size(); ++n) needs.push_back(Gather(s, n, state, inbox));
  times.wait_us = UsSince(start_ns);
  State after;
  if (s + 1 < program_.stages.size()) after.begun.resize(program_.stages[s + 1].needs.size());
  if (ready_[s]) Compute(s, needs, after, inbox, turn, times);
  for (const NeedPart& p : stage.kept) after.held.push_back(Cut(needs[size_t(p.need)], p.cut));
  state = std::move(after);
}

void PreparedProgram::Compute(size_t s, std::span<const Tensor> needs, State& after, Inbox& inbox, Turn& turn,
                              StageTimes& times) const {
  const ProgramStage& stage = program_.stages[s];
  std::vector<Tensor> inputs;
  std::vector<ConstView> in;
  std::vector<View> out;
  for (const NeedPart& p : stage.inputs) {
    inputs.push_back(Cut(needs[size_t(p.need)], p.cut));
    in.push_back(inputs.back().view());
  }
  for (size_t i = 0; i < stage.graph.outputs.size(); ++i) {
    after.held.push_back(OutputOf(s, i, after));
    out.push_back(after.held.back().mutable_view());
  }
  const Turn::Taken taken(turn, [&] { inbox.Check(); });
  const int64_t compute_ns = NowNs();
  RunShare(*ready_[s], in, out, inbox);
  times.compute_us = UsSince(compute_ns);
}

Tensor PreparedProgram::OutputOf(size_t s, size_t i, State& after) const {
  const Value& output = program_.stages[s].graph.value(program_.stages[s].graph.outputs[i]);
  const Home& home = homes_[s][i];
  if (home.need < 0) return buffers_.Take(output.type, output.shape);
  const ProgramNeed& need = program_.stages[s + 1].needs[size_t(home.need)];
  Tensor& whole = after.begun[size_t(home.need)];
  if (!whole.has_value()) whole = buffers_.Take(need.type, need.shape);
  return Cut(whole, home.at);
}

// Puts together what the stage needs. A need of one piece is that piece, without a copy.
Tensor PreparedProgram::Gather(size_t s, size_t n, const State& state, Inbox& inbox) const {
  const ProgramNeed& need = program_.stages[s].needs[n];
  const auto piece = [&](size_t k) {
    const NeedSource& source = need.sources[k];
    if (source.processor != index_) return processor_.Import(inbox.Take({int(s), int(n), int(k)}));
    return Cut(state.held[size_t(source.hold)], source.cut);
  };
  if (need.sources.size() == 1 && need.sources[0].at.all()) return piece(0);
  const bool begun = n < state.begun.size() && state.begun[n].has_value();
  Tensor whole = begun ? state.begun[n] : buffers_.Take(need.type, need.shape);
  const auto lies_there = [&](const NeedSource& source) {
    if (!begun || source.processor != index_) return false;
    const std::vector<Home>& homes = homes_[s - 1];
    return size_t(source.hold) < homes.size() && homes[size_t(source.hold)].need == int(n) &&
           homes[size_t(source.hold)].at == source.at;
  };
  for (size_t k = 0; k < need.sources.size(); ++k)
    if (!lies_there(need.sources[k]))
      Place(piece(k).view(), need.sources[k].at, whole.mutable_view(), Part::All());
  return whole;
}

}  // namespace mete

#include "run/devices/program_run.h"

#include "base/clock.h"
#include "base/error.h"

namespace mete {
namespace {

double UsSince(int64_t start_ns) { return double(NowNs() - start_ns) * 1e-3; }

void Compute(Session& session, std::span<const ConstView> in, std::span<const View> out, Inbox& inbox) {
  try {
    session.Run(in, out, {.cancel = &inbox.failed()});
  } catch (const Error& error) {
    if (error.code() == Code::kCancelled) inbox.ThrowIfFailed();  // which says why
    throw;
  }
}

}  // namespace

Tensor Buffers::Take(DType type, const Shape& shape) {
  std::lock_guard lock(mutex_);
  for (const auto& t : all_)
    if (t.use_count() == 1 && t->type() == type && t->shape() == shape) return {type, shape, t->data(), t};
  all_.push_back(std::make_shared<Tensor>(type, shape));
  return {type, shape, all_.back()->data(), all_.back()};
}

PreparedProgram::PreparedProgram(DeviceProgram program, int device, const MakeShareSession& make)
    : program_(std::move(program)), device_(device) {
  for (const ProgramStage& stage : program_.stages) {
    sessions_.push_back(stage.graph.nodes.empty() ? nullptr : make(stage.graph));
  }
}

std::vector<Tensor> PreparedProgram::Run(std::vector<Tensor> held, Inbox& inbox, Outbox& outbox, Turn& turn,
                                         std::span<StageTimes> times) const {
  for (size_t s = 0; s < program_.stages.size(); ++s) {
    for (const ProgramSend& send : program_.stages[s].sends)
      outbox.Send(send.to, {int(s), send.need, send.source}, Cut(held[size_t(send.hold)], send.cut));
    held = RunStage(s, held, inbox, turn, times[s]);
  }
  return held;
}

std::vector<Tensor> PreparedProgram::RunStage(size_t s, const std::vector<Tensor>& held, Inbox& inbox,
                                              Turn& turn, StageTimes& times) const {
  const ProgramStage& stage = program_.stages[s];
  const int64_t start_ns = NowNs();
  std::vector<Tensor> needs;
  for (size_t n = 0; n < stage.needs.size(); ++n) needs.push_back(Gather(s, n, held, inbox));
  times.wait_us = UsSince(start_ns);
  std::vector<Tensor> holds;
  if (sessions_[s]) {
    std::vector<Tensor> inputs;
    std::vector<ConstView> in;
    std::vector<View> out;
    for (const NeedPart& p : stage.inputs)
      inputs.push_back(Cut(needs[size_t(p.need)], p.cut)), in.push_back(inputs.back().view());
    for (const ValueId id : stage.graph.outputs) {
      const Value& output = stage.graph.value(id);
      holds.push_back(buffers_.Take(output.type, output.shape));
      out.push_back(holds.back().mutable_view());
    }
    const Turn::Taken taken(turn, [&] { inbox.Check(); });
    const int64_t compute_ns = NowNs();
    Compute(*sessions_[s], in, out, inbox);
    times.compute_us = UsSince(compute_ns);
  }
  for (const NeedPart& p : stage.kept) holds.push_back(Cut(needs[size_t(p.need)], p.cut));
  return holds;
}

// Puts together what is needed. Of one piece that is all of it nothing is copied.
Tensor PreparedProgram::Gather(size_t s, size_t n, const std::vector<Tensor>& held, Inbox& inbox) const {
  const ProgramNeed& need = program_.stages[s].needs[n];
  const auto piece = [&](size_t k) {
    const NeedSource& source = need.sources[k];
    if (source.device != device_) return inbox.Take({int(s), int(n), int(k)});
    return Cut(held[size_t(source.hold)], source.cut);
  };
  if (need.sources.size() == 1 && need.sources[0].at.all()) return piece(0);
  Tensor whole = buffers_.Take(need.type, need.shape);
  for (size_t k = 0; k < need.sources.size(); ++k)
    Place(piece(k).view(), need.sources[k].at, whole.mutable_view(), Part::All());
  return whole;
}

}  // namespace mete

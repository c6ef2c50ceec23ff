#include "processor/opencl/gpu/ready_on_gpu.h"

#include <algorithm>

#include "base/error.h"
#include "processor/check_share.h"
#include "processor/opencl/gpu/trace_of.h"

namespace mete::opencl {
namespace {

// A batch that takes longer than this, and than so many times the longest one before, hangs. Both values are
// guesses: a GPU that other programs use, too, may be slow for a while, and drivers reset one after seconds.
constexpr std::chrono::seconds kLeastPatience{10};
constexpr int kTimesLonger = 50;

// How long a wait lasts before the token of the run is looked at, at first and at most. Each further look is
// one more call that the driver owes.
constexpr std::chrono::milliseconds kFirstLook{2}, kLongestLook{50};

}  // namespace

std::vector<int64_t> BytesOf(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<int64_t> bytes;
  for (const ValueId id : ids)
    bytes.push_back(graph.value(id).shape.Elements() * int64_t(SizeOf(graph.value(id).type)));
  return bytes;
}

ReadyOnGpu::ReadyOnGpu(std::string name, std::shared_ptr<LiveGpu> live, std::unique_ptr<const Graph> graph,
                       const ShareOnGpu& share, int64_t start_ns)
    : name_(std::move(name)),
      live_(std::move(live)),
      graph_(std::move(graph)),
      share_(live_, share, BytesOf(*graph_, graph_->inputs), BytesOf(*graph_, graph_->outputs)),
      prepare_ms_(double(NowNs() - start_ns) * 1e-6) {}

// Memory that both sides share may not go while a kernel uses it.
ReadyOnGpu::~ReadyOnGpu() {
  try {
    AwaitBatch();
  } catch (const Error&) {}  // it is lost, or the batch has failed: nothing runs any more
}

Clock::Duration ReadyOnGpu::Patience() const {
  return std::max<Clock::Duration>(kLeastPatience, longest_ * kTimesLonger);
}

void ReadyOnGpu::AwaitBatch() {
  if (const auto batch = std::exchange(batch_, nullptr)) live_->Await(*batch, Patience());
  // A request that was given up leaves its outputs mapped.
  for (Staging& output : share_.outputs()) (void)output.Unmap(live_->transfers());
  share_.Leave();
}

void ReadyOnGpu::CheckArguments(std::span<const ConstView> inputs, std::span<const View> outputs) const {
  CheckViews("input", *graph_, graph_->inputs, inputs,
             [&](size_t i) { return graph_->value(graph_->inputs[i]).shape; });
  CheckViews("output", *graph_, graph_->outputs, outputs,
             [&](size_t i) { return graph_->value(graph_->outputs[i]).shape; });
}

void ReadyOnGpu::Start(std::span<const ConstView> inputs, std::span<const View> outputs,
                       const RunOptions& options) {
  CheckArguments(inputs, outputs);
  std::unique_lock turn(mutex_);
  if (options.cancel && options.cancel->cancelled())
    Fail(Code::kCancelled, name_, "the run was cancelled before it began");
  live_->CheckThere();
  AwaitBatch();  // which a cancelled run has left, and which uses the same memory
  request_.emplace(Request{std::move(turn), {outputs.begin(), outputs.end()}, options, NowNs(), {}});
  try {
    Enqueue(inputs);
  } catch (...) {
    request_.reset();
    throw;
  }
}

void ReadyOnGpu::Enqueue(std::span<const ConstView> inputs) {
  std::vector<Event> filled;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!Adopts(share_.inputs()[i], inputs[i]))
      filled.push_back(
          share_.inputs()[i].CopyIn(live_->transfers(), inputs[i].data, int64_t(inputs[i].bytes()),
                                    [&](const Event& e) { AwaitOrCancel(e, request_->options.cancel); }));
  if (!filled.empty()) live_->transfers().Flush();
  for (size_t o = 0; o < request_->outputs.size(); ++o)
    (void)Adopts(share_.outputs()[o], request_->outputs[o]);
  const bool timed = request_->options.trace != nullptr;
  LiveGpu::Batch batch(*live_, timed);
  std::vector<const Event*> after;
  for (const Event& event : filled) after.push_back(&event);
  if (batch.before()) after.push_back(batch.before());
  try {
    share_.Enqueue(batch.queue(), after, timed ? &request_->times : nullptr);
    for (size_t o = 0; o < request_->outputs.size(); ++o)
      share_.outputs()[o].BeginRead(batch.queue(), int64_t(request_->outputs[o].bytes()));
  } catch (...) {
    batch_ = batch.Flush();  // what has been enqueued runs on
    throw;
  }
  batch_ = batch.Flush();
}

bool ReadyOnGpu::Adopts(Staging& staging, const ConstView& view) {
  if (SharedTensors* const shared = live_->shared())
    if (auto owner = shared->OwnerOf(view.data, int64_t(view.bytes())))
      staging.Adopt(view.data, std::move(owner));
  return staging.adopts();
}

void ReadyOnGpu::Wait() {
  const Request request = std::move(*std::exchange(request_, std::nullopt));  // whose end is that of the turn
  AwaitOrCancel(*batch_, request.options.cancel);
  batch_ = nullptr;
  longest_ = std::max(longest_, Clock::Duration(std::chrono::nanoseconds(NowNs() - request.start_ns)));
  CopyOut(request);
  if (request.options.trace) Record(request);
}

void ReadyOnGpu::AwaitOrCancel(const Event& event, const CancelToken* cancel) {
  const Clock::Time deadline = live_->clock().Now() + Patience();
  if (!cancel) return live_->Await(event, Patience());
  for (Clock::Duration look = kFirstLook;; look = std::min<Clock::Duration>(2 * look, kLongestLook)) {
    if (live_->AwaitUntil(event, std::min(deadline, live_->clock().Now() + look)) || cancel->cancelled())
      break;
    if (live_->clock().Now() >= deadline) return live_->Await(event, {});
  }
  if (cancel->cancelled()) Fail(Code::kCancelled, name_, "the run was cancelled while it was under way");
}

void ReadyOnGpu::CopyOut(const Request& request) {
  for (size_t o = 0; o < request.outputs.size(); ++o)
    share_.outputs()[o].CopyOut(live_->transfers(), request.outputs[o].data,
                                int64_t(request.outputs[o].bytes()));
  if (live_->staging() == StagingKind::kMapped) live_->transfers().Flush();
  share_.Leave();
}

void ReadyOnGpu::Record(const Request& request) const {
  std::vector<EventTimes> times;
  for (const Event& event : request.times) times.push_back(event.times());
  *request.options.trace = TraceOf(*graph_, share_.nodes(), times);
  request.options.trace->total_ns = NowNs() - request.start_ns;
  request.options.trace->lanes = {name_};
}

std::vector<Tensor> ReadyOnGpu::Run(std::span<const Tensor> inputs, const RunOptions& options) {
  std::vector<ConstView> in;
  for (const Tensor& input : inputs) in.push_back(input.view());
  std::vector<Tensor> results;
  std::vector<View> out;
  for (const ValueId id : graph_->outputs)
    results.emplace_back(graph_->value(id).type, graph_->value(id).shape);
  for (Tensor& result : results) out.push_back(result.mutable_view());
  Ready::Run(in, out, options);
  return results;
}

}  // namespace mete::opencl

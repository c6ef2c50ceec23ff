#include "processor/opencl/gpu/loaded_share.h"

#include <algorithm>
#include <set>

namespace mete::opencl {
namespace {

std::vector<Staging> StagingsOf(const LiveGpu& live, const std::vector<int64_t>& bytes) {
  std::vector<Staging> all;
  for (const int64_t b : bytes) all.emplace_back(live.context(), live.staging(), std::max<int64_t>(b, 1));
  return all;
}

}  // namespace

LoadedShare::LoadedShare(std::shared_ptr<LiveGpu> live, const ShareOnGpu& share,
                         const std::vector<int64_t>& inputs, const std::vector<int64_t>& outputs)
    : live_(std::move(live)),
      inputs_(StagingsOf(*live_, inputs)),
      outputs_(StagingsOf(*live_, outputs)),
      constants_(LoadConstants(*live_, share)),
      arena_bytes_(share.arena_bytes) {
  if (arena_bytes_ > 0) need_.emplace(live_, arena_bytes_);
  for (const Launch& launch : share.launches) launches_.push_back(Bound(launch));
  for (const Launch& launch : share.launches) nodes_.push_back(launch.node);
  for (BoundLaunch& launch : launches_) SetAll(launch);
  WarmUp();
  for (std::vector<Staging>* const stagings : {&inputs_, &outputs_})
    for (Staging& staging : *stagings) staging.Free();
  places_.assign(inputs_.size() + outputs_.size(), nullptr);
}

LoadedShare::BoundLaunch LoadedShare::Bound(const Launch& launch) {
  std::shared_ptr<LiveGpu::Compiled> program = live_->ProgramOf(launch.text);
  Kernel kernel(program->program, launch.text.name);
  return {std::move(program), std::move(kernel), RangeOf(launch.text), launch.arguments};
}

// A driver that compiles at the first launch does it for the size of a work-group.
void LoadedShare::WarmUp() {
  FollowArena();
  std::set<const LiveGpu::Compiled*> warm;
  for (const BoundLaunch& launch : launches_) {
    if (!warm.insert(launch.program.get()).second) continue;
    live_->RunOnce(launch.kernel, {launch.range.group, launch.range.group});
    live_->Keep(*launch.program);
  }
}

void LoadedShare::SetAll(BoundLaunch& launch) {
  for (uint32_t i = 0; i < launch.arguments.size(); ++i)
    if (launch.arguments[i].space != Space::kArena) SetArgument(launch, i);
}

void LoadedShare::SetArgument(BoundLaunch& launch, uint32_t index) {
  const Place& p = launch.arguments[index];
  const auto at = size_t(p.index);
  const auto set = [&](const Buffer& buffer) { launch.kernel.SetPlace(index, buffer, p.offset, p.bytes); };
  switch (p.space) {
    case Space::kInput: return inputs_[at].Set(launch.kernel, index, p.offset, p.bytes);
    case Space::kOutput: return outputs_[at].Set(launch.kernel, index, p.offset, p.bytes);
    case Space::kConstant: return set(*constants_.constants[at]);
    case Space::kPacked: return set(*constants_.packed[at]);
    case Space::kArena: return set(*arena_);
  }
}

// The arena is another buffer when a larger share has come, or the largest one has gone.
void LoadedShare::FollowArena() {
  if (arena_bytes_ == 0) return;
  std::shared_ptr<const Buffer> now = live_->Arena();
  if (now == arena_) return;
  arena_ = std::move(now);
  for (BoundLaunch& launch : launches_)
    for (uint32_t i = 0; i < launch.arguments.size(); ++i)
      if (launch.arguments[i].space == Space::kArena) SetArgument(launch, i);
}

void LoadedShare::Leave() {
  for (std::vector<Staging>* const stagings : {&inputs_, &outputs_})
    for (Staging& staging : *stagings) staging.Leave();
}

Staging* LoadedShare::StagingAt(const Place& place) {
  if (place.space == Space::kInput) return &inputs_[size_t(place.index)];
  if (place.space == Space::kOutput) return &outputs_[size_t(place.index)];
  return nullptr;
}

// Inputs and outputs lie elsewhere than in the request before where a share adopts the tensors of each.
void LoadedShare::FollowTensors() {
  const auto moved = [&](const Place& place) {
    const Staging* const staging = StagingAt(place);
    return staging && (!staging->place() || staging->place() != PlaceBefore(place));
  };
  for (BoundLaunch& launch : launches_)
    for (uint32_t i = 0; i < launch.arguments.size(); ++i)
      if (moved(launch.arguments[i])) SetArgument(launch, i);
  for (size_t i = 0; i < inputs_.size(); ++i) places_[i] = inputs_[i].place();
  for (size_t o = 0; o < outputs_.size(); ++o) places_[inputs_.size() + o] = outputs_[o].place();
}

const void* LoadedShare::PlaceBefore(const Place& place) const {
  return places_[size_t(place.index) + (place.space == Space::kOutput ? inputs_.size() : 0)];
}

void LoadedShare::Enqueue(Queue& queue, After after, std::vector<Event>* times) {
  FollowArena();
  FollowTensors();
  for (size_t l = 0; l < launches_.size(); ++l) {
    const BoundLaunch& launch = launches_[l];
    const After waits = l == 0 ? after : After();
    if (times) times->push_back(queue.Launch(launch.kernel, launch.range, waits));
    else queue.LaunchOnly(launch.kernel, launch.range, waits);
  }
}

int64_t LoadedShare::memory_bytes() const {
  int64_t bytes = arena_bytes_;
  for (const auto* const buffers : {&constants_.constants, &constants_.packed})
    for (const std::shared_ptr<const Buffer>& buffer : *buffers)
      if (buffer) bytes += buffer->bytes();
  for (const std::vector<Staging>* stagings : {&inputs_, &outputs_})
    for (const Staging& staging : *stagings) bytes += staging.memory_bytes();
  return bytes;
}

}  // namespace mete::opencl

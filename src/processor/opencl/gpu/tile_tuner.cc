#include "processor/opencl/gpu/tile_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace mete::opencl {
namespace {

constexpr std::chrono::seconds kPatience{120};  // guess: PoCL compiles a kernel at its first launch in 0.5 s

// Candidates that are compared by times of other sizes, and how many of them must be known. Both values are
// guesses: the first kMeasured of a layer are most of the first candidates of its halves.
constexpr size_t kLikely = 8, kEnough = 3;

// Steps of KinOf()'s sizes, the nearest first: a half of either is one step away.
constexpr std::pair<int, int> kNear[] = {{0, 0}, {1, 0},   {0, 1},  {-1, 0}, {0, -1},
                                         {1, 1}, {-1, -1}, {1, -1}, {-1, 1}};

// The sums of whole tiles, with all their steps.
double MillionSums(const ConvSpec& spec, const Tile& tile) {
  const ConvShape s = Flattened(spec).shape;
  return 1e-6 * double(s.batch * RoundUp(s.out_height, tile.rows) * RoundUp(s.out_width, tile.columns)) *
         double(s.groups * RoundUp(s.out_channels / s.groups, tile.channels())) *
         double(s.kernel_height * s.kernel_width * (s.in_channels / s.groups));
}

// Returns a key that convolutions share if they differ in nothing that decides over a tile's speed but their
// sizes, and these are about the same. `pixels` and `channels` lead to the keys of sizes that many times
// twice as large.
std::string KinOf(const ConvSpec& spec, int pixels, int channels) {
  const ConvShape s = Flattened(spec).shape;
  const auto about = [](int64_t size) { return std::ilogb(double(size)); };
  return fmt::format("opencl kin {}x{} /{}x{} d{}x{} g{} k{} {} {} {} {} {} 2^{} 2^{}", s.kernel_height,
                     s.kernel_width, s.stride_y, s.stride_x, s.dilation_y, s.dilation_x, s.groups,
                     s.in_channels, mete::Name(spec.input), mete::Name(spec.weights), mete::Name(spec.output),
                     spec.bytes ? int(spec.bytes->whole) : -1, spec.weights_per_image ? "each" : "all",
                     about(s.out_pixels()) + pixels, about(s.out_channels / s.groups) + channels);
}

int64_t InputBytes(const ConvSpec& spec) {
  const ConvShape& s = spec.shape;
  const int64_t stride = s.in_pixel_stride ? s.in_pixel_stride : s.in_channels;
  return (spec.input_first + s.batch * s.in_height * s.in_width * stride) * int64_t(SizeOf(spec.input));
}

int64_t OutputBytes(const ConvSpec& spec) {
  const ConvShape& s = spec.shape;
  const int64_t stride = s.out_pixel_stride ? s.out_pixel_stride : s.out_channels;
  return (spec.output_first + s.out_pixels() * stride) * int64_t(SizeOf(spec.output));
}

int64_t ResidualBytes(const ConvSpec& spec) {
  const int64_t stride = spec.residual_stride ? spec.residual_stride : spec.shape.out_channels;
  return spec.shape.out_pixels() * stride * int64_t(SizeOf(spec.output));
}

// A convolution with one tile, over memory of its own.
struct Measured {
  std::shared_ptr<LiveGpu> live;
  std::shared_ptr<LiveGpu::Compiled> compiled;
  Kernel kernel;
  Range range;
  std::vector<Buffer> buffers;

  Measured(std::shared_ptr<LiveGpu> on, const ConvSpec& spec, const KernelText& text, int64_t packed_bytes)
      : live(std::move(on)),
        compiled(live->ProgramOf(text)),
        kernel(compiled->program, text.name),
        range(RangeOf(text)) {
    std::vector<int64_t> sizes = {InputBytes(spec), packed_bytes};
    if (spec.residual) sizes.push_back(ResidualBytes(spec));
    sizes.push_back(OutputBytes(spec));
    for (const int64_t bytes : sizes) buffers.push_back(Zeros(bytes));
    for (uint32_t i = 0; i < buffers.size(); ++i) kernel.SetPlace(i, buffers[i]);
    CallUs();  // compiles, and touches the memory
    live->Keep(*compiled);
  }

  // Numbers that were in memory before might be slow ones, which are too small for their exponents.
  Buffer Zeros(int64_t bytes) const {
    Buffer buffer(live->context(), {.bytes = bytes});
    live->transfers().Write(buffer, 0, std::vector<std::byte>(size_t(bytes)));
    return buffer;
  }

  double CallUs() {
    Event launched;
    const auto end = [&] {
      LiveGpu::Batch batch(*live, /*timed=*/true);
      const Event* const before = batch.before();
      launched = batch.queue().Launch(kernel, range, before ? After(&before, 1) : After());
      return batch.Flush();
    }();
    live->Await(*end, kPatience);
    return std::max(double(launched.times().run_ns()) * 1e-3, 1e-3);
  }

  int64_t bytes() const {
    int64_t all = 0;
    for (const Buffer& buffer : buffers) all += buffer.bytes();
    return all;
  }
};

}  // namespace

TileTuner::TileTuner(const std::string& folder, const DeviceFacts& facts)
    : tuner_(TuningFile(folder, facts.model + " " + facts.driver, "opencl", "")) {}

Tile TileTuner::Choose(const std::shared_ptr<LiveGpu>& live, const ConvSpec& spec,
                       std::span<const Tile> candidates) {
  if (candidates.size() < 2) return candidates.front();
  const std::lock_guard lock(mutex_);
  const std::string key = fmt::format("opencl tile {}", DigestOf(ConvKernel(spec, candidates[0])));
  for (const Tile& tile : candidates)
    if (tuner_.Find(key, ToString(tile))) return tile;
  const Tile* best = nullptr;
  double best_us = 0;
  size_t known = 0;
  for (const Tile& tile : candidates.first(std::min(candidates.size(), kLikely))) {
    const std::optional<double> rate = RateOf(spec, tile);
    if (!rate) continue;
    ++known;
    const double us = *rate * MillionSums(spec, tile);
    if (best && us >= best_us) continue;
    best = &tile;
    best_us = us;
  }
  const Tile chosen = known < kEnough ? Measured(live, spec, candidates) : *best;
  tuner_.Put(key, ToString(chosen), std::max(best_us, 1e-3));  // for good: the next start has the kernel
  return chosen;
}

Tile TileTuner::Measured(const std::shared_ptr<LiveGpu>& live, const ConvSpec& spec,
                         std::span<const Tile> candidates) {
  candidates = candidates.first(std::min(candidates.size(), kMeasured));
  std::vector<KernelText> texts;
  std::vector<std::string> names;
  for (const Tile& tile : candidates) {
    texts.push_back(ConvKernel(spec, tile));
    // The text is a part of the name, so that another one is measured anew.
    names.push_back(ToString(tile) + " " + DigestOf(texts.back()).substr(0, 16));
  }
  const auto make = [&](size_t i) {
    auto measured =
        std::make_shared<opencl::Measured>(live, spec, texts[i], PackedSizes(spec, candidates[i]).bytes);
    return Trial{[measured] { return measured->CallUs(); }, measured->bytes()};
  };
  const std::string key = "opencl conv " + DigestOf(texts[0]);
  const Tile chosen = candidates[mete::Choose(&tuner_, key, names, make).index];
  for (size_t i = 0; i < candidates.size(); ++i)
    if (const auto us = tuner_.Find(key, names[i]))
      tuner_.Put(KinOf(spec, 0, 0), ToString(candidates[i]), *us / MillionSums(spec, candidates[i]));
  return chosen;
}

std::optional<double> TileTuner::RateOf(const ConvSpec& spec, const Tile& tile) const {
  for (const auto& [pixels, channels] : kNear)
    if (const auto rate = tuner_.Find(KinOf(spec, pixels, channels), ToString(tile))) return rate;
  return std::nullopt;
}

void TileTuner::Save() {
  const std::lock_guard lock(mutex_);
  tuner_.Save();
}

}  // namespace mete::opencl

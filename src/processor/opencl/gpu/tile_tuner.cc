#include "processor/opencl/gpu/tile_tuner.h"

#include <algorithm>
#include <vector>

namespace mete::opencl {
namespace {

constexpr std::chrono::seconds kPatience{120};  // guess: PoCL compiles a kernel at its first launch in 0.5 s

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
    for (uint32_t i = 0; i < buffers.size(); ++i) kernel.Set(i, buffers[i]);
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
  candidates = candidates.first(std::min(candidates.size(), kMeasured));
  std::vector<KernelText> texts;
  std::vector<std::string> names;
  for (const Tile& tile : candidates) {
    texts.push_back(ConvKernel(spec, tile));
    // The text is a part of the name, so that another one is measured anew.
    names.push_back(ToString(tile) + " " + DigestOf(texts.back()).substr(0, 16));
  }
  const auto make = [&](size_t i) {
    auto measured = std::make_shared<Measured>(live, spec, texts[i], PackedSizes(spec, candidates[i]).bytes);
    return Trial{[measured] { return measured->CallUs(); }, measured->bytes()};
  };
  const std::lock_guard lock(mutex_);
  return candidates[mete::Choose(&tuner_, "opencl conv " + DigestOf(texts[0]), names, make).index];
}

void TileTuner::Save() {
  const std::lock_guard lock(mutex_);
  tuner_.Save();
}

}  // namespace mete::opencl

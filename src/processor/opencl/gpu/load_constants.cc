#include "processor/opencl/gpu/load_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/tensor_source.h"

namespace mete::opencl {
namespace {

// Bytes that are mapped at a time, for which some drivers allocate memory of the host. This value is a guess:
// enough that the maps of a model are few.
constexpr int64_t kPiece = 4 << 20;

std::set<int> ReadByLaunches(const ShareOnGpu& share, Space space) {
  std::set<int> read;
  for (const Launch& launch : share.launches)
    for (const Place& place : launch.arguments)
      if (place.space == space) read.insert(place.index);
  return read;
}

// A packing launch writes the buffer of its last argument.
int PackedBy(const Launch& launch) { return launch.arguments.back().index; }

class Loading {
 public:
  Loading(LiveGpu& live, const ShareOnGpu& share)
      : live_(live),
        share_(share),
        kept_constants_(ReadByLaunches(share, Space::kConstant)),
        kept_packed_(ReadByLaunches(share, Space::kPacked)),
        contents_(share.constants.size()),
        packed_contents_(share.packed.size()),
        now_{std::vector<std::shared_ptr<const Buffer>>(share.constants.size()),
             std::vector<std::shared_ptr<const Buffer>>(share.packed.size())} {
    NameContents();
    for (const int p : kept_packed_) now_.packed[size_t(p)] = Known(packed_contents_[size_t(p)]);
    ChoosePacking();
  }

  LoadedConstants Load() {
    for (const size_t l : packing_) {
      Pack(share_.packing[l]);
      for (size_t c = 0; c < last_read_.size(); ++c)
        if (last_read_[c] == int(l) && !kept_constants_.contains(int(c))) now_.constants[c] = nullptr;
    }
    for (const int c : kept_constants_) LoadConstant(size_t(c));
    for (size_t p = 0; p < now_.packed.size(); ++p)
      now_.packed[p] = kept_packed_.contains(int(p))
                           ? live_.constants().Add(packed_contents_[p], std::move(now_.packed[p]))
                           : nullptr;
    return std::move(now_);
  }

 private:
  std::shared_ptr<const Buffer> Known(const Content& content) const {
    return live_.constants().Find(content);
  }

  void NameContents() {
    for (size_t c = 0; c < contents_.size(); ++c) contents_[c].Add(share_.constants[c]);
    for (const Launch& launch : share_.packing) {
      Content content;
      content.Add(DigestOf(launch.text));
      for (const Place& place : launch.arguments) {
        content.Add(fmt::format("{} {} {}", int(place.space), place.offset, place.bytes));
        content.Add(place.space == Space::kConstant ? contents_[size_t(place.index)]
                                                    : packed_contents_[size_t(place.index)]);
      }
      packed_contents_[size_t(PackedBy(launch))] = std::move(content);
    }
  }

  // Only what is not there yet, and what that needs, is packed.
  void ChoosePacking() {
    std::set<int> wanted;
    for (const int p : kept_packed_)
      if (!now_.packed[size_t(p)]) wanted.insert(p);
    last_read_.assign(share_.constants.size(), -1);
    for (size_t l = share_.packing.size(); l-- > 0;) {
      const Launch& launch = share_.packing[l];
      if (!wanted.contains(PackedBy(launch))) continue;
      packing_.insert(packing_.begin(), l);
      for (const Place& place : launch.arguments) {
        if (place.space == Space::kPacked && !now_.packed[size_t(place.index)]) wanted.insert(place.index);
        if (place.space == Space::kConstant && last_read_[size_t(place.index)] < 0)
          last_read_[size_t(place.index)] = int(l);
      }
    }
  }

  void Pack(const Launch& launch) {
    const std::shared_ptr<LiveGpu::Compiled> program = live_.ProgramOf(launch.text);
    Kernel kernel(program->program, launch.text.name);
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      const Place& place = launch.arguments[i];
      const auto at = size_t(place.index);
      if (place.space == Space::kConstant) LoadConstant(at);
      else if (!now_.packed[at])
        now_.packed[at] = std::make_shared<const Buffer>(live_.context(), BufferOptions{share_.packed[at]});
      const Buffer& buffer = *(place.space == Space::kConstant ? now_.constants : now_.packed)[at];
      kernel.SetPlace(uint32_t(i), buffer, place.offset, place.bytes);
    }
    live_.RunOnce(kernel, RangeOf(launch.text));
    live_.Keep(*program);
  }

  void LoadConstant(size_t c) {
    std::shared_ptr<const Buffer>& buffer = now_.constants[c];
    const bool is_kept = kept_constants_.contains(int(c));
    if (!buffer && is_kept) buffer = Known(contents_[c]);
    if (buffer) return;
    buffer = Written(share_.constants[c]);
    if (is_kept) buffer = live_.constants().Add(contents_[c], std::move(buffer));
  }

  std::shared_ptr<const Buffer> Written(const Tensor& constant) {
    const auto size = int64_t(SizeOf(constant.type())), bytes = int64_t(constant.bytes());
    auto buffer = std::make_shared<const Buffer>(live_.context(), BufferOptions{.bytes = bytes});
    Queue& queue = live_.transfers();
    for (int64_t at = 0; at < bytes; at += kPiece) {
      const int64_t piece = std::min(kPiece, bytes - at);
      Event mapped;
      std::byte* const to = queue.StartMap(*buffer, MapFor::kOverwrite, at, piece, mapped);
      queue.Flush();
      live_.AwaitPreparing(mapped);
      ReadElements(constant, at / size, piece / size, to);
      ReleasePagesOf(constant);  // of each piece: one layer's weights may be most of a model
      const Event written = queue.Unmap(*buffer, to);
      queue.Flush();
      live_.AwaitPreparing(written);
    }
    return buffer;
  }

  LiveGpu& live_;
  const ShareOnGpu& share_;
  const std::set<int> kept_constants_, kept_packed_;  // those that launches read
  std::vector<Content> contents_, packed_contents_;
  std::vector<size_t> packing_;  // the launches that run, in their order
  std::vector<int> last_read_;   // by constant, the last of them that reads it; -1: none does
  LoadedConstants now_;
};

}  // namespace

LoadedConstants LoadConstants(LiveGpu& live, const ShareOnGpu& share) { return Loading(live, share).Load(); }

}  // namespace mete::opencl

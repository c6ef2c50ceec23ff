// The packing of weights of bytes, and what their sums start with.
#include <algorithm>
#include <cstring>

#include "kernels/fast/bytes/byte_columns.h"
#include "kernels/fast/bytes/byte_conv_code.h"
#include "kernels/fast/layout/transpose_bytes.h"

namespace mete {
namespace {

// Reads weights as signed bytes: the top bit of unsigned ones is flipped, which makes them 128 smaller.
class SignedWeights {
 public:
  SignedWeights(const ByteConvPlan& plan, const ByteWeights& weights)
      : bytes_(static_cast<const uint8_t*>(weights.bytes)),
        flip_(weights.is_signed ? 0 : 0x80),
        length_(plan.group_channels * plan.shape.kernel_height * plan.shape.kernel_width),
        channel_stride_(weights.channel_stride ? weights.channel_stride : length_),
        element_stride_(weights.element_stride) {}

  int64_t length() const { return length_; }  // of a sum
  // Whether the weights of neighbouring channels are neighbours, as in the right operand of a product.
  bool channels_are_dense() const { return channel_stride_ == 1; }
  int64_t element_stride() const { return element_stride_; }
  bool elements_are_dense() const { return element_stride_ == 1; }
  // Points at the weight of a channel, without its flip.
  const uint8_t* at(int64_t channel, int64_t element) const {
    return bytes_ + channel * channel_stride_ + element * element_stride_;
  }
  uint8_t flip() const { return flip_; }
  int8_t operator()(int64_t channel, int64_t element) const {
    return static_cast<int8_t>(bytes_[channel * channel_stride_ + element * element_stride_] ^ flip_);
  }

 private:
  const uint8_t* bytes_;
  uint8_t flip_;
  int64_t length_, channel_stride_, element_stride_;
};

// Packs one panel of a convolution of 1x1 whose channels are dense: four rows are interleaved at a time.
void PackRows(const ByteConvPlan& plan, const SignedWeights& weights, const PanelPlace& place, int8_t* to) {
  const int64_t first = place.group * plan.group_outputs + place.columns.begin, count = place.columns.size();
  const int64_t cell = plan.code->cell;
  const uint32_t flip = weights.flip() * 0x01010101u;
  for (int64_t k = 0; k < plan.group_channels; k += kBytesOfQuad) {
    const int64_t rows = std::min(kBytesOfQuad, plan.group_channels - k);
    int8_t* quads = to + k / cell * place.width * cell + k % cell;
    if (rows < kBytesOfQuad) {
      if (LastQuadOverlaps(plan)) quads += kBytesOfQuad - rows;
      for (int64_t j = 0; j < count; ++j)
        for (int64_t i = 0; i < rows; ++i) quads[j * cell + i] = weights(first + j, k + i);
      continue;
    }
    const uint8_t *a = weights.at(first, k), *b = weights.at(first, k + 1), *c = weights.at(first, k + 2),
                  *d = weights.at(first, k + 3);
    if (cell == kBytesOfQuad) {
      InterleaveFourRows({a, kBytesOfQuad, count, b - a, weights.flip()}, reinterpret_cast<uint8_t*>(quads));
      continue;
    }
    for (int64_t j = 0; j < count; ++j) {
      const uint32_t bytes =
          (a[j] | uint32_t{b[j]} << 8 | uint32_t{c[j]} << 16 | uint32_t{d[j]} << 24) ^ flip;
      std::memcpy(quads + j * cell, &bytes, sizeof(bytes));
    }
  }
}

// Where the bytes of one column of a panel are. If the taps of a kernel row are joined, one read has them
// all, without filled-up cells between them.
class PackedColumn {
 public:
  PackedColumn(const ByteConvPlan& plan, int64_t width, int64_t column, int8_t* panel)
      : cell_(plan.code->cell),
        cells_of_read_(plan.quads * kBytesOfQuad / cell_),
        whole_(plan.tap_length / cell_ * cell_),
        moved_(LastQuadOverlaps(plan) ? whole_ + cell_ - plan.tap_length : 0),
        width_(width),
        column_(panel + column * cell_) {}

  int8_t& at(int64_t read, int64_t byte) const {
    return *(Cell(read, byte / cell_) + byte % cell_ + (byte < whole_ ? 0 : moved_));
  }
  // Writes bytes of a read from `byte` on, which begins a cell.
  void Write(int64_t read, int64_t byte, const uint8_t* from, int64_t count) const {
    const int64_t whole = std::max<int64_t>(std::min(count, whole_ - byte), 0) / cell_ * cell_;
    if (cell_ == kBytesOfQuad) WriteCells<kBytesOfQuad>(read, byte, from, whole);
    else WriteCells<2 * kBytesOfQuad>(read, byte, from, whole);
    for (int64_t i = whole; i < count; ++i) at(read, byte + i) = static_cast<int8_t>(from[i]);
  }

 private:
  int8_t* Cell(int64_t read, int64_t cell) const {
    return column_ + (read * cells_of_read_ + cell) * width_ * cell_;
  }
  template <int64_t kCell>
  void WriteCells(int64_t read, int64_t byte, const uint8_t* from, int64_t count) const {
    int8_t* to = Cell(read, byte / kCell);
    for (int64_t i = 0; i < count; i += kCell, to += width_ * kCell) std::memcpy(to, from + i, kCell);
  }

  const int64_t cell_, cells_of_read_, whole_, moved_, width_;
  int8_t* const column_;
};

// Packs one column. Weights are brought into the order of reads, tap by tap, some input channels at a time.
void PackColumn(const ByteConvPlan& plan, const SignedWeights& weights, int64_t channel,
                const PackedColumn& to) {
  constexpr int64_t kBytes = 8 * 1024;
  const int64_t taps = plan.shape.kernel_height * plan.shape.kernel_width, all = plan.group_channels;
  const int64_t most = plan.joined ? all : std::min(all, kBytes / taps / plan.code->cell * plan.code->cell);
  if (!weights.elements_are_dense() || most == 0 || most * taps > kBytes) {  // rare: one by one
    for (int64_t i = 0; i < all * taps; ++i) {
      const int64_t c = i / taps, tap = i % taps, column = tap % plan.shape.kernel_width;
      if (plan.joined) to.at(tap / plan.shape.kernel_width, column * all + c) = weights(channel, i);
      else to.at(tap, c) = weights(channel, i);
    }
    return;
  }
  uint8_t ordered[kBytes];
  for (int64_t c = 0; c < all; c += most) {
    const int64_t count = std::min(most, all - c), read = plan.joined ? plan.tap_length : count;
    const uint8_t* from = weights.at(channel, c * taps);
    if (taps == 1) std::memcpy(ordered, from, static_cast<size_t>(count));
    else TransposeBytes(from, taps, {0, count}, taps, ordered, count);
    if (weights.flip() != 0)
      for (int64_t i = 0; i < count * taps; ++i) ordered[i] ^= weights.flip();
    for (int64_t r = 0; r * read < count * taps; ++r) to.Write(r, c, ordered + r * read, read);
  }
}

// Packs one panel.
void PackPanel(const ByteConvPlan& plan, const SignedWeights& weights, const PanelPlace& place, int8_t* to) {
  const bool one_tap = plan.shape.kernel_height * plan.shape.kernel_width == 1;
  std::fill_n(to, place.width * BytesOfColumn(plan), int8_t{0});
  if (one_tap && weights.channels_are_dense()) return PackRows(plan, weights, place, to);
  for (int64_t j = 0; j < place.columns.size(); ++j)
    PackColumn(plan, weights, place.group * plan.group_outputs + place.columns.begin + j,
               PackedColumn(plan, place.width, j, to));
}

// Packs the panel of channels from `first` on.
void PackChannels(const ByteConvPlan& plan, const SignedWeights& weights, int64_t first, int8_t* to) {
  const int64_t lanes = plan.code->lanes, width = ChannelsOfPanel(plan), half = width / 2,
                count = std::min(width, plan.shape.out_channels - first);
  std::fill_n(to, plan.quads * kBytesOfQuad * width, int8_t{0});
  for (int64_t vector = 0; vector < kBytesOfQuad; ++vector)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t at = plan.code->channel_of_quad(vector, lane), channel = count <= half ? at % half : at;
      if (channel >= count) continue;
      for (int64_t tap = 0; tap < plan.taps; ++tap) {
        const int64_t kernel_width = plan.shape.kernel_width;
        const PlaceInQuads place(plan.shape.kernel_height, tap / kernel_width, tap % kernel_width);
        const int64_t quad = place.quad * kBytesOfQuad + vector;
        to[(quad * lanes + lane) * kBytesOfQuad + place.byte] = weights(first + channel, tap);
      }
    }
}

}  // namespace

size_t PackedByteConvBytes(const ByteConvPlan& plan) { return static_cast<size_t>(BytesOfPanels(plan)); }

void PackByteConv(const ByteConvPlan& plan, const ByteWeights& weights, Range panels, void* packed) {
  const SignedWeights read(plan, weights);
  int8_t* bytes = static_cast<int8_t*>(packed);
  for (int64_t p = panels.begin; p < panels.end; ++p) {
    if (plan.by_channel) {
      const int64_t first = p * ChannelsOfPanel(plan);
      PackChannels(plan, read, first, bytes + first * plan.quads * kBytesOfQuad);
      continue;
    }
    const PanelPlace place = PlaceOf(plan, p);
    PackPanel(plan, read, place, bytes + place.packed);
  }
}

void SumByteWeights(const ByteConvPlan& plan, const ByteWeights& weights, int32_t* sums) {
  const SignedWeights read(plan, weights);
  if (read.channels_are_dense()) {
    // As unsigned bytes, signed weights are 128 larger.
    SumByteColumns({read.at(0, 0), read.length(), plan.shape.out_channels, read.element_stride(),
                    static_cast<uint8_t>(read.flip() ^ 0x80)},
                   sums);
    for (int64_t m = 0; m < plan.shape.out_channels; ++m)
      sums[m] -= 128 * static_cast<int32_t>(read.length());
    return;
  }
  for (int64_t m = 0; m < plan.shape.out_channels; ++m) {
    int32_t sum = 0;
    const uint8_t *weight = read.at(m, 0), flip = read.flip();
    if (read.elements_are_dense())  // a loop that compilers turn into vectors
      for (int64_t i = 0; i < read.length(); ++i) sum += static_cast<int8_t>(weight[i] ^ flip);
    else
      for (int64_t i = 0; i < read.length(); ++i) sum += read(m, i);
    sums[m] = sum;
  }
}

void StartOfByteSums(const ByteConvPlan& plan, const int32_t* weight_sums, const int32_t* bias,
                     int32_t input_zero, int32_t* start) {
  const int64_t zero = SeenZero(plan, input_zero);
  for (int64_t m = 0; m < plan.shape.out_channels; ++m)
    start[m] = static_cast<int32_t>((bias ? bias[m] : 0) - zero * weight_sums[m]);
}

}  // namespace mete

// Writes the text of ConvKernel() (convolution.h).
#pragma once

#include <string>
#include <vector>

#include "processor/opencl/kernels/convolution.h"
#include "processor/opencl/kernels/writer.h"

namespace mete::opencl {

// One kernel while it is written. The text's names: n, oy, ox: the image and the first output pixel of the
// tile; iy, ix: the input pixel under its first tap; t: the tile of channels in its group `g`; wp: the next
// row of the panel; c2_1: the sums of pixel 2 and vector 1.
class ConvText {
 public:
  ConvText(const ConvSpec& flattened, const Tile& tile);
  KernelText Write();

 private:
  Arguments Taken() const;
  void Position();  // of the work-item's tile
  void Sums();      // declares them

  void SumInside();             // tiles whose taps all lie within the image
  void SumAtEdges();            // tiles with pixels in the padding
  void SkipRow(int64_t steps);  // leaves out a row of taps above or below the image
  // Adds `length` steps over contiguous elements; pixel i is read at pointers[i] + k.
  void Run(int64_t length, const std::vector<std::string>& pointers);
  void Steps(int64_t first, int64_t count, const std::vector<std::string>& pointers, const std::string& k);
  void Step(int64_t step, const std::vector<std::string>& inputs);

  void Store();
  void StoreChannels(int64_t channels);  // the first `channels` of the tile
  void StoreBytes(int64_t channels);     // the same of sums of bytes
  // Elements as the sums need them: f32, or int for whole sums of bytes.
  std::string SumType(int width) const;
  std::string Load(DType type, int width, const std::string& pointer, const std::string& offset) const;

  std::string Pointer(int64_t row_tap) const;
  bool AnyTile(bool inside) const;  // whether some tile has all its taps inside the image, or not
  int64_t InputOffset(int pixel) const;

  const ConvSpec spec_;
  const ConvShape& s_;
  const Tile tile_;
  const PackedConv packed_;
  const int64_t group_inputs_, group_outputs_, in_stride_, out_stride_, in_image_, out_image_;
  const int64_t tiles_x_, tiles_y_, channel_tiles_;
  const bool rows_leave_;  // some row of taps lies above or below the image
  // Such rows are left out: they add nothing, unless they are those of a zero point.
  const bool skips_rows_;
  Writer w_;
};

}  // namespace mete::opencl

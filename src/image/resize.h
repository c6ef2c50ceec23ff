// The rows of a resize (mete/image.h), one at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "mete/image.h"

namespace mete {

// Of 32 bits, the pixel takes 8, the sign one and the sum one more, which leaves 22 bits for the fraction of
// a weight.
inline constexpr int kWeightBits = 22;

// The greatest width and height, in pixels; limits the size of the tables of weights.
inline constexpr int kMostPictureSide = 1 << 16;

// The weights of a resize in one direction: for each output position, the first source position and the
// weights from there on.
struct Taps {
  int count = 0;  // weights per output position; unused weights are 0
  std::vector<int> first;
  std::vector<int32_t> weight;  // 1.0 is 1 << kWeightBits
};

// Gives rows of pixels another width, as ResizeImage() does.
class RowResizer {
 public:
  // Widths in pixels, 1 or more. `portable`: the code for all processors, instead of that for vectors, which
  // has the same bits.
  RowResizer(int from, int to, Interpolation interpolation, bool portable = false);
  void Resize(const uint8_t* from, uint8_t* to) const { resize_(taps_, from_, to_, from, to); }

 private:
  using Function = void (*)(const Taps&, int from_width, int to_width, const uint8_t* from, uint8_t* to);
  int from_, to_;
  Taps taps_;
  Function resize_;
};

// Whether ResizeImage() makes a picture of this size of one that has `from_height` rows.
bool CanResizeTo(int width, int height, int from_height);

}  // namespace mete

// The arithmetic of ONNX's Resize along one axis, which the reference kernel and the fast one share.
#pragma once

#include <cstdint>
#include <string_view>

namespace mete {

// A pixel of fewer elements is no work for vectors: the reference kernel copies or adds whole rows of the
// plain order.
inline constexpr int64_t kLeastResizedPixel = 4;

struct ResizedAxis {
  int64_t in = 1, out = 1;
  double scale = 1;
  double roi_start = 0, roi_end = 1;  // fractions of the input's size
  bool crops = false;                 // whether the mode is tf_crop_and_resize

  bool identity() const { return in == out && scale == 1 && (!crops || (roi_start == 0 && roi_end == 1)); }
};

// Returns the position of an output pixel in the input, by attribute coordinate_transformation_mode. NaN
// means that the pixel is outside the input and gets the extrapolation value.
double ResizeCoordinate(const ResizedAxis& axis, std::string_view mode, int64_t pixel);

// Returns the whole pixel of x, from which x differs by a part in (0, 1]. The result is limited to the range
// of int64_t.
int64_t WholePixel(double x);

// Returns the pixel of `n` that is nearest to x, by attribute nearest_mode. x must not be NaN.
int64_t NearestResizePixel(double x, std::string_view mode, int64_t n);

}  // namespace mete

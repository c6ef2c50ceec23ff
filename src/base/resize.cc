#include "base/resize.h"

#include <algorithm>
#include <cmath>

namespace mete {

double ResizeCoordinate(const ResizedAxis& a, std::string_view mode, int64_t pixel) {
  // `out` is the length of the output before it was rounded.
  const double y = double(pixel), in = double(a.in), out = a.scale * in;
  if (mode == "align_corners") return out == 1 ? 0 : y * (in - 1) / (out - 1);
  if (mode == "asymmetric") return y / a.scale;
  if (mode == "pytorch_half_pixel" && out == 1) return -0.5;
  if (mode == "half_pixel_symmetric") return in / 2 * (1 - double(a.out) / out) + (y + 0.5) / a.scale - 0.5;
  if (mode != "tf_crop_and_resize") return (y + 0.5) / a.scale - 0.5;
  const double extent = a.roi_end - a.roi_start;
  const double x =
      a.roi_start * (in - 1) + (out == 1 ? extent * (in - 1) / 2 : y * extent * (in - 1) / (out - 1));
  return x >= 0 && x <= in - 1 ? x : double(NAN);
}

int64_t WholePixel(double x) { return int64_t(std::ceil(std::clamp(x, -0x1p52, 0x1p52))) - 1; }

int64_t NearestResizePixel(double x, std::string_view mode, int64_t n) {
  const int64_t whole = WholePixel(x);
  const double part = x - double(whole);
  const bool right = mode == "floor"               ? part == 1
                     : mode == "ceil"              ? true
                     : mode == "round_prefer_ceil" ? part >= 0.5
                                                   : part > 0.5;
  return std::clamp<int64_t>(whole + right, 0, n - 1);
}

}  // namespace mete

#include "kernels/fast/conv/phases.h"

#include <algorithm>
#include <numeric>

namespace mete {
namespace {

// One axis of a transposed convolution.
struct Axis {
  int64_t in, out, kernel, stride, dilation, pad;
};

// One axis of a phase as that of a convolution at stride 1.
struct PhaseAxis {
  PhaseTaps taps;
  int64_t out = 0, kernel = 1, dilation = 1, pad = 0;
};

// Output rest + g * stride reads input g + (rest + pad - k * dilation) / stride through each tap k for which
// that is whole. These taps are `step` apart, because dilation * step is the least multiple of the stride.
PhaseAxis PhaseOf(const Axis& a, int64_t rest) {
  PhaseAxis phase;
  phase.out = (a.out - rest + a.stride - 1) / a.stride;
  const int64_t divisor = std::gcd(a.stride, a.dilation), step = a.stride / divisor;
  int64_t first = 0;
  while (first < std::min(step, a.kernel) && (rest + a.pad - first * a.dilation) % a.stride != 0) ++first;
  if (first >= std::min(step, a.kernel)) {
    phase.pad = -a.in;
    return phase;
  }
  phase.taps.count = phase.kernel = (a.kernel - first + step - 1) / step;
  phase.taps.last = first + (phase.kernel - 1) * step;
  phase.taps.step = step;
  phase.dilation = a.dilation / divisor;
  phase.pad = (phase.taps.last * a.dilation - rest - a.pad) / a.stride;
  return phase;
}

// Returns the number of phases of a row that are joined: 1 or all.
int64_t JoinedPhases(const ConvShape& s) {
  const bool alike = s.kernel_width == s.stride_x && s.dilation_x == 1 && s.pad_left == 0 &&
                     s.out_width == s.in_width * s.stride_x;
  return alike && s.groups == 1 ? s.stride_x : 1;
}

std::vector<PhaseAxis> PhasesOf(const Axis& a) {
  std::vector<PhaseAxis> phases;
  for (int64_t rest = 0; rest < std::min(a.stride, a.out); ++rest) phases.push_back(PhaseOf(a, rest));
  return phases;
}

}  // namespace

std::vector<ConvPhase> PhasesOf(const ConvShape& s) {
  const auto rows =
      PhasesOf(Axis{s.in_height, s.out_height, s.kernel_height, s.stride_y, s.dilation_y, s.pad_top});
  const int64_t joined = JoinedPhases(s);
  const auto columns =
      joined > 1
          ? PhasesOf(Axis{s.in_width, s.in_width, 1, 1, 1, 0})
          : PhasesOf(Axis{s.in_width, s.out_width, s.kernel_width, s.stride_x, s.dilation_x, s.pad_left});
  const int64_t row_length = s.out_width * s.out_channels;
  std::vector<ConvPhase> phases;
  for (size_t y = 0; y < rows.size(); ++y) {
    for (size_t x = 0; x < columns.size(); ++x) {
      ConvShape conv = s;
      conv.batch = conv.stride_y = conv.stride_x = 1;
      conv.out_channels *= joined;
      conv.out_height = rows[y].out;
      conv.out_width = columns[x].out;
      conv.kernel_height = rows[y].kernel;
      conv.kernel_width = columns[x].kernel;
      conv.dilation_y = rows[y].dilation;
      conv.dilation_x = columns[x].dilation;
      conv.pad_top = rows[y].pad;
      conv.pad_left = columns[x].pad;
      if (rows[y].taps.count == 0 || columns[x].taps.count == 0) {
        // Padding needs no channels: the packed zeros of many such phases take little memory.
        conv.in_pixel_stride = s.in_channels;
        conv.in_channels = s.groups;
      }
      conv.out_pixel_stride = s.stride_x * s.out_channels;
      conv.out_row_stride = s.stride_y * row_length;
      const int64_t first = static_cast<int64_t>(y) * row_length + static_cast<int64_t>(x) * s.out_channels;
      phases.push_back({conv, first, rows[y].taps, columns[x].taps});
    }
  }
  return phases;
}

std::vector<float> PhaseWeights(const ConvShape& s, const ConvPhase& phase, const float* weights) {
  const ConvShape& conv = phase.conv;
  const int64_t group_inputs = conv.in_channels / s.groups, group_outputs = s.out_channels / s.groups,
                taps = conv.kernel_height * conv.kernel_width, joined = conv.out_channels / s.out_channels;
  std::vector<float> of_phase(static_cast<size_t>(conv.out_channels * group_inputs * taps));
  // A phase without taps of one of its axes multiplies its padding by these zeros.
  if (phase.rows.count == 0 || phase.columns.count == 0) return of_phase;
  for (int64_t in = 0; in < s.in_channels; ++in) {
    for (int64_t j = 0; j < group_outputs; ++j) {
      const float* from = weights + (in * group_outputs + j) * s.kernel_height * s.kernel_width;
      for (int64_t pixel = 0; pixel < joined; ++pixel) {
        const int64_t out = pixel * s.out_channels + in / group_inputs * group_outputs + j;
        float* to = of_phase.data() + (out * group_inputs + in % group_inputs) * taps;
        for (int64_t y = 0; y < conv.kernel_height; ++y) {
          const float* row = from + (phase.rows.last - y * phase.rows.step) * s.kernel_width + pixel;
          for (int64_t x = 0; x < conv.kernel_width; ++x)
            *to++ = row[phase.columns.last - x * phase.columns.step];
        }
      }
    }
  }
  return of_phase;
}

std::vector<float> PhaseBias(const ConvShape& s, const ConvPhase& phase, const float* bias) {
  std::vector<float> of_phase;
  for (int64_t pixel = 0; pixel < phase.conv.out_channels / s.out_channels; ++pixel)
    of_phase.insert(of_phase.end(), bias, bias + s.out_channels);
  return of_phase;
}

}  // namespace mete

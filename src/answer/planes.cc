// Outputs with a plane for each class or colour.
#include <algorithm>
#include <cmath>

#include "answer/candidates.h"
#include "answer/heads.h"
#include "base/error.h"
#include "base/visit_type.h"
#include "image/stages.h"

namespace mete {
namespace {

constexpr int64_t kAny = HeadOutputs::kAny;

uint8_t ByteOf(float v) { return uint8_t(std::lround(std::clamp(std::isnan(v) ? 0.0f : v, 0.0f, 255.0f))); }

constexpr int64_t kMostClasses = INT16_MAX;

struct ClassGrid {
  int64_t height = 0, width = 0;
  std::vector<int16_t> label;  // of each cell
};

// The class of each cell of scores 1xCxHxW; one plane alone has scores of class 1.
ClassGrid BestClasses(const HeadValues& planes, float least_score) {
  const int64_t classes = planes.dim(1), cells = planes.dim(2) * planes.dim(3);
  ClassGrid grid{planes.dim(2), planes.dim(3), std::vector<int16_t>(static_cast<size_t>(cells))};
  for (int64_t cell = 0; cell < cells; ++cell) {
    const float* v = planes.values.data() + cell;
    grid.label[size_t(cell)] =
        classes == 1 ? int16_t(*v >= least_score) : int16_t(BestOf(v, classes, cells).label);
  }
  return grid;
}

bool AreIntegers(const HeadOutput* output) { return output && IsInt(output->values.type); }

// Returns an output of integers with one number for each cell, as networks have it that end in ArgMax, or
// nothing. Beside planes of scores, integers of fewer dimensions are something else.
const HeadOutput* ClassNumbers(const HeadOutputs& outputs) {
  const HeadOutput* found = outputs.FindIfAny({1, 1, kAny, kAny});
  if (AreIntegers(found)) return found;
  if (outputs.FindIfAny({1, kAny, kAny, kAny})) return nullptr;
  found = outputs.FindIfAny({1, kAny, kAny});
  if (!AreIntegers(found)) found = outputs.FindIfAny({kAny, kAny});
  return AreIntegers(found) ? found : nullptr;
}

ClassGrid GivenClasses(const HeadValues& numbers, const HeadOutputs& outputs) {
  const int rank = numbers.shape.rank();
  ClassGrid grid{numbers.dim(rank - 2), numbers.dim(rank - 1), {}};
  for (const float number : numbers.values) {
    if (!(number >= 0 && number < float(kMostClasses)))
      outputs.Fail(fmt::format("'{}' has {}, which is no number of a class", numbers.name, number),
                   fmt::format("0 to {}", kMostClasses - 1));
    grid.label.push_back(int16_t(number));
  }
  return grid;
}

// The classes that are not shown are as what lies outside of the input.
void LeaveOutOthers(ClassGrid& grid, const HeadSettings& settings) {
  for (int16_t& label : grid.label)
    if (!IsShown(label, settings)) label = PictureMask::kOutside;
}

ClassGrid ClassesOf(const HeadOutputs& outputs, const HeadSettings& settings) {
  if (const HeadOutput* numbers = ClassNumbers(outputs))
    return GivenClasses(outputs.ValuesOf(*numbers), outputs);
  const HeadValues planes = outputs.FindOfAnyType("planes of classes", {1, kAny, kAny, kAny});
  if (planes.dim(1) < 1 || planes.dim(1) > kMostClasses)
    outputs.Fail("the output has no planes of classes", "1 to 32767 of them");
  outputs.CheckShown(planes.dim(1), settings);
  return BestClasses(planes, settings.least_score);
}

// Luma and chroma as JPEG has them (ITU-R BT.601, full range).
struct Chroma {
  float blue, red;
};
Chroma ChromaOf(const uint8_t* rgb) {
  return {-0.168736f * rgb[0] - 0.331264f * rgb[1] + 0.5f * rgb[2],
          0.5f * rgb[0] - 0.418688f * rgb[1] - 0.081312f * rgb[2]};
}
void SetRgb(float luma, Chroma chroma, uint8_t* rgb) {
  rgb[0] = ByteOf(luma + 1.402f * chroma.red);
  rgb[1] = ByteOf(luma - 0.344136f * chroma.blue - 0.714136f * chroma.red);
  rgb[2] = ByteOf(luma + 1.772f * chroma.blue);
}

}  // namespace

PictureMask ClassMask(const HeadOutputs& outputs, const HeadInput& input) {
  ClassGrid grid = ClassesOf(outputs, input.settings.head);
  LeaveOutOthers(grid, input.settings.head);
  const int64_t height = grid.height, width = grid.width;
  if (height < 1 || width < 1) outputs.Fail("the planes of classes are empty", "cells");
  const InputPlace& place = input.place;
  PictureMask mask{place.picture_width, place.picture_height, {}};
  mask.label.resize(size_t(mask.width) * size_t(mask.height), PictureMask::kOutside);
  for (int y = 0; y < mask.height; ++y)
    for (int x = 0; x < mask.width; ++x) {
      const auto [across, down] = place.InInput(x + 0.5, y + 0.5);
      if (across < 0 || down < 0 || across >= place.input_width || down >= place.input_height) continue;
      const int64_t column = std::min(int64_t(across / place.input_width * double(width)), width - 1),
                    row = std::min(int64_t(down / place.input_height * double(height)), height - 1);
      mask.label[size_t(y) * size_t(mask.width) + size_t(x)] = grid.label[size_t(row * width + column)];
    }
  return mask;
}

// An output 1x3xHxW has the values of the input's pixels, or 1x1xHxW those of its brightness, to which the
// colours of the picture are added.
Image OutputPicture(const HeadOutputs& outputs, const HeadInput& input) {
  const HeadValues planes = outputs.FindOfAnyType("picture", {1, kAny, kAny, kAny});
  const int64_t channels = planes.dim(1), width = planes.dim(3), cells = planes.dim(2) * width;
  if ((channels != 1 && channels != 3) || cells < 1 || cells > kMaxImagePixels)
    outputs.Fail("the output is no picture", "1x1xHxW or 1x3xHxW",
                 "another head ('mete help heads'), or output_layout nhwc where the channels are last");
  const Preprocess& p = input.settings;
  const bool turned = input.place.transposed;
  Image out(int(turned ? planes.dim(2) : width), int(turned ? width : planes.dim(2)));
  const auto value = [&](int64_t channel, int64_t pixel) {  // of the upright picture, from 0 to 255
    const size_t c = size_t(channel);
    const int64_t cell = turned ? pixel % out.width * width + pixel / out.width : pixel;
    return planes.values[size_t(channel * cells + cell)] * p.divisor[c] / p.scale[c] + p.mean[c];
  };
  if (channels == 3) {
    for (int64_t i = 0; i < cells * 3; ++i) {
      const int64_t colour = p.channels == ChannelOrder::kBgr ? 2 - i % 3 : i % 3;
      out.rgb[size_t(i)] = ByteOf(value(colour, i / 3));
    }
    return out;
  }
  const Image scaled = Stages(input.picture, SettingsFor(p, PictureShapeOf(input.shape)));
  const Image colours = ResizeImage(scaled, out.width, out.height, Interpolation::kBicubic);
  for (int64_t i = 0; i < cells; ++i)
    SetRgb(value(0, i), ChromaOf(colours.rgb.data() + i * 3), out.rgb.data() + i * 3);
  return out;
}

}  // namespace mete

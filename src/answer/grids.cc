// Detectors with one box in each cell of a grid.
#include <algorithm>
#include <cmath>

#include "answer/candidates.h"
#include "answer/heads.h"
#include "answer/numbers.h"

namespace mete {
namespace {

constexpr int64_t kAny = HeadOutputs::kAny;

// The value of channel `channel` at a cell, of an output 1xCxHxW.
float At(const HeadValues& values, int64_t channel, int64_t cell) {
  return values.values[size_t(channel * values.dim(2) * values.dim(3) + cell)];
}

bool IsPeak(const HeadValues& heat, int64_t channel, int64_t row, int64_t column) {
  const int64_t width = heat.dim(3);
  const float here = At(heat, channel, row * width + column);
  for (int64_t y = std::max<int64_t>(0, row - 1); y < std::min(heat.dim(2), row + 2); ++y)
    for (int64_t x = std::max<int64_t>(0, column - 1); x < std::min(width, column + 2); ++x)
      if (At(heat, channel, y * width + x) > here) return false;
  return true;
}

}  // namespace

// Channels of 1x(5+C)xHxW: whether there is an object, centre (tanh, in cells), width and height (sigmoid, of
// the input), and the classes. The powers of the score are those of the network's author.
Boxes FastestDetBoxes(const HeadOutputs& outputs, const HeadInput& input) {
  const HeadValues grid = outputs.Find("grid of boxes", {1, kAny, kAny, kAny});
  const int64_t classes = grid.dim(1) - 5, height = grid.dim(2), width = grid.dim(3), cells = height * width;
  if (classes < 1) outputs.Fail("the grid has too few channels", "6 or more");
  BoxCandidates candidates(input.settings.head, input.place);
  for (int64_t cell = 0; cell < cells; ++cell) {
    const BestClass best = BestOf(grid.values.data() + 5 * cells + cell, classes, cells);
    const float score = std::pow(At(grid, 0, cell), 0.6f) * std::pow(best.score, 0.4f);
    const float x = (float(cell % width) + std::tanh(At(grid, 1, cell))) / float(width),
                y = (float(cell / width) + std::tanh(At(grid, 2, cell))) / float(height);
    const float right = SigmoidOf(At(grid, 3, cell)) / 2, down = SigmoidOf(At(grid, 4, cell)) / 2;
    candidates.AddRelative({x - right, y - down, x + right, y + down}, score, best.label);
  }
  return candidates.Boxes(BoxCandidates::Overlapping::kLeaveOut);
}

// Peaks of heat maps 1xCxHxW with sizes and offsets 1x2xHxW in cells.
Boxes CenterNetBoxes(const HeadOutputs& outputs, const HeadInput& input) {
  const HeadValues heat = outputs.Find("heat maps", {1, kAny, kAny, kAny}, {"hm", "heat"});
  const int64_t height = heat.dim(2), width = heat.dim(3);
  const HeadValues sizes = outputs.Find("sizes", {1, 2, height, width}, {"wh", "size", "scale"});
  const HeadValues offsets = outputs.Find("offsets", {1, 2, height, width}, {"reg", "off"});
  if (sizes.name == offsets.name || heat.name == sizes.name || heat.name == offsets.name)
    outputs.Fail("no three outputs can be heat maps, sizes and offsets",
                 "names with 'hm' or 'heat', 'wh' or 'size', 'reg' or 'off'");
  // Exporters leave the sigmoid out or not; a probability lies between 0 and 1.
  const bool logits =
      std::any_of(heat.values.begin(), heat.values.end(), [](float v) { return v < 0 || v > 1; });
  BoxCandidates candidates(input.settings.head, input.place);
  for (int64_t c = 0; c < heat.dim(1); ++c)
    for (int64_t row = 0; row < height; ++row)
      for (int64_t column = 0; column < width; ++column) {
        if (!IsPeak(heat, c, row, column)) continue;
        const int64_t cell = row * width + column;
        const float score = logits ? SigmoidOf(At(heat, c, cell)) : At(heat, c, cell);
        const float x = float(column) + At(offsets, 0, cell), y = float(row) + At(offsets, 1, cell);
        const float right = At(sizes, 0, cell) / 2, down = At(sizes, 1, cell) / 2;
        candidates.AddRelative({(x - right) / float(width), (y - down) / float(height),
                                (x + right) / float(width), (y + down) / float(height)},
                               score, int(c));
      }
  return candidates.Boxes(BoxCandidates::Overlapping::kKeep);
}

}  // namespace mete

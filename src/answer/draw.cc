// Draws boxes, masks and points over a picture.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "answer/glyphs.h"
#include "base/error.h"
#include "image/resize.h"
#include "mete/answer.h"

namespace mete {
namespace {

using Colour = std::array<uint8_t, 3>;

// Returns a colour that neighbouring classes do not have: hues that lie the golden ratio of the circle apart.
Colour ColourOf(int label) {
  constexpr double kGolden = 0.6180339887, kFirstHue = 0.35;  // class 0 is green
  const double hue = std::fmod(kFirstHue + kGolden * label, 1.0) * 6;
  const auto part = [&](double shift) {
    const double at = std::fmod(hue + shift, 6.0);
    return uint8_t(std::lround(255 * std::clamp(std::min(at, 4 - at), 0.0, 1.0)));
  };
  return {part(2), part(0), part(4)};
}

// Lines and letters are as thick as the picture is large, so that they are seen in all of it: these shares of
// the shorter side are guesses.
int LineWidth(const Image& image) { return std::max(1, std::min(image.width, image.height) / 200); }
int LetterScale(const Image& image) { return std::max(1, std::min(image.width, image.height) / 240); }

// Fills the part of a rectangle that lies in the picture.
void Fill(Image& image, int x0, int y0, int x1, int y1, Colour colour) {
  x0 = std::max(x0, 0);
  x1 = std::min(x1, image.width);
  for (int y = std::max(y0, 0); y < std::min(y1, image.height); ++y)
    for (int x = x0; x < x1; ++x) std::copy(colour.begin(), colour.end(), image.row(y) + x * 3);
}

Colour InkOn(Colour paper) {
  const int brightness = (paper[0] * 3 + paper[1] * 6 + paper[2]) / 10;
  return brightness > 127 ? Colour{0, 0, 0} : Colour{255, 255, 255};
}

// Writes a text on a strip whose lower edge is `bottom`, or whose upper edge is the picture's.
void Write(Image& image, int left, int bottom, const std::string& text, Colour paper) {
  const int scale = LetterScale(image), advance = (kGlyphWidth + 1) * scale;
  const int width = int(text.size()) * advance + scale, height = (kGlyphHeight + 2) * scale;
  left = std::max(0, std::min(left, image.width - width));
  const int top = std::max(0, bottom - height);
  Fill(image, left, top, left + width, top + height, paper);
  const Colour ink = InkOn(paper);
  for (size_t i = 0; i < text.size(); ++i)
    for (int row = 0; row < kGlyphHeight; ++row)
      for (int column = 0; column < kGlyphWidth; ++column) {
        if (!(GlyphOf(text[i])[size_t(row)] >> (kGlyphWidth - 1 - column) & 1)) continue;
        const int x = left + int(i) * advance + (column + 1) * scale, y = top + (row + 1) * scale;
        Fill(image, x, y, x + scale, y + scale, ink);
      }
}

std::string TextOf(int label, float score, std::span<const std::string> labels) {
  const bool named = label >= 0 && size_t(label) < labels.size();
  return fmt::format("{} {:.2f}", named ? labels[size_t(label)] : std::to_string(label), score);
}

void DrawBoxes(Image& image, const std::vector<PictureBox>& boxes, std::span<const std::string> labels) {
  const int line = LineWidth(image);
  for (auto box = boxes.rbegin(); box != boxes.rend(); ++box) {  // the best one over the others
    const int x0 = int(std::lround(box->x0)), y0 = int(std::lround(box->y0));
    const int x1 = int(std::lround(box->x1)), y1 = int(std::lround(box->y1));
    const Colour colour = ColourOf(box->label);
    Fill(image, x0, y0, x1, y0 + line, colour);
    Fill(image, x0, y1 - line, x1, y1, colour);
    Fill(image, x0, y0, x0 + line, y1, colour);
    Fill(image, x1 - line, y0, x1, y1, colour);
    Write(image, x0, y0, TextOf(box->label, box->score, labels), colour);
  }
}

void DrawPoints(Image& image, const std::vector<PicturePoint>& points, std::span<const std::string> labels) {
  const int radius = 2 * LineWidth(image);
  const auto is_near = [&](const PicturePoint& p) {  // so that no number overflows; NaN is not near
    return std::abs(p.x) <= kMostPictureSide * 2 && std::abs(p.y) <= kMostPictureSide * 2;
  };
  for (const PicturePoint& point : points) {
    if (!point.seen || !is_near(point)) continue;
    const int x = int(std::lround(point.x)), y = int(std::lround(point.y));
    Fill(image, x - radius, y - radius, x + radius + 1, y + radius + 1, ColourOf(point.label));
    if (size_t(point.label) < labels.size())
      Write(image, x + radius, y, labels[size_t(point.label)], ColourOf(point.label));
  }
}

// Class 0, mostly the background, keeps the picture's colours.
void DrawMask(Image& image, const PictureMask& mask) {
  for (size_t i = 0; i < mask.label.size(); ++i) {
    if (mask.label[i] <= 0) continue;
    const Colour colour = ColourOf(mask.label[i]);
    for (size_t c = 0; c < 3; ++c) image.rgb[i * 3 + c] = uint8_t((image.rgb[i * 3 + c] + colour[c]) / 2);
  }
}

}  // namespace

Image DrawAnswer(const Image& picture, const PictureAnswer& answer, std::span<const std::string> labels) {
  if (answer.kind == AnswerKind::kPicture) return answer.picture;
  if (answer.kind == AnswerKind::kMask &&
      (answer.mask.width != picture.width || answer.mask.height != picture.height))
    Invalid("draw", "the mask is of another picture; got {}x{} pixels, expected {}x{} as the picture has",
            answer.mask.width, answer.mask.height, picture.width, picture.height);
  Image drawn = picture;
  if (answer.kind == AnswerKind::kBoxes) DrawBoxes(drawn, answer.boxes, labels);
  if (answer.kind == AnswerKind::kPoints) DrawPoints(drawn, answer.points, labels);
  if (answer.kind == AnswerKind::kBoxes) DrawPoints(drawn, answer.points, {});  // whose labels are no classes
  if (answer.kind == AnswerKind::kMask) DrawMask(drawn, answer.mask);
  return drawn;
}

}  // namespace mete

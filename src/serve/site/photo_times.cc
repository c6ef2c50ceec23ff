#include "serve/site/photo_times.h"

#include <algorithm>
#include <cmath>

#include "mete/statistics.h"

namespace mete::serve {
namespace {

constexpr size_t kSteps = 32;  // as a LinkEstimate keeps
constexpr size_t kTimes = 5;   // guess: two outliers among them change little
// Guess: steps whose amounts are in ratios that are nearer to each other than this show one time alone. It is
// the square of the sine of the angle between both amounts over all steps.
constexpr double kLeastAngle = 1e-3;

template <class T>
void Keep(std::vector<T>& seen, const T& one, size_t most) {
  seen.push_back(one);
  if (seen.size() > most) seen.erase(seen.begin());
}

unsigned Byte(std::string_view text, size_t at) { return static_cast<unsigned char>(text[at]); }
unsigned Two(std::string_view text, size_t at) { return Byte(text, at) << 8 | Byte(text, at + 1); }

std::optional<double> Product(double width, double height) {
  return width > 0 && height > 0 ? std::optional(width * height) : std::nullopt;
}

// A frame header (SOF) among the markers of a JPEG: all of C0 to CF but the tables C4, C8 and CC.
bool IsFrame(unsigned marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

std::optional<double> PixelsOfJpeg(std::string_view jpeg) {
  for (size_t at = 2; at + 9 <= jpeg.size() && Byte(jpeg, at) == 0xFF;) {
    const unsigned marker = Byte(jpeg, at + 1);
    if (marker == 0xFF) {  // a marker may have any number of them before it
      ++at;
      continue;
    }
    if (IsFrame(marker)) return Product(Two(jpeg, at + 7), Two(jpeg, at + 5));
    at += 2 + size_t(Two(jpeg, at + 2));
  }
  return std::nullopt;
}

}  // namespace

void SeenSteps::Learn(const SeenStep& step) { Keep(seen_, step, kSteps); }

std::optional<double> SeenSteps::MsOf(double first, double second) const {
  // of amounts by their times: aa x + ab y = a, ab x + bb y = b
  double aa = 0, ab = 0, bb = 0, a = 0, b = 0;
  for (const SeenStep& step : seen_) {
    if (step.ms <= 0) continue;
    const double p = step.first / step.ms, q = step.second / step.ms;
    aa += p * p;
    ab += p * q;
    bb += q * q;
    a += p;
    b += q;
  }
  if (aa <= 0) return std::nullopt;
  const double determinant = aa * bb - ab * ab;
  if (determinant > kLeastAngle * aa * bb) {
    const double x = (a * bb - b * ab) / determinant, y = (b * aa - a * ab) / determinant;
    if (x >= 0 && y >= 0) return x * first + y * second;
  }
  return a / aa * first;
}

void RecentTimes::Learn(double ms) { Keep(seen_, ms, kTimes); }

std::optional<double> RecentTimes::ms() const {
  return seen_.empty() ? std::nullopt : std::optional(Summarize(seen_).median);
}

std::optional<double> PixelsOf(std::string_view picture) {
  if (picture.starts_with("\xff\xd8")) return PixelsOfJpeg(picture);
  constexpr std::string_view kPng("\x89PNG\r\n\x1a\n", 8);
  if (!picture.starts_with(kPng) || picture.size() < 24) return std::nullopt;
  const auto four = [&](size_t at) { return double(Two(picture, at)) * 65536 + Two(picture, at + 2); };
  return Product(four(16), four(20));
}

}  // namespace mete::serve

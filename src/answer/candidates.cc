#include "answer/candidates.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mete {

BestClass BestOf(const float* scores, int64_t count, int64_t step, int first) {
  BestClass best{first, count > 0 ? scores[0] : 0};
  for (int64_t i = 1; i < count; ++i)
    if (scores[i * step] > best.score || std::isnan(best.score)) best = {first + int(i), scores[i * step]};
  return best;
}

int LabelOf(float number) {
  constexpr float kMostLabel = 65535;  // a guess: more classes than any detector has
  return int(std::clamp(std::isnan(number) ? 0.0f : number, 0.0f, kMostLabel));
}

bool IsShown(int label, const HeadSettings& settings) {
  const std::vector<int>& shown = settings.classes;
  return shown.empty() || std::binary_search(shown.begin(), shown.end(), label);
}

CornerBox Centered(float x, float y, float width, float height) {
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

void BoxCandidates::Add(const CornerBox& box, float score, int label, std::span<const PicturePoint> points) {
  const bool finite = std::isfinite(box.x0) && std::isfinite(box.y0) && std::isfinite(box.x1) &&
                      std::isfinite(box.y1) && std::isfinite(score);
  if (!finite || score < settings_.least_score || box.x1 <= box.x0 || box.y1 <= box.y0 ||
      !IsShown(label, settings_))
    return;
  boxes_.push_back(box);
  scores_.push_back(score);
  labels_.push_back(label);
  points_.insert(points_.end(), points.begin(), points.end());
}

void BoxCandidates::AddRelative(const CornerBox& box, float score, int label,
                                std::span<const PicturePoint> points) {
  const float width = float(place_.input_width), height = float(place_.input_height);
  const size_t before = points_.size();
  Add({box.x0 * width, box.y0 * height, box.x1 * width, box.y1 * height}, score, label, points);
  for (size_t i = before; i < points_.size(); ++i) {
    points_[i].x *= width;
    points_[i].y *= height;
  }
}

std::vector<int64_t> BoxCandidates::All() const {
  std::vector<int64_t> all(boxes_.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Classes are sorted as scores are: floats tell all numbers of classes apart that a network has.
std::vector<int64_t> BoxCandidates::Kept() const {
  const std::vector<float> labels(labels_.begin(), labels_.end());
  std::vector<int64_t> all = All();
  const int64_t count = int64_t(all.size()), most = std::min<int64_t>(count, settings_.most);
  SortByScore(labels.data(), all.data(), count);
  std::vector<float> memory(static_cast<size_t>(KeptBoxes::Floats(most)));
  int64_t kept = 0;
  for (int64_t begin = 0, end = 0; begin < count; begin = end) {
    const auto label = [&](int64_t i) { return labels[size_t(all[size_t(i)])]; };
    while (end < count && label(end) == label(begin)) ++end;
    SortByScore(scores_.data(), all.data() + begin, end - begin);
    kept += KeepApart(boxes_.data(), all.data() + begin, end - begin, most, settings_.overlap, memory.data(),
                      all.data() + kept);
  }
  all.resize(size_t(kept));
  return all;
}

PictureBox BoxCandidates::InPicture(int64_t candidate) const {
  const CornerBox& box = boxes_[size_t(candidate)];
  const auto [xa, ya] = place_.InPicture(box.x0, box.y0);
  const auto [xb, yb] = place_.InPicture(box.x1, box.y1);
  const auto within = [](double v, int most) { return float(std::clamp(v, 0.0, double(most))); };
  return {within(std::min(xa, xb), place_.picture_width),
          within(std::min(ya, yb), place_.picture_height),
          within(std::max(xa, xb), place_.picture_width),
          within(std::max(ya, yb), place_.picture_height),
          scores_[size_t(candidate)],
          labels_[size_t(candidate)]};
}

// A point may lie outside of its box and of the picture.
void BoxCandidates::AddPoints(int64_t candidate, std::vector<PicturePoint>& points) const {
  const size_t each = points_.size() / boxes_.size();
  for (PicturePoint point : std::span(points_).subspan(size_t(candidate) * each, each)) {
    const auto [x, y] = place_.InPicture(point.x, point.y);
    points.push_back({float(x), float(y), point.score, point.label, point.score >= settings_.least_score});
  }
}

void BoxCandidates::AddTo(PictureAnswer& answer, Overlapping overlapping) const {
  std::vector<int64_t> kept = overlapping == Overlapping::kLeaveOut ? Kept() : All();
  SortByScore(scores_.data(), kept.data(), int64_t(kept.size()));
  kept.resize(std::min(kept.size(), size_t(settings_.most)));
  for (const int64_t i : kept) {
    const PictureBox box = InPicture(i);
    if (!(box.x1 > box.x0 && box.y1 > box.y0)) continue;
    answer.boxes.push_back(box);
    AddPoints(i, answer.points);
  }
}

}  // namespace mete

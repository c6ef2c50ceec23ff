// The boxes that a head finds, before those that overlap a better one are left out.
#pragma once

#include <span>
#include <vector>

#include "base/boxes.h"
#include "mete/answer.h"

namespace mete {

// A class and its score.
struct BestClass {
  int label = 0;
  float score = 0;
};
// Returns the class with the highest of `count` scores that lie `step` apart; `first` is the number of the
// first one.
BestClass BestOf(const float* scores, int64_t count, int64_t step = 1, int first = 0);

// Returns the class that a number of any type stands for; one that is no number, or none of a class, is class
// 0 or the last one.
int LabelOf(float number);

// Returns the box with this centre, width and height.
CornerBox Centered(float x, float y, float width, float height);

// Returns whether the settings ask for the class, or for the point of that number.
bool IsShown(int label, const HeadSettings& settings);

class BoxCandidates {
 public:
  BoxCandidates(const HeadSettings& settings, const InputPlace& place) : settings_(settings), place_(place) {}

  // Corners and points in pixels of the input. A box of a class that is not shown, whose score is below the
  // least one, or that has a number that is not finite, is left out. All boxes have the same number of
  // points.
  void Add(const CornerBox& box, float score, int label, std::span<const PicturePoint> points = {});
  // The same for corners and points as shares of the input's width and height.
  void AddRelative(const CornerBox& box, float score, int label, std::span<const PicturePoint> points = {});

  // Adds the boxes to the answer, and their points, the best score first: those that overlap no better one of
  // their class, or all, where the network has done that itself.
  enum class Overlapping { kLeaveOut, kKeep };
  void AddTo(PictureAnswer& answer, Overlapping overlapping) const;

 private:
  std::vector<int64_t> All() const;   // their places
  std::vector<int64_t> Kept() const;  // those that overlap no better one of their class
  PictureBox InPicture(int64_t candidate) const;
  void AddPoints(int64_t candidate, std::vector<PicturePoint>& points) const;

  const HeadSettings& settings_;
  const InputPlace& place_;
  std::vector<CornerBox> boxes_;
  std::vector<float> scores_;
  std::vector<int> labels_;
  std::vector<PicturePoint> points_;  // one box after the other
};

}  // namespace mete

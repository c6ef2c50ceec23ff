// The boxes that a head finds, before those that overlap a better one are left out.
#pragma once

#include <utility>
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

// The boxes of a picture; of points each box has as many as the others, in the order of the boxes.
struct Boxes {
  std::vector<PictureBox> boxes;
  std::vector<PicturePoint> points = {};
};

// Returns the class that a number of any type stands for; one that is no number, or none of a class, is class
// 0 or the last one.
int LabelOf(float number);

class BoxCandidates {
 public:
  BoxCandidates(const HeadSettings& settings, const InputPlace& place) : settings_(settings), place_(place) {}

  // Corners in pixels of the input. A box whose score is below the least one, or that has a number that is
  // not finite, is left out.
  // `points` are in pixels of the input, too; their scores become those of their boxes.
  void Add(const CornerBox& box, float score, int label, std::vector<PicturePoint> points = {});
  // The same for corners and points as shares of the input's width and height, and for centre, width and
  // height.
  void AddRelative(const CornerBox& box, float score, int label, std::vector<PicturePoint> points = {});
  void AddCentered(float x, float y, float width, float height, float score, int label);

  // Returns the boxes in the picture, the best score first: those that overlap no better one of their class,
  // or all, where the network has done that itself.
  enum class Overlapping { kLeaveOut, kKeep };
  mete::Boxes Boxes(Overlapping overlapping) const;

 private:
  std::vector<int64_t> Kept() const;
  PictureBox InPicture(int64_t candidate) const;
  void AddPoints(int64_t candidate, std::vector<PicturePoint>& points) const;

  const HeadSettings& settings_;
  const InputPlace& place_;
  std::vector<CornerBox> boxes_;
  std::vector<float> scores_;
  std::vector<int> labels_;
  std::vector<std::vector<PicturePoint>> points_;
};

}  // namespace mete

// mete.DetectionOutput, with boxes and scores that are worked out by hand.
#include <cmath>

#include "base/error.h"
#include "kernels/reference/reference_testing.h"

namespace mete {
namespace {

using Row = std::vector<float>;

std::vector<Row> RowsOf(const Tensor& t) {
  EXPECT_EQ(t.shape(), (Shape{1, 1, t.shape()[2], 7}));
  std::vector<Row> rows;
  for (int64_t i = 0; i < t.shape()[2]; ++i)
    rows.emplace_back(t.as<float>() + 7 * i, t.as<float>() + 7 * i + 7);
  return rows;
}

// Decodes one box of one class that is no background. The prior box is 4 x 8 around (4, 8).
Row Decode(const std::string& code, bool encoded, const std::vector<float>& prediction) {
  const Tensor priors = F({1, 2, 4}, {2, 4, 6, 12, 0.5f, 0.25f, 0.5f, 0.25f});
  const Attributes a = Attrs({{"num_classes", int64_t(1)},
                              {"background_label_id", int64_t(-1)},
                              {"code_type", code},
                              {"variance_encoded_in_target", int64_t(encoded)}});
  return RowsOf(RunOp("mete.DetectionOutput", a, {F({1, 4}, prediction), F({1, 1}, {0.75f}), priors})[0])
      .at(0);
}

TEST(DetectionOutputKernel, DecodesByTheCodeType) {
  const float twice = std::log(2.0f);
  EXPECT_EQ(Decode("corner", false, {1, 2, -1, 4}), (Row{0, 0, 0.75f, 2.5f, 4.5f, 5.5f, 13}));
  EXPECT_EQ(Decode("corner", true, {1, 2, -1, 4}), (Row{0, 0, 0.75f, 3, 6, 5, 16}));
  EXPECT_EQ(Decode("corner_size", false, {1, 2, -1, 4}), (Row{0, 0, 0.75f, 4, 8, 4, 20}));
  EXPECT_EQ(Decode("corner_size", true, {1, 2, -1, 4}), (Row{0, 0, 0.75f, 6, 20, 2, 44}));
  // The center moves to (6, 12), the width doubles and the height halves.
  ExpectNear(Decode("center_size", false, {1, 2, 2 * twice, -4 * twice}), {0, 0, 0.75f, 2, 10, 10, 14}, 1e-6);
  // The center moves to (8, 24), the width becomes 16 and the height 1/2.
  ExpectNear(Decode("center_size", true, {1, 2, 2 * twice, -4 * twice}), {0, 0, 0.75f, 0, 23.75f, 16, 24.25f},
             1e-6);
}

// Four boxes. Box 0 shares 1/3 of its union with box 1, and 4/5 with box 2; boxes 1 and 2 share 1/2.
const std::vector<Row> kBoxes = {{0, 0, 2, 2}, {0, 1, 2, 3}, {0, 0, 2, 2.5f}, {5, 5, 6, 6}};

Row Found(float image, float label, float score, size_t box) {
  const Row& b = kBoxes[box];
  return {image, label, score, b[0], b[1], b[2], b[3]};
}

Tensor Priors() {
  std::vector<float> values;
  for (const Row& box : kBoxes) values.insert(values.end(), box.begin(), box.end());
  values.resize(32, 1);
  return F({1, 2, 16}, values);
}

// Scores of three classes, of which class 0 is the background where nothing else is said.
const std::vector<float> kScores = {0.95f, 0.9f, 0.2f,    // box 0
                                    0.1f,  0.8f, 0.3f,    // box 1: exactly the threshold in class 2
                                    0.1f,  0.7f, 0.35f,   // box 2
                                    0.1f,  0.1f, 0.35f};  // box 3

std::vector<Row> Detect(std::initializer_list<Attributes::Item> more = {},
                        const std::vector<float>& scores = kScores) {
  Attributes a =
      Attrs({{"num_classes", int64_t(3)}, {"nms_threshold", 0.4f}, {"confidence_threshold", 0.3f}});
  for (const auto& [name, value] : more) a.Set(name, value);
  const int64_t images = int64_t(scores.size()) / 12;
  return RowsOf(RunOp(
      "mete.DetectionOutput", a,
      {F({images, 16}, std::vector<float>(size_t(images) * 16)), F({images, 12}, scores), Priors()})[0]);
}

using Rows = std::vector<Row>;

TEST(DetectionOutputKernel, KeepsTheBestOfOverlappingBoxesOfEachClass) {
  // Box 2 overlaps box 0 in class 1. In class 2 it has the same score as box 3, and comes first.
  EXPECT_EQ(Detect(),
            (Rows{Found(0, 1, 0.9f, 0), Found(0, 1, 0.8f, 1), Found(0, 2, 0.35f, 2), Found(0, 2, 0.35f, 3)}));
  EXPECT_EQ(Detect({{"nms_threshold", 0.3f}}),
            (Rows{Found(0, 1, 0.9f, 0), Found(0, 2, 0.35f, 2), Found(0, 2, 0.35f, 3)}));
  EXPECT_EQ(Detect({{"nms_threshold", 0.85f}, {"confidence_threshold", 0.5f}}),
            (Rows{Found(0, 1, 0.9f, 0), Found(0, 1, 0.8f, 1), Found(0, 1, 0.7f, 2)}));
}

// Box 0 is 1 x 1 and half outside: it shares 1/2 of the union with box 1 as it is, and all of it once it is
// clipped. Boxes 2 and 3 are the same box, outside the picture: clipped they have no area, and so no overlap.
TEST(DetectionOutputKernel, ClippedBoxesAreComparedAndWritten) {
  const std::vector<Row> boxes = {{-0.5f, 0, 0.5f, 1}, {0, 0, 0.5f, 1}, {1.5f, 0, 2, 1}, {1.5f, 0, 2, 1}};
  const std::vector<float> scores = {0.9f, 0.8f, 0.7f, 0.6f};
  std::vector<float> priors, both;
  for (const Row& box : boxes) priors.insert(priors.end(), box.begin(), box.end());
  priors.resize(32, 1);
  for (float score : scores) both.insert(both.end(), {0, score});
  const auto detect = [&](int64_t clip) {
    const Attributes a = Attrs({{"num_classes", int64_t(2)},
                                {"nms_threshold", 0.6f},
                                {"confidence_threshold", 0.3f},
                                {"clip", clip}});
    return RowsOf(RunOp("mete.DetectionOutput", a,
                        {F({1, 16}, std::vector<float>(16)), F({1, 8}, both), F({1, 2, 16}, priors)})[0]);
  };
  EXPECT_EQ(
      detect(0),
      (Rows{{0, 1, 0.9f, -0.5f, 0, 0.5f, 1}, {0, 1, 0.8f, 0, 0, 0.5f, 1}, {0, 1, 0.7f, 1.5f, 0, 2, 1}}));
  EXPECT_EQ(detect(1),
            (Rows{{0, 1, 0.9f, 0, 0, 0.5f, 1}, {0, 1, 0.7f, 1, 0, 1, 1}, {0, 1, 0.6f, 1, 0, 1, 1}}));
}

TEST(DetectionOutputKernel, ATopKOfCandidatesIsTakenBeforeBoxesAreCompared) {
  EXPECT_EQ(Detect({{"top_k", int64_t(1)}}), (Rows{Found(0, 1, 0.9f, 0), Found(0, 2, 0.35f, 2)}));
  // Box 1 is dropped, and box 2 is no candidate.
  EXPECT_EQ(Detect({{"top_k", int64_t(2)}, {"nms_threshold", 0.3f}, {"confidence_threshold", 0.5f}}),
            (Rows{Found(0, 1, 0.9f, 0)}));
}

TEST(DetectionOutputKernel, KeepsTheBestOfAnImageInTheOrderOfTheirClasses) {
  EXPECT_EQ(Detect({{"keep_top_k", int64_t(3)}}),
            (Rows{Found(0, 1, 0.9f, 0), Found(0, 1, 0.8f, 1), Found(0, 2, 0.35f, 2)}));
  EXPECT_EQ(Detect({{"keep_top_k", int64_t(2)}, {"background_label_id", int64_t(1)}}),
            (Rows{Found(0, 0, 0.95f, 0), Found(0, 2, 0.35f, 2)}));
  EXPECT_EQ(Detect({{"keep_top_k", int64_t(0)}}), (Rows{{0, -1, -1, -1, -1, -1, -1}}));
  EXPECT_EQ(Detect({{"keep_top_k", int64_t(4)}}), Detect());
}

TEST(DetectionOutputKernel, AnyClassOrNoneIsTheBackground) {
  EXPECT_EQ(Detect({{"background_label_id", int64_t(2)}}),
            (Rows{Found(0, 0, 0.95f, 0), Found(0, 1, 0.9f, 0), Found(0, 1, 0.8f, 1)}));
  EXPECT_EQ(Detect({{"background_label_id", int64_t(-1)}, {"confidence_threshold", 0.85f}}),
            (Rows{Found(0, 0, 0.95f, 0), Found(0, 1, 0.9f, 0)}));
}

TEST(DetectionOutputKernel, EtaLowersTheThresholdWithEachBoxThatIsKept) {
  EXPECT_EQ(Detect({{"nms_threshold", 0.6f}, {"confidence_threshold", 0.5f}}),
            (Rows{Found(0, 1, 0.9f, 0), Found(0, 1, 0.8f, 1)}));
  EXPECT_EQ(Detect({{"nms_threshold", 0.6f}, {"confidence_threshold", 0.5f}, {"eta", 0.5f}}),
            (Rows{Found(0, 1, 0.9f, 0)}));
  // It is not lowered from 0.5 on.
  EXPECT_EQ(Detect({{"nms_threshold", 0.5f}, {"confidence_threshold", 0.5f}, {"eta", 0.5f}}),
            (Rows{Found(0, 1, 0.9f, 0), Found(0, 1, 0.8f, 1)}));
}

// RefineDet: the prior box moves by (2, 4) and doubles its width before the prediction is relative to it, and
// a prior box without an object is background.
TEST(DetectionOutputKernel, PriorBoxesMayBeMovedAndHaveNoObject) {
  const float twice = std::log(2.0f);
  const auto detect = [&](float object, float least) {
    const Attributes a = Attrs({{"num_classes", int64_t(2)},
                                {"code_type", std::string("center_size")},
                                {"confidence_threshold", 0.1f},
                                {"objectness_score", least}});
    const Tensor priors = F({1, 2, 4}, {2, 4, 6, 12, 0.5f, 0.25f, 0.5f, 0.25f});
    return RowsOf(RunOp("mete.DetectionOutput", a,
                        {F({1, 4}, {0.5f, 0, 0, -4 * twice}), F({1, 2}, {0.25f, 0.75f}), priors,
                         F({1, 2}, {1 - object, object}), F({1, 4}, {1, 2, 2 * twice, 0})})[0])
        .at(0);
  };
  // The center (4, 8) becomes (6, 12), then (8, 12); the width 8, the height 8 and then 4.
  ExpectNear(detect(0.5f, 0.5f), {0, 1, 0.75f, 4, 10, 12, 14}, 1e-6);
  EXPECT_EQ(detect(0.25f, 0.5f), (Row{0, -1, -1, -1, -1, -1, -1}));
}

TEST(DetectionOutputKernel, ImagesHaveRowsOfTheirOwn) {
  std::vector<float> two = kScores, none(12, 0.0f);
  two.insert(two.begin(), none.begin(), none.end());
  EXPECT_EQ(Detect({{"confidence_threshold", 0.85f}}, two), (Rows{Found(1, 1, 0.9f, 0)}));
  std::vector<float> empty(24, 0.0f);
  EXPECT_EQ(Detect({}, empty), (Rows{{0, -1, -1, -1, -1, -1, -1}, {1, -1, -1, -1, -1, -1, -1}}));
  empty[1] = NAN;  // no score is above the threshold
  EXPECT_EQ(Detect({}, empty).size(), 2u);
}

TEST(DetectionOutputKernel, WithoutAThresholdAllScoresCount) {
  const Attributes a = Attrs({{"num_classes", int64_t(2)}, {"nms_threshold", 1.0f}});
  const auto rows =
      RowsOf(RunOp("mete.DetectionOutput", a,
                   {F({1, 16}, std::vector<float>(16)), F({1, 8}, {0, 1, 0, -2, 0, 3, 0, 0}), Priors()})[0]);
  EXPECT_EQ(rows, (Rows{Found(0, 1, 3, 2), Found(0, 1, 1, 0), Found(0, 1, 0, 3), Found(0, 1, -2, 1)}));
}

TEST(DetectionOutputKernel, ClassesMayHavePredictionsOfTheirOwn) {
  // One prior box; class 1 moves it by 1 and class 2 by 2.
  const Attributes a = Attrs({{"num_classes", int64_t(3)}, {"share_location", int64_t(0)}});
  const auto rows =
      RowsOf(RunOp("mete.DetectionOutput", a,
                   {F({1, 12}, {9, 9, 9, 9, 1, 1, 1, 1, 2, 2, 2, 2}), F({1, 3}, {0.5f, 0.25f, 0.75f}),
                    F({1, 2, 4}, {0, 0, 4, 4, 1, 1, 1, 1})})[0]);
  EXPECT_EQ(rows, (Rows{{0, 1, 0.25f, 1, 1, 5, 5}, {0, 2, 0.75f, 2, 2, 6, 6}}));
}

TEST(DetectionOutputKernel, NoImages) {
  const Attributes a = Attrs({{"num_classes", int64_t(3)}});
  EXPECT_EQ(RunOp("mete.DetectionOutput", a, {F({0, 16}, {}), F({0, 12}, {}), Priors()})[0].shape(),
            (Shape{1, 1, 0, 7}));
}

}  // namespace
}  // namespace mete

#include "partition/part.h"

#include <gtest/gtest.h>

#include "base/counting_testing.h"
#include "base/errors_testing.h"

namespace mete {
namespace {

TEST(Part, IsAllWhereItHasEveryRow) {
  EXPECT_TRUE(Normalized(Part::Of(1, {0, 5}), {2, 5}).all());
  EXPECT_EQ(Normalized(Part::Of(1, {0, 4}), {2, 5}), Part::Of(1, {0, 4}));
}

TEST(Part, HullHasBothAndIsAllAcrossAxes) {
  EXPECT_EQ(Hull(Part::Of(2, {1, 3}), Part::Of(2, {6, 7})), Part::Of(2, {1, 7}));
  EXPECT_TRUE(Hull(Part::Of(2, {1, 3}), Part::Of(1, {1, 3})).all());
  EXPECT_TRUE(Contains(Part::Of(2, {1, 7}), Part::Of(2, {3, 4})));
  EXPECT_FALSE(Contains(Part::Of(2, {1, 7}), Part::Of(2, {3, 8})));
  EXPECT_FALSE(Contains(Part::Of(2, {1, 7}), Part::All()));
}

TEST(Part, CutTakesRowsOfAnyAxis) {
  const Tensor whole = Counting({2, 3, 2}), piece = Cut(whole, Part::Of(1, {1, 3}));
  EXPECT_EQ(piece.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ((std::vector<float>{piece.as<float>(), piece.as<float>() + 8}),
            (std::vector<float>{2, 3, 4, 5, 8, 9, 10, 11}));
  EXPECT_EQ(Cut(whole, Part::All()).data(), whole.data());
}

TEST(Part, PlaceCopiesWhatBothHave) {
  Tensor into(DType::kF32, {2, 2});       // holds rows 1 to 3 of axis 1
  const Tensor piece = Counting({2, 3});  // holds rows 2 to 5
  Place(piece.view(), Part::Of(1, {2, 5}), into.mutable_view(), Part::Of(1, {1, 3}));
  EXPECT_EQ((std::vector<float>{into.as<float>(), into.as<float>() + 4}), (std::vector<float>{0, 0, 0, 3}));
}

TEST(Part, PlaceRefusesWhatDoesNotFit) {
  Tensor into(DType::kF32, {2, 2});
  const Part rows = Part::Of(1, {1, 3});
  const auto place = [&](const Shape& shape, const Part& part, const Part& wanted) {
    Place(Counting(shape).view(), part, into.mutable_view(), wanted);
  };
  EXPECT_TELLS(place({2, 2}, Part::Of(1, {2, 5}), rows), "has the wrong shape; got 2x2");
  EXPECT_TELLS(place({3, 3}, Part::Of(1, {2, 5}), rows), "has the wrong shape; got 3x3");
  EXPECT_TELLS(place({3, 2}, Part::Of(0, {0, 3}), rows), "does not fit where it shall go");
  EXPECT_TELLS(place({2, 3}, Part::Of(1, {2, 5}), Part::Of(5, {1, 3})), "does not fit where it shall go");
}

}  // namespace
}  // namespace mete

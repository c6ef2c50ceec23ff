#include "run/teller.h"

#include <gtest/gtest.h>

#include <vector>

namespace mete {
namespace {

TEST(Teller, TellsInOrderAlsoWhatIsAddedByWhoeverIsTold) {
  std::vector<std::string> told;
  Teller* own = nullptr;
  Teller teller([&](const std::string& note) {
    if (note == "a") own->Tell("c");
    told.push_back(note);
  });
  own = &teller;
  teller.Add("a");
  teller.Add("b");
  EXPECT_TRUE(told.empty());
  teller.TellAll();
  EXPECT_EQ(told, (std::vector<std::string>{"a", "b", "c"}));
}

}  // namespace
}  // namespace mete

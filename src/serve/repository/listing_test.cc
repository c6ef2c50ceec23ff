#include "serve/repository/listing.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"

namespace mete::serve {
namespace {

class ListingTest : public testing::Test {
 protected:
  ListingTest() {
    std::filesystem::create_directories(folder_.str());
    for (const char* name : {"b", "a", "c"}) std::ofstream(folder_.str() + "/" + name) << name << name;
  }

  TempPath folder_;
};

TEST_F(ListingTest, SortsNames) {
  std::string names;
  for (const Entry& entry : Listing(folder_.str(), 10).Of(folder_.str())) names += entry.name;
  EXPECT_EQ(names, "abc");
}

TEST_F(ListingTest, ReadsNoMoreEntriesThanItMayInAllFolders) {
  Listing listing(folder_.str(), 5);
  EXPECT_EQ(listing.Of(folder_.str()).size(), 3u);
  EXPECT_TELLS(listing.Of(folder_.str()), "too many files");
}

TEST_F(ListingTest, ReadsTextsUpToABound) {
  const Entry file = Listing(folder_.str(), 10).Of(folder_.str())[0];
  EXPECT_EQ(TextOf(file, 2), "aa");
  EXPECT_TELLS(TextOf(file, 1), "too long; got 2 bytes, expected 1 at most");
}

}  // namespace
}  // namespace mete::serve

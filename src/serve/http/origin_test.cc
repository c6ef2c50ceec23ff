#include "serve/http/origin.h"

#include <gtest/gtest.h>

namespace mete::serve {
namespace {

TEST(Origins, AreThisServersOwnOrNone) {
  for (const bool local : {true, false}) {
    EXPECT_EQ(WhyForeign("", "anything", local), "");
    EXPECT_EQ(WhyForeign("http://localhost:8080", "localhost:8080", local), "");
    EXPECT_EQ(WhyForeign("http://LocalHost:8080", "localhost:8080", local), "");
    EXPECT_EQ(WhyForeign("https://127.0.0.1", "127.0.0.1", local), "");
    EXPECT_EQ(WhyForeign("http://[::1]:8080", "[::1]:8080", local), "");
    for (const char* foreign : {"null", "http://evil.example", "http://localhost:3000", "localhost:8080",
                                "http://localhost:8080.evil.example", "http://", "://"})
      EXPECT_NE(WhyForeign(foreign, "localhost:8080", local), "") << foreign;
    EXPECT_NE(WhyForeign("http://", "", local), "");
  }
}

TEST(Origins, ANameThatLeadsToThisHostIsForeignWhereOnlyThisHostAsks) {
  EXPECT_EQ(WhyForeign("http://models.example:8080", "models.example:8080", false), "");
  EXPECT_NE(WhyForeign("http://models.example:8080", "models.example:8080", true), "");
}

}  // namespace
}  // namespace mete::serve

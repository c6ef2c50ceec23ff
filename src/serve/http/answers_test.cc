#include "serve/http/answers.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace mete::serve {
namespace {

TEST(Answers, SayThatNoneCouldBeMade) {
  EXPECT_EQ(Made([]() -> HttpAnswer { throw std::bad_alloc(); }).status, 503);
  EXPECT_EQ(Made([]() -> HttpAnswer { throw std::runtime_error("a reason"); }).status, 500);
  EXPECT_EQ(Made([] { return HttpAnswer{.status = 201}; }).status, 201);
}

}  // namespace
}  // namespace mete::serve

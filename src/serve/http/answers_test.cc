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

std::string RetryAfter(const HttpAnswer& answer) {
  for (const auto& [name, value] : answer.headers)
    if (name == "Retry-After") return value;
  return "none";
}

TEST(Answers, SayWhenAnotherTryMaySucceed) {
  EXPECT_EQ(RetryAfter(ErrorAnswer(503, "not ready")), "1");
  EXPECT_EQ(RetryAfter(ErrorAnswer(Error(Code::kUnavailable, "not ready"))), "1");
  EXPECT_EQ(RetryAfter(NoMemory()), "1");
  EXPECT_EQ(RetryAfter(JsonAnswer("{}", 503)), "1");  // as health has it
  EXPECT_EQ(RetryAfter(JsonAnswer("{}")), "none");
  EXPECT_EQ(RetryAfter(ErrorAnswer(429, "full", 2.5)), "3");
  EXPECT_EQ(RetryAfter(ErrorAnswer(404, "unknown")), "none");
  Outcome full;
  full.code = Code::kResourceExhausted;
  full.error = "full";
  EXPECT_EQ(RetryAfter(AnswerOf(full, 0)), "none");  // 413: it is too large, however often it comes
  full.retry_after_s = 0.2;
  EXPECT_EQ(RetryAfter(AnswerOf(full, 0)), "1");
}

}  // namespace
}  // namespace mete::serve

// Helpers for tests of error messages.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "mete/error.h"

namespace mete {

// Returns the message of the Error that `what` throws, or "no error".
inline std::string ErrorOf(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// Expects that `expression` throws an Error whose message contains `text`.
#define EXPECT_TELLS(expression, text)                                                                     \
  EXPECT_PRED2([](const std::string& all, const std::string& part) { return all.find(part) != all.npos; }, \
               ErrorOf([&] { expression; }), text)

}  // namespace mete

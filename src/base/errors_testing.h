// What an error says, for tests of messages.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "mete/error.h"

namespace mete {

inline std::string ErrorOf(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// That doing it throws an Error whose message has `text`.
#define EXPECT_TELLS(expression, text)                                                                     \
  EXPECT_PRED2([](const std::string& all, const std::string& part) { return all.find(part) != all.npos; }, \
               ErrorOf([&] { expression; }), text)

}  // namespace mete

// What the tests of finding GPUs have in common.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

namespace mete::opencl {

// Sets an environment variable, and puts the old value back.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    was_set_ = before;
    if (before) before_ = before;
    if (value) setenv(name, value, /*overwrite=*/1);
    else unsetenv(name);
  }
  ~Variable() {
    if (was_set_) setenv(name_, before_.c_str(), /*overwrite=*/1);
    else unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  bool was_set_ = false;
  std::string before_;
};

#define EXPECT_HAS(text, part)                                                                             \
  EXPECT_PRED2([](const std::string& all, const std::string& p) { return all.find(p) != all.npos; }, text, \
               part)

}  // namespace mete::opencl

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "mete/device.h"

namespace mete {
namespace {

// Sets or unsets an environment variable until the object is destroyed.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    Set(value);
  }
  ~Environment() { Set(old_ ? old_->c_str() : nullptr); }

 private:
  void Set(const char* value) { value ? setenv(name_, value, 1) : unsetenv(name_); }
  const char* name_;
  std::optional<std::string> old_;
};

TEST(CacheFolder, IsTheOwnVariableThenThatOfAllProgramsThenHome) {
  const Environment home("HOME", "/home/somebody");
  const Environment all("XDG_CACHE_HOME", "/var/caches");
  const Environment own("METE_CACHE", "/fast/mete");
  EXPECT_EQ(CacheFolder(), "/fast/mete");
  const Environment no_own("METE_CACHE", "");
  EXPECT_EQ(CacheFolder(), "/var/caches/mete");
  const Environment relative("XDG_CACHE_HOME", "caches");
  EXPECT_EQ(CacheFolder(), "/home/somebody/.cache/mete");
  const Environment nobody("HOME", nullptr);
  EXPECT_EQ(CacheFolder(), "");
}

}  // namespace
}  // namespace mete

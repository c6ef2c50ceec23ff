#include "serve/repository/settings.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"

namespace mete::serve {
namespace {

ModelSettings Parse(const std::string& text) { return ParseSettings(text, "serve.toml"); }

TEST(ParseSettings, AnEmptyTextHasTheDefaults) { EXPECT_EQ(Parse(""), ModelSettings()); }

TEST(ParseSettings, ReadsEveryKey) {
  const ModelSettings settings = Parse(
      "versions = [3, 1, 3]\n"
      "queue_per_slot = 2\n"
      "deadline_ms = 200\n"
      "batch = 8\n"
      "precision = \"bf16\"\n"
      "warm_up_runs = 0\n"
      "load = false\n");
  EXPECT_EQ(settings, (ModelSettings{.versions = {VersionChoice::kListed, {1, 3}},
                                     .queue_per_slot = 2,
                                     .deadline_ms = 200,
                                     .most_in_batch = 8,
                                     .precision = "bf16",
                                     .warm_up_runs = 0,
                                     .load = false}));
}

TEST(ParseSettings, ReadsNamesOfChoices) {
  EXPECT_EQ(Parse("versions = \"all\"").versions.kind, VersionChoice::kAll);
  EXPECT_EQ(Parse("versions = \"latest\"").versions.kind, VersionChoice::kLatest);
  EXPECT_EQ(Parse("batch = \"off\"").most_in_batch, 1);
  EXPECT_EQ(Parse("batch = \"measured\"").most_in_batch, 0);
}

TEST(ParseSettings, TellsAllProblemsWithTheirLines) {
  const std::string text =
      "versions = []\nqueue_per_slot = 0\ndeadline_ms = 1.5\nbatch = \"some\"\nprecision = 8\n"
      "warm_up_runs = -1\nload = \"yes\"\nextra = 1\n";
  for (const char* problem :
       {"serve.toml:1] settings: 'versions' is wrong", "serve.toml:2] settings: 'queue_per_slot' is wrong",
        "serve.toml:3] settings: 'deadline_ms' is wrong", "serve.toml:4] settings: 'batch' is wrong",
        "serve.toml:5] settings: 'precision' is wrong", "serve.toml:6] settings: 'warm_up_runs' is wrong",
        "serve.toml:7] settings: 'load' is wrong", "serve.toml:8] settings: unknown key 'extra'"})
    EXPECT_TELLS(Parse(text), problem);
}

TEST(ParseSettings, RefusesBadValues) {
  for (const char* text : {"versions = \"newest\"", "versions = [0]", "versions = [\"1\"]", "versions = 1",
                           "batch = 0", "batch = 1025", "batch = true", "deadline_ms = 86400001",
                           "queue_per_slot = 10001", "load = 1", "precision = \"\""})
    EXPECT_TELLS(Parse(text), "is wrong");
  EXPECT_TELLS(Parse("versions = "), "not valid TOML");
}

}  // namespace
}  // namespace mete::serve

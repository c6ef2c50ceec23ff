#include <gtest/gtest.h>

#include "base/errors_testing.h"
#include "machine/toml_keys.h"
#include "processor/emulated/emulated.h"

namespace mete {
namespace {

ProcessorEntry Read(const char* text) {
  const toml::table table = ParseToml(text, "pool.toml");
  Problems problems;
  TomlKeys keys(table, "pool.toml", "processor 'gpu'", problems);
  ProcessorEntry entry;
  ReadEmulation(keys, entry);
  keys.RefuseOthers();
  problems.ThrowIfAny();
  return entry;
}

TEST(ReadEmulation, HasTheKeysOfItsKind) {
  const ProcessorEntry entry = Read(
      "launch_us = 50\nmap_us = 200\nlacks = [\"i8\"]\nfails = \"run 3\"\n"
      "prepare_ms = 30\nlacks_operators = [\"Softmax\"]\n");
  const auto& emulation = std::any_cast<const Emulation&>(entry.settings);
  EXPECT_EQ(emulation.launch_us, 50);
  EXPECT_EQ(emulation.map_us, 200);
  EXPECT_EQ(emulation.lacks, std::vector<std::string>{"i8"});
  EXPECT_EQ(emulation.fails, "run 3");
  EXPECT_EQ(emulation.prepare_ms, 30);
  EXPECT_EQ(emulation.lacks_operators, std::vector<std::string>{"Softmax"});
}

TEST(ReadEmulation, TellsAllProblemsAtOnce) {
  for (const char* problem : {"got 'f33', expected an element type", "is no fault; got 'often'", "wake_us",
                              "got 'Sofmax', expected an operator", "prepare_ms"})
    EXPECT_TELLS(Read("lacks = [\"f33\"]\nfails = \"often\"\nwake_us = -1\nprepare_ms = -1\n"
                      "lacks_operators = [\"Sofmax\"]\n"),
                 problem);
}

// A fault, or a slow compiler, changes no times: what was measured without it serves with it.
TEST(ReadEmulation, NamesTheSettingsThatChangeTimes) {
  const std::string plain = Read("launch_us = 50\n").timed_settings;
  for (const char* other :
       {"launch_us = 51\n", "launch_us = 50\nmap_us = 1\n", "launch_us = 50\nmap_us_per_mib = 1\n",
        "launch_us = 50\nwake_us = 1\n", "launch_us = 50\nlacks = [\"i8\"]\n",
        "launch_us = 50\nlacks_operators = [\"Softmax\"]\n"})
    EXPECT_NE(Read(other).timed_settings, plain) << other;
  EXPECT_EQ(Read("launch_us = 50\nfails = \"run 3\"\nprepare_ms = 9\n").timed_settings, plain);
}

}  // namespace
}  // namespace mete

#include "machine/pool_file.h"

#include <filesystem>
#include <fstream>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"

namespace mete {
namespace {

const std::string kFigures = R"(
latency_us = { value = 150, source = "estimate" }
message_us = { value = 200, source = "estimate" }
up_mbit_per_s = { value = 94, source = "estimate" }
down_mbit_per_s = { value = 47, source = "estimate" }
)";

std::string Device(const std::string& name, const std::string& more, const std::string& figures = kFigures) {
  const std::string machine = std::filesystem::absolute("boards/rk3399.toml").string();
  return "[[device]]\nname = \"" + name + "\"\nmachine = \"" + machine + "\"\n" + more + figures;
}

PoolFile Read(const std::string& text) {
  const TempPath path(".toml");
  std::ofstream(path.str()) << text;
  return ReadPoolFile(path.str(), {});
}

TEST(DescribedDevices, CountsDevicesAlikeAndReadsEachMachineOnce) {
  const PoolFile file = Read("name = \"pool\"\n" + Device("laptop", "") + Device("board", "count = 2\n"));
  ASSERT_EQ(file.devices.size(), 3u);
  EXPECT_EQ(file.devices[0].name, "laptop");
  EXPECT_EQ(file.devices[2].name, "board-2");
  EXPECT_EQ(file.devices[2].described->machine, file.devices[0].described->machine);
  EXPECT_EQ(file.machines.size(), 1u);
  EXPECT_EQ(file.devices[1].described->down_mbit_per_s.value, 47);
}

TEST(DescribedDevices, PowerMayBeLeftOut) {
  EXPECT_FALSE(Read("name = \"pool\"\n" + Device("a", "")).devices[0].described->idle_w);
  const std::string power =
      "idle_w = { value = 2, source = \"estimate\" }\nsent_nj_per_byte = { value = 5, source = \"estimate\" "
      "}\n";
  const DescribedDevice device = *Read("name = \"pool\"\n" + Device("a", power)).devices[0].described;
  EXPECT_EQ(device.idle_w->value, 2);
  EXPECT_EQ(device.sent_nj_per_byte.value, 5);
  EXPECT_EQ(device.received_nj_per_byte.value, 0);
  EXPECT_TELLS(Read("name = \"pool\"\n" + Device("a", "idle_w = 2\n")), "'idle_w' has no source");
}

TEST(DescribedDevices, TellsAllProblemsAtOnce) {
  const std::string bad = "name = \"pool\"\n" + Device("a", "") + Device("a", "color = 1\n") +
                          Device("b", "count = 2000\n") +
                          "[[device]]\nname = \"c\"\nmachine = \"none.toml\"\n" + kFigures;
  for (const char* problem :
       {"another device has this name", "unknown key 'color'", "'count' is not believed", "none.toml"})
    EXPECT_TELLS(Read(bad), problem);
  EXPECT_TELLS(Read("name = \"pool\"\n"), "'device' is missing");
  EXPECT_TELLS(Read("name = \"pool\"\n" + Device("a", "", "latency_us = 3\n")), "'latency_us' has no source");
  EXPECT_TELLS(Read("[["), "not valid TOML");
}

TEST(DescribedDevices, ADeviceWithoutItsLinkIsRefused) {
  const std::string head = "name = \"pool\"\n" + Device("laptop", "");
  EXPECT_TELLS(
      Read(head + Device("board", "", "")),
      "device 'board': has no link to the other devices, or a part of one; got no latency_us, message_us, "
      "up_mbit_per_s, down_mbit_per_s, expected");
  std::string part = kFigures;
  part.erase(part.find("up_mbit_per_s"), part.find("down_mbit_per_s") - part.find("up_mbit_per_s"));
  EXPECT_TELLS(Read(head + Device("board", "", part)), "a part of one; got no up_mbit_per_s, expected");
}

TEST(DescribedDevices, AreNotMixedWithThoseThatAreThere) {
  EXPECT_TRUE(Read("name = \"pool\"\n" + Device("a", "")).described());
  EXPECT_FALSE(Read("name = \"pool\"\n[[device]]\nname = \"a\"\n").described());
  const std::string there = "[[device]]\nname = \"b\"\naddress = \"b:1\"\n";
  EXPECT_TELLS(Read("name = \"pool\"\n" + Device("a", "") + there),
               "device 'b': has an address, and a device of");
  EXPECT_TELLS(Read("name = \"pool\"\n" + Device("a", "") + there), "'machine' is missing");
  EXPECT_TELLS(Read("name = \"pool\"\ninsecure = true\n" + Device("a", "")), "unknown key 'insecure'");
}

TEST(DescribedDevices, BoundsTheNumberOfDevices) {
  std::string text = "name = \"pool\"\n";
  for (int i = 0; i < 3; ++i) text += Device("d" + std::to_string(i), "count = 400\n");
  EXPECT_TELLS(Read(text), "too many devices; got 1200");
}

TEST(DescribedDevices, TheOneThatIsShippedIsRead) {
  EXPECT_EQ(ReadPoolFile("boards/rk3399x6.toml", {}).devices.size(), 6u);
}

}  // namespace
}  // namespace mete

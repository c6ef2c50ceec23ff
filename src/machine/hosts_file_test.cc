#include "machine/hosts_file.h"

#include <fmt/format.h>

#include <fstream>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"

namespace mete {
namespace {

class File {
 public:
  explicit File(const std::string& text) { std::ofstream(path_.str()) << text; }
  const std::string& path() const { return path_.str(); }

 private:
  const TempPath path_{".toml"};
};

HostsFile Read(const std::string& text) { return ReadHostsFile(File(text).path()); }

const std::string kOwn = "[[device]]\nname = \"laptop\"\n";
const std::string kPi = "[[device]]\nname = \"pi\"\naddress = \"192.168.1.20:7077\"\n";

TEST(HostsFile, HasDevicesAndOneReasonToBelieveThem) {
  const HostsFile file = Read("name = \"home\"\ntoken = \"secret/token\"\n" + kOwn + kPi);
  ASSERT_EQ(file.devices.size(), 2u);
  EXPECT_EQ(file.devices[0].address, "");
  EXPECT_EQ(file.devices[1].address, "192.168.1.20:7077");
  EXPECT_TRUE(file.token.ends_with("/secret/token"));
  EXPECT_FALSE(file.insecure);
  EXPECT_TRUE(Read("name = \"home\"\ninsecure = true\n" + kOwn).insecure);
}

TEST(HostsFile, HasWattsOfDevicesOrNone) {
  const std::string head = "name = \"home\"\ninsecure = true\n" + kOwn;
  const auto figure = [](const char* key, const char* value) {
    return fmt::format("{} = {{ value = {}, source = \"a meter\" }}\n", key, value);
  };
  EXPECT_FALSE(Read(head).devices[0].power);
  const HostPower power =
      *Read(head + figure("idle_w", "2.5") + figure("compute_w", "3") + figure("sent_nj_per_byte", "7"))
           .devices[0]
           .power;
  EXPECT_EQ(power.idle_w.value, 2.5);
  EXPECT_EQ(power.compute_w.value, 3);
  EXPECT_EQ(power.sent_nj_per_byte.value, 7);
  EXPECT_EQ(power.received_nj_per_byte.value, 0);
  EXPECT_TELLS(Read(head + figure("idle_w", "2.5")), "'compute_w' is missing");
  EXPECT_TELLS(Read(head + figure("received_nj_per_byte", "2.5")), "'idle_w' is missing");
  EXPECT_TELLS(Read(head + "idle_w = 2\n" + figure("compute_w", "1")), "'idle_w' has no source");
  EXPECT_TELLS(Read(head + figure("idle_w", "-1") + figure("compute_w", "1e9")), "idle_w");
}

TEST(HostsFile, IsToldFromAFileOfDevicesThatAreNotThere) {
  EXPECT_TRUE(IsHostsFile(File("name = \"home\"\n" + kOwn + kPi).path()));
  EXPECT_FALSE(IsHostsFile("boards/rk3399x6.toml"));
  EXPECT_FALSE(IsHostsFile(File("name = \"home\"").path()));
}

TEST(HostsFile, AllProblemsAreToldAtOnce) {
  const File file("name = \"home\"\nkeys = \"k\"\ninsecure = true\n" + kPi + kPi + kPi +
                  "[[device]]\nname = \"x\"\naddress = \"host:99999\"\nspeed = 1\n");
  EXPECT_TELLS(ReadHostsFile(file.path()), "is said 2 times, expected once");
  EXPECT_TELLS(ReadHostsFile(file.path()), "the first device is this one and has no address");
  EXPECT_TELLS(ReadHostsFile(file.path()), "another device has this name");
  EXPECT_TELLS(ReadHostsFile(file.path()), "another device has this address");
  EXPECT_TELLS(ReadHostsFile(file.path()), "expected HOST:PORT");
  EXPECT_TELLS(ReadHostsFile(file.path()), "speed");
  for (const char* address : {"host", ":1", "host:", "host:0", "ho st:1", "http://a:1", "host:12x"})
    EXPECT_TELLS(Read("name = \"h\"\ninsecure = true\n" + kOwn + "[[device]]\nname = \"b\"\naddress = \"" +
                      address + "\"\n"),
                 "expected HOST:PORT");
}

}  // namespace
}  // namespace mete

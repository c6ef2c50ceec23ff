#include "machine/pool_file.h"
#include "machine/gpu_entry.h"

#include <fmt/format.h>

#include <fstream>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"
#include "machine/board_processors.h"
#include "machine/toml_keys.h"

namespace mete {
namespace {

class File {
 public:
  explicit File(const std::string& text) { std::ofstream(path_.str()) << text; }
  const std::string& path() const { return path_.str(); }

 private:
  const TempPath path_{".toml"};
};

void ReadHeater(TomlKeys& keys, ProcessorEntry& entry) {
  const double degrees = keys.Number("degrees", 0, 100);
  entry.settings = degrees;
  entry.timed_settings = fmt::format("{} degrees", degrees);
}

PoolFile ReadAt(const std::string& path) {
  const std::vector<KindInFile> kinds{{"cpu", nullptr}, {"heater", ReadHeater}};
  return ReadPoolFile(path, kinds);
}

PoolFile Read(const std::string& text) { return ReadAt(File(text).path()); }

const std::string kOwn = "[[device]]\nname = \"laptop\"\n";
const std::string kPi = "[[device]]\nname = \"pi\"\naddress = \"192.168.1.20:7077\"\n";

TEST(PoolFile, HasDevicesAndOneReasonToBelieveThem) {
  const PoolFile file = Read("name = \"home\"\ntoken = \"secret/token\"\n" + kOwn + kPi);
  ASSERT_EQ(file.devices.size(), 2u);
  EXPECT_EQ(file.devices[0].address, "");
  EXPECT_EQ(file.devices[1].address, "192.168.1.20:7077");
  EXPECT_TRUE(file.token.ends_with("/secret/token"));
  EXPECT_FALSE(file.insecure);
  EXPECT_TRUE(Read("name = \"home\"\ninsecure = true\n" + kOwn).insecure);
}

TEST(PoolFile, HasWattsOfDevicesOrNone) {
  const std::string head = "name = \"home\"\ninsecure = true\n" + kOwn;
  const auto figure = [](const char* key, const char* value) {
    return fmt::format("{} = {{ value = {}, source = \"a meter\" }}\n", key, value);
  };
  EXPECT_FALSE(Read(head).devices[0].power);
  const ProcessorPower power =
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

TEST(PoolFile, IsToldFromAMachineFile) {
  EXPECT_TRUE(DescribesDevices(File("name = \"home\"\n" + kOwn + kPi).path()));
  EXPECT_TRUE(DescribesDevices("boards/rk3399x6.toml"));
  EXPECT_FALSE(DescribesDevices("boards/rk3399.toml"));
  EXPECT_FALSE(DescribesDevices(File("name = \"home\"").path()));
  EXPECT_TELLS(ReadAt("boards/rk3399.toml"), "describes one machine, not several devices");
}

TEST(PoolFile, AllProblemsAreToldAtOnce) {
  const File file("name = \"home\"\nkeys = \"k\"\ninsecure = true\n" + kPi + kPi + kPi +
                  "[[device]]\nname = \"x\"\naddress = \"host:99999\"\nspeed = 1\n");
  EXPECT_TELLS(ReadAt(file.path()), "is said 2 times, expected once");
  EXPECT_TELLS(ReadAt(file.path()), "the first device is this one and has no address");
  EXPECT_TELLS(ReadAt(file.path()), "another device has this name");
  EXPECT_TELLS(ReadAt(file.path()), "another device has this address");
  EXPECT_TELLS(ReadAt(file.path()), "expected HOST:PORT");
  EXPECT_TELLS(ReadAt(file.path()), "speed");
  for (const char* address : {"host", ":1", "host:", "host:0", "ho st:1", "http://a:1", "host:12x"})
    EXPECT_TELLS(Read("name = \"h\"\ninsecure = true\n" + kOwn + "[[device]]\nname = \"b\"\naddress = \"" +
                      address + "\"\n"),
                 "expected HOST:PORT");
}

TEST(PoolFile, TwoDevicesWithoutAnAddressAreTwoRoots) {
  const std::string head = "name = \"home\"\ninsecure = true\n" + kOwn;
  EXPECT_TELLS(
      Read(head + "[[device]]\nname = \"desk\"\n" + kPi),
      "device 'desk': is a second device without an address, so that the pool has two roots; expected one "
      "device without, the caller's own, as the first; try address");
  // one problem for each of them, and not that both have the same address
  const std::string three = head + "[[device]]\nname = \"b\"\n[[device]]\nname = \"c\"\n";
  EXPECT_TELLS(Read(three), "device 'c': is a second device");
  try {
    Read(three);
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("another device has this address"), std::string::npos);
  }
}

// The tables are nested, and no key names a parent.
TEST(PoolFile, ALoopCannotBeWritten) {
  const std::string head = "name = \"home\"\ninsecure = true\n" + kOwn;
  EXPECT_TELLS(Read(head + kPi + "parent = \"laptop\"\n"), "device 'pi': unknown key 'parent'");
  EXPECT_TELLS(Read(head + kPi + "[[device.device]]\nname = \"laptop\"\n"),
               "device 'pi': unknown key 'device'");
  EXPECT_TELLS(
      Read(head + "[[device.processor]]\nname = \"a\"\n[[device.processor.device]]\nname = \"laptop\"\n"),
      "processor 'a': unknown key 'device'");
}

TEST(PoolFile, HasProcessorsOfThisDevice) {
  const PoolFile file = Read(
      "name = \"desk\"\n[[device]]\nname = \"here\"\n[[device.processor]]\nname = \"big\"\ncores = \"0-1\"\n"
      "[[device.processor]]\nname = \"gpu\"\nkind = \"heater\"\ncores = \"2\"\nspeed = 0.5\ndegrees = 50\n");
  const std::vector<ProcessorEntry>& processors = file.devices[0].processors;
  ASSERT_EQ(processors.size(), 2u);
  EXPECT_EQ(processors[0].cores, (std::vector<int>{0, 1}));
  EXPECT_EQ(processors[0].kind, "cpu");
  EXPECT_FALSE(processors[0].settings.has_value());
  EXPECT_EQ(processors[1].kind, "heater");
  EXPECT_EQ(processors[1].speed, 0.5);
  EXPECT_EQ(std::any_cast<double>(processors[1].settings), 50);
  EXPECT_EQ(processors[1].timed_settings, "50 degrees");
}

TEST(PoolFile, ProblemsOfProcessorsAreToldAtOnce) {
  const std::string head = "name = \"desk\"\n[[device]]\nname = \"here\"\n";
  const File file(
      head +
      "[[device.processor]]\nname = \"a\"\ncores = \"x\"\n[[device.processor]]\nname = \"a\"\n"
      "kind = \"tpu\"\n[[device.processor]]\nname = \"c\"\nkind = \"heater\"\ndegrees = 101\nspeed = 2\n"
      "[[device.processor]]\nname = \"d\"\ncores = \"3\"\ndegrees = 1\n");
  for (const char* problem :
       {"is no list of cores", "another processor has this name",
        "its kind is unknown; got 'tpu', expected one of cpu, heater", "'degrees' ", "speed",
        "processor 'd': unknown key 'degrees', expected one of name, cores, speed, kind"})
    EXPECT_TELLS(ReadAt(file.path()), problem);
  EXPECT_TELLS(
      Read("name = \"desk\"\ninsecure = true\n[[device]]\nname = \"here\"\n[[device]]\nname = \"pi\"\n"
           "address = \"pi:1\"\n[[device.processor]]\nname = \"a\"\ncores = \"0\"\n"),
      "'cores' of a worker's processor is the worker's");
}

TEST(PoolFile, NamesProcessorsOfWorkersAfterTheirWorker) {
  const PoolFile file =
      Read("name = \"home\"\ninsecure = true\n" + kOwn + kPi +
           "[[device.processor]]\nname = \"cpu:0\"\n[[device.processor]]\nname = \"cpu:1\"\n");
  EXPECT_EQ(NamesOf(file), (std::vector<std::string>{"laptop", "pi/cpu:0", "pi/cpu:1"}));
}

TEST(PoolFile, AListNamesProcessorsOfThisDevice) {
  EXPECT_TRUE(IsProcessorList("cpu:0,cpu:1"));
  EXPECT_FALSE(IsProcessorList("cpu:pool.toml"));
  const PoolFile pool = PoolOfList("cpu:0,2,cpu:1");
  ASSERT_EQ(pool.devices[0].processors.size(), 2u);
  EXPECT_EQ(pool.devices[0].processors[0].cores, (std::vector<int>{0, 2}));
  EXPECT_EQ(pool.devices[0].processors[1].name, "cpu:1");
  EXPECT_TRUE(PoolOfList("cpu").devices[0].processors[0].cores.empty());
  for (const char* bad : {"cpu:", "cpu:x", "gpu:", "gpu:x", "gpu:0/", "gpu:0:f32", "cpu:0,,", ""})
    EXPECT_TELLS(PoolOfList(bad), "is no processor");
  EXPECT_TELLS(PoolOfList("cpu:1,cpu:1"), "has a processor twice");
}

TEST(PoolFile, AListNamesGpus) {
  const PoolFile pool = PoolOfList("cpu:0,2,gpu,gpu:1/3:f16");
  const std::vector<ProcessorEntry>& all = pool.devices[0].processors;
  EXPECT_EQ(NamesOf(pool), (std::vector<std::string>{"cpu:0,2", "gpu", "gpu:1/3:f16"}));
  EXPECT_EQ(all[1].kind, "gpu");
  EXPECT_EQ(std::any_cast<GpuEntry>(all[1].settings), (GpuEntry{"gpu:0", GpuType::kF32}));
  EXPECT_EQ(std::any_cast<GpuEntry>(all[2].settings), (GpuEntry{"gpu:1/3", GpuType::kF16}));
  EXPECT_NE(all[1].timed_settings, all[2].timed_settings);
  CheckCores(PoolOfList("cpu,gpu"), {0, 1});  // a GPU has no cores that the CPU could share
  for (const char* list : {"cpu", "cpu:0,gpu", "gpu", "gpu:0/1,cpu:0"})
    EXPECT_TRUE(IsProcessorList(list)) << list;
  for (const char* file : {"gpus.toml", "gpu.toml", "cpu:0.toml", "boards"})
    EXPECT_FALSE(IsProcessorList(file)) << file;
}

TEST(PoolFile, AGpuInTwoTypesIsOnePieceOfHardware) {
  using Units = std::vector<std::string>;
  EXPECT_EQ(UnitsOf(PoolOfList("cpu:0,gpu:0,gpu:0:f16")), (Units{"", "here/gpu:0", "here/gpu:0"}));
  EXPECT_EQ(UnitsOf(PoolOfList("gpu:f16,cpu:0,gpu")), (Units{"here/gpu:0", "", "here/gpu:0"}));
  EXPECT_EQ(UnitsOf(PoolOfList("cpu,gpu:0/0,gpu:0/1:f16,gpu:1")), (Units{"", "", "", ""}));
  EXPECT_TELLS(
      PoolOfList("cpu,gpu,gpu:0"),
      "'gpu:0' is the same GPU as 'gpu', in the same type; got gpu:0 twice, expected each type of a GPU "
      "once");
  PoolFile workers = PoolOfList("cpu,gpu");
  workers.devices.push_back({.name = "pi", .address = "pi:1", .processors = {{"cpu"}, {"gpu"}, {"gpu:f16"}}});
  workers.devices.push_back({.name = "alone", .address = "alone:1"});
  EXPECT_EQ(UnitsOf(workers), (Units{"", "", "", "pi/gpu:0", "pi/gpu:0", ""}));
}

TEST(PoolFile, AListNamesProcessorsOfABoard) {
  const PoolFile pool = PoolOfBoard("boards/snapdragon-855.toml", "cpu,gpu:f16");
  EXPECT_TRUE(pool.described());
  EXPECT_EQ(pool.name, "Qualcomm Snapdragon 855");
  EXPECT_EQ(NamesOf(pool), (std::vector<std::string>{"cpu", "gpu:f16"}));
  EXPECT_EQ(std::any_cast<GpuEntry>(pool.devices[0].processors[1].settings).type, GpuType::kF16);
  const auto refused = [](const char* board, const char* list, const char* problem) {
    EXPECT_TELLS(PoolOfBoard(board, list), problem);
  };
  refused("boards/rk3399.toml", "cpu,gpu", "'Rockchip RK3399' describes no GPU; got 'gpu', expected cpu");
  refused("boards/snapdragon-855.toml", "gpu,cpu", "begins with another processor; got 'gpu', expected cpu");
  refused("boards/snapdragon-855.toml", "cpu,gpu:f16,gpu:f16", "has a processor twice; got 'gpu:f16' again");
  refused("boards/snapdragon-855.toml", "cpu,gpu,gpu:0",
          "'gpu:0' is the same GPU as 'gpu', in the same type");
  const PoolFile both = PoolOfBoard("boards/snapdragon-855.toml", "cpu,gpu,gpu:f16");
  EXPECT_EQ(UnitsOf(both), (std::vector<std::string>{"", "board/gpu:0", "board/gpu:0"}));
  for (const char* bad : {"", "cpu,", "cpu,cpu:0", "cpu,npu"})
    refused("boards/snapdragon-855.toml", bad, "is no processor of a machine file");
}

TEST(PoolFile, CoresAreThereAndOfOneProcessorEach) {
  CheckCores(PoolOfList("cpu:0,cpu:1-2"), {0, 1, 2, 3});
  EXPECT_TELLS(CheckCores(PoolOfList("cpu:0,cpu:9"), {0, 1}), "core 9 is not there");
  EXPECT_TELLS(CheckCores(PoolOfList("cpu:0-1,cpu:1"), {0, 1}), "shares core 1 with cpu:0-1");
  EXPECT_TELLS(CheckCores(PoolOfList("cpu,cpu:1"), {0, 1}), "shares core 1 with cpu;");
}

TEST(PoolFile, AThreadThatStartsSharesOfAGpuHasACoreThatIsLeft) {
  const auto cores = [](const char* list, const std::vector<int>& allowed) {
    std::vector<std::vector<int>> of;
    for (const ProcessorEntry& entry : WithCallerCores(PoolOfList(list).devices[0].processors, allowed))
      of.push_back(entry.cores);
    return of;
  };
  using Cores = std::vector<std::vector<int>>;
  EXPECT_EQ(cores("cpu:0,cpu:1,gpu", {0, 1, 2, 3}), (Cores{{0}, {1}, {2}}));
  EXPECT_EQ(cores("gpu:1,cpu:4-5,gpu:0/1", {2, 4, 5}), (Cores{{2}, {4, 5}, {2}}));
  EXPECT_EQ(cores("cpu:0,gpu:0,gpu:1,gpu:2", {0, 6, 7}), (Cores{{0}, {6}, {7}, {6}}));
  EXPECT_EQ(cores("cpu,gpu", {0, 1}), (Cores{{}, {}}));  // the CPU has all cores
  // types of one GPU compute in turn
  EXPECT_EQ(cores("cpu:0,gpu:0,gpu:1,gpu:0:f16,gpu:2", {0, 1, 2, 3}), (Cores{{0}, {1}, {2}, {1}, {3}}));
}

}  // namespace
}  // namespace mete

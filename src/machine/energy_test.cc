#include "machine/energy.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"
#include "machine/trees_testing.h"

namespace mete {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// A clock that the test sets.
struct HandClock {
  int64_t ns = 7 * kSecond;
  EnergyClock clock() {
    return [this] { return ns; };
  }
};

std::unique_ptr<EnergyMeter> Open(const RecordedTree& tree, HandClock& hand,
                                  const std::vector<std::string>& names = {}) {
  return OpenMeter(tree.root(), ChooseMeters(ReadMachine(tree.root()).meters, names), hand.clock());
}

std::string Paths(const std::vector<Meter>& meters) {
  std::string all;
  for (const Meter& m : meters) all += m.path + "\n";
  return all;
}

constexpr const char* kRaplTree = R"(
sys/class/powercap/intel-rapl:0/name = package-0
sys/class/powercap/intel-rapl:0/energy_uj = 900000
sys/class/powercap/intel-rapl:0/max_energy_range_uj = 1000000
sys/class/powercap/intel-rapl:0:0/name = core
sys/class/powercap/intel-rapl:0:0/energy_uj = 1
sys/class/powercap/intel-rapl:0:1/name = dram
sys/class/powercap/intel-rapl:0:1/energy_uj = 5000000
sys/class/powercap/intel-rapl:0:1/max_energy_range_uj = 9000000
sys/class/powercap/intel-rapl:1/name = psys
sys/class/powercap/intel-rapl:1/energy_uj = 1
sys/class/powercap/intel-rapl-mmio:0/name = package-0
sys/class/powercap/intel-rapl-mmio:0/energy_uj = 1
)";

TEST(Meters, AddsWhatDoesNotContainEachOther) {
  const RecordedTree tree(kRaplTree);
  const std::vector<Meter> chosen = ChooseMeters(ReadMachine(tree.root()).meters, {});
  EXPECT_EQ(Paths(chosen),
            "/sys/class/powercap/intel-rapl:0/energy_uj\n/sys/class/powercap/intel-rapl:0:1/energy_uj\n");
}

TEST(Meters, TakesTheWholePlatformWhereThereIsNothingElse) {
  const RecordedTree tree(
      "sys/class/powercap/intel-rapl:1/name = psys\nsys/class/powercap/intel-rapl:1/energy_uj = 1");
  EXPECT_EQ(ChooseMeters(ReadMachine(tree.root()).meters, {}).size(), 1u);
}

TEST(Meters, AddsBothPackagesAndTheirMemory) {
  const RecordedTree tree(R"(
sys/class/powercap/intel-rapl:0/name = package-0
sys/class/powercap/intel-rapl:0/energy_uj = 1
sys/class/powercap/intel-rapl:0:0/name = dram
sys/class/powercap/intel-rapl:0:0/energy_uj = 1
sys/class/powercap/intel-rapl:1/name = package-1
sys/class/powercap/intel-rapl:1/energy_uj = 1
sys/class/powercap/intel-rapl:1:0/name = dram
sys/class/powercap/intel-rapl:1:0/energy_uj = 1
)");
  const std::vector<Meter> found = ReadMachine(tree.root()).meters;
  EXPECT_EQ(ChooseMeters(found, {}).size(), 4u);
  EXPECT_TELLS(ChooseMeters(found, {"dram"}), "several meters are called 'dram'");
  EXPECT_TELLS(ChooseMeters(found, {"package-0", "package-0"}), "named twice");
}

TEST(Meters, AreNamedWhereNothingSaysWhetherTheyAddUp) {
  const RecordedTree tree(R"(
sys/class/hwmon/hwmon0/name = ina3221
sys/class/hwmon/hwmon0/curr1_input = 500
sys/class/hwmon/hwmon0/curr1_label = VDD_IN
sys/class/hwmon/hwmon0/in1_input = 5000
sys/class/hwmon/hwmon0/curr2_input = 300
sys/class/hwmon/hwmon0/curr2_label = VDD_CPU
sys/class/hwmon/hwmon0/in2_input = 5000
)");
  const std::vector<Meter> found = ReadMachine(tree.root()).meters;
  EXPECT_TELLS(ChooseMeters(found, {}), "'ina3221 VDD_IN', 'ina3221 VDD_CPU'; try --meter NAME");
  EXPECT_EQ(Paths(ChooseMeters(found, {"ina3221 VDD_IN"})), "/sys/class/hwmon/hwmon0/curr1_input\n");
  EXPECT_TELLS(ChooseMeters(found, {"VDD_OUT"}), "no such meter; got 'VDD_OUT'");
}

TEST(Meters, SaysWhereItLookedForOne) {
  const RecordedTree tree(kServerTree);
  const std::vector<Meter> found = ReadMachine(tree.root()).meters;
  for (const char* folder :
       {"/sys/class/powercap", "/sys/class/power_supply", "/sys/class/hwmon", "/sys/bus/i2c/drivers/INA231"})
    EXPECT_TELLS(ChooseMeters(found, {}), folder);
  EXPECT_TELLS(ChooseMeters({{Meter::Kind::kPowercap, "package-0", "/sys/x/energy_uj", false}}, {}),
               "may not read any of the 1");
}

TEST(Energy, CountsOverTheEndOfACounter) {
  const RecordedTree tree(kRaplTree);
  HandClock hand;
  const auto meter = Open(tree, hand);
  hand.ns += kSecond;
  // 0.1 J up to the wrap of the counter and 0.3 J after it
  tree.Write("sys/class/powercap/intel-rapl:0/energy_uj", "300000\n");
  tree.Write("sys/class/powercap/intel-rapl:0:1/energy_uj", "5250000\n");
  const EnergyReading reading = meter->Read();
  EXPECT_NEAR(reading.joules, 0.4 + 0.25, 1e-9);
  EXPECT_EQ(reading.ns, kSecond);
  EXPECT_EQ(reading.meter, "powercap package-0 + powercap dram");
  tree.Write("sys/class/powercap/intel-rapl:0/energy_uj", "500000\n");
  EXPECT_NEAR(meter->Read().joules, 0.6 + 0.25, 1e-9);
}

TEST(Energy, DoesNotGuessWhereACounterWithoutARangeWentBack) {
  const RecordedTree tree(
      "sys/class/powercap/intel-rapl:0/name = package-0\nsys/class/powercap/intel-rapl:0/energy_uj = 900");
  HandClock hand;
  const auto meter = Open(tree, hand);
  tree.Write("sys/class/powercap/intel-rapl:0/energy_uj", "100\n");
  EXPECT_TELLS(meter->Read(), "went back; got 100 uJ after 900");
  const RecordedTree passed(
      "sys/class/powercap/intel-rapl:0/name = package-0\nsys/class/powercap/intel-rapl:0/energy_uj = 900\n"
      "sys/class/powercap/intel-rapl:0/max_energy_range_uj = 0");
  const auto beyond = Open(passed, hand);
  passed.Write("sys/class/powercap/intel-rapl:0/energy_uj", "100\n");
  EXPECT_TELLS(beyond->Read(), "went back");
}

TEST(Energy, AddsUpPowerOverTime) {
  const RecordedTree tree(kRk3399Tree);  // 3.12 W
  HandClock hand;
  const auto meter = Open(tree, hand);
  hand.ns += 2 * kSecond;
  EXPECT_NEAR(meter->Read().joules, 6.24, 1e-9);
  tree.Write("sys/class/hwmon/hwmon0/power1_input", "5120000\n");
  hand.ns += kSecond;
  EXPECT_NEAR(meter->Read().joules, 6.24 + (3.12 + 5.12) / 2, 1e-9);
  EXPECT_EQ(meter->Read().meter, "ina ina226 VDD_CPU");
}

TEST(Energy, MultipliesCurrentsByVoltages) {
  // -312 mA
  const RecordedTree phone(std::string(kPhoneTree) +
                           "sys/class/power_supply/battery/voltage_now = 4000000\n");
  const RecordedTree board(
      "sys/class/hwmon/hwmon0/name = ina3221\nsys/class/hwmon/hwmon0/curr2_input = 500\n"
      "sys/class/hwmon/hwmon0/in2_input = 5000");
  HandClock hand;
  const auto battery = Open(phone, hand), rail = Open(board, hand);
  hand.ns += kSecond;
  EXPECT_NEAR(battery->Read().joules, 1.248, 1e-9);
  EXPECT_NEAR(rail->Read().joules, 2.5, 1e-9);
}

TEST(Energy, AddsTheRailsOfAnOdroid) {
  const RecordedTree tree(R"(
sys/bus/i2c/drivers/INA231/3-0045/sensor_name = sensor_arm
sys/bus/i2c/drivers/INA231/3-0045/sensor_W = 2.25
sys/bus/i2c/drivers/INA231/3-0045/update_period = 35000
sys/bus/i2c/drivers/INA231/4-0040/sensor_name = sensor_mem
sys/bus/i2c/drivers/INA231/4-0040/sensor_W = 0.5
)");
  HandClock hand;
  const auto meter = Open(tree, hand);
  hand.ns += kSecond;
  EXPECT_NEAR(meter->Read().joules, 2.75, 1e-9);
  EXPECT_EQ(meter->update_ns(), 260'000'000);  // the slower meter's
  EXPECT_EQ(meter->poll_ns(), 35'000'000);     // the faster meter's
}

TEST(Energy, BelievesNoBatteryThatIsBeingCharged) {
  const RecordedTree tree(std::string(kPhoneTree) +
                          "sys/class/power_supply/battery/voltage_now = 4000000\n"
                          "sys/class/power_supply/battery/status = Charging\n");
  HandClock hand;
  EXPECT_TELLS(Open(tree, hand), "got 'Charging', expected 'Discharging'");
  const RecordedTree gauge(
      "sys/class/power_supply/b/type = Battery\nsys/class/power_supply/b/charge_now = 1");
  EXPECT_TELLS(Open(gauge, hand), "too coarse");
}

TEST(Energy, NamesTheFileThatShowsNoNumber) {
  const RecordedTree phone(kPhoneTree);  // without voltage_now
  HandClock hand;
  EXPECT_TELLS(Open(phone, hand), "/sys/class/power_supply/battery/voltage_now");
  for (const char* text : {"", "x", "1 W", "nan", "inf", "1e30"}) {
    const RecordedTree tree(
        std::string("sys/class/powercap/p:0/name = package-0\nsys/class/powercap/p:0/energy_uj = ") + text);
    EXPECT_TELLS(
        OpenMeter(tree.root(), {{Meter::Kind::kPowercap, "p", "/sys/class/powercap/p:0/energy_uj", true}},
                  hand.clock()),
        "shows no number");
  }
}

TEST(ModelMeter, AddsWhatIsAwakeAndWhatIsBusy) {
  const MachineFile file = ReadMachineFile("boards/rk3399.toml");
  HandClock hand;
  ModelMeter meter(file, hand.clock());
  hand.ns += 5 * kSecond;
  EXPECT_EQ(meter.Read().joules, 0);
  meter.Wake(1);
  hand.ns += 2 * kSecond;
  meter.LetSleep(1);
  hand.ns += kSecond;
  meter.Busy(0, file.clusters[0].max_mhz.value, 3 * kSecond);
  const EnergyReading reading = meter.Read();
  EXPECT_NEAR(reading.joules, 2 * file.clusters[1].idle_w.value + 3 * file.clusters[0].active_w.value, 1e-9);
  EXPECT_EQ(reading.ns, 8 * kSecond);
  EXPECT_EQ(reading.meter.rfind("model of ", 0), 0u);
}

}  // namespace
}  // namespace mete

#include "machine/core_type.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <thread>

#include "machine/machine.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <sched.h>
#endif

namespace mete {
namespace {

struct ArmCore {
  int implementer, part;
  const char* name;
};

// Part numbers of MIDR_EL1, from arch/arm64/include/asm/cputype.h of Linux and lscpu of util-linux.
constexpr ArmCore kArmCores[] = {
    {0x41, 0xc07, "Cortex-A7"},     {0x41, 0xc0f, "Cortex-A15"},      {0x41, 0xd03, "Cortex-A53"},
    {0x41, 0xd04, "Cortex-A35"},    {0x41, 0xd05, "Cortex-A55"},      {0x41, 0xd07, "Cortex-A57"},
    {0x41, 0xd08, "Cortex-A72"},    {0x41, 0xd09, "Cortex-A73"},      {0x41, 0xd0a, "Cortex-A75"},
    {0x41, 0xd0b, "Cortex-A76"},    {0x41, 0xd0c, "Neoverse-N1"},     {0x41, 0xd0d, "Cortex-A77"},
    {0x41, 0xd40, "Neoverse-V1"},   {0x41, 0xd41, "Cortex-A78"},      {0x41, 0xd44, "Cortex-X1"},
    {0x41, 0xd46, "Cortex-A510"},   {0x41, 0xd47, "Cortex-A710"},     {0x41, 0xd48, "Cortex-X2"},
    {0x41, 0xd49, "Neoverse-N2"},   {0x41, 0xd4d, "Cortex-A715"},     {0x41, 0xd4e, "Cortex-X3"},
    {0x41, 0xd4f, "Neoverse-V2"},   {0x41, 0xd80, "Cortex-A520"},     {0x41, 0xd81, "Cortex-A720"},
    {0x41, 0xd82, "Cortex-X4"},     {0x51, 0x802, "Kryo-3xx-Gold"},   {0x51, 0x803, "Kryo-3xx-Silver"},
    {0x51, 0x804, "Kryo-4xx-Gold"}, {0x51, 0x805, "Kryo-4xx-Silver"},
};

int64_t Parse(const std::string& text, int base) {
  const size_t digits = base == 16 && text.rfind("0x", 0) == 0 ? 2 : 0;
  int64_t n = -1;
  const auto [end, error] = std::from_chars(text.data() + digits, text.data() + text.size(), n, base);
  return error == std::errc() && end == text.data() + text.size() ? n : -1;
}

// Reads proc/cpuinfo, which has one paragraph per core: first "processor : 4", then its implementer and part.
std::map<int, std::string> ReadArmTypes(Sysfs& sysfs) {
  std::map<int, std::string> types;
  int64_t core = -1, implementer = -1;
  for (const auto& [key, value] : sysfs.Fields("proc/cpuinfo")) {
    if (key == "processor") {
      core = Parse(value, 10);
      implementer = -1;
    }
    if (key == "CPU implementer") implementer = Parse(value, 16);
    if (key != "CPU part" || core < 0 || core >= kMostCores) continue;
    if (const std::string name = ArmCoreName(implementer, Parse(value, 16)); !name.empty())
      types[int(core)] = name;
  }
  return types;
}

// Reads the cores of each type from the performance monitoring units: Linux has one unit per type.
std::map<int, std::string> ReadHybridUnits(Sysfs& sysfs) {
  std::map<int, std::string> types;
  const std::pair<const char*, const char*> units[] = {
      {"sys/devices/cpu_core/cpus", kPerformanceCore},
      {"sys/devices/cpu_atom/cpus", kEfficientCore},
      {"sys/devices/cpu_lowpower/cpus", kLowPowerCore},
  };
  for (const auto& [path, type] : units)
    for (int core : sysfs.Cores(path).value_or(std::vector<int>())) types[core] = type;
  return types;
}

#ifdef __x86_64__
std::string OwnHybridType() {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0, leaf1a = 0;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return "";
  __get_cpuid_count(0x1a, 0, &leaf1a, &ebx, &ecx, &eax);
  return HybridTypeOf(edx, leaf1a);
}

// Reads the type of one core on a separate thread, so that the caller's affinity mask does not change.
std::string HybridTypeOn(int core) {
  std::string type;
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (core >= CPU_SETSIZE) return;
    CPU_SET(core, &set);
    if (sched_setaffinity(0, sizeof(set), &set) == 0) type = OwnHybridType();
  }).join();
  return type;
}

// Reads the type of each core if the processor is hybrid.
std::map<int, std::string> AskHybridTypes(const std::vector<int>& cores) {
  std::map<int, std::string> types;
  if (OwnHybridType().empty()) return types;
  for (int core : cores)
    if (const std::string type = HybridTypeOn(core); !type.empty()) types[core] = type;
  return types;
}
#else
std::map<int, std::string> AskHybridTypes(const std::vector<int>&) { return {}; }
#endif

}  // namespace

std::string ArmCoreName(int64_t implementer, int64_t part) {
  for (const ArmCore& core : kArmCores)
    if (core.implementer == implementer && core.part == part) return core.name;
  return "";
}

// From Arm's technical reference manuals of these cores; Qualcomm's Silver cores are Cortex-A55s.
bool IsInOrder(std::string_view core) {
  constexpr std::string_view kInOrder[] = {"Cortex-A7",       "Cortex-A35",     "Cortex-A53",
                                           "Cortex-A55",      "Cortex-A510",    "Cortex-A520",
                                           "Kryo-3xx-Silver", "Kryo-4xx-Silver"};
  return std::find(std::begin(kInOrder), std::end(kInOrder), core) != std::end(kInOrder);
}

// "Intel 64 and IA-32 Architectures Software Developer's Manual", CPUID: bit 15 of leaf 7's EDX is set if the
// processor is hybrid, bits 31 to 24 of leaf 0x1a's EAX are 0x20 for Atom and 0x40 for Core.
std::string HybridTypeOf(uint32_t leaf7_edx, uint32_t leaf1a_eax) {
  if ((leaf7_edx >> 15 & 1) == 0) return "";
  switch (leaf1a_eax >> 24) {
    case 0x20: return kEfficientCore;
    case 0x40: return kPerformanceCore;
    default: return "";
  }
}

std::map<int, std::string> ReadCoreTypes(Sysfs& sysfs, const std::vector<int>& cores) {
  std::map<int, std::string> types = ReadHybridUnits(sysfs);
  if (types.empty()) types = ReadArmTypes(sysfs);
  if (types.empty() && sysfs.is_host()) types = AskHybridTypes(cores);
  return types;
}

}  // namespace mete

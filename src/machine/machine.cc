#include "machine/machine.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/error.h"

namespace mete {
namespace {

std::string ReadLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int64_t ReadNumber(const std::string& path) {
  int64_t n = 0;
  std::istringstream(ReadLine(path)) >> n;
  return std::max<int64_t>(n, 0);
}

// "48K", "2048K", "30M" as sysfs writes cache sizes.
int64_t ReadSize(const std::string& path) {
  std::istringstream in(ReadLine(path));
  int64_t n = 0;
  char unit = 0;
  in >> n >> unit;
  return n * (unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1);
}

// "0-3,5" to {0,1,2,3,5}; nothing beyond 4096 cores is believed.
std::vector<int> ParseList(const std::string& text) {
  std::vector<int> out;
  std::istringstream in(text);
  std::string part;
  while (std::getline(in, part, ',')) {
    int first = 0, last = 0;
    const int fields = std::sscanf(part.c_str(), "%d-%d", &first, &last);
    if (fields < 1) continue;
    if (fields == 1) last = first;
    for (int c = std::max(first, 0); c <= std::min(last, 4095); ++c) out.push_back(c);
  }
  return out;
}

std::string FieldOf(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

void ReadCaches(const std::string& cpu, Cluster& cluster) {
  for (int i = 0; i < 8; ++i) {
    const std::string cache = cpu + "/cache/index" + std::to_string(i);
    const int64_t level = ReadNumber(cache + "/level");
    if (level == 0) break;
    if (ReadLine(cache + "/type") == "Instruction") continue;
    const int64_t size = ReadSize(cache + "/size");
    (level == 1 ? cluster.l1_bytes : level == 2 ? cluster.l2_bytes : cluster.l3_bytes) = size;
  }
}

bool MayUse(int core, bool real) {
  if (!real) return true;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0 || core >= CPU_SETSIZE) return true;
  return CPU_ISSET(core, &set);
}

}  // namespace

int Machine::cores() const {
  int n = 0;
  for (const Cluster& c : clusters) n += int(c.cores.size());
  return n;
}

Machine ReadMachine(const std::string& root) {
  const std::string base = root.empty() || root.back() == '/' ? root : root + "/";
  Machine machine;
  machine.name = FieldOf(base + "proc/cpuinfo", "model name");
  if (machine.name.empty()) machine.name = ReadLine(base + "proc/device-tree/model").c_str();  // Arm's boards; ends with a zero byte
  if (machine.name.empty()) machine.name = "cpu";
  std::istringstream(FieldOf(base + "proc/meminfo", "MemTotal")) >> machine.memory_bytes;
  machine.memory_bytes *= 1024;
  const std::string cpus = base + "sys/devices/system/cpu";
  std::vector<int> online = ParseList(ReadLine(cpus + "/online"));
  std::erase_if(online, [&](int core) { return !MayUse(core, base == "/"); });
  if (online.empty()) online = {0};
  // Cores of equal top frequency and equal capacity form a cluster.
  std::map<std::pair<int64_t, int64_t>, std::vector<int>, std::greater<>> by_speed;
  for (int core : online) {
    const std::string cpu = cpus + "/cpu" + std::to_string(core);
    by_speed[{ReadNumber(cpu + "/cpu_capacity"), ReadNumber(cpu + "/cpufreq/cpuinfo_max_freq")}].push_back(core);
  }
  for (const auto& [speed, cores] : by_speed) {
    Cluster cluster{"cluster" + std::to_string(machine.clusters.size()), cores, speed.second};
    ReadCaches(cpus + "/cpu" + std::to_string(cores[0]), cluster);
    machine.clusters.push_back(cluster);
  }
  return machine;
}

void Verify(const Machine& machine) {
  std::set<int> seen;
  for (const Cluster& c : machine.clusters) {
    if (c.cores.empty()) Invalid(c.name, "a cluster has no cores");
    if (c.max_frequency_khz < 0 || c.l1_bytes < 0 || c.l2_bytes < 0 || c.l3_bytes < 0) Invalid(c.name, "a size or frequency is negative");
    for (int core : c.cores)
      if (!seen.insert(core).second) Invalid(c.name, "core {} is listed twice", core);
  }
  if (seen.empty()) Invalid(machine.name, "the machine has no cores");
}

std::string ToText(const Machine& machine) {
  std::string out = fmt::format("{}, {} cores, {:.1f} GiB\n", machine.name, machine.cores(), double(machine.memory_bytes) / (1 << 30));
  for (const Cluster& c : machine.clusters)
    out += fmt::format("  {}: cores {}, {} kHz, L1 {} KiB, L2 {} KiB, L3 {} KiB\n", c.name, fmt::join(c.cores, ","), c.max_frequency_khz,
                       c.l1_bytes >> 10, c.l2_bytes >> 10, c.l3_bytes >> 10);
  return out;
}

std::string ToJson(const Machine& machine) {
  nlohmann::ordered_json j{{"name", machine.name}, {"memory_bytes", machine.memory_bytes}, {"clusters", nlohmann::json::array()}};
  for (const Cluster& c : machine.clusters)
    j["clusters"].push_back({{"name", c.name}, {"cores", c.cores}, {"max_frequency_khz", c.max_frequency_khz}, {"l1_bytes", c.l1_bytes},
                             {"l2_bytes", c.l2_bytes}, {"l3_bytes", c.l3_bytes}});
  return j.dump(2);
}

}  // namespace mete

#include "processor/tuning/tuner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "base/clock.h"
#include "base/json.h"

namespace mete {
namespace {

constexpr const char* kFormat = "mete tuning 1";
constexpr uintmax_t kLargestFile = 64 << 20;  // enough for some hundred thousand shapes

}  // namespace

Tuner::Tuner(std::string path, When when) : path_(std::move(path)), when_(when) {
  std::string problem;
  times_ = Read(&problem);
  if (!problem.empty()) note_ = fmt::format("{}: {}; everything is measured again", path_, problem);
}

Tuner::Table Tuner::Read(std::string* problem) const {
  std::error_code error;
  if (path_.empty() || !std::filesystem::exists(path_, error)) return {};
  const uintmax_t bytes = std::filesystem::file_size(path_, error);
  if (error || bytes > kLargestFile) {
    *problem = "cannot be read";
    return Table{};
  }
  std::ifstream file(path_);
  Table table;
  try {
    const auto json = ParseJson(std::string(std::istreambuf_iterator<char>(file), {}), path_);
    if (json.at("format") != kFormat) {
      *problem = "no file of tuned times";
      return Table{};
    }
    json.at("times").get_to(table);
  } catch (const std::exception&) {  // no JSON, nested too deep, or another document
    *problem = "no file of tuned times";
    return Table{};
  }
  for (auto& [key, times] : table)
    std::erase_if(times, [](const auto& entry) { return !(entry.second > 0); });
  return table;
}

std::vector<Timed> Tuner::Times(const std::string& key, const std::vector<std::string>& names,
                                const MakeTrial& make) {
  std::vector<size_t> unknown;
  Waiting waiting{key, {}, {{}, {}}};
  const std::map<std::string, double>& known = times_[key];
  for (size_t i = 0; i < names.size(); ++i) {
    if (known.contains(names[i])) continue;
    unknown.push_back(i);
    waiting.names.push_back(names[i]);
  }
  if (!unknown.empty()) {
    waiting.contest = Contest(std::move(unknown), make);
    if (when_ == When::kLater) {
      if (!waiting_) waiting_ = std::move(waiting);
      return {};
    }
    while (!waiting.contest.done()) waiting.contest.Step();
    Add(waiting);
  }
  std::vector<Timed> result;
  for (const std::string& name : names) result.push_back({name, known.at(name)});
  return result;
}

void Tuner::Add(const Waiting& measured) {
  for (size_t i = 0; i < measured.names.size(); ++i) {
    times_[measured.key][measured.names[i]] = measured.contest.us()[i];
    ++measured_;
  }
  unsaved_ |= !measured.names.empty();
}

std::optional<double> Tuner::Find(const std::string& key, const std::string& name) const {
  const auto times = times_.find(key);
  if (times == times_.end()) return std::nullopt;
  const auto time = times->second.find(name);
  return time == times->second.end() ? std::nullopt : std::optional(time->second);
}

void Tuner::Put(const std::string& key, const std::string& name, double us) {
  times_[key][name] = us;
  unsaved_ = true;
}

void Tuner::Save() {
  cold_weights_ = {};
  if (path_.empty() || !std::exchange(unsaved_, false)) return;
  static std::mutex saving;  // processors of one process prepare at the same time, and add to one file
  const std::lock_guard lock(saving);
  std::string ignored;
  Table all = Read(&ignored);
  for (const auto& [key, times] : times_)
    for (const auto& [name, us] : times) all[key][name] = us;
  const std::string temporary = fmt::format("{}.{}.part", path_, getpid());
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
  std::ofstream file(temporary);
  file << nlohmann::json{{"format", kFormat}, {"times", all}}.dump(1, ' ', false,
                                                                   nlohmann::json::error_handler_t::replace)
       << "\n";
  file.close();
  if (file) std::filesystem::rename(temporary, path_, error);
  if (!file || error) {
    note_ = fmt::format(
        "[{}] cannot be written, so the next start measures the kernels again; try another folder in "
        "METE_CACHE",
        path_);
    std::filesystem::remove(temporary, error);
  }
}

Choice Choose(Tuner* tuner, const std::string& key, const std::vector<std::string>& names,
              const MakeTrial& make, double clear) {
  if (names.size() < 2) return {};
  std::vector<Timed> times = tuner ? tuner->Times(key, names, make) : std::vector<Timed>();
  if (times.empty())
    return {0, fmt::format("by estimate, before {}", fmt::join(names.begin() + 1, names.end(), "; "))};
  Choice choice;
  for (size_t i = 1; i < times.size(); ++i)
    if (times[i].us < clear * times[0].us && times[i].us < times[choice.index].us) choice.index = i;
  std::swap(times[0], times[choice.index]);
  std::stable_sort(times.begin() + 1, times.end(),
                   [](const Timed& a, const Timed& b) { return a.us < b.us; });
  choice.why = fmt::format("{} measured {:.1f} us", times[0].name, times[0].us);
  for (size_t i = 1; i < times.size(); ++i)
    choice.why += fmt::format("; {} {:.1f}", times[i].name, times[i].us);
  return choice;
}

Tensor Ones(int64_t elements) {
  Tensor t(DType::kF32, Shape{elements});
  std::fill_n(t.mutable_view().as<float>(), elements, 1.0f);
  return t;
}

double CallUs(const std::function<void()>& call) {
  const int64_t start = NowNs();
  call();
  return std::max(double(NowNs() - start) * 1e-3, 1e-3);
}

std::string CpuOfTimes(const Machine& machine, const std::vector<int>& cores) {
  const Cluster* cluster = cores.empty() ? nullptr : machine.ClusterOf(cores[0]);
  if (!cluster || cluster == &machine.clusters.front()) return machine.name;
  return fmt::format("{} {}", machine.name, cluster->name);
}

std::string TuningFile(const std::string& folder, const std::string& cpu, const std::string& target,
                       std::string_view sources) {
  if (folder.empty()) return "";
  // 64 bits of the digest are enough to tell versions apart
  std::string name = fmt::format("{}-{}-{}-{}", cpu, target, METE_VERSION, sources.substr(0, 16));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.') c = '-';
  return (std::filesystem::path(folder) / "tuning" / (name + ".json")).string();
}

}  // namespace mete

#include "profile/starts/measure.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <numeric>

#include "base/clock.h"
#include "base/error.h"
#include "mete/statistics.h"
#include "profile/starts/process.h"
#include "profile/starts/program_copy.h"
#include "profile/starts/work_folder.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

// The parts of a cache folder that the next start has from one before, and the states without them.
struct KeptFolder {
  const char* state;
  const char* folder;
  const char* also = nullptr;  // a folder that may be there beside it
};
constexpr KeptFolder kKeptFolders[] = {
    {"without_weights", "weights"}, {"without_timings", "tuning", "pools"}, {"without_programs", "gpu"}};
// Starts until nothing more is kept: kernels are chosen by the times that the first start has measured, and
// the second one packs weights for them. Two have sufficed; the value is a guess.
constexpr int kMostPreparations = 4;
constexpr int kMostReleases = 5;  // guess: two have sufficed
constexpr int kRunsBefore =
    3;  // guess: runs that settle what the last state left, before a resident run counts

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

template <class... T>
std::vector<std::string> Together(const T&... lists) {
  std::vector<std::string> all;
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

class Starts {
 public:
  explicit Starts(const StartsOptions& options)
      : options_(options), work_(options.cache_folder), copy_(CopyThisProgram(work_ / "program")) {
    const fs::path profiles = fs::path(options.cache_folder) / "profiles";
    if (fs::exists(profiles)) fs::copy(profiles, fs::path(kept_) / "profiles");
  }

  std::vector<StateStarts> Measure() {
    Prepare();
    for (int round = 0; round < options_.rounds; ++round) {
      Alive();
      Cold("cold", kept_);
      First();
      for (const KeptFolder& part : kKeptFolders)
        if (fs::exists(fs::path(kept_) / part.folder)) Without(part);
    }
    return {states_.begin(), states_.end()};
  }

 private:
  void Prepare() {
    std::vector<std::string> before;
    for (int i = 0; i < kMostPreparations; ++i) {
      Tell("preparing", i, kMostPreparations);
      StartedProcess process(CommandIn(kept_), options_.cancel);
      process.Settle();
      SortFilesOf(process.pid());
      const std::vector<std::string> kept = FilesIn(kept_);
      if (kept == before) return;
      before = kept;
    }
  }

  // The states in which files are in memory, or a process is there.
  void Alive() {
    ReadThrough(AllFiles(FilesIn(kept_)));
    StateStarts& killed = State("killed", FilesIn(kept_));
    StartedProcess process(CommandIn(kept_), options_.cancel);
    killed.starts.push_back(process.steps());
    for (int i = 0; i < kRunsBefore; ++i) process.RunMs();
    StateStarts& resident = State("resident", FilesIn(kept_));
    resident.starts.push_back({.answer_ms = process.RunMs()});
    Release(process);
    StateStarts& evicted = State("evicted", FilesIn(kept_));
    if (Refuses(evicted, {"model", "kept"})) return;
    evicted.starts.push_back({.answer_ms = process.RunMs()});
  }

  // A thread that has just looked at a page, or still does, may keep it from leaving, so that another release
  // may be needed.
  void Release(StartedProcess& process) const {
    for (int i = 0; i < kMostReleases; ++i) {
      process.Release();
      Evict(AllFiles(FilesIn(kept_)));
      if (WhyNotAbsent(PagesOf(Together(options_.model_files, FilesIn(kept_)))).empty()) return;
    }
  }

  void Cold(const char* name, const std::string& cache) {
    const std::vector<std::string> files = FilesIn(cache);
    Evict(AllFiles(files));
    StateStarts& state = State(name, files);
    if (!Refuses(state, {"model", "kept", "program"})) Start(state, cache);
  }

  void First() {
    const std::string cache = work_ / "first";
    Cold("first", cache);
    fs::remove_all(cache);
  }

  void Without(const KeptFolder& part) {
    const std::string cache = work_ / "without";
    fs::remove_all(cache);
    fs::copy(kept_, cache, fs::copy_options::recursive);
    fs::remove_all(fs::path(cache) / part.folder);
    if (part.also) fs::remove_all(fs::path(cache) / part.also);
    const std::vector<std::string> files = FilesIn(cache);
    ReadThrough(AllFiles(files));
    Start(State(part.state, files), cache);
  }

  void Start(StateStarts& state, const std::string& cache) {
    state.starts.push_back(StartedProcess(CommandIn(cache), options_.cancel).steps());
  }

  // Returns the state of this name with the pages that files have now.
  StateStarts& State(const std::string& name, const std::vector<std::string>& kept) {
    auto at =
        std::find_if(states_.begin(), states_.end(), [&](const StateStarts& s) { return s.name == name; });
    if (at == states_.end()) at = states_.insert(states_.end(), {.name = name});
    at->groups = {{"model", PagesOf(options_.model_files)},
                  {"kept", PagesOf(kept)},
                  {"program", PagesOf(program_)},
                  {"shared", PagesOf(shared_)}};
    Tell(name, int(at->starts.size()) + at->refused, options_.rounds);
    return *at;
  }

  // Returns whether files of these groups are in memory, which the state then tells.
  static bool Refuses(StateStarts& state, const std::vector<std::string>& groups) {
    std::vector<FilePages> files;
    for (const FileGroup& group : state.groups)
      if (std::find(groups.begin(), groups.end(), group.name) != groups.end())
        files.insert(files.end(), group.files.begin(), group.files.end());
    const std::string why = WhyNotAbsent(files);
    if (why.empty()) return false;
    ++state.refused;
    state.why_refused = why;
    return true;
  }

  // Files that the copy maps beside its own, such as those of a GPU's driver, leave memory as well where
  // nobody else maps them and the kernel tells. The others are shared.
  void SortFilesOf(int pid) {
    const std::vector<std::string> own = Together(options_.model_files, copy_.files, FilesIn(kept_));
    const std::vector<std::string> mapped = MappedFiles(pid);
    const std::array<int, 1> process{pid};
    const std::vector<std::string> others = MappedByOthers(mapped, process);
    program_ = copy_.files;
    shared_.clear();
    for (const std::string& file : mapped) {
      if (std::any_of(own.begin(), own.end(), [&](const std::string& o) { return fs::equivalent(o, file); }))
        continue;
      const bool stays = std::find(others.begin(), others.end(), file) != others.end() || !PagesOf(file).told;
      (stays ? shared_ : program_).push_back(file);
    }
  }

  // Returns the files of which none is in memory before a cold start.
  std::vector<std::string> AllFiles(const std::vector<std::string>& kept) const {
    return Together(options_.model_files, kept, program_);
  }

  StartCommand CommandIn(const std::string& cache) const {
    const std::vector<std::string> own{"METE_CACHE=" + cache, "LD_LIBRARY_PATH=" + LibraryPath()};
    return {copy_.program, options_.arguments, Together(own, options_.variables)};
  }

  std::string LibraryPath() const {
    const char* inherited = getenv("LD_LIBRARY_PATH");
    if (!inherited || !*inherited) return copy_.libraries;
    return fmt::format("{}:{}", copy_.libraries, inherited);
  }

  void Tell(const std::string& state, int done, int all) const {
    if (options_.progress) options_.progress(state, done, all);
  }

  const StartsOptions& options_;
  const WorkFolder work_;
  const ProgramCopy copy_;
  const std::string kept_ = work_ / "kept";
  std::vector<std::string> program_, shared_;  // of all that a start maps
  std::deque<StateStarts> states_;             // references to them stay good while more are added
};

}  // namespace

int64_t FileGroup::pages() const {
  return std::accumulate(files.begin(), files.end(), int64_t{0},
                         [](int64_t sum, const FilePages& f) { return sum + f.pages; });
}

int64_t FileGroup::in_memory() const {
  return std::accumulate(files.begin(), files.end(), int64_t{0},
                         [](int64_t sum, const FilePages& f) { return sum + f.in_memory; });
}

StartsMeasured MeasureStarts(const StartsOptions& options) {
  const int64_t start_ns = NowNs();
  StartsMeasured measured;
  measured.states = Starts(options).Measure();
  measured.seconds = double(NowNs() - start_ns) * 1e-9;
  return measured;
}

StartCost CostOf(const std::vector<StartSteps>& starts) {
  const auto median = [&](auto figure) {
    std::vector<double> values;
    for (const StartSteps& steps : starts) values.push_back(figure(steps));
    return Summarize(std::move(values));
  };
  const Spread all = median([](const StartSteps& s) { return s.ms(); });
  return {all.median,
          all.mad,
          int(starts.size()),
          {median([](const StartSteps& s) { return s.process_ms; }).median,
           median([](const StartSteps& s) { return s.load_ms; }).median,
           median([](const StartSteps& s) { return s.prepare_ms; }).median,
           median([](const StartSteps& s) { return s.answer_ms; }).median}};
}

StartCosts CostsOf(const StartsMeasured& measured) {
  const auto cost = [&](const char* name) -> std::optional<StartCost> {
    for (const StateStarts& state : measured.states)
      if (state.name == name && !state.starts.empty()) return CostOf(state.starts);
    return {};
  };
  return {
      cost("resident").value(), cost("evicted"),         cost("killed").value(),  cost("cold"), cost("first"),
      cost("without_weights"),  cost("without_timings"), cost("without_programs")};
}

}  // namespace mete

#include "serve/server/versions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace mete::serve {

namespace {

// As the protocol's extension for repositories names states.
const char* StateName(VersionState state) {
  switch (state) {
    case VersionState::kLoading: return "LOADING";
    case VersionState::kReady: return "READY";
    case VersionState::kUnloaded:
    case VersionState::kFailed: break;
  }
  return "UNAVAILABLE";
}

}  // namespace

void Versions::Known(const std::string& model, const std::string& version) {
  const std::lock_guard lock(mutex_);
  models_[model][version].reason = "not loaded";
}

void Versions::Begin(const std::string& model, const std::string& version) {
  const std::lock_guard lock(mutex_);
  Version& entry = models_[model][version];
  entry.reason.clear();
  if (!entry.loaded) entry.state = VersionState::kLoading;
}

void Versions::Ready(std::shared_ptr<Loaded> loaded) {
  std::shared_ptr<Loaded> before;  // its last reference may wait for the slots: without the lock
  const std::lock_guard lock(mutex_);
  Version& entry = models_[loaded->name][loaded->version];
  before = std::move(entry.loaded);
  entry = {VersionState::kReady, "", std::move(loaded)};
}

void Versions::Failed(const std::string& model, const std::string& version, const std::string& why) {
  const std::lock_guard lock(mutex_);
  Version& entry = models_[model][version];
  if (!entry.loaded) entry.state = VersionState::kFailed;
  entry.reason = why;
}

void Versions::Keep(const std::string& model, const std::set<std::string>& versions) {
  std::vector<std::shared_ptr<Loaded>> dropped;
  const std::lock_guard lock(mutex_);
  OfModel& of_model = models_[model];
  of_model.erase("");  // what could not be found is there now, or is asked for no more
  for (auto& [number, entry] : of_model) {
    if (versions.contains(number)) continue;
    dropped.push_back(std::move(entry.loaded));
    entry = {VersionState::kUnloaded, "unloaded", nullptr};
  }
}

void Versions::Unload(const std::string& model) {
  {
    const std::lock_guard lock(mutex_);
    if (!models_.contains(model)) Fail(Code::kNotFound, Printable(model), "no such model is known");
  }
  Keep(model, {});
}

const Versions::Version* Versions::LatestReady(const OfModel& versions) {
  for (auto at = versions.rbegin(); at != versions.rend(); ++at)
    if (at->second.loaded) return &at->second;
  return nullptr;
}

std::shared_ptr<Loaded> Versions::Find(const std::string& model, const std::string& version) const {
  const std::lock_guard lock(mutex_);
  const auto of_model = models_.find(model);
  if (of_model == models_.end()) Fail(Code::kNotFound, Printable(model), "no such model is known");
  const OfModel& versions = of_model->second;
  if (version.empty()) {
    if (const Version* latest = LatestReady(versions)) return latest->loaded;
    const std::string& why = versions.empty() ? "" : versions.rbegin()->second.reason;
    Fail(Code::kUnavailable, model, "no version is ready{}{}", why.empty() ? "" : ": ", why);
  }
  const auto entry = versions.find(version);
  if (entry == versions.end()) {
    std::vector<std::string> numbers;
    for (const auto& [number, known] : versions) numbers.push_back(number);
    Fail(Code::kNotFound, model, "there is no such version; got '{}', expected {}", Printable(version),
         fmt::join(numbers, ", "));
  }
  if (!entry->second.loaded)
    Fail(Code::kUnavailable, model, "version {} is not ready{}{}", version,
         entry->second.reason.empty() ? "" : ": ", entry->second.reason);
  return entry->second.loaded;
}

bool Versions::IsReady(const std::string& model, const std::string& version) const {
  const std::lock_guard lock(mutex_);
  const auto of_model = models_.find(model);
  if (of_model == models_.end()) return false;
  if (version.empty()) return LatestReady(of_model->second) != nullptr;
  const auto entry = of_model->second.find(version);
  return entry != of_model->second.end() && entry->second.loaded != nullptr;
}

bool Versions::AllReady() const {
  const std::lock_guard lock(mutex_);
  return std::all_of(models_.begin(), models_.end(), [](const auto& model) {
    const OfModel& versions = model.second;
    return LatestReady(versions) || std::none_of(versions.begin(), versions.end(), [](const auto& version) {
             return version.second.state == VersionState::kLoading ||
                    version.second.state == VersionState::kFailed;
           });
  });
}

std::vector<std::string> Versions::ReadyOf(const std::string& model) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> numbers;
  const auto of_model = models_.find(model);
  if (of_model == models_.end()) return numbers;
  for (const auto& [number, entry] : of_model->second)
    if (entry.loaded) numbers.push_back(number);
  return numbers;
}

std::vector<std::shared_ptr<Loaded>> Versions::AllOf(const std::string& model) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Loaded>> all;
  for (const auto& [name, versions] : models_)
    for (const auto& [number, entry] : versions)
      if (entry.loaded && (model.empty() || name == model)) all.push_back(entry.loaded);
  return all;
}

std::vector<IndexEntry> Versions::Index() const {
  const std::lock_guard lock(mutex_);
  std::vector<IndexEntry> index;
  for (const auto& [model, versions] : models_)
    for (const auto& [number, entry] : versions)
      index.push_back({model, number, StateName(entry.state), entry.reason});
  return index;
}

}  // namespace mete::serve

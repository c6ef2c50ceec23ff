// The versions of the models that a server knows, and which of them answers.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "serve/server/loaded.h"
#include "serve/server/server.h"

namespace mete::serve {

enum class VersionState { kUnloaded, kLoading, kReady, kFailed };

// Thread-safe. A version that is being loaded again serves as it was until Ready().
class Versions {
 public:
  void Known(const std::string& model, const std::string& version);  // it is there, and not loaded
  void Begin(const std::string& model, const std::string& version);  // its load begins
  void Ready(std::shared_ptr<Loaded> loaded);
  // `version` "": none of the model's could be found.
  void Failed(const std::string& model, const std::string& version, const std::string& why);
  void Keep(const std::string& model,
            const std::set<std::string>& versions);  // unloads all others of the model
  void Unload(const std::string& model);             // Error NOT_FOUND

  // Returns the version, or the greatest one if `version` is empty. Error NOT_FOUND; UNAVAILABLE if it is
  // known and not ready.
  std::shared_ptr<Loaded> Find(const std::string& model, const std::string& version) const;
  bool IsReady(const std::string& model, const std::string& version) const;
  // Whether each model that was to be loaded has a version that answers: loads of others, and versions that
  // cannot be loaded beside it, change nothing.
  bool AllReady() const;
  std::vector<std::string> ReadyOf(const std::string& model) const;
  std::vector<std::shared_ptr<Loaded>> AllOf(const std::string& model) const;  // empty: of all models
  std::vector<IndexEntry> Index() const;

 private:
  struct Version {
    VersionState state = VersionState::kUnloaded;
    std::string reason;
    std::shared_ptr<Loaded> loaded;  // that serves
  };
  // by number: "10" comes behind "9"
  struct ByNumber {
    bool operator()(const std::string& a, const std::string& b) const {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    }
  };
  using OfModel = std::map<std::string, Version, ByNumber>;

  static const Version* LatestReady(const OfModel& versions);

  mutable std::mutex mutex_;
  std::map<std::string, OfModel> models_;
};

}  // namespace mete::serve

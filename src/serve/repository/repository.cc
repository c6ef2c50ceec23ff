#include "serve/repository/repository.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "base/error.h"
#include "serve/repository/listing.h"
#include "serve/repository/version_files.h"

namespace mete::serve {
namespace {

// Guesses: a repository has dozens of models with some versions, and settings have some lines.
constexpr int64_t kMostEntries = 100'000;
constexpr int64_t kMostSettingsBytes = 1 << 16;
constexpr size_t kMostName = 128;
constexpr const char* kSettingsFile = "serve.toml";

std::optional<int64_t> VersionNumber(const std::string& name) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  // "01" would be a second name of version 1.
  return whole && number >= 1 && std::to_string(number) == name ? std::optional(number) : std::nullopt;
}

[[noreturn]] void RefuseOther(const Entry& entry) {
  Invalid(Printable(entry.path), "is neither a file nor a folder, or a link that leads nowhere");
}

class Reader {
 public:
  explicit Reader(const std::string& folder) : listing_(folder, kMostEntries), folder_(folder) {}

  Repository Read() {
    const std::vector<Entry> entries = List(folder_);
    std::map<std::string, std::vector<const Entry*>> places;
    for (const Entry& entry : entries) {
      Guard("", [&] {
        if (entry.kind == Entry::kOther) RefuseOther(entry);
      });
      if (entry.kind == Entry::kFolder) places[entry.name].push_back(&entry);
      else if (IsModelFile(entry)) places[StemOf(entry.name)].push_back(&entry);
    }
    for (const auto& [name, found] : places)
      Guard(name, [&, &name = name, &found = found] { ReadModel(name, found, entries); });
    for (const std::string& orphan : OrphansOf(entries)) AddProblem("", orphan);
    return std::move(repository_);
  }

 private:
  std::vector<Entry> List(const std::string& folder) {
    std::vector<Entry> entries = listing_.Of(folder);
    for (const Entry& entry : entries)
      if (!entry.leads_to.empty())
        repository_.notes.push_back(fmt::format("[{}] is a link out of the repository, to '{}'",
                                                Printable(entry.path), Printable(entry.leads_to)));
    return entries;
  }

  void AddProblem(const std::string& model, const std::string& text) {
    repository_.problems.push_back({Printable(model), text});
  }

  // Calls f, and adds the lines of the Error that it throws. Returns whether it threw none.
  template <class F>
  bool Guard(const std::string& model, F f) {
    try {
      f();
      return true;
    } catch (const Error& error) {
      const std::string text = error.what();
      for (size_t at = 0, end = 0; end != text.npos; at = end + 1) {
        end = text.find('\n', at);
        AddProblem(model, text.substr(at, end - at));
      }
      return false;
    }
  }

  void ReadModel(const std::string& name, const std::vector<const Entry*>& places,
                 const std::vector<Entry>& root) {
    const Entry& place = *places.front();
    if (!IsModelName(name))
      Invalid(Printable(place.path),
              "no name of a model; got '{}', expected 1 to {} letters of a to z, digits, '.', '_' and '-'",
              Printable(name.substr(0, kMostName)), kMostName);
    if (places.size() > 1)
      Invalid(Printable(place.path), "two models of one name; got '{}' as well; try another name for one",
              Printable(places[1]->path));
    RepositoryModel model{.name = name};
    if (place.kind == Entry::kFolder) ReadFolder(place, model);
    else model.versions = {VersionOf(root, place, 1)};
    if (!model.versions.empty()) repository_.models.push_back(std::move(model));
  }

  void ReadFolder(const Entry& folder, RepositoryModel& model) {
    const size_t problems = repository_.problems.size();
    bool settings_known = true;  // without them, the model could be served in another way than is meant
    for (const Entry& entry : List(folder.path)) {
      if (entry.kind == Entry::kFolder) Guard(model.name, [&] { ReadVersion(entry, model); });
      else if (!Guard(model.name, [&] { ReadFile(entry, model); }))
        settings_known &= EndingOf(entry.name) != ".toml";
    }
    if (!settings_known) model.versions.clear();
    if (model.versions.empty() && repository_.problems.size() == problems)
      Fail(Code::kNotFound, Printable(folder.path), "a folder without a model; expected '{}/1/model.onnx'",
           Printable(model.name));
    std::sort(model.versions.begin(), model.versions.end(),
              [](const ModelVersion& a, const ModelVersion& b) { return a.version < b.version; });
    if (!model.versions.empty()) NameMissing(folder, model);
  }

  // Versions that the settings list and that are not there.
  void NameMissing(const Entry& folder, const RepositoryModel& model) {
    for (const int64_t version : model.settings.versions.listed)
      if (std::none_of(model.versions.begin(), model.versions.end(),
                       [&](const ModelVersion& there) { return there.version == version; }))
        AddProblem(model.name, fmt::format("[{}/{}] lists version {}, which is not there or cannot be served",
                                           Printable(folder.path), kSettingsFile, version));
  }

  void ReadFile(const Entry& entry, RepositoryModel& model) {
    if (entry.kind == Entry::kOther) RefuseOther(entry);
    if (entry.name == kSettingsFile) {
      model.settings = ParseSettings(TextOf(entry, kMostSettingsBytes), entry.path);
    } else if (IsModelFile(entry)) {
      Invalid(Printable(entry.path), "a model outside of a version's folder; try '{}/1/{}'", model.name,
              Printable(entry.name));
    } else if (EndingOf(entry.name) == ".toml") {
      Invalid(Printable(entry.path), "unknown settings; expected '{}'", kSettingsFile);
    }
  }

  void ReadVersion(const Entry& folder, RepositoryModel& model) {
    const std::optional<int64_t> number = VersionNumber(folder.name);
    if (!number)
      Invalid(Printable(folder.path), "no version; got '{}', expected a whole number from 1 on",
              Printable(folder.name));
    const std::vector<Entry> entries = List(folder.path);
    for (const Entry& entry : entries)
      if (entry.kind == Entry::kOther) RefuseOther(entry);
    const std::vector<std::string> orphans = OrphansOf(entries);
    for (const std::string& orphan : orphans) AddProblem(model.name, orphan);
    if (!orphans.empty()) return;
    ModelVersion version = VersionOf(entries, OnlyModelOf(entries, folder.path), *number);
    version.files.clear();
    for (const Entry& entry : entries)
      if (entry.kind == Entry::kFile) version.files.push_back({entry.path, entry.bytes, entry.changed_ns});
    model.versions.push_back(std::move(version));
  }

  Listing listing_;
  const std::string folder_;
  Repository repository_;
};

}  // namespace

Repository ReadRepository(const std::string& folder) { return Reader(folder).Read(); }

std::vector<ModelVersion> ChosenVersions(const RepositoryModel& model) {
  switch (model.settings.versions.kind) {
    case VersionChoice::kAll: return model.versions;
    case VersionChoice::kLatest: return {model.versions.back()};
    case VersionChoice::kListed: break;
  }
  std::vector<ModelVersion> chosen;
  const std::vector<int64_t>& listed = model.settings.versions.listed;
  for (const ModelVersion& version : model.versions)
    if (std::binary_search(listed.begin(), listed.end(), version.version)) chosen.push_back(version);
  return chosen;
}

bool IsModelName(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMostName && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), allowed);
}

}  // namespace mete::serve

#include "site_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/new_file.h"
#include "checks.h"
#include "costs/starts.h"
#include "engine/model.h"
#include "installed_files.h"
#include "machine/machine.h"
#include "mete/device.h"
#include "network/workers.h"
#include "processor/cpu/stored_profile.h"
#include "profile/starts/stored_starts.h"
#include "simulate/site/site_file.h"
#include "site_parts.h"
#include "terminal.h"

namespace mete::cli {
namespace {

std::string BytesOf(const std::string& path) {
  const auto file = MappedFile::Open(path);
  return {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()};
}

std::vector<std::string> ThreadWords(const SiteJob& job) {
  if (job.threads == 0) return {};
  return {"--threads", std::to_string(job.threads)};
}

// What is kept of a model, this machine and a server: a file in the cache folder.
class Kept {
 public:
  Kept(const SiteJob& job, const std::string& address) : context_(job.context) {
    if (CacheFolder().empty()) return;
    std::vector<std::string> words = ThreadWords(job);
    words.insert(words.end(), {"--site", address});
    path_ = StartCostsPath(CacheFolder(), KeyOf(ReadMachine()), job.model_files, words);
  }

  serve::SiteMemory Read() const {
    if (std::error_code ignored; path_.empty() || !std::filesystem::exists(path_, ignored)) return {};
    try {
      return serve::SiteMemoryFromJson(BytesOf(path_), path_);
    } catch (const Error& error) {
      PrintNote(context_, fmt::format("what is kept of the site is left out: {}", error.what()));
      return {};
    }
  }

  void Write(const serve::SiteMemory& memory) const {
    if (path_.empty()) return;
    std::error_code ignored;  // the file tells
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
    NewFile file(path_);
    const std::string text = ToJson(memory);
    if (!file.made() || !file.Write(std::as_bytes(std::span(text))) || !file.RenameTo(path_))
      PrintNote(context_, fmt::format("[{}] cannot be written, so that the next run measures again", path_));
  }

 private:
  const Context& context_;
  std::string path_;  // empty: nothing is kept
};

// Takes the device's times from `mete profile --starts`, where it has measured the model with these threads.
void AdoptStarts(const SiteJob& job, serve::SideMemory& device) {
  if (CacheFolder().empty() || (device.load_ms && device.compute_ms)) return;
  const auto starts = StoredStartCosts(
      StartCostsPath(CacheFolder(), KeyOf(ReadMachine()), job.model_files, ThreadWords(job)));
  if (!starts) return;
  device.compute_ms = starts->resident.ms;
  // the process is there and the model is read, whatever is chosen
  device.load_ms =
      starts->killed.steps.prepare_ms + std::max(0.0, starts->killed.steps.answer_ms - starts->resident.ms);
}

serve::ClientOptions ClientOptionsOf(const SiteFile& site, const Context& context) {
  const Security security = ReadSecurity(site.keys, site.token, context);
  serve::ClientOptions options;
  options.address = site.address;
  options.token = security.token;
  if (security.tls()) options.keys = {security.ca, security.certificate, security.key};
  return options;
}

SiteFile SiteOf(const SiteRunFlags& flags) {
  const std::string path = FindBoard(flags.site, "--site");
  SiteFile site = ReadSiteFile(path);
  if (site.address.empty())
    Invalid(path, "has no server that is there; expected [server] with address = \"HOST:PORT\"");
  return site;
}

SiteCandidate ChosenOf(const SiteRunFlags& flags, const SitePlan& plan) {
  if (flags.way == "device") return SiteCandidate::kDevice;
  if (flags.way == "raw") return SiteCandidate::kRawPhoto;
  if (flags.way == "scaled") return SiteCandidate::kScaledPhoto;
  return plan.choice;
}

// Sends the photo by this way. Returns why there is no answer; "": there is.
std::string Send(const std::string& photo, double give_up_ms, SiteDevice& device, SiteServer& server,
                 serve::SiteMemory& memory, WayDone& done) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::microseconds(int64_t(give_up_ms * 1e3));
  if (done.way == SiteCandidate::kRawPhoto) return server.Compute(photo, deadline, done);
  std::string scaled = device.Scaled(photo, done.steps, memory.scaled_bytes);
  return server.Compute(std::move(scaled), deadline, done);
}

}  // namespace

void AddSiteRunFlags(CLI::App& command, SiteRunFlags& flags) {
  CLI::Option* site = command
                          .add_option("--site", flags.site,
                                      "answer a photo on this device or on a server that the file names, "
                                      "whichever is sooner; --explain says why")
                          ->type_name("FILE.toml")
                          ->group("Site");
  for (const char* other : {"--processors", "--input", "--trace", "--profile", "--plan", "--save-plan",
                            "--objective", "--precision", "--reference"})
    if (CLI::Option* option = command.get_option_no_throw(other)) site->excludes(option);
  command
      .add_option(
          "--way", flags.way,
          "instead of the soonest way: device, raw (the photo as it is goes to the server), or scaled "
          "(the device scales it first)")
      ->type_name("NAME")
      ->check(OneOf({"best", "device", "raw", "scaled"}))
      ->capture_default_str()
      ->needs(site)
      ->group("Site");
}

SiteAnswer RunAtSite(const SiteJob& job) {
  const SiteFile site = SiteOf(job.flags);
  const std::string photo = BytesOf(job.picture);
  const Kept kept(job, site.address);
  serve::SiteMemory memory = kept.Read();
  AdoptStarts(job, memory.device);
  const std::string name =
      site.model.empty() ? std::filesystem::path(job.model_files[0]).stem().string() : site.model;
  SiteServer server(job, ClientOptionsOf(site, job.context), name, memory);
  const std::string no_server = server.Ask(LinkOf(site.link, memory));
  SiteDevice device(job, memory.device);
  const std::string measured = device.MeasureUnknown(photo, memory.scaled_bytes);
  const serve::SiteNow now{.server_answers = no_server.empty(),
                           .server_wait_ms = server.wait_ms(),
                           .resident = device.resident(),
                           .file_bytes = int64_t(photo.size())};
  const Graph& graph = DivisibleOf(job.model);
  const SitePlan plan =
      PlanSite(graph, CostsOf(graph, memory, LinkOf(site.link, memory), now), {.cuts = false});
  const SiteCandidate chosen = ChosenOf(job.flags, plan);
  const SiteWay& way = plan.ways[size_t(chosen)];

  const Stopwatch watch;
  WayDone done{.way = chosen};
  std::string why = no_server;  // the device answers without being asked to
  if (chosen != SiteCandidate::kDevice && why.empty())
    why = way.can() ? Send(photo, GiveUpMs(way, plan.ways[0], 0), device, server, memory, done) : way.why_not;
  const bool fell_back = chosen != SiteCandidate::kDevice && !why.empty();
  if (fell_back || chosen == SiteCandidate::kDevice) done = device.Compute(photo);
  done.whole_ms = watch.ms();
  kept.Write(memory);
  if (!why.empty()) PrintNote(job.context, "this device answers, not the server: " + why);
  const SiteReport report{site.name,
                          plan,
                          chosen,
                          done,
                          fell_back ? why : "",
                          no_server,
                          measured,
                          server.connect_ms(),
                          server.round_trip_ms()};
  return {done.outputs, done.turned, done.whole_ms, SiteReportJson(report), SiteReportText(report)};
}

}  // namespace mete::cli

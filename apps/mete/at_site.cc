#include "at_site.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/error.h"
#include "base/mapped_file.h"
#include "engine/model.h"
#include "installed_files.h"
#include "network/workers.h"
#include "terminal.h"

namespace mete::cli {
namespace {

serve::ClientOptions ClientOptionsOf(const SiteFile& site, const Security& security) {
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

struct WayWord {
  const char* word;
  SiteCandidate way;
};
constexpr WayWord kWays[] = {{"device", SiteCandidate::kDevice},
                             {"raw", SiteCandidate::kRawPhoto},
                             {"scaled", SiteCandidate::kScaledPhoto},
                             {"cut", SiteCandidate::kCut}};

SiteCandidate ChosenOf(const std::string& word, const SitePlan& plan) {
  for (const WayWord& way : kWays)
    if (word == way.word) return way.way;
  return plan.choice;
}

}  // namespace

SitePhoto PhotoAt(const std::string& path) {
  const auto file = MappedFile::Open(path);
  SitePhoto photo{path, {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, 0};
  photo.pixels = serve::PixelsOf(photo.bytes).value_or(0);
  return photo;
}

bool IsWay(const std::string& word) {
  return word == "best" ||
         std::any_of(std::begin(kWays), std::end(kWays), [&](const WayWord& w) { return word == w.word; });
}

AtSite::AtSite(const SiteJob& job)
    : job_(job),
      graph_(DivisibleOf(job.model)),
      site_(SiteOf(job.flags)),
      security_(ReadSecurity(site_.keys, site_.token, job.context)),
      options_(ClientOptionsOf(site_, security_)),
      kept_(job, site_.name, site_.address),
      memory_(kept_.Read()),
      device_(job, memory_.device),
      cut_(job, site_, security_, memory_),
      layers_(cut_.Layers()) {}

serve::SiteNow AtSite::Now(const SitePhoto& photo, StartState state, StartState program,
                           const NetworkLink& link) const {
  return {.server_answers = true,
          .state = state,
          .program = program,
          .process_ms = kept_.process_ms(),
          .start_ms = kept_.start_ms(),
          .cut_is_ready = cut_.is_ready(),
          .ask_ms = link.connect_ms + link.round_trip_ms,
          .file_bytes = int64_t(photo.bytes.size()),
          .pixels = photo.pixels};
}

std::string AtSite::MeasureCut(const SiteRequest& request, const NetworkLink& link, std::string& measured) {
  if (request.way != "cut" || !cut_.is_unknown()) return "";
  const SitePlan plan = PlanFor(Now(request.photo, device_.State(), program(), link), link, request.way);
  const SiteWay& way = plan.ways[size_t(SiteCandidate::kCut)];
  return way.can() ? cut_.MeasureReady(way.on_device, measured) : "";
}

std::string AtSite::Send(const SitePhoto& photo, const SiteWay& way, double give_up_ms, SiteServer& server,
                         WayDone& done) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::microseconds(int64_t(give_up_ms * 1e3));
  if (done.way == SiteCandidate::kCut) return cut_.Compute(photo, way, deadline, device_, done);
  std::string scaled;
  if (done.way == SiteCandidate::kScaledPhoto)
    scaled = device_.Scaled(photo, done.steps, memory_.scaled_bytes);
  return server.Compute(photo, std::move(scaled), deadline, done);
}

SiteAnswer AtSite::Answer(const SiteRequest& request) {
  Stopwatch watch;
  const NetworkLink link = this->link();
  SiteServer server(job_, options_, model_name(), memory_);
  std::string no_server, measured;
  bool asked = !server.known();
  double before_ms = request.before_ms, ask_ms = 0;
  if (asked) no_server = server.Ask(link);
  measured = device_.MeasureUnknown(request.photo, memory_.scaled_bytes);
  const std::string no_cut = no_server.empty() ? MeasureCut(request, link, measured) : "";
  const bool measured_first = asked || !measured.empty();
  if (measured_first) {  // it is no part of the request
    watch = Stopwatch();
    before_ms = 0;
    is_new_ = false;
  }
  const StartState state = device_.State();
  program_ = program();
  is_new_ = false;
  device_.Begin(program_);
  serve::SiteNow now = Now(request.photo, state, program_, link);
  const auto was_asked = [&] {
    now.server_answers = no_server.empty();
    now.server_wait_ms = server.wait_ms();
    now.ask_ms = 0;
  };
  if (asked) was_asked();
  SitePlan plan = PlanFor(now, link, request.way);
  if (!asked && ChosenOf(request.way, plan) != SiteCandidate::kDevice) {
    asked = true;
    const Stopwatch asking;
    no_server = server.Ask(link);
    ask_ms = asking.ms();
    if (!no_server.empty() || server.wait_ms() > 0) {
      was_asked();
      plan = PlanFor(now, link, request.way);
    }
  }
  const SiteCandidate chosen = ChosenOf(request.way, plan);
  const SiteWay& way = plan.ways[size_t(chosen)];
  const double begin_ms = before_ms + watch.ms() - ask_ms;
  start_ms_ = measured_first ? std::nullopt : std::optional(begin_ms);

  WayDone done{.way = chosen};
  std::string why = no_server.empty() ? no_cut : no_server;  // the device answers without being asked to
  if (chosen != SiteCandidate::kDevice && why.empty()) {
    const double give_up_ms = request.give_up_ms > 0 ? request.give_up_ms : GiveUpMs(way, plan.ways[0], 0);
    why = way.can() ? Send(request.photo, way, give_up_ms, server, done) : way.why_not;
  }
  const bool fell_back = chosen != SiteCandidate::kDevice && !why.empty();
  if (fell_back || chosen == SiteCandidate::kDevice) done = device_.Compute(request.photo, state);
  done.steps.load_ms += begin_ms;
  done.steps.upload_ms += ask_ms;
  done.whole_ms = before_ms + watch.ms();
  if (done.way == SiteCandidate::kCut) cut_.TellSteps(done);
  if (!why.empty()) PrintNote(job_.context, "this device answers, not the server: " + why);
  const SiteReport report{site_.name,
                          plan,
                          state,
                          chosen,
                          done,
                          fell_back ? why : "",
                          asked,
                          no_server,
                          measured,
                          layers_.has_value(),
                          server.connect_ms(),
                          server.round_trip_ms()};
  return {done.outputs, done.turned, done.whole_ms, SiteReportJson(report), SiteReportText(report)};
}

Json AtSite::Plans(const SitePhoto& photo) const {
  const NetworkLink link = this->link();
  Json states;
  for (size_t s = 0; s < kStartStates; ++s)
    states[StartStates()[s]] =
        SitePlanJson(PlanFor(Now(photo, StartState(s), StartState(s), link), link, ""));
  return {{"states", states},
          {"link",
           {{"connect_ms", link.connect_ms},
            {"round_trip_ms", link.round_trip_ms},
            {"up_mbit_per_s", link.up_mbit_per_s}}}};
}

}  // namespace mete::cli

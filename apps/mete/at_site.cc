#include "at_site.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/error.h"
#include "base/mapped_file.h"
#include "engine/model.h"
#include "image/decode.h"
#include "installed_files.h"
#include "on_command.h"
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

SiteObjective ObjectiveOf(const SiteJob& job, const SiteFile& site) {
  const PoolObjective of = ParsePoolObjective(job.objective, "--objective");
  if (of == PoolObjective::kEnergy && !site.power)
    Invalid(
        job.flags.site,
        "the least energy is asked for, and this device's power is not known; expected [power] with idle_w "
        "and compute_w");
  return {.of = of, .deadline_ms = job.flags.deadline_ms};
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
  photo.pixels = double(PixelsOf(std::as_bytes(std::span(photo.bytes))).value_or(0));
  return photo;
}

bool IsWay(const std::string& word) {
  return word == "best" ||
         std::any_of(std::begin(kWays), std::end(kWays), [&](const WayWord& w) { return word == w.word; });
}

// A photo until it has its answer.
struct AtSite::UnderWay {
  Stopwatch watch = {};  // the first member: what it takes to make the others counts
  const SiteRequest& request;
  const NetworkLink link;
  SiteServer server;
  double before_ms = 0;         // before the watch
  bool asked = false;           // whether the server was asked if it is there
  bool measured_first = false;  // what no request counts
  double ask_ms = 0;
  std::string no_server = {}, no_cut = {};  // why there is none; "": there is, or it was not asked
  std::string measured = {};                // in words
  std::string fell_back = {};               // why the device computes instead; "": it does not
  SitePlan plan = {};

  double ms() const { return before_ms + watch.ms(); }
};

AtSite::AtSite(const SiteJob& job)
    : job_(job),
      graph_(DivisibleOf(job.model)),
      site_(SiteOf(job.flags)),
      objective_(ObjectiveOf(job, site_)),
      security_(ReadSecurity(site_.keys, site_.token, job.context)),
      options_(ClientOptionsOf(site_, security_)),
      kept_(job, site_.name, site_.address),
      memory_(kept_.Read()),
      files_(job, kept_.parts(), kept_.part_ms()),
      device_(job, memory_.device, files_),
      cut_(job, site_, security_, memory_, files_),
      layers_(cut_.Layers()) {}

serve::SiteNow AtSite::Now(const SitePhoto& photo, StartState state, StartState program,
                           const NetworkLink& link) const {
  MissingNow now = files_.Now(memory_.device);
  if (state == StartState::kFirstEver) now.missing = files_.parts();  // whatever is there now
  return {.server_answers = true,
          .state = state,
          .program = program,
          .missing = now.missing,
          .why_missing = now.why,
          .part_ms = files_.costs(),
          .process_ms = kept_.process_ms(),
          .start_ms = kept_.start_ms(),
          .ready_cut = cut_.ready(),
          .ask_ms = link.connect_ms + link.round_trip_ms,
          .file_bytes = int64_t(photo.bytes.size()),
          .pixels = photo.pixels,
          .power = site_.power ? std::optional(PowerCostsOf(*site_.power)) : std::nullopt};
}

std::string AtSite::MeasureCut(const SiteRequest& request, const NetworkLink& link, std::string& measured) {
  if (request.way != "cut" || !cut_.is_unknown()) return "";
  const SitePlan plan = PlanFor(Now(request.photo, device_.State(), program(), link), link, request.way);
  const SiteWay& way = plan.ways[size_t(SiteCandidate::kCut)];
  return way.can() ? cut_.MeasureReady(way.on_device, PatienceMs(link), measured) : "";
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

void AtSite::MeasureUnknown(UnderWay& u) {
  u.asked = !u.server.known();
  if (u.asked) u.no_server = u.server.Ask(u.link);
  u.measured = device_.MeasureUnknown(u.request.photo, memory_.scaled_bytes);
  if (u.no_server.empty()) u.no_cut = MeasureCut(u.request, u.link, u.measured);
  u.measured_first = u.asked || !u.measured.empty();
  if (!u.measured_first) return;
  u.watch = Stopwatch();
  u.before_ms = 0;
  is_new_ = false;
}

void AtSite::PlanAndAsk(StartState state, UnderWay& u) {
  serve::SiteNow now = Now(u.request.photo, state, program_, u.link);
  const auto plan_anew = [&](double asked_ms) {
    now.server_answers = u.no_server.empty();
    now.server_wait_ms = u.server.wait_ms();
    now.ask_ms = 0;
    now.asked_ms = asked_ms;
    u.plan = PlanFor(now, u.link, u.request.way);
  };
  if (u.asked) return plan_anew(0);
  u.plan = PlanFor(now, u.link, u.request.way);
  if (ChosenOf(u.request.way, u.plan) == SiteCandidate::kDevice) return;
  u.asked = true;
  const Stopwatch asking;
  u.no_server = u.server.Ask(u.link);
  u.ask_ms = asking.ms();
  if (!u.no_server.empty() || u.server.wait_ms() > 0) plan_anew(now.ask_ms);
}

WayDone AtSite::Compute(SiteCandidate chosen, StartState state, UnderWay& u) {
  if (chosen == SiteCandidate::kDevice) return device_.Compute(u.request.photo, state);
  const SiteWay &way = u.plan.ways[size_t(chosen)], &device = u.plan.ways[0];
  WayDone done{.way = chosen};
  u.fell_back = u.no_server.empty() ? u.no_cut : u.no_server;
  if (u.fell_back.empty()) {
    const double give_up_ms =
        u.request.give_up_ms > 0
            ? u.request.give_up_ms
            : GiveUpMs(way, device, DeadlineAfterAsking(objective_.deadline_ms, u.ask_ms, device));
    u.fell_back = way.can() ? Send(u.request.photo, way, give_up_ms, u.server, done) : way.why_not;
  }
  return u.fell_back.empty() ? done : device_.Compute(u.request.photo, state);
}

SiteAnswer AtSite::Answer(const SiteRequest& request) {
  UnderWay u{.request = request,
             .link = link(),
             .server = SiteServer(job_, options_, model_name(), memory_),
             .before_ms = request.before_ms};
  MeasureUnknown(u);
  const StartState state = device_.State();
  program_ = program();
  is_new_ = false;
  device_.Begin(program_);
  PlanAndAsk(state, u);
  const double begin_ms = u.ms() - u.ask_ms;
  start_ms_ = u.measured_first ? std::nullopt : std::optional(begin_ms);

  const SiteCandidate chosen = ChosenOf(request.way, u.plan);
  WayDone done = Compute(chosen, state, u);
  done.steps.load_ms += begin_ms;
  done.steps.upload_ms += u.ask_ms;
  done.whole_ms = u.ms();
  if (done.way == SiteCandidate::kCut) cut_.TellSteps(done);
  const int64_t answered_ns = MonotonicNs();
  // Where there is no server, the plan may be the device, which falls back from nothing.
  if (const std::string& why = u.fell_back.empty() ? u.no_server : u.fell_back; !why.empty())
    PrintNote(job_.context, "this device answers, not the server: " + why);
  const SiteReport report{.site = site_.name,
                          .objective = job_.objective,
                          .plan = u.plan,
                          .state = state,
                          .process_ms = kept_.process_ms()[size_t(program_)],
                          .chosen = chosen,
                          .done = done,
                          .fell_back = u.fell_back,
                          .asked = u.asked,
                          .no_server = u.no_server,
                          .measured = u.measured,
                          .knows_layers = layers_.has_value(),
                          .connect_ms = u.server.connect_ms(),
                          .round_trip_ms = u.server.round_trip_ms(),
                          .pool = job_.pool ? &*job_.pool : nullptr,
                          .pool_plan = memory_.device.plan};
  return {done.outputs,           done.turned,           done.whole_ms, answered_ns,
          SiteReportJson(report), SiteReportText(report)};
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

// The parts of `mete run --site`: the device, the server, and a way as it went.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mete/engine.h"
#include "mete/image.h"
#include "plan/site/plan_site.h"
#include "serve/client/client.h"
#include "serve/site/memory.h"
#include "site_files.h"
#include "site_run.h"
#include "stopwatch.h"

namespace mete::cli {

// A photo's file, and what its first bytes say.
struct SitePhoto {
  std::string path, bytes;
  double pixels = 0;  // 0: not known

  serve::PhotoAmounts amounts() const { return {int64_t(bytes.size()), pixels}; }
};

// A way as it went.
struct WayDone {
  SiteCandidate way = SiteCandidate::kDevice;
  SiteSteps steps = {};
  double whole_ms = 0;
  std::vector<Tensor> outputs = {};
  std::string turned = {};
  bool by_home = false;  // of the device's pool: the session had no plan yet
};

// The device's side: its session is made when it is needed, and stays.
class SiteDevice {
 public:
  SiteDevice(const SiteJob& job, serve::SideMemory& memory, SiteFiles& files)
      : job_(job), memory_(memory), files_(files) {}

  // Where the model is now, by whether there is a session, and by the pages of what it maps.
  StartState State() const;
  // Learns what is not known: the times of the photo's steps, and of a session. Returns what was measured in
  // words; "": nothing.
  std::string MeasureUnknown(const SitePhoto& photo, std::optional<double>& scaled_bytes);
  // The state in which the next photo finds the program.
  void Begin(StartState program) { program_ = program; }
  WayDone Compute(const SitePhoto& photo, StartState state);
  // The model's input, decoded and scaled, whose times are added to the steps.
  Tensor Input(const SitePhoto& photo, WayDone& done);
  // Ends the model's inputs after the run. The input lies behind the photo's memory on the heap, so that the
  // allocator may give that back only now: milliseconds of large photos that are decoded whole, which belong
  // to scaling.
  void GiveBack(const SitePhoto& photo, std::vector<Tensor>& inputs, WayDone& done);
  // Measures what the session still has to measure of its kernels, if there is one.
  void Settle() {
    if (session_) session_->Settle();
    LearnFiles();
  }
  // Notes which files of what is kept the session uses.
  void LearnFiles() {
    if (session_) files_.Learn(*session_, memory_);
  }
  // The scaled picture as it is sent; its times are added to `steps`.
  std::string Scaled(const SitePhoto& photo, SiteSteps& steps, std::optional<double>& scaled_bytes);

 private:
  Image Decoded(const SitePhoto& photo, double& ms);  // as small as the input wants it
  serve::PhotoTimes& times() { return memory_.photo[size_t(program_)]; }
  void Open(double& ms);
  void MeasureSession();
  bool HasLost() const;  // whether the pool has lost a processor
  void LearnPlan();      // of the pool, if the session has one

  const SiteJob& job_;
  serve::SideMemory& memory_;
  SiteFiles& files_;
  std::optional<Session> session_;
  StartState program_ = StartState::kKilled;
  double scale_ms_ = 0;              // of the last input, until GiveBack()
  std::vector<std::string> mapped_;  // files of the model and of what is kept of it that the session maps
};

// Returns how long a server is waited for that is asked whether it is there.
double PatienceMs(const NetworkLink& link);

// The server's side, for one request: it is connected anew.
class SiteServer {
 public:
  SiteServer(const SiteJob& job, const serve::ClientOptions& options, std::string model,
             serve::SiteMemory& memory)
      : job_(job), client_(options), model_(std::move(model)), memory_(memory) {}

  bool known() const { return memory_.server.compute.ms() && memory_.server.small.ms(); }
  // Asks whether the server is there, how long a request would wait, and, if that is not known, how long the
  // model takes there. Returns why it cannot be used; "": it can.
  std::string Ask(const NetworkLink& link);
  double wait_ms() const { return wait_ms_; }
  double connect_ms() const { return connect_ms_; }
  double round_trip_ms() const { return round_trip_ms_; }

  // Sends a photo, or its scaled picture where that is not empty, and adds to the steps. Returns why there is
  // no answer; "": there is.
  std::string Compute(const SitePhoto& photo, std::string scaled, serve::Deadline deadline, WayDone& done);

 private:
  serve::Reply Infer(std::string picture, serve::Deadline deadline);
  void LearnExchange(const serve::Reply& reply, double server_ms);

  const SiteJob& job_;
  serve::Client client_;
  const std::string model_;
  serve::SiteMemory& memory_;
  double wait_ms_ = 0, connect_ms_ = 0, round_trip_ms_ = 0;
};

// What a site's run says, as JSON and for people.
struct SiteReport {
  const std::string& site;
  const std::string& objective;
  const SitePlan& plan;
  StartState state;           // of the model, when the request came
  double process_ms;          // of predicted loads: until the program's clock begins
  SiteCandidate chosen;       // what was tried: the plan's choice, or that of --way
  const WayDone& done;        // what gave the answer
  std::string fell_back;      // why the device answers instead; "": it does not
  bool asked;                 // whether the server was asked before
  std::string no_server;      // why there is no server; "": there is, or it was not asked
  std::string measured;       // what was measured before; "": nothing
  bool knows_layers = false;  // whether single layers were measured on both sides
  double connect_ms = 0, round_trip_ms = 0;
  const SitePool* pool = nullptr;  // on which the device computes; null: its CPU alone
  std::string pool_plan = {};      // "": it is not known yet
};
Json SiteReportJson(const SiteReport& report);
std::string SiteReportText(const SiteReport& report);
// The ways of a plan with all parts of their steps.
Json SitePlanJson(const SitePlan& plan);

}  // namespace mete::cli

// The parts of `mete run --site`: what is kept, the server, and a way as it went.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mete/engine.h"
#include "mete/image.h"
#include "plan/site/plan_site.h"
#include "serve/client/client.h"
#include "serve/site/memory.h"
#include "site_run.h"
#include "stopwatch.h"

namespace mete::cli {

// A way as it went.
struct WayDone {
  SiteCandidate way = SiteCandidate::kDevice;
  SiteSteps steps = {};
  double whole_ms = 0;  // with what is no step: reading the file, making texts
  std::vector<Tensor> outputs = {};
  std::string turned = {};
};

// The device's side: its session is made when it is needed, and stays.
class SiteDevice {
 public:
  SiteDevice(const SiteJob& job, serve::SideMemory& memory) : job_(job), memory_(memory) {}

  bool resident() const { return session_.has_value(); }
  // Learns what is not known: the times of the photo's steps, and of a session. Returns what was measured in
  // words; "": nothing.
  std::string MeasureUnknown(const std::string& photo, std::optional<double>& scaled_bytes);
  WayDone Compute(const std::string& photo);
  // The scaled picture as it is sent; its times are added to `steps`.
  std::string Scaled(const std::string& photo, SiteSteps& steps, std::optional<double>& scaled_bytes);

 private:
  Image Decoded(const std::string& photo, double& ms);
  void Open(double& ms);

  const SiteJob& job_;
  serve::SideMemory& memory_;
  std::optional<Session> session_;
};

// The server's side.
class SiteServer {
 public:
  SiteServer(const SiteJob& job, serve::ClientOptions options, std::string model, serve::SiteMemory& memory)
      : job_(job), client_(std::move(options)), model_(std::move(model)), memory_(memory) {}

  // Asks whether the server is there, how long a request would wait, and, if that is not known, how long the
  // model takes there. Returns why it cannot be used; "": it can.
  std::string Ask(const NetworkLink& link);
  double wait_ms() const { return wait_ms_; }
  double connect_ms() const { return connect_ms_; }
  double round_trip_ms() const { return round_trip_ms_; }

  // Sends a photo or a scaled picture, and adds to the steps. Returns why there is no answer; "": there is.
  std::string Compute(std::string picture, serve::Deadline deadline, WayDone& done);

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
  const SitePlan& plan;
  SiteCandidate chosen;   // what was tried: the plan's choice, or that of --way
  const WayDone& done;    // what gave the answer
  std::string fell_back;  // why the device answers instead; "": it does not
  std::string no_server;  // why there is no server; "": there is
  std::string measured;   // what was measured before; "": nothing
  double connect_ms = 0, round_trip_ms = 0;
};
Json SiteReportJson(const SiteReport& report);
std::string SiteReportText(const SiteReport& report);

}  // namespace mete::cli

// `mete run --site`: a photo's answer from this device or from a server, as the plan says. In a build with
// METE_SERVE=OFF there is no such flag (without_serve/).
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "context.h"
#include "mete/engine.h"
#include "mete/image.h"
#include "mete/pool.h"

namespace mete::cli {

struct SiteRunFlags {
  std::string site;          // the site's file; empty: without all of this
  std::string way = "best";  // best, device, raw, scaled, cut
  bool on_command = false;
  double deadline_ms = 0;  // of the least energy; 0: none

  bool given() const { return !site.empty(); }
};

// Adds the flags to `run`, which has all others already.
void AddSiteRunFlags(CLI::App& command, SiteRunFlags& flags);

// What a program finds before it reads the model.
struct SiteStart {
  int64_t begin_ns = 0;       // of the monotonic clock
  bool files_absent = false;  // whether no page of the model's files is in memory
  bool is_first = false;      // whether nothing was ever measured here
};
// `flags` without a site: returns without looking.
SiteStart BeginAtSite(const SiteRunFlags& flags, const std::vector<std::string>& model_files);

// The pool on which the device computes (--processors).
struct SitePool {
  Pool pool;
  std::vector<std::string> words, files;            // that its times belong to
  std::function<bool()> measure;                    // the model on it, if nobody has; whether it had to
  std::function<std::vector<std::string>()> costs;  // the files with what was measured
};

// A photo for a model that is loaded, whose session is made when the device computes.
struct SiteJob {
  const SiteRunFlags& flags;
  std::string objective;  // latency, throughput or energy
  const Context& context;
  const Model& model;
  std::vector<std::string> model_files;  // that the kept figures belong to
  int threads = 0;                       // as --threads
  const Preprocess& preprocess;
  const Port& port;  // the model's only input
  std::string picture;
  SessionOptions kernels;  // of its sessions, on a pool of their processors
  std::function<Session()> make_session;
  std::optional<SitePool> pool;  // of these sessions; nothing: this device's CPU alone
  SiteStart start;
};

struct SiteAnswer {
  std::vector<Tensor> outputs;  // as a session has them
  std::string turned;           // as in Answer; "" also where the server has decoded the photo
  double ms = 0;                // from the program's begin, or from the command, to the answer
  int64_t answered_ns = 0;      // when the answer was there, by MonotonicNs(): its texts were made later
  Json json;                    // the steps as predicted and as measured
  std::string text;             // the same for people
};

// Plans, asks the server unless the plan is the device, computes, and keeps what was seen. Where the link or
// the server fails, or is late, the device computes, and a note says why.
SiteAnswer RunAtSite(const SiteJob& job);

// --on-command: the same for the job's photo and then for others, as lines of JSON on stdin ask for them, for
// programs that measure. One line answers each (MonotonicNs() has the clock):
//   at the start, and {"do": "photo", "photo": PATH, "way": WAY, "give_up_ms": N}: what `results` makes of the
//   answer, with "begin_ns", and "text_ms" for making the text. `give_up_ms`: the device answers after that; 0: as planned.
//   {"do": "plan", "photo": PATH}: {"states": {STATE: {"choice", "ways"}}}, as planned with what is known now
//   {"do": "settle"}: {"settled": true}, after the session has measured what it still had to of its kernels
//   {"do": "release"}: {"released": true}, after the pages of files that this process maps have left it
// The end of stdin ends it.
void ObeyAtSite(const SiteJob& job,
                const std::function<Json(SiteAnswer answer, const std::string& picture)>& results);

// Returns the pool of this device and the server's worker, if the file is a site's; nothing: it is another
// one. Error if the site has no worker.
std::optional<Pool> PoolOfSiteFile(const std::string& path);

}  // namespace mete::cli

// `mete run --site`: a photo's answer from this device or from a server, whichever is sooner. In a build with
// METE_SERVE=OFF there is no such flag (without_serve/).
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "context.h"
#include "mete/engine.h"
#include "mete/image.h"

namespace mete::cli {

struct SiteRunFlags {
  std::string site;          // the site's file; empty: without all of this
  std::string way = "best";  // best, device, raw, scaled

  bool given() const { return !site.empty(); }
};

// Adds the flags to `run`, which has all others already.
void AddSiteRunFlags(CLI::App& command, SiteRunFlags& flags);

// A photo for a model that is loaded, whose session is made when the device computes.
struct SiteJob {
  const SiteRunFlags& flags;
  const Context& context;
  const Model& model;
  std::vector<std::string> model_files;  // that the kept figures belong to
  int threads = 0;                       // as --threads
  const Preprocess& preprocess;
  const Port& port;  // the model's only input
  std::string picture;
  std::function<Session()> make_session;
};

struct SiteAnswer {
  std::vector<Tensor> outputs;  // as a session has them
  std::string turned;           // as in Answer; "" also where the server has decoded the photo
  double ms = 0;                // from the choice to the answer
  Json json;                    // the steps as predicted and as measured
  std::string text;             // the same for people
};

// Asks the server, plans, computes, and keeps what was seen. Where the link or the server fails, or is late,
// the device computes, and a note says why.
SiteAnswer RunAtSite(const SiteJob& job);

}  // namespace mete::cli

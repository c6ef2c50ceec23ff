// The device's side of `mete run --site`.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "image/scaled_picture.h"
#include "mete/device.h"
#include "on_command.h"
#include "pictures.h"
#include "profile/starts/file_pages.h"
#include "site_parts.h"

namespace mete::cli {
namespace {

bool AllAbsent(const std::vector<std::string>& paths) {
  return !paths.empty() && std::all_of(paths.begin(), paths.end(), IsAbsent);
}

// Returns the files of the model, and of what is kept of it, that this process maps.
std::vector<std::string> MappedOfModel(const std::vector<std::string>& model_files) {
  std::vector<std::string> mapped;
  std::error_code ignored;
  for (const std::string& path : MappedFiles(int(getpid()))) {
    const bool is_model = std::any_of(model_files.begin(), model_files.end(), [&](const std::string& file) {
      return std::filesystem::equivalent(file, path, ignored);
    });
    if (is_model || (!CacheFolder().empty() && path.starts_with(CacheFolder() + "/"))) mapped.push_back(path);
  }
  return mapped;
}

}  // namespace

SiteStart BeginAtSite(const SiteRunFlags& flags, const std::vector<std::string>& model_files) {
  if (!flags.given()) return {};
  SiteStart start{.begin_ns = MonotonicNs()};
  std::error_code ignored;
  const bool there = std::all_of(model_files.begin(), model_files.end(), [&](const std::string& file) {
    return std::filesystem::is_regular_file(file, ignored);
  });
  start.files_absent = there && AllAbsent(model_files);
  start.is_first = CacheFolder().empty() || !std::filesystem::exists(CacheFolder() + "/tuning", ignored);
  return start;
}

StartState SiteDevice::State() const {
  if (session_) return AllAbsent(mapped_) ? StartState::kEvicted : StartState::kResident;
  if (!job_.start.files_absent) return StartState::kKilled;
  return job_.start.is_first ? StartState::kFirstEver : StartState::kCold;
}

Image SiteDevice::Decoded(const SitePhoto& photo, double& ms) {
  const Stopwatch watch;
  Image image =
      DecodeScaled(std::as_bytes(std::span(photo.bytes)), photo.path, job_.preprocess, job_.port.shape).image;
  ms = watch.ms();
  times().decode.Learn(photo.amounts().Decoded(ms));
  return image;
}

void SiteDevice::Open(double& ms) {
  ms = 0;
  if (session_) return;
  files_.Begin();
  const Stopwatch watch;
  session_ = job_.make_session();
  mapped_ = MappedOfModel(job_.model_files);
  ms = watch.ms();
}

std::string SiteDevice::MeasureUnknown(const SitePhoto& photo, std::optional<double>& scaled_bytes) {
  std::string measured;
  const bool has_seen_photos =
      std::any_of(memory_.photo.begin(), memory_.photo.end(),
                  [](const serve::PhotoTimes& photos) { return !photos.scale.seen().empty(); });
  if (!has_seen_photos || !memory_.small.ms() || !scaled_bytes) {
    double ignored = 0;
    const Image image = Decoded(photo, ignored);
    const Stopwatch scaling;
    (void)MakeInput(image, job_.preprocess, job_.port.shape);
    times().scale.Learn(photo.amounts().Scaled(scaling.ms()));
    const Stopwatch encoding;
    scaled_bytes = double(PpmOf(image).size());
    memory_.small.Learn(encoding.ms());
    measured = "the photo's steps";
  }
  if (serve::HasLoad(memory_) && memory_.compute.ms() && (!job_.pool || memory_.home.ms())) return measured;
  const auto add = [&](const char* what) {
    measured += (measured.empty() ? "" : " and ") + std::string(what);
  };
  if (job_.pool && job_.pool->measure()) add("the layers on the pool's processors");
  if (job_.pool) files_.LearnPool(memory_);
  MeasureSession();
  add("a session, which is resident now");
  return measured;
}

void SiteDevice::MeasureSession() {
  const MissingParts missing = job_.pool ? files_.NowMeasured(memory_) : files_.Now(memory_).missing;
  double open_ms = 0;
  Open(open_ms);
  const std::vector<Tensor> zeros{Tensor(job_.port.type, job_.port.shape)};
  const auto run_ms = [&](RunOptions::Alone alone) {
    const Stopwatch running;
    (void)session_->Run(zeros, {.cancel = job_.context.cancel, .alone = alone});
    return running.ms();
  };
  const bool by_home = job_.pool && !session_->settled();
  const double first_ms = run_ms(RunOptions::Alone::kWhereSooner);
  if (job_.pool) session_->Settle();  // its first plan is in use
  const double compute_ms = run_ms(RunOptions::Alone::kWhereSooner);
  memory_.compute.Learn(compute_ms);
  LearnPlan();
  const double home_ms = job_.pool ? run_ms(RunOptions::Alone::kAlways) : compute_ms;
  if (job_.pool) memory_.home.Learn(home_ms);
  const double beyond = std::max(0.0, first_ms - (by_home ? home_ms : compute_ms));
  LearnLoad(memory_, StartState::kKilled, missing, open_ms + beyond);
  files_.Learn(*session_, memory_);
}

// What a pool takes without a processor is not its time.
bool SiteDevice::HasLost() const { return job_.pool && session_->pool_stats().lost > 0; }

void SiteDevice::LearnPlan() {
  if (job_.pool && session_->settled() && !HasLost()) memory_.plan = session_->pool_stats().plan;
}

Tensor SiteDevice::Input(const SitePhoto& photo, WayDone& done) {
  const Stopwatch watch;
  double decode_ms = 0;
  Tensor input;
  {
    const Image image = Decoded(photo, decode_ms);
    done.turned = TurnedText(image.exif_orientation);
    input = MakeInput(image, job_.preprocess, job_.port.shape);
  }  // to give the pixels back takes a part of it
  const double ms = watch.ms();
  done.steps.preprocess_ms += ms;
  scale_ms_ = ms - decode_ms;
  return input;
}

void SiteDevice::GiveBack(const SitePhoto& photo, std::vector<Tensor>& inputs, WayDone& done) {
  const Stopwatch watch;
  inputs.clear();
  const double ms = watch.ms();
  done.steps.preprocess_ms += ms;
  times().scale.Learn(photo.amounts().Scaled(scale_ms_ + ms));
}

WayDone SiteDevice::Compute(const SitePhoto& photo, StartState state) {
  WayDone done;
  std::vector<Tensor> inputs{Input(photo, done)};
  const MissingParts missing = files_.Now(memory_).missing;
  Open(done.steps.load_ms);
  done.by_home = job_.pool && !session_->settled();
  RunReport report;
  const Stopwatch computing;
  done.outputs = session_->Run(inputs, {.cancel = job_.context.cancel, .report = &report});
  done.steps.compute_ms = computing.ms();
  GiveBack(photo, inputs, done);
  LearnPlan();
  if (report.retried) return done;  // twice computed, which tells nothing of either time
  auto& usual = done.by_home ? memory_.home : memory_.compute;
  if (state == StartState::kResident) {
    if (!HasLost()) usual.Learn(done.steps.compute_ms);
    return done;
  }
  // what the first run takes beyond others belongs to loading
  const double beyond = std::max(0.0, done.steps.compute_ms - usual.ms().value_or(done.steps.compute_ms));
  done.steps.load_ms += beyond;
  done.steps.compute_ms -= beyond;
  LearnLoad(memory_, state, missing, done.steps.load_ms);
  return done;
}

std::string SiteDevice::Scaled(const SitePhoto& photo, SiteSteps& steps,
                               std::optional<double>& scaled_bytes) {
  const Stopwatch watch;
  double ignored = 0;
  const Image scaled = Decoded(photo, ignored);
  const Stopwatch encoding;
  std::string ppm = PpmOf(scaled);
  memory_.small.Learn(encoding.ms());
  steps.preprocess_ms += watch.ms();
  scaled_bytes = double(ppm.size());
  return ppm;
}

}  // namespace mete::cli

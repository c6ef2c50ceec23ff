// The device's side of `mete run --site`.
#include <algorithm>
#include <span>

#include "image/scaled_picture.h"
#include "pictures.h"
#include "site_parts.h"

namespace mete::cli {
namespace {

double Mb(const std::string& photo) { return double(std::max<size_t>(photo.size(), 1)) * 1e-6; }

}  // namespace

Image SiteDevice::Decoded(const std::string& photo, double& ms) {
  const Stopwatch watch;
  Image image = DecodeImage(std::as_bytes(std::span(photo)), job_.picture);
  ms = watch.ms();
  serve::Learn(memory_.decode_ms_per_mb, ms / Mb(photo));
  return image;
}

void SiteDevice::Open(double& ms) {
  ms = 0;
  if (session_) return;
  const Stopwatch watch;
  session_ = job_.make_session();
  ms = watch.ms();
}

std::string SiteDevice::MeasureUnknown(const std::string& photo, std::optional<double>& scaled_bytes) {
  std::string measured;
  if (!memory_.decode_ms_per_mb || !memory_.scale_ms_per_mb || !memory_.small_ms || !scaled_bytes) {
    double ignored = 0;
    const Image image = Decoded(photo, ignored);
    const Stopwatch scaling;
    (void)MakeInput(image, job_.preprocess, job_.port.shape);
    serve::Learn(memory_.scale_ms_per_mb, scaling.ms() / Mb(photo));
    const Image scaled = ScaledPicture(image, job_.preprocess, job_.port.shape);
    const Stopwatch encoding;
    scaled_bytes = double(PpmOf(scaled).size());
    serve::Learn(memory_.small_ms, encoding.ms());
    measured = "the photo's steps";
  }
  if (memory_.load_ms && memory_.compute_ms) return measured;
  double open_ms = 0;
  Open(open_ms);
  const std::vector<Tensor> zeros{Tensor(job_.port.type, job_.port.shape)};
  const Stopwatch first;
  (void)session_->Run(zeros, {job_.context.cancel, nullptr});
  const double first_ms = first.ms();
  const Stopwatch second;
  (void)session_->Run(zeros, {job_.context.cancel, nullptr});
  memory_.compute_ms = second.ms();
  memory_.load_ms = open_ms + std::max(0.0, first_ms - *memory_.compute_ms);
  return measured + (measured.empty() ? "" : " and ") + "a session, which is resident now";
}

WayDone SiteDevice::Compute(const std::string& photo) {
  WayDone done;
  const Image image = Decoded(photo, done.steps.preprocess_ms);
  done.turned = TurnedText(image.exif_orientation);
  const Stopwatch scaling;
  const std::vector<Tensor> inputs{MakeInput(image, job_.preprocess, job_.port.shape)};
  serve::Learn(memory_.scale_ms_per_mb, scaling.ms() / Mb(photo));
  done.steps.preprocess_ms += scaling.ms();
  const bool was_resident = resident();
  Open(done.steps.load_ms);
  const Stopwatch computing;
  done.outputs = session_->Run(inputs, {job_.context.cancel, nullptr});
  done.steps.compute_ms = computing.ms();
  if (was_resident) {
    serve::Learn(memory_.compute_ms, done.steps.compute_ms);
    return done;
  }
  // what the first run takes beyond others belongs to loading
  const double beyond =
      std::max(0.0, done.steps.compute_ms - memory_.compute_ms.value_or(done.steps.compute_ms));
  done.steps.load_ms += beyond;
  done.steps.compute_ms -= beyond;
  serve::Learn(memory_.load_ms, done.steps.load_ms);
  return done;
}

std::string SiteDevice::Scaled(const std::string& photo, SiteSteps& steps,
                               std::optional<double>& scaled_bytes) {
  double decode_ms = 0;
  const Image image = Decoded(photo, decode_ms);
  const Stopwatch scaling;
  const Image scaled = ScaledPicture(image, job_.preprocess, job_.port.shape);
  serve::Learn(memory_.scale_ms_per_mb, scaling.ms() / Mb(photo));
  const double scale_ms = scaling.ms();
  const Stopwatch encoding;
  std::string ppm = PpmOf(scaled);
  serve::Learn(memory_.small_ms, encoding.ms());
  steps.preprocess_ms += decode_ms + scale_ms + encoding.ms();
  scaled_bytes = double(ppm.size());
  return ppm;
}

}  // namespace mete::cli

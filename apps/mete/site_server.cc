// The server's side of `mete run --site`.
#include <fmt/format.h>

#include <algorithm>

#include "image/scaled_picture.h"
#include "site_parts.h"

namespace mete::cli {
namespace {

// As a request waits for its answer (GiveUpMs): four times the usual time, and some more.
constexpr double kPatience = 4, kLeastPatienceMs = 250;
constexpr double kUnknownMs =
    2000;  // guess: the time of a model on a server before this device has measured it

serve::Deadline After(double ms) {
  return std::chrono::steady_clock::now() + std::chrono::microseconds(int64_t(std::min(ms, 1e9) * 1e3));
}

// The smallest picture that the settings take: what it takes is a round trip, and the server's time for the
// model.
std::string SmallestPicture(const Preprocess& p) {
  const bool is_cut = p.crop_width > 0 && p.resize_shorter == 0;
  return PpmOf(is_cut ? Image(p.crop_width, p.crop_height) : Image(1, 1));
}

double ServerMs(const serve::Reply& reply) { return reply.steps ? reply.steps->ms() : 0; }

// Puts the answer's tensors into the model's order. Returns why they are no answer of this model.
std::string Place(const Model& model, const serve::Reply& reply, std::vector<Tensor>& outputs) {
  for (const Port& port : model.outputs()) {
    const auto& all = reply.answer.outputs;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const serve::NamedTensor& t) { return t.name == port.name; });
    if (found == all.end() || found->is_bytes())
      return fmt::format("its answer has no output '{}'; its model is another one", port.name);
    const bool fits = (port.type == DType::kUnknown || found->tensor.type() == port.type) &&
                      (!port.shape.known() || found->tensor.shape() == port.shape);
    if (!fits)
      return fmt::format("its output '{}' is another one; got {} {}, expected {} {}", port.name,
                         Name(found->tensor.type()), ToString(found->tensor.shape()), Name(port.type),
                         ToString(port.shape));
    outputs.push_back(found->tensor);
  }
  return "";
}

std::string WhyNot(const serve::Reply& reply) {
  return reply.retry_after_s > 0
             ? fmt::format("{}; it may be asked again after {:g} s", reply.error, reply.retry_after_s)
             : reply.error;
}

}  // namespace

void SiteServer::LearnExchange(const serve::Reply& reply, double server_ms) {
  serve::Learn(memory_, {reply.sent_bytes, reply.received_bytes, std::max(0.0, reply.times.ms() - server_ms),
                         reply.times.connect_ms > 0 ? Connection::kCold : Connection::kIdle});
}

serve::Reply SiteServer::Infer(std::string picture, serve::Deadline deadline) {
  serve::NamedTensor input;
  input.name = job_.port.name;
  input.shape = {1};
  input.texts = {std::move(picture)};
  serve::InferRequest request;
  request.inputs.push_back(std::move(input));
  serve::Reply reply = client_.Infer(model_, request, deadline);
  if (!reply.ok()) return reply;
  LearnExchange(reply, ServerMs(reply));
  if (reply.steps) memory_.server.compute.Learn(reply.steps->compute_ms);
  return reply;
}

double PatienceMs(const NetworkLink& link) {
  return kPatience * link.late_ratio * (link.connect_ms + 2 * link.round_trip_ms) + kLeastPatienceMs;
}

std::string SiteServer::Ask(const NetworkLink& link) {
  const double patience_ms = PatienceMs(link);
  const serve::Deadline deadline = After(patience_ms);
  const serve::Reply there = client_.Health(deadline);
  if (!there.ok()) return WhyNot(there);
  LearnExchange(there, 0);
  wait_ms_ = there.load_ms.value_or(0);
  connect_ms_ = there.times.connect_ms;
  round_trip_ms_ = there.times.ms() - there.times.connect_ms;
  if (known()) return "";
  const serve::Reply reply = Infer(SmallestPicture(job_.preprocess), After(patience_ms + kUnknownMs));
  if (!reply.ok()) return WhyNot(reply);
  if (!reply.steps) return "it does not tell how long its steps take";
  memory_.server.small.Learn(reply.steps->decode_ms + reply.steps->scale_ms);
  return "";
}

std::string SiteServer::Compute(const SitePhoto& photo, std::string scaled, serve::Deadline deadline,
                                WayDone& done) {
  const bool is_raw = scaled.empty();
  const Stopwatch watch;
  const serve::Reply reply = Infer(is_raw ? photo.bytes : std::move(scaled), deadline);
  if (!reply.ok()) return WhyNot(reply);
  if (const std::string why = Place(job_.model, reply, done.outputs); !why.empty()) return why;
  const serve::ServerSteps steps = reply.steps.value_or(serve::ServerSteps{});
  done.steps.preprocess_ms += steps.decode_ms + steps.scale_ms;
  done.steps.compute_ms += steps.queue_ms + steps.compute_ms;
  done.steps.upload_ms += std::max(0.0, watch.ms() - steps.ms());
  if (!reply.steps) return "";
  if (is_raw) {
    serve::PhotoTimes& photos = memory_.server.photo[size_t(StartState::kResident)];
    photos.decode.Learn(photo.amounts().Decoded(steps.decode_ms));
    photos.scale.Learn(photo.amounts().Scaled(steps.scale_ms));
  } else {
    memory_.server.small.Learn(steps.decode_ms + steps.scale_ms);
  }
  return "";
}

}  // namespace mete::cli

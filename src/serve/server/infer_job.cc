#include "serve/server/infer_job.h"

#include <algorithm>
#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "serve/server/batch.h"

namespace mete::serve {
namespace {

// Batches of more rows are counted together, since callers choose the rows. This value is a guess.
constexpr int64_t kMostCountedRows = 1024;

double Us(Nanoseconds time) { return double(time) * 1e-3; }
Nanoseconds Ns(double us) { return Nanoseconds(us * 1e3); }

void Add(Duration& to, Nanoseconds time) {
  ++to.count;
  to.ns += time;
}

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void Fail(InferJob& job, Code code, const std::string& what) {
  Outcome outcome;
  outcome.code = code;
  outcome.error = what;
  outcome.steps = job.steps;
  job.End(std::move(outcome));
}

// Calls `what`. Returns false, after the job has its outcome, if it throws.
template <class What>
bool Try(InferJob& job, What&& what) {
  try {
    what();
    return true;
  } catch (const Error& error) {
    Fail(job, error.code(), error.what());
  } catch (const std::bad_alloc&) {
    Fail(job, Code::kResourceExhausted, "[server] there is no memory for this request; try a smaller one");
  } catch (const std::exception& error) {
    Fail(job, Code::kInternal, fmt::format("[server] {}", error.what()));
  }
  return false;
}

void MakeInputs(InferJob& job) {
  if (job.pictures.empty()) return;
  size_t bytes = 0;
  for (const std::string& picture : job.pictures) bytes += picture.size();
  const Nanoseconds start = NowNs();
  const std::vector<Image> images = job.loaded->model->Decode(job.pictures, job.most_pixels);
  const Nanoseconds decoded = NowNs();
  job.inputs = {job.loaded->model->Scale(images)};
  job.pictures.clear();
  job.steps.decode_us = Us(decoded - start);
  job.steps.scale_us = Us(NowNs() - decoded);
  job.loaded->HasPrepared(bytes, NowNs() - start);
}

NamedTensor Named(const std::string& name, Tensor tensor) {
  NamedTensor named;
  named.name = name;
  named.shape = tensor.shape();
  named.tensor = std::move(tensor);
  return named;
}

// The best classes of each row of the scores, as the classification extension has them: "score:index:label".
NamedTensor ClassTexts(const std::string& name, const Tensor& scores, int classes, const ServedModel& model) {
  const int64_t rows = scores.shape().rank() > 1 ? scores.shape()[0] : 1;
  NamedTensor named;
  named.name = name;
  for (int64_t row = 0; row < rows; ++row)
    for (const Ranked& ranked : Rank(RowOf(scores, row, rows).view(), classes, false, model.labels()))
      named.texts.push_back(fmt::format("{:f}:{}{}{}", ranked.score, ranked.index,
                                        ranked.label.empty() ? "" : ":", ranked.label));
  const int64_t each = rows > 0 ? int64_t(named.texts.size()) / rows : 0;
  named.shape = scores.shape().rank() > 1 ? Shape{rows, each} : Shape{each};
  return named;
}

std::vector<NamedTensor> OutputsOf(const InferJob& job, const std::vector<Tensor>& outputs) {
  const ServedModel& model = *job.loaded->model;
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < job.outputs.size(); ++i) {
    const Tensor& output = outputs[job.outputs[i]];
    const std::string& name = model.outputs()[job.outputs[i]].name;
    const RequestedOutput* asked = job.request.outputs.empty() ? nullptr : &job.request.outputs[i];
    named.push_back(asked && asked->classes > 0
                        ? ClassTexts(name, NumbersOf(model.outputs()[job.outputs[i]], output),
                                     int(std::min<int64_t>(asked->classes, output.elements())), model)
                        : Named(name, output));
    named.back().binary = asked ? asked->binary : job.request.binary_outputs;
  }
  return named;
}

std::vector<NamedTensor> ClassesOf(const InferJob& job, const std::vector<Tensor>& outputs) {
  const ServedModel& model = *job.loaded->model;
  const size_t at = size_t(model.classified());
  const Tensor scores = NumbersOf(model.outputs()[at], outputs[at]);
  const std::vector<Ranked> best = Rank(scores.view(), job.classes, model.softmax(), model.labels());
  const Shape shape{int64_t(best.size())};
  Tensor index(DType::kI64, shape), score(DType::kF32, shape);
  NamedTensor names;
  names.name = "class";
  names.shape = shape;
  for (size_t i = 0; i < best.size(); ++i) {
    index.mutable_view().as<int64_t>()[i] = best[i].index;
    score.mutable_view().as<float>()[i] = float(best[i].score);
    names.texts.push_back(best[i].label.empty() ? std::to_string(best[i].index) : best[i].label);
  }
  return {std::move(names), Named("index", std::move(index)), Named("score", std::move(score))};
}

void Answer(InferJob& job, const std::vector<Tensor>& outputs) {
  const Nanoseconds computed = NowNs();
  Outcome outcome;
  outcome.answer.model = job.loaded->name;
  outcome.answer.version = job.loaded->version;
  outcome.answer.id = job.request.id;
  outcome.answer.outputs = job.wanted == Wanted::kClasses ? ClassesOf(job, outputs) : OutputsOf(job, outputs);
  outcome.steps = job.steps;
  job.output = NowNs() - computed;
  job.End(std::move(outcome));
}

// Gives each job its outcome, of which the outputs are those of all. Returns the time of computing.
Nanoseconds AnswerAll(const Jobs& jobs, const std::vector<Tensor>& outputs, Nanoseconds compute,
                      Loaded& loaded) {
  loaded.Count([&](ModelStatistics& counts) {
    ++counts.executions;
    Add(counts.batches[std::min(RowsOfAll(jobs), kMostCountedRows)].compute, compute);
  });
  int64_t first = 0;
  for (const auto& job : jobs) {
    job->steps.compute_us = Us(compute);
    Try(*job, [&] { Answer(*job, jobs.size() == 1 ? outputs : RowsOf(outputs, first, job->rows)); });
    first += job->rows;
  }
  return compute;
}

// Computes a job alone and gives it its outcome. Returns the time of computing; 0: it failed.
Nanoseconds RunAlone(const Start& start, std::unique_ptr<InferJob>& job, Loaded& loaded) {
  std::vector<Tensor> outputs;
  const Nanoseconds began = NowNs();
  if (!Try(*job, [&] { outputs = loaded.model->Run(start.slot, start.wide, job->inputs); })) return 0;
  const Nanoseconds compute = NowNs() - began;
  Jobs one;
  one.push_back(std::move(job));
  return AnswerAll(one, outputs, compute, loaded);
}

// Computes several jobs as one batch. Returns nothing, and gives no job its outcome, if that fails, or if an
// output has not the batch's rows: one request may be at fault, or the model, whose outputs cannot be
// divided.
std::optional<Nanoseconds> RunTogether(const Start& start, const Jobs& jobs, Loaded& loaded) {
  std::vector<Tensor> outputs;
  const Nanoseconds began = NowNs();
  try {
    outputs = loaded.model->Run(start.slot, start.wide, Joined(jobs));
  } catch (const std::exception&) {
    return std::nullopt;
  }
  if (!HaveRows(outputs, RowsOfAll(jobs))) return std::nullopt;
  return AnswerAll(jobs, outputs, NowNs() - began, loaded);
}

// Gives each job its outcome. Returns the time of computing; 0: it failed, or says nothing about the model.
Nanoseconds RunJobs(const Start& start, Jobs& jobs, Loaded& loaded) {
  const size_t begun = jobs.size();
  std::erase_if(jobs, [](const auto& job) { return !Try(*job, [&] { MakeInputs(*job); }); });
  if (jobs.empty()) return 0;
  if (jobs.size() == 1 && begun == 1) return RunAlone(start, jobs[0], loaded);
  if (jobs.size() > 1)
    if (const std::optional<Nanoseconds> together = RunTogether(start, jobs, loaded))
      return jobs.size() == begun ? *together : 0;
  for (auto& job : jobs) RunAlone(start, job, loaded);
  return 0;
}

}  // namespace

Outcome OutcomeOf(const Error& error) {
  Outcome outcome;
  outcome.code = error.code();
  outcome.error = error.what();
  return outcome;
}

Outcome OutcomeOf(Refusal why, double retry_after_s) {
  Outcome outcome;
  outcome.retry_after_s = retry_after_s;
  switch (why) {
    case Refusal::kFull:
      outcome.code = Code::kResourceExhausted;
      outcome.retry_after_s = std::max(retry_after_s, 1e-3);  // 0 would say that the request is too large
      outcome.error = "[server] as many requests wait as may; try again later, or another server";
      break;
    case Refusal::kTooLate:
      outcome.code = Code::kDeadlineExceeded;
      outcome.error = "[server] the answer would be later than the request's deadline; try a longer one";
      break;
    case Refusal::kGone:
      outcome.code = Code::kCancelled;
      outcome.error = "[server] the caller has gone";
      break;
    default:
      outcome.code = Code::kUnavailable;
      outcome.error = "[server] it is ending and takes no more requests; try another server";
  }
  return outcome;
}

void CountRefused(Metrics& metrics, const std::string& model, const std::string& version, Code code) {
  RequestFigures figures;
  figures.model = model;
  figures.version = version;
  figures.code = code;
  metrics.Count(figures);
}

void InferJob::End(Outcome&& outcome) {
  const Nanoseconds whole = NowNs() - arrived;
  const bool refused = outcome.code == Code::kUnavailable || outcome.code == Code::kDeadlineExceeded ||
                       outcome.code == Code::kCancelled || outcome.retry_after_s > 0;
  loaded->Count([&](ModelStatistics& counts) {
    counts.last_inference_ms = NowMs();
    if (outcome.code != Code::kOk) {
      if (!refused) Add(counts.fail, whole);
      return;
    }
    counts.inferences += std::max<int64_t>(rows, 1);
    Add(counts.success, whole);
    Add(counts.queue, Ns(steps.queue_us));
    Add(counts.input, Ns(steps.decode_us + steps.scale_us));
    Add(counts.compute, Ns(steps.compute_us));
    Add(counts.output, output);
  });
  loaded->metrics.Count(RequestFigures{loaded->name, loaded->version, outcome.code, steps.queue_us * 1e-6,
                                       steps.decode_us * 1e-6, steps.scale_us * 1e-6, steps.compute_us * 1e-6,
                                       double(whole) * 1e-9});
  done(std::move(outcome));
}

Computed ComputeJobs(const Start& start, std::vector<std::unique_ptr<Job>> given) {
  const Nanoseconds began = NowNs();
  const int count = int(given.size());
  Jobs jobs;
  for (auto& job : given) {
    std::unique_ptr<InferJob> infer(static_cast<InferJob*>(job.release()));
    infer->steps.queue_us = Us(began - infer->arrived);
    jobs.push_back(std::move(infer));
  }
  const std::shared_ptr<Loaded> loaded = jobs[0]->loaded;
  const Nanoseconds compute = RunJobs(start, jobs, *loaded);
  loaded->metrics.Count(
      StartFigures{loaded->name, count, start.slot, start.wide, double(NowNs() - began) * 1e-9});
  return {compute, loaded};
}

}  // namespace mete::serve

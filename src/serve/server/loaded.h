// A version of a model in a server: the model, its number for the scheduler, its figures.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>

#include "serve/metrics/metrics.h"
#include "serve/server/served_model.h"
#include "serve/server/server.h"
#include "serve/server/slots.h"

namespace mete::serve {

class Loaded {
 public:
  // Warms the model up and makes it known to the slots and the metrics, which must outlive this object.
  Loaded(std::string name, std::string version, std::unique_ptr<ServedModel> model,
         const ModelSettings& settings, Slots& slots, Metrics& metrics)
      : name(std::move(name)),
        version(std::move(version)),
        model(std::move(model)),
        metrics(metrics),
        times(this->model->WarmUp(settings, slots)),
        number(slots.AddModel(times)),
        slots_(slots),
        deadline_(Nanoseconds(settings.deadline_ms) * 1000000) {
    metrics.AddVersion(this->name, this->version);
    statistics_.name = this->name;
    statistics_.version = this->version;
  }
  ~Loaded() { slots_.RemoveModel(number); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  // The deadline of a request that has none of its own; 0: none.
  Nanoseconds DeadlineAfter(Nanoseconds arrived) const { return deadline_ > 0 ? arrived + deadline_ : 0; }

  // How long pictures of so many bytes take to decode and scale, after those before them; 0: not known.
  Nanoseconds PreparingOf(size_t bytes) const {
    const std::lock_guard lock(mutex_);
    return prepared_bytes_ > 0
               ? Nanoseconds(double(AtLeast(bytes)) * double(preparing_) / double(prepared_bytes_))
               : 0;
  }
  void HasPrepared(size_t bytes, Nanoseconds time) {
    const std::lock_guard lock(mutex_);
    prepared_bytes_ += AtLeast(bytes);
    preparing_ += time;
  }

  template <class Change>
  void Count(Change&& change) {
    const std::lock_guard lock(mutex_);
    change(statistics_);
  }
  ModelStatistics statistics() const {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

  const std::string name, version;
  const std::unique_ptr<ServedModel> model;
  Metrics& metrics;
  const ModelTimes times;  // as measured when it was loaded
  const int number;        // the scheduler's

 private:
  // Small pictures take a time of their own, which is not that of their bytes: one of a pixel would make a
  // photo take minutes. Guess: it is at most that of a file of this size.
  static int64_t AtLeast(size_t bytes) { return std::max<int64_t>(int64_t(bytes), 1 << 20); }

  Slots& slots_;
  const Nanoseconds deadline_;
  mutable std::mutex mutex_;
  ModelStatistics statistics_;
  int64_t prepared_bytes_ = 0;
  Nanoseconds preparing_ = 0;
};

}  // namespace mete::serve

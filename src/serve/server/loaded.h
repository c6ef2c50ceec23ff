// A version of a model in a server: the model, its number for the scheduler, its counts.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "serve/server/served_model.h"
#include "serve/server/server.h"
#include "serve/server/slots.h"

namespace mete::serve {

class Loaded {
 public:
  // Warms the model up and makes it known to the slots, which must outlive this object.
  Loaded(std::string name, std::string version, std::unique_ptr<ServedModel> model,
         const ModelSettings& settings, Slots& slots)
      : name(std::move(name)),
        version(std::move(version)),
        model(std::move(model)),
        times(this->model->WarmUp(settings)),
        deadline_(Nanoseconds(settings.deadline_ms) * 1000000),
        slots_(slots),
        number(slots.AddModel(times)) {
    statistics_.name = this->name;
    statistics_.version = this->version;
  }
  ~Loaded() { slots_.RemoveModel(number); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  // The deadline of a request that has none of its own; 0: none.
  Nanoseconds DeadlineAfter(Nanoseconds arrived) const { return deadline_ > 0 ? arrived + deadline_ : 0; }

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
  const ModelTimes times;  // as measured when it was loaded

 private:
  const Nanoseconds deadline_;
  Slots& slots_;

 public:
  const int number;  // the scheduler's

 private:
  mutable std::mutex mutex_;
  ModelStatistics statistics_;
};

}  // namespace mete::serve

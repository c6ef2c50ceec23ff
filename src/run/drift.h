// How far what is measured lies from what was predicted, for long: single requests are others' noise.
#pragma once

#include <cmath>

namespace mete {

class ProcessorDrift {
 public:
  void Add(double measured_us, double predicted_us) {
    const double ratio = measured_us / predicted_us;
    ratio_ = samples_ == 0 ? ratio : ratio_ + kSmoothing * (ratio - ratio_);
    ++samples_;
  }
  bool Measured() const { return samples_ >= kSamples; }
  bool Lasts() const { return Measured() && std::abs(std::log(ratio_)) > std::log(kMost); }
  double ratio() const { return Measured() ? ratio_ : 1; }  // measured beside predicted

 private:
  static constexpr double kSmoothing = 0.1;  // the last ten requests or so; guess
  static constexpr int kSamples = 30;        // before it is believed; guess
  static constexpr double kMost = 1.25;      // times longer or shorter: less is noise. Guess

  double ratio_ = 1;
  int samples_ = 0;
};

}  // namespace mete

// Usual times of requests, and their lasting drift from predictions; the times of single requests are noise.
#pragma once

#include <cmath>

namespace mete {

// Returns the usual time after one more measured time: an average over some ten requests. Guess.
inline double Smoothed(double usual, double measured) { return usual + 0.1 * (measured - usual); }

class ProcessorDrift {
 public:
  void Add(double measured_us, double predicted_us) {
    const double ratio = measured_us / predicted_us;
    ratio_ = samples_ == 0 ? ratio : Smoothed(ratio_, ratio);
    ++samples_;
  }
  bool Measured() const { return samples_ >= kSamples; }
  bool Lasts() const { return Measured() && std::abs(std::log(ratio_)) > std::log(kMost); }
  double ratio() const { return Measured() ? ratio_ : 1; }  // measured beside predicted

 private:
  static constexpr int kSamples = 30;    // requests before the drift is believed; guess
  static constexpr double kMost = 1.25;  // times longer or shorter: less is noise. Guess

  double ratio_ = 1;
  int samples_ = 0;
};

}  // namespace mete

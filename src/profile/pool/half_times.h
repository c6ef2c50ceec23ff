// What about half of each layer takes on a processor, measured again where a moment was a bad one.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plan/pool/layer_costs.h"

namespace mete {

struct HalfTimes {
  LayerHalves halves;
  std::vector<double> us;  // by layer
};

// Measures halves: returns what each layer's half takes, by layer.
using MeasureHalves = std::function<std::vector<double>(const LayerHalves&)>;

// Returns the time of all halves as a multiple of these parts of the layers' times; 1 where no layer is
// halved. Example: a layer of 100 us whose half takes 60 us gives 1.2. `layers_us`: by layer.
double ExtraOfHalves(const HalfTimes& times, std::span<const double> layers_us);

// Measures halves again that took longer than they do while nothing else uses the processor, and keeps the
// shorter time of each layer. Other programs use a processor for seconds: call this function some time after
// the first measurement.
void MeasureDearHalvesAgain(HalfTimes& times, std::span<const double> layers_us,
                            const MeasureHalves& measure);

}  // namespace mete

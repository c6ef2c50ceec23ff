// Which layers stay in floats, so that no more answers change than are permitted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "quantize/quantize.h"

namespace mete {

// The layers that can stay in floats, the one first whose 8 bits cost most: without them the answers on the
// calibration's samples are the nearest to those in floats.
std::vector<std::string> LayersByHarm(const Calibration& calibration, const QuantizeOptions& options,
                                      const Runs& runs);

// Returns the least k from 0 to `most` for which points(k) <= budget, if points() falls with k; nothing if
// points(most) is above the budget. Asks for 0, 1, 2, 4, ... and then halves the last step.
std::optional<size_t> LeastKept(size_t most, double budget, const std::function<double(size_t)>& points);

struct Budgeted {
  Quantized quantized;
  std::vector<std::string> kept;
  Changed changed;  // on the holdout
};
// Returns the 8-bit form with the fewest layers in floats for which at most `budget` points of the pictures
// in `holdout` change their class. At most half of the layers stay in floats. Error FAILED_PRECONDITION if
// that is not enough; the message tells the best that was found. Error INVALID_ARGUMENT if no output has
// classes.
Budgeted QuantizeWithin(double budget, const Calibration& calibration, const QuantizeOptions& options,
                        const Samples& holdout, const Runs& runs);

}  // namespace mete

// The figures of a server of models, as its metrics tell them (serve/metrics).
#pragma once

#include <string>
#include <vector>

#include "top/figures.h"
#include "top/metric_text.h"

namespace mete::top {

// `source` names the server in errors and in the view, `at_s` is when the samples came. A value that is
// negative or no number is left out. Error DATA_LOSS if the samples are not those of a server of Mete.
Figures ServerFiguresOf(const std::vector<MetricSample>& samples, const std::string& source, double at_s);

}  // namespace mete::top

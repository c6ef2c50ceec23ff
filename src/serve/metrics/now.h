// What is now, as families of prometheus-cpp: they have no state beside the figures.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "serve/metrics/metrics.h"

namespace mete::serve {

std::vector<prometheus::MetricFamily> FamiliesOf(const ServerFigures& now, const std::string& version);

}  // namespace mete::serve

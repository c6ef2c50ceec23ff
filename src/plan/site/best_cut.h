// The best way with a part of the layers on the device and a part on the server.
#pragma once

#include "plan/site/ways.h"

namespace mete {

// Returns whether one way is better for an objective. Ways that cannot be are worse than all, with energy
// also those whose joules are not known, and with a deadline those that are late; of two late ones the sooner
// is better.
bool IsBetter(const SiteWay& a, const SiteWay& b, const SiteObjective& objective);

// Returns the best of these cuts: every one between two layers; and the cheapest cuts, by prices that are the
// objective where it is a sum (latency on a warm connection, energy), and by several prices of time and bytes
// otherwise, of which the best one is improved by moving single layers. Where the objective is a sum, no cut
// of any kind is better. Its why_not says why not, if there is none. `why_none`: why none is searched for;
// empty: one is.
SiteWay BestCut(const SiteModel& model, const SiteObjective& objective, const std::string& why_none);

}  // namespace mete

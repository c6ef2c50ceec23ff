// What `mete plan --processors --explain` tells beside the plan: what each link carries, and why devices have
// no part.
#pragma once

#include <string>

#include "context.h"
#include "planned_pool.h"

namespace mete::cli {

std::string ExplainDevices(const PlannedPool& planned);  // tables

// What is sent before each group, and behind the last one to the caller: of each a list of from, to, bytes
// and what the link takes.
Json SentJson(const PlannedPool& planned);

}  // namespace mete::cli

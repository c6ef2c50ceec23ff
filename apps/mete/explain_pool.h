// The additions of `mete plan --processors --explain` to the plan: how long processors wait in each group and
// what other ways for it would take, by which kernels its shares are computed, what each link carries, and
// why processors have no part.
#pragma once

#include <string>

#include "context.h"
#include "mete/pool.h"

namespace mete::cli {

// Returns what processors cannot compute, and why, as lines of text.
std::string LacksText(const PoolPlan& plan);

std::string ExplainPool(const PoolPlan& plan);  // returns tables as text

// Returns the transfers before each group, and those to the caller after the last group: for each a list of
// from, to, bytes and the time on the link.
Json SentJson(const PoolPlan& plan);

// Returns for each group the kernels of its shares: a list of processor and kernels, each with its name and
// how many times it runs.
Json KernelsJson(const PoolPlan& plan);

}  // namespace mete::cli

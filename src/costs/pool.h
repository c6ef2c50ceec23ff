// The costs of a model's layers on several processors and of the links between them, as a value from any
// source. The layers are those of partition/layers.h, each measured or estimated separately and without
// fusion, as in Legion's predictor (systems.md, 3).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mete {

struct ProcessorPower;  // machine/pool_file.h

// A link of a processor: to the network that all devices share, or to the memory of its device. A processor
// can send and receive at the same time, and the traffic of other processors does not slow its own.
struct LinkCosts {
  double latency_us = 0;  // from sending a message until its first byte arrives
  double message_us = 0;  // work of sender and receiver for each message of any size
  double up_mbit_per_s = 0, down_mbit_per_s = 0;

  bool operator==(const LinkCosts&) const = default;
};

struct LayerCost {
  double us = 0;        // the whole layer, on this processor alone
  double least_us = 0;  // lower bound for a share of any number of rows; at most `us`
  // the same bound for a share of channels, which reads only its part of the weights; nothing: the bound for
  // rows
  std::optional<double> least_by_channels_us = {};
  // why the processor cannot compute the layer, whose times are 0 then; empty: it can
  std::string why_not = {};

  bool can() const { return why_not.empty(); }
  bool operator==(const LayerCost&) const = default;
};

LayerCost Scaled(const LayerCost& cost, double by);  // all times of it

// The power that a processor takes from its battery or socket.
struct PowerCosts {
  double idle_w = 0;                                              // while it is on and without work
  double compute_w = 0;                                           // in addition, while it computes
  double sent_joules_per_byte = 0, received_joules_per_byte = 0;  // of its link, in addition to idle_w

  bool operator==(const PowerCosts&) const = default;
};

PowerCosts PowerCostsOf(const ProcessorPower& power);

// The memory that a processor shares with other processors of one worker. The worker hands pieces between
// them over in its process, and its network does not see them.
struct MemoryLink {
  std::string device;  // the worker's name: processors with the same one share the memory
  LinkCosts link;      // of the processor to the memory

  bool operator==(const MemoryLink&) const = default;
};

// By how much other processors slow this one that compute at the same time and use the same memory, as a CPU
// and a GPU of one chip do. The times of layers are those of the processor alone.
struct CoRun {
  std::string memory;  // its device: processors with the same one slow each other
  double slowed = 1;   // times as long its shares take while another of these processors computes; 1 or more

  bool operator==(const CoRun&) const = default;
};

struct ProcessorCosts {
  std::string name;
  LinkCosts link;  // to the home: over the network, of a processor of the home's own device over its memory
  std::vector<LayerCost> layers;
  std::optional<PowerCosts> power = {};  // nothing: unknown; plans for the least energy need it
  // time of each share that the processor computes, beside the share's layers, such as the launch on a GPU
  double share_us = 0;
  // cores, CPU and instruction set that were measured, in the worker's words; empty: not known, or a
  // processor of this process, whose profile is found by them
  std::string hardware = {};
  // nothing: its device has no other processor in the pool, or is the home's, whose memory `link` is a link
  // to
  std::optional<MemoryLink> memory = {};
  std::optional<CoRun> co_run = {};  // nothing: no other processor of the pool slows it
  // The hardware that it shares with other processors of the pool, of which one computes at a time, as those
  // of one GPU in f32 and in f16 do; empty: it has its own.
  std::string unit = {};
};

// Returns whether a processor can compute all of the layers [first, last).
bool CanCompute(const ProcessorCosts& processor, size_t first, size_t last);

struct PoolCosts {
  std::vector<ProcessorCosts>
      processors;  // the first is the caller's own: it has the inputs and gets the outputs
};

std::vector<std::string> NamesOf(const PoolCosts& costs);  // of the processors, in their order

// Returns the first processor that is the same hardware (ProcessorCosts::unit); the processor itself, if no
// other one is.
int FirstOfUnit(const PoolCosts& costs, int processor);
// Returns whether the processors can compute at the same time: no two of them are the same hardware. A group
// has parts on such processors alone.
bool CanShareGroup(const PoolCosts& costs, std::span<const int> processors);

// Returns what all layers take if a processor computes those that it can, and the home the others.
double UsWithHome(const PoolCosts& costs, int processor);

// Returns costs in which each layer, share and message takes 0 us, and links carry 1 Mbit/s. A session has
// them until its keeper has measured the processors.
PoolCosts WithoutTimes(const std::vector<std::string>& names, size_t layers);

enum class LinkKind { kNetwork, kMemory };
inline constexpr size_t kLinkKinds = 2;

// The way of a piece from one processor to another through their lowest common node in the tree of site,
// devices and processors: the memory of a worker that has both, otherwise the network (for two processors of
// the home's device its memory, which has no other link in PoolCosts).
struct LinksBetween {
  LinkKind kind;
  const LinkCosts &out, &in;  // of the sender, of the receiver
};
LinksBetween LinkBetween(const ProcessorCosts& from, const ProcessorCosts& to);  // references into both

// Returns a link that is at least as good as any that LinkBetween() may use of the processor, and as all of
// them together, for lower bounds.
LinkCosts BestLinkOf(const ProcessorCosts& processor);

// Computes the times of shares that begin together: `us` has the time of each of these processors alone, and
// gets the time with the others. A processor is slowed (CoRun) as long as another of its memory computes; it
// then goes on at its own speed. For example, of 10 us and 4 us with a factor of 1.5 on both sides the second
// takes 6 us, in which the first does 4 us of its work, so that it is done after 12 us. No time decreases if
// one of `us` increases. A share that takes for ever, because its processor lacks a layer, slows no other.
void SlowTogether(const PoolCosts& costs, std::span<const int> processors, std::span<double> us);

// Throws one Error that lists all contradictions: no processors, two processors of one name, lists without
// one figure per layer, times, rates, watts or joules that are negative or not finite, a rate of 0, a home
// with the memory of a worker, a processor that others make faster, a home that lacks a layer.
void Verify(const PoolCosts& costs, size_t layers);

}  // namespace mete

// The processors of a site that a model may be divided over, as a file lists them: a tree of devices and
// their processors. A loop cannot be written: a processor's table stands inside of its device's, a device's
// table inside of the site, and no key names a parent. The devices are either all there or all described.
//
// Devices that are there have the addresses of workers, and the keys by which they trust the caller. Their
// links have no keys, because they are measured (mete profile): the site is the network between the devices,
// and a device is the memory between its processors. A TOML file:
//
//     name = "Two boards and a laptop"
//     # this device's certificate and key, made by `mete keys make`; beside this file
//     keys = "keys/laptop"
//     # token = "token"                # or a file with the token that all share, on a closed network
//     # insecure = true                # or neither; a file without addresses has none of the three
//     [[device]]
//     name = "laptop"                  # the first device is the caller's own: without an address
//     [[device.processor]]             # without any, a device is one processor: its CPU, with all cores
//     name = "big"                     # the first processor is the home: it has the inputs, and gets the outputs
//     cores = "0-3"
//     [[device.processor]]
//     name = "gpu"
//     kind = "emulated"                # "cpu", where it is left out
//     cores = "4"                      # no other processor's: those that compute, or that start its shares
//     speed = 0.5                      # of the cores, emulated by stretching time
//     launch_us = 50                   # a key of this kind: processor/emulated/emulated.h
//     [[device.processor]]             # may be there once more with another type: groups are computed by either
//     name = "gpu-f16"
//     kind = "gpu"
//     device = "gpu:0"
//     type = "f16"
//     [[device]]
//     name = "pi-1"                    # what its certificate says
//     address = "192.168.1.20:7077"    # HOST:PORT
//     # For plans with the least energy, of every device or none: what it takes from its socket or battery on
//     # and without work, how much more while it computes, and, if you know it, what a byte costs on its link.
//     idle_w = { value = 2.5, source = "..." }
//     compute_w = { value = 3.5, source = "..." }
//     sent_nj_per_byte = { value = 5, source = "..." }
//     received_nj_per_byte = { value = 5, source = "..." }
//     [[device.processor]]             # may be left out: all processors that the worker offers when it is measured
//     name = "cpu:4-5"                 # as `mete worker --processors` there names it
//
// Described devices (boards/rk3399x6.toml) have machine files instead, to plan for them and to simulate them.
// Each is one processor, and every figure names its source:
//
//     name = "Two boards"
//     [[device]]                                       # the first device is the caller's own
//     name = "board"                                   # with count = 2 the names are board-1 and board-2
//     count = 2                                        # optional
//     machine = "rk3399.toml"                          # a path relative to this file
//     # time from sending a message until its first byte arrives: half of a ping
//     latency_us = { value = 200, source = "..." }
//     message_us = { value = 100, source = "..." }     # work of sender and receiver for each message
//     up_mbit_per_s = { value = 94, source = "..." }   # throughput of the link that programs reach
//     down_mbit_per_s = { value = 94, source = "..." }
//     # optional: power of the whole board without work (default: the idle_w of its clusters), and energy per
//     # byte on its link
//     idle_w = { value = 2, source = "..." }
//     sent_nj_per_byte = { value = 5, source = "..." }
//     received_nj_per_byte = { value = 5, source = "..." }
#pragma once

#include <any>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "machine/file.h"

namespace mete {

class TomlKeys;  // machine/toml_keys.h

struct ProcessorPower {
  Figure idle_w, compute_w;                       // compute_w is in addition to idle_w
  Figure sent_nj_per_byte, received_nj_per_byte;  // 0 without a source if the file has no such key
};

// Reads these keys of a device that is there; nothing: its table has none of them.
std::optional<ProcessorPower> ReadPower(TomlKeys& keys);

struct ProcessorEntry {
  std::string name;
  // ascending; empty: all that the process may use. Of a kind without `has_cores` the core of the thread that
  // starts its shares; empty: any
  std::vector<int> cores;
  double speed = 1;  // emulated
  std::string kind = "cpu";
  std::any settings = {};  // the values of the kind's own keys, in a type of the kind's own
  // the settings that change times, as a text; a pool with others is measured anew
  std::string timed_settings = {};
  bool has_cores = true;  // whether it computes on cores: `cores`, or all that the process may use
  // The hardware that it has as a whole, such as "gpu:0"; empty: cores. Entries of a device with the same one
  // compute in turn.
  std::string unit = {};
};

// A kind of processor that a file may name.
struct KindInFile {
  std::string name;
  // Reads the keys that only this kind has into both settings of the entry; null: it has none.
  void (*read)(TomlKeys& keys, ProcessorEntry& entry);
};

// A device that is not present: a machine file, and a link to the other devices.
struct DescribedDevice {
  int machine = 0;  // index into PoolFile::machines
  Figure latency_us, message_us, up_mbit_per_s, down_mbit_per_s;
  std::optional<Figure> idle_w;                   // nothing: the sum of its clusters' idle_w
  Figure sent_nj_per_byte, received_nj_per_byte;  // 0 without a source if the file has no such key
};

struct DeviceInPool {
  std::string name;
  std::string address;  // empty: this device
  // the processors of this device; empty: one, with all cores. For a worker the names of those of its
  // processors that are used; empty: all that it offers, and if it offers one, this one has the worker's name
  std::vector<ProcessorEntry> processors;
  std::optional<ProcessorPower> power;  // nothing: not known, or described
  std::optional<DescribedDevice> described = {};
};

inline constexpr int kMostDevices = 1000;       // this value is a guess: hundreds are simulated
inline constexpr double kMostWatts = 1000;      // this value is a guess, the same as in machine files
inline constexpr double kMostNanojoules = 1e6;  // per byte; a guess: radios of sensors take some thousands

struct PoolFile {
  std::string name;
  std::string keys, token;  // paths as they are to be opened; empty: none
  bool insecure = false;
  std::vector<DeviceInPool> devices;       // the first one is the caller's own; one with a count is that many
  std::vector<MachineFile> machines = {};  // of described devices

  // Whether the devices are not there.
  bool described() const { return !devices.empty() && devices[0].described.has_value(); }
};

// Returns the name of a processor in its pool: its own name, or "worker/processor" for a processor of a
// worker.
std::string NameInPool(const DeviceInPool& device, const ProcessorEntry& processor);

// Returns the names of a pool's processors in the order in which costs have them: the home's first.
std::vector<std::string> NamesOf(const PoolFile& pool);

// Returns whether the file has devices rather than one machine. Error if it is no TOML.
bool DescribesDevices(const std::string& path);

// Reads a pool file. `kinds` are the kinds that the file may name; ReadPool() of processor/make knows all.
// Throws one Error with all problems of the file.
PoolFile ReadPoolFile(const std::string& path, std::span<const KindInFile> kinds);

// Returns the pool of some processors of this device that a list names: "cpu:0,cpu:1" or "cpu:0-3,gpu";
// "cpu" has all cores, and machine/gpu_entry.h has the names of GPUs. Error if the text is no such list.
PoolFile PoolOfList(const std::string& list);
// Returns whether a text is meant as such a list rather than as a file's name.
bool IsProcessorList(const std::string& text);

// Returns for each processor, in the order of NamesOf(), the hardware that it shares with other processors of
// the pool, of which one computes at a time ("here/gpu:0"); "" for the others. Of a worker's processors their
// names say it (machine/gpu_entry.h).
std::vector<std::string> UnitsOf(const PoolFile& pool);

// Returns a text if one of `others`, of the same device, is the same processor as the entry: a GPU in the
// same type. "": none is.
std::string WhyTwice(const ProcessorEntry& entry, std::span<const ProcessorEntry> others);

// Throws one Error with all problems that the pool has on this machine: cores that are not there or not
// allowed, and cores that two processors share.
void CheckCores(const PoolFile& pool, const std::vector<int>& allowed);

// Gives each of a device's processors without cores of its own, such as a GPU, a core on which no other one
// computes, if there is one: the thread that starts its shares and waits for them would otherwise take turns
// with a CPU's. Entries of the same hardware get the same core. On cores 0 to 3, for example, the GPU of
// "cpu:0,cpu:1,gpu" gets core 2.
std::vector<ProcessorEntry> WithCallerCores(std::vector<ProcessorEntry> processors,
                                            const std::vector<int>& allowed);

}  // namespace mete

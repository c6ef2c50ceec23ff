// A site as a file describes it: a device, a server behind a link, what a photo's steps take, and what the
// model's states cost. Everything that is measured names its source. A TOML file:
//
//     name = "A phone and a server over LTE"
//     device = "phone.toml"                   # a machine file, or a pool's file with described devices; relative to this file;
//                                             # may be left out where the device is this one (`mete run --site`)
//     [server]                                # may be left out: then the device computes
//     machine = "server.toml"                 # a machine file, to plan for it; the server computes with all of its cores
//     address = "192.168.1.20:8080"           # HOST:PORT of `mete serve`, to ask it; one of both, or both
//     worker = "192.168.1.20:7077"            # optional, of an address: of its worker, which computes its part of a cut
//     model = "resnet18"                      # optional: its name there; the name of the model's file
//     keys = "keys/phone"                     # optional, of an address: TLS, a folder of `mete keys make`; relative to this file
//     token = "token"                         # optional, of an address: a file with what the server asks for
//     wait_ms = { value = 3, source = "..." } # optional: until it begins with a request; 0
//     load_ms = { value = 0, source = "..." } # optional: if it has to load the model first; 0
//     [link]                                  # of a server
//     profile = "lte"                         # of costs/network_link.h; its figures hold unless there is one here
//     connection = "cold"                     # warm, idle or cold; optional: warm
//     connect_ms = { value = 120, source = "..." }
//     round_trip_ms = { value = 60, source = "..." }
//     up_mbit_per_s = { value = 5.85, source = "..." }
//     down_mbit_per_s = { value = 20, source = "..." }
//     late_ratio = { value = 2, source = "..." }
//     [power]                                 # of a device that is this one, for `mete run --site --objective energy`; may be left out
//     idle_w = { value = 1.5, source = "..." }            # awake and without work
//     compute_w = { value = 3, source = "..." }           # in addition, while it computes
//     sent_nj_per_byte = { value = 100, source = "..." }  # optional: of its radio, in addition; 0
//     received_nj_per_byte = { value = 60, source = "..." }
//     [photo]                                 # may be left out: requests are tensors
//     file_bytes = { value = 1500000, source = "..." }
//     scaled_bytes = { value = 150528, source = "..." }
//     [photo.device]                          # each figure may be left out, where it is not known
//     decode_ms = { value = 60, source = "..." }
//     scale_ms = { value = 4, source = "..." }
//     encode_scaled_ms = { value = 2, source = "..." }
//     [photo.server]
//     decode_ms = { value = 20, source = "..." }
//     scale_ms = { value = 1.5, source = "..." }
//     decode_scaled_ms = { value = 0.1, source = "..." }
//     [states.evicted]                        # resident, evicted, killed, cold, first-ever; resident takes 0 if it is left out
//     load_ms = { value = 40, source = "..." }
//     least_ms = { value = 5, source = "..." }   # optional, of a part of the model (LoadCost); default: load_ms
//     [without]                                  # optional: what the load from killed or cold takes more without a part
//     weights_ms = { value = 12, source = "..." }    # each may be left out: packed weights,
//     timings_ms = { value = 3, source = "..." }     # timings,
//     programs_ms = { value = 900, source = "..." }  # and a GPU's programs, as `mete profile --starts` measures
#pragma once

#include <optional>
#include <string>

#include "costs/network_link.h"
#include "machine/file.h"
#include "machine/pool_file.h"
#include "plan/site/site_costs.h"

namespace mete {

struct SiteFile {
  std::string name;
  // Described; a machine file is a pool of one device. No devices: it is this one.
  PoolFile device;
  bool has_server = false;
  std::optional<MachineFile> server;  // nothing: it is not described
  std::string address, worker;        // of the server, HOST:PORT; empty: it is not there
  std::string model, keys, token;     // its name there, and paths; empty: not given
  double server_wait_ms = 0, server_load_ms = 0;
  NetworkLink link;
  Connection connection = Connection::kWarm;
  std::optional<ProcessorPower> power;  // of this device, as [power] has it; nothing: not known
  std::optional<PhotoCosts> photo;
  Loads loads;
  PartCosts without;
};

// Throws one Error with all problems of the file. Those of the machine files are among them.
SiteFile ReadSiteFile(const std::string& path);

// Returns whether a TOML file has a server, as a site's file has and no other. Error if it is no TOML.
bool IsSiteFile(const std::string& path);

// Returns the pool of this device and of the server's worker, whose certificate has the name or address by
// which it is reached. Needs a worker.
PoolFile PoolOfSite(const SiteFile& site);

}  // namespace mete

// Makes a certificate authority, certificates of hosts that it signs, and tokens. EC P-256, SHA-256, X.509
// v3.
//
//     FOLDER/ca.pem  ca-key.pem (0600)              stays with whoever adds hosts
//     FOLDER/NAME/ca.pem  cert.pem  key.pem (0600)  is copied to the host NAME
//
// A host's certificate serves both ends, worker and caller.
#pragma once

#include <ctime>
#include <string>
#include <vector>

namespace mete {

struct Host {
  std::string name;                    // its folder's, and the first name in its certificate
  std::vector<std::string> addresses;  // more names and IP addresses by which it is called
};

// "pi-2" or "pi-2=192.168.1.20,pi-2.local". Error where a name is no host's or an address none.
Host ParseHost(const std::string& text);

// Ten years and two: a choice. An authority that ends breaks everything at once; a certificate that is lost
// with its board should not serve for ever.
inline constexpr int kAuthorityDays = 3650;
inline constexpr int kHostDays = 730;

struct MakeOptions {
  int days = kHostDays;  // 1 to kAuthorityDays; a certificate ends with its authority at the latest
  // replace certificate and key of a host that has some; where it gets no addresses it keeps those that it
  // has
  bool renew = false;
  std::time_t now = 0;  // for tests; 0: the clock's
};

struct MadeHost {
  std::string name, folder;
  std::vector<std::string> addresses;
  std::time_t valid_until = 0;
};

struct MadeKeys {
  bool made_authority = false;  // else the one of the folder signed
  std::vector<MadeHost> hosts;
};

// Makes the folder where it is missing, and the authority where the folder has none. Everything is made aside
// before anything gets its name. Certificates are valid from a day before now, because the clocks of boards
// may be behind. Error FAILED_PRECONDITION where a host has a certificate already and `renew` is not set,
// INVALID_ARGUMENT, UNAVAILABLE.
MadeKeys MakeKeys(const std::string& folder, const std::vector<Host>& hosts, const MakeOptions& options = {});

// 32 random bytes in hexadecimal into a new file (0600). Error FAILED_PRECONDITION where the file is there,
// UNAVAILABLE.
void MakeToken(const std::string& path);

}  // namespace mete

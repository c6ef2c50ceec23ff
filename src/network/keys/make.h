// Makes a certificate authority, certificates of hosts that the authority signs, and tokens. Keys are EC
// P-256, signatures use SHA-256, certificates are X.509 v3.
//
//     FOLDER/ca.pem  ca-key.pem (0600)              stays with the person who adds hosts
//     FOLDER/NAME/ca.pem  cert.pem  key.pem (0600)  is copied to the host NAME
//
// A host's certificate is valid for both ends of a connection, worker and caller.
#pragma once

#include <ctime>
#include <string>
#include <vector>

namespace mete {

struct Host {
  std::string name;                    // the name of the host's folder, and the first name in its certificate
  std::vector<std::string> addresses;  // more names and IP addresses by which callers reach the host
};

// Parses "pi-2" or "pi-2=192.168.1.20,pi-2.local". Error INVALID_ARGUMENT where a name or an address is not
// valid.
Host ParseHost(const std::string& text);

// Days of validity: ten years and two years. The numbers are a choice. When an authority expires, all its
// connections break at once; a certificate that is lost together with its board should not stay valid for
// ever.
inline constexpr int kAuthorityDays = 3650;
inline constexpr int kHostDays = 730;

struct MakeOptions {
  int days = kHostDays;  // 1 to kAuthorityDays; a certificate expires with its authority at the latest
  // Replaces the certificate and key of a host that has them. A host that is given no addresses keeps the
  // addresses of its old certificate.
  bool renew = false;
  std::time_t now = 0;  // seconds since 1970, for tests; 0: the clock's time
};

struct MadeHost {
  std::string name, folder;
  std::vector<std::string> addresses;
  std::time_t valid_until = 0;
};

struct MadeKeys {
  bool made_authority = false;  // false: the folder's existing authority signed
  std::vector<MadeHost> hosts;
};

// Makes the folder where it is missing, and the authority where the folder has none. All files are written to
// a temporary folder before any of them gets its name. Certificates are valid from a day before now, because
// the clocks of boards may be behind. Error FAILED_PRECONDITION where a host has a certificate already and
// `renew` is not set; INVALID_ARGUMENT; UNAVAILABLE.
MadeKeys MakeKeys(const std::string& folder, const std::vector<Host>& hosts, const MakeOptions& options = {});

// Writes 32 random bytes in hexadecimal into a new file (0600). Error FAILED_PRECONDITION where the file
// exists; UNAVAILABLE.
void MakeToken(const std::string& path);

}  // namespace mete

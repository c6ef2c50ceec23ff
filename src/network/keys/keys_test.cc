#include "network/keys/keys.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"
#include "network/keys/list.h"
#include "network/keys/make.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

int ModeOf(const fs::path& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? int(facts.st_mode & 0777) : -1;
}

std::time_t InDays(int days) { return std::time(nullptr) + std::time_t(days) * 24 * 60 * 60; }

size_t EntriesOf(const fs::path& folder) { return size_t(std::distance(fs::directory_iterator(folder), {})); }

// Makes the keys of two hosts, which a test may damage.
class Keys : public testing::Test {
 protected:
  Keys() { MakeKeys(folder(), {{"pi-1"}, {"pi-2", {"192.168.1.20", "fd00::20", "pi-2.local"}}}); }

  std::string folder() const { return place_.str(); }
  std::string path(const std::string& name) const { return place_.str() + "/" + name; }
  std::string ReadingTells() const {
    return ErrorOf([&] { ReadKeys(path("pi-1")); });
  }

 private:
  const TempPath place_;
};

TEST_F(Keys, WhatIsMadeIsReadAndTogetherGood) {
  const KeyFiles files = ReadKeys(path("pi-2"));
  EXPECT_EQ(files.ca, Read(path("ca.pem")));
  EXPECT_TRUE(files.certificate.starts_with("-----BEGIN CERTIFICATE-----"));
  EXPECT_TRUE(files.key.starts_with("-----BEGIN PRIVATE KEY-----"));
  EXPECT_TRUE(files.notes.empty());
  EXPECT_FALSE(fs::exists(path("pi-2/ca-key.pem")));
}

TEST_F(Keys, SecretsAreForTheirOwnerAlone) {
  EXPECT_EQ(ModeOf(path("ca-key.pem")), 0600);
  EXPECT_EQ(ModeOf(path("pi-1/key.pem")), 0600);
  fs::permissions(path("pi-1/key.pem"), fs::perms(0644));
  ASSERT_EQ(ReadKeys(path("pi-1")).notes.size(), 1u);
  EXPECT_NE(ReadKeys(path("pi-1")).notes[0].find("pi-1/key.pem"), std::string::npos);
}

TEST_F(Keys, ListTellsNamesAddressesAndTimes) {
  const std::vector<CertificateFacts> all = ListCertificates(folder());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].is_authority && all[0].is_signed);
  EXPECT_NEAR(double(all[0].valid_until), double(InDays(kAuthorityDays)), 60);
  EXPECT_EQ(all[1].name, "pi-1");
  EXPECT_TRUE(all[1].addresses.empty());
  EXPECT_EQ(all[2].name, "pi-2");
  EXPECT_EQ(all[2].addresses, (std::vector<std::string>{"192.168.1.20", "fd00::20", "pi-2.local"}));
  EXPECT_NEAR(double(all[2].valid_until), double(InDays(kHostDays)), 60);
  EXPECT_LE(all[2].valid_from, InDays(-1));
  EXPECT_EQ(all[2].sha256.size(), 32u * 3 - 1);
  for (const CertificateFacts& c : all) EXPECT_EQ(c.problem, "");
  EXPECT_EQ(ListCertificates(path("pi-2")).size(), 2u);
}

TEST_F(Keys, AHostIsAddedByTheSameAuthority) {
  const std::string before = Read(path("ca.pem"));
  EXPECT_FALSE(MakeKeys(folder(), {{"pi-3"}}, {.days = 1}).made_authority);
  EXPECT_EQ(Read(path("ca.pem")), before);
  EXPECT_EQ(ReadKeys(path("pi-3")).ca, before);
}

TEST_F(Keys, AHostThatIsThereStaysAndNothingElseIsMade) {
  const std::string before = Read(path("pi-1/key.pem"));
  EXPECT_TELLS(MakeKeys(folder(), {{"pi-9"}, {"pi-1"}}), "pi-1] is there already");
  EXPECT_EQ(Read(path("pi-1/key.pem")), before);
  EXPECT_FALSE(fs::exists(path("pi-9")));
  EXPECT_EQ(EntriesOf(folder()), 4u);
}

TEST_F(Keys, RenewedOnesKeepAddressesAndWhatElseIsInTheFolder) {
  const std::string before = Read(path("pi-2/key.pem"));
  Write(path("pi-2/notes.txt"), "mine");
  MakeKeys(folder(), {{"pi-2"}}, {.renew = true});
  EXPECT_NE(Read(path("pi-2/key.pem")), before);
  EXPECT_EQ(Read(path("pi-2/notes.txt")), "mine");
  EXPECT_EQ(ListCertificates(path("pi-2"))[1].addresses,
            (std::vector<std::string>{"192.168.1.20", "fd00::20", "pi-2.local"}));
  MakeKeys(folder(), {{"pi-2", {"10.0.0.1"}}}, {.renew = true});
  EXPECT_EQ(ListCertificates(path("pi-2"))[1].addresses, std::vector<std::string>{"10.0.0.1"});
  ReadKeys(path("pi-2"));
  EXPECT_EQ(EntriesOf(folder()), 4u);
}

TEST_F(Keys, AMissingFileIsNamed) {
  for (const char* file : {"ca.pem", "cert.pem", "key.pem"}) {
    const std::string text = Read(path(std::string("pi-1/") + file));
    fs::remove(path(std::string("pi-1/") + file));
    EXPECT_NE(ReadingTells().find(fmt::format("pi-1/{}] cannot open the file", file)), std::string::npos)
        << ReadingTells();
    Write(path(std::string("pi-1/") + file), text);
  }
}

TEST_F(Keys, FilesOfTheWrongKindAreNamed) {
  const std::string certificate = Read(path("pi-1/cert.pem")), key = Read(path("pi-1/key.pem"));
  Write(path("pi-1/cert.pem"), "nonsense");
  EXPECT_TELLS(ReadKeys(path("pi-1")), "pi-1/cert.pem] no certificate in the file");
  Write(path("pi-1/cert.pem"), certificate.substr(0, certificate.size() / 2));
  EXPECT_TELLS(ReadKeys(path("pi-1")), "pi-1/cert.pem] ");
  Write(path("pi-1/cert.pem"), std::string(70000, 'x'));
  EXPECT_TELLS(ReadKeys(path("pi-1")), "pi-1/cert.pem] too large; got 70000 bytes, expected at most 65536");
  Write(path("pi-1/cert.pem"), certificate);
  for (const std::string& bad : {std::string(), certificate, key.substr(0, key.size() / 2)}) {
    Write(path("pi-1/key.pem"), bad);
    EXPECT_TELLS(ReadKeys(path("pi-1")), "pi-1/key.pem] no private key");
  }
  fs::remove(path("pi-1/key.pem"));
  fs::create_directory(path("pi-1/key.pem"));
  EXPECT_TELLS(ReadKeys(path("pi-1")), "pi-1/key.pem] not a regular file");
}

TEST_F(Keys, AKeyWithAPasswordIsRefusedWithoutAQuestion) {
  Write(path("pi-1/key.pem"),
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
        "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAg=\n"
        "-----END ENCRYPTED PRIVATE KEY-----\n");
  EXPECT_TELLS(ReadKeys(path("pi-1")), "or one with a password");
}

TEST_F(Keys, AnotherHostsKeyIsRefused) {
  fs::copy_file(path("pi-2/key.pem"), path("pi-1/key.pem"), fs::copy_options::overwrite_existing);
  EXPECT_TELLS(ReadKeys(path("pi-1")), "not the key of the certificate");
}

TEST_F(Keys, AnotherAuthoritysCertificateIsRefused) {
  const TempPath other;
  MakeKeys(other.str(), {{"pi-1"}});
  for (const char* file : {"cert.pem", "key.pem"})
    fs::copy_file(other.str() + "/pi-1/" + file, path(std::string("pi-1/") + file),
                  fs::copy_options::overwrite_existing);
  EXPECT_TELLS(ReadKeys(path("pi-1")), "pi-1/cert.pem] not signed by the authority");
  const std::vector<CertificateFacts> all = ListCertificates(folder());
  EXPECT_FALSE(all[1].is_signed);
  EXPECT_NE(all[1].problem.find("not signed"), std::string::npos);
  EXPECT_TRUE(all[2].is_signed);
}

TEST_F(Keys, AHostCannotSignForOthers) {
  fs::copy_file(path("pi-2/cert.pem"), path("pi-1/ca.pem"), fs::copy_options::overwrite_existing);
  EXPECT_TELLS(ReadKeys(path("pi-1")), "pi-1/cert.pem] not signed by the authority");
  const TempPath mine;
  fs::create_directory(mine.str());
  fs::copy_file(path("pi-1/cert.pem"), mine.str() + "/ca.pem");
  fs::copy_file(path("pi-1/key.pem"), mine.str() + "/ca-key.pem");
  EXPECT_TELLS(MakeKeys(mine.str(), {{"x"}}), "no authority's certificate");
}

TEST(KeysInTime, ExpiredAndEarlyOnesAreRefused) {
  const TempPath place;
  MakeKeys(place.str(), {{"old"}}, {.now = InDays(-800)});
  EXPECT_TELLS(ReadKeys(place.str() + "/old"), "old/cert.pem] expired on");
  EXPECT_TELLS(ReadKeys(place.str() + "/old"), "--renew");
  EXPECT_NE(ListCertificates(place.str())[1].problem.find("expired"), std::string::npos);
  EXPECT_LT(DaysUntil(ListCertificates(place.str())[1].valid_until), 0);
  MakeKeys(place.str(), {{"early"}}, {.now = InDays(10)});
  EXPECT_TELLS(ReadKeys(place.str() + "/early"), "early/cert.pem] not valid before");
  MakeKeys(place.str(), {{"old"}}, {.renew = true});
  ReadKeys(place.str() + "/old");
}

TEST(KeysInTime, NoCertificateOutlivesItsAuthority) {
  const TempPath place;
  MakeKeys(place.str(), {{"a"}}, {.now = InDays(-3600)});
  MakeKeys(place.str(), {{"b"}});
  EXPECT_NEAR(double(ListCertificates(place.str())[2].valid_until), double(InDays(50)), 60);
  EXPECT_NEAR(DaysUntil(ListCertificates(place.str())[2].valid_until), 49.5, 0.6);
  const TempPath past;
  MakeKeys(past.str(), {{"a"}}, {.now = InDays(-4000)});
  EXPECT_TELLS(MakeKeys(past.str(), {{"b"}}), "ca.pem] expired on");
  EXPECT_TELLS(ReadKeys(past.str() + "/a"), "ca.pem] expired on");
}

TEST_F(Keys, AnAuthorityIsWholeOrNothing) {
  const std::string key = Read(path("ca-key.pem"));
  Write(path("ca-key.pem"), Read(path("pi-1/key.pem")));
  EXPECT_TELLS(MakeKeys(folder(), {{"pi-3"}}), "ca-key.pem] not the key of the certificate");
  fs::remove(path("ca-key.pem"));
  EXPECT_TELLS(MakeKeys(folder(), {{"pi-3"}}), "ca-key.pem] the authority's key is not here");
  Write(path("ca-key.pem"), key);
  fs::remove(path("ca.pem"));
  EXPECT_TELLS(MakeKeys(folder(), {{"pi-3"}}), "ca.pem] cannot open");
  EXPECT_TELLS(ListCertificates(folder()), "no authority's certificate here");
  EXPECT_FALSE(fs::exists(path("pi-3")));
}

TEST(Folders, ThatTheFileSystemRefusesAreErrorsOfOurs) {
  const std::string name(5000, 'x');  // longer than any file system permits, also where tests run as root
  EXPECT_TELLS(ListCertificates(name), "cannot be used: File name too long");
  EXPECT_TELLS(MakeKeys(name, {{"a"}}), "cannot be used: File name too long");
  EXPECT_TELLS(MakeToken(name), "cannot be used: File name too long");
  EXPECT_TELLS(ReadKeys(name), "cannot open the file: File name too long");
}

TEST_F(Keys, ABadCertificateStillLetsTheOthersBeListed) {
  Write(path("pi-1/cert.pem"), "nonsense");
  const std::vector<CertificateFacts> all = ListCertificates(folder());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_NE(all[1].problem.find("no certificate"), std::string::npos);
  EXPECT_EQ(all[2].problem, "");
}

TEST(Hosts, NamesAndAddressesAreParsed) {
  const Host host = ParseHost("pi-2.lan=192.168.1.20,::1,pi.local");
  EXPECT_EQ(host.name, "pi-2.lan");
  EXPECT_EQ(host.addresses, (std::vector<std::string>{"192.168.1.20", "::1", "pi.local"}));
  EXPECT_TRUE(ParseHost("x").addresses.empty());
}

TEST(Hosts, bad_names) {
  for (const char* name :
       {"",   ".",   "..",   "../x",  "a/b",    "/etc",       ".x",      "x.",  "a..b", "-x",
        "x-", "a b", "a\nb", "x\x01", "ca.pem", "ca-key.pem", "*.local", "a_b", "a:b",  "=1.2.3.4"})
    EXPECT_TELLS(ParseHost(name), "not a host's name") << name;
  EXPECT_TELLS(ParseHost(std::string(65, 'a')), "not a host's name");
  EXPECT_TELLS(ParseHost("192.168.1.20"), "try 'board=192.168.1.20'");
  EXPECT_TELLS(ParseHost("192.168.1"), "a host needs a name");
  EXPECT_TELLS(ParseHost("::1"), "a host needs a name");
}

TEST(Hosts, bad_addresses) {
  for (const char* address :
       {"", "1.2.3.256", "1.2.3", "::g", "1.2.3.4,", "a b", "x,DNS:evil y", "DNS:x", "fe80::1%eth0", "x/y"})
    EXPECT_TELLS(ParseHost(std::string("pi=") + address), "not an address") << address;
  std::string many = "pi=a";
  for (int i = 0; i < 40; ++i) many += ",a";
  EXPECT_TELLS(ParseHost(many), "too many addresses");
}

TEST(Hosts, bad_requests) {
  const TempPath place;
  EXPECT_TELLS(MakeKeys(place.str(), {}), "no host");
  EXPECT_TELLS(MakeKeys(place.str(), {{"a"}, {"a"}}), "'a' twice");
  EXPECT_TELLS(MakeKeys(place.str(), {{"../a"}}), "not a host's name");
  EXPECT_TELLS(MakeKeys(place.str(), {{"a", {"DNS:b"}}}), "not an address");
  EXPECT_TELLS(MakeKeys(place.str(), {{"a"}}, {.days = 0}), "[--days]");
  EXPECT_TELLS(MakeKeys(place.str(), {{"a"}}, {.days = 4000}), "[--days]");
  EXPECT_FALSE(fs::exists(place.str()));
}

TEST(Tokens, AreRandomSecretAndNeverReplaced) {
  const TempPath first, second;
  MakeToken(first.str());
  MakeToken(second.str());
  const std::string token = ReadToken(first.str());
  EXPECT_EQ(token.size(), 64u);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, ReadToken(second.str()));
  EXPECT_EQ(ModeOf(first.str()), 0600);
  EXPECT_EQ(NoteOfReaders(first.str()), "");
  EXPECT_TELLS(MakeToken(first.str()), "is there already");
  EXPECT_EQ(ReadToken(first.str()), token);
  EXPECT_TELLS(MakeToken("/nonexistent/folder/token"), "/nonexistent/folder] cannot write");
}

TEST(Tokens, LineBreaksAreLeftOut) {
  const TempPath place;
  for (const char* end : {"", "\n", "\r\n"}) {
    Write(place.str(), std::string("0123456789abcdef") + end);
    EXPECT_EQ(ReadToken(place.str()), "0123456789abcdef");
  }
  Write(place.str(), std::string(1024, '~') + "\n");
  EXPECT_EQ(ReadToken(place.str()).size(), 1024u);
}

TEST(Tokens, BadOnesAreRefusedWithoutRepeatingThem) {
  const TempPath place;
  EXPECT_TELLS(ReadToken(place.str()), "cannot open the file");
  const std::vector<std::string> all{"",
                                     "SECRET",
                                     std::string(1025, 'S'),
                                     "SECRET with spaces in it",
                                     "SECRET0123456789\n\n",
                                     std::string("SECRET0123456789\0x", 18),
                                     "SECRET0123456789\xc3\xa4"};
  for (const std::string& bad : all) {
    Write(place.str(), bad);
    EXPECT_TELLS(ReadToken(place.str()), "] not a token");
    EXPECT_EQ(ErrorOf([&] { ReadToken(place.str()); }).find("SECRET"), std::string::npos);
  }
  Write(place.str(), std::string(5000, 'S'));
  EXPECT_TELLS(ReadToken(place.str()), "too large");
}

TEST(Tokens, AreCompared) {
  EXPECT_TRUE(SameToken("0123456789abcdef", "0123456789abcdef"));
  EXPECT_FALSE(SameToken("0123456789abcdef", "0123456789abcdeg"));
  EXPECT_FALSE(SameToken("0123456789abcdef", "0123456789abcde"));
  EXPECT_FALSE(SameToken("", "x"));
}

}  // namespace
}  // namespace mete

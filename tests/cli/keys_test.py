"""Runs mete keys as its users do, and asks OpenSSL's own program where it is there. Standard library only."""
import json
import shutil
import stat
import subprocess
import unittest

import cli_testing
from cli_testing import BAD_FILE, FAILURE, OK, USAGE, Cli, mete


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def openssl(*args):
    return subprocess.run(["openssl", *map(str, args)], capture_output=True, text=True, timeout=cli_testing.LONG_S)


class Keys(Cli):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.keys = cls.root / "keys"
        made = mete("keys", "make", cls.keys, "laptop", "pi-1", "pi-2=192.168.1.20,pi-2.local")
        assert made.returncode == OK, made.stderr
        cls.made = made.stdout

    def test_a_folder_for_each_host_and_what_to_copy_is_said(self):
        self.assertEqual(sorted(p.name for p in self.keys.iterdir()), ["ca-key.pem", "ca.pem", "laptop", "pi-1", "pi-2"])
        for host in ("laptop", "pi-1", "pi-2"):
            self.assertEqual(sorted(p.name for p in (self.keys / host).iterdir()), ["ca.pem", "cert.pem", "key.pem"])
            self.assertEqual(mode(self.keys / host / "key.pem"), 0o600)
            self.assertIn(str(self.keys / host), self.made)
        self.assertEqual(mode(self.keys / "ca-key.pem"), 0o600)
        self.assertIn("ca-key.pem signs for further hosts: it stays here", self.made)

    @unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
    def test_openssl_agrees(self):
        ca = self.keys / "ca.pem"
        for purpose in ("sslserver", "sslclient"):
            done = openssl("verify", "-x509_strict", "-purpose", purpose, "-CAfile", ca, self.keys / "pi-2" / "cert.pem")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for address in (["-verify_hostname", "pi-2"], ["-verify_hostname", "pi-2.local"], ["-verify_ip", "192.168.1.20"]):
            self.assertEqual(openssl("verify", *address, "-CAfile", ca, self.keys / "pi-2" / "cert.pem").returncode, 0)
        self.assertNotEqual(openssl("verify", "-verify_hostname", "pi-1", "-CAfile", ca, self.keys / "pi-2" / "cert.pem").returncode, 0)
        text = openssl("x509", "-in", self.keys / "pi-2" / "cert.pem", "-noout", "-text", "-fingerprint", "-sha256").stdout
        for word in ("Version: 3", "ecdsa-with-SHA256", "prime256v1", "CA:FALSE", "Digital Signature", "TLS Web Server Authentication",
                     "TLS Web Client Authentication", "DNS:pi-2, IP Address:192.168.1.20, DNS:pi-2.local"):
            self.assertIn(word, text)
        shown = {c["name"]: c for c in self.answer("keys", "show", self.keys)["certificates"]}
        self.assertIn(shown["pi-2"]["sha256"], text)
        text = openssl("x509", "-in", ca, "-noout", "-text").stdout
        for word in ("CA:TRUE, pathlen:0", "Certificate Sign", "X509v3 Basic Constraints: critical"):
            self.assertIn(word, text)

    def test_show_lists_them(self):
        shown = self.answer("keys", "show", self.keys)["certificates"]
        self.assertEqual([c["name"] for c in shown][1:], ["laptop", "pi-1", "pi-2"])
        self.assertEqual([c["authority"] for c in shown], [True, False, False, False])
        self.assertEqual(shown[3]["addresses"], ["192.168.1.20", "pi-2.local"])
        self.assertTrue(all(c["signed"] and c["problem"] is None for c in shown))
        self.assertIn(shown[1]["days_left"], (729, 730))
        self.assertIn(shown[0]["days_left"], (3649, 3650))
        plain = mete("keys", "show", self.keys)
        self.assertEqual(plain.returncode, OK)
        for word in ("pi-2", "192.168.1.20", "good, the authority", shown[2]["sha256"]):
            self.assertIn(word, plain.stdout)
        self.assertEqual(len(self.answer("keys", "show", self.keys / "pi-1")["certificates"]), 2)

    def test_show_names_what_is_wrong(self):
        copy, other = self.path("keys"), self.path("other")
        shutil.copytree(self.keys, copy)
        self.answer("keys", "make", other, "pi-1")
        shutil.copy(other / "pi-1" / "cert.pem", copy / "pi-1" / "cert.pem")
        (copy / "pi-2" / "cert.pem").write_text("nonsense")
        shown = self.answer("keys", "show", copy)["certificates"]
        self.assertEqual([c["signed"] for c in shown], [True, True, False, False])
        self.assertIn("not signed by ca.pem", shown[2]["problem"])
        self.assertIn("no certificate in the file", shown[3]["problem"])
        self.assertIn("not signed by ca.pem", mete("keys", "show", copy).stdout)
        (copy / "ca.pem").unlink()
        self.fails(BAD_FILE, "no authority's certificate here", "keys", "show", copy)
        self.fails(BAD_FILE, "no such folder", "keys", "show", self.path("nowhere"))

    def test_hosts_are_added_and_renewed_but_never_replaced_unasked(self):
        keys = self.path("keys")
        self.assertTrue(self.answer("keys", "make", keys, "pi-1=10.0.0.1")["made_authority"])
        added = self.answer("keys", "make", keys, "pi-3", "--days", "30")
        self.assertFalse(added["made_authority"])
        self.assertEqual(added["hosts"][0]["folder"], str(keys / "pi-3"))
        before = (keys / "pi-1" / "key.pem").read_text()
        self.fails(USAGE, "is there already and is not replaced; try --renew", "keys", "make", keys, "pi-4", "pi-1")
        self.assertFalse((keys / "pi-4").exists())
        self.assertEqual((keys / "pi-1" / "key.pem").read_text(), before)
        self.assertEqual(self.answer("keys", "make", keys, "pi-1", "--renew")["hosts"][0]["addresses"], ["10.0.0.1"])
        self.assertNotEqual((keys / "pi-1" / "key.pem").read_text(), before)
        self.assertEqual(sorted(p.name for p in keys.iterdir()), ["ca-key.pem", "ca.pem", "pi-1", "pi-3"])
        (keys / "ca-key.pem").unlink()
        self.fails(BAD_FILE, "the authority's key is not here", "keys", "make", keys, "pi-5")

    def test_bad_names_leave_nothing(self):
        keys = self.path("keys")
        for name in ("../pi", "a/b", "pi 1", "", ".", "pi=1.2.3", "pi=", "192.168.1.20", "ca.pem", "x" * 65):
            done = mete("keys", "make", keys, "good", name)
            self.assertEqual(done.returncode, USAGE, name)
            self.assertFalse(keys.exists())
        self.fails(USAGE, "not a host's name", "keys", "make", keys, "../pi")
        self.assertEqual(mete("keys", "make", keys, "pi", "--days", "0").returncode, USAGE)
        self.assertEqual(mete("keys", "make", keys).returncode, USAGE)
        self.fails(FAILURE, "cannot make the folder", "keys", "make", self.picture / "keys", "pi")

    def test_tokens(self):
        token = self.path("token")
        self.assertEqual(json.loads(mete("keys", "token", token, "--json").stdout), {"file": str(token)})
        text = token.read_text()
        self.assertRegex(text, "^[0-9a-f]{64}\n$")
        self.assertEqual(mode(token), 0o600)
        self.fails(USAGE, "is there already", "keys", "token", token)
        self.assertEqual(token.read_text(), text)
        done = mete("keys", "token", self.path("second"))
        self.assertEqual(done.returncode, OK)
        self.assertNotIn(self.path("second").read_text().strip(), done.stdout)
        self.fails(FAILURE, "cannot write", "keys", "token", self.path("nowhere") / "token")


if __name__ == "__main__":
    cli_testing.main()

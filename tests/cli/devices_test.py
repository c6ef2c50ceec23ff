"""Runs mete devices with programs in the place of Avahi's. Standard library only."""
import json
import tomllib

import cli_testing
from cli_testing import BAD_FILE, FAILURE, OK, USAGE, Cli, mete

LINES = r"""+;eth0;IPv4;pi-1;_mete._tcp;local
=;eth0;IPv4;pi-1;_mete._tcp;local;pi-1.local;192.168.1.20;5130;"version=0.1.0" "cores=6"
=;eth0;IPv4;\034x\\;_mete._tcp;local;odd.local;192.168.1.21;5130;"cores=lots"
=;eth0;IPv4;pi-1;_mete._tcp;local;other.local;192.168.1.22;5130;
=;eth0;IPv6;self;_mete._tcp;local;near.local;fd00::7;5130;
=;eth0;IPv4;bad\027[0m;_mete._tcp;local;bad.local;192.168.1.23;5130;
=;eth0;IPv4;bad;_mete._tcp;local;bad.local;192.168.1.23;70000;
nonsense
"""


class Devices(Cli):
    def fake(self, script):
        """The environment in which avahi-browse is this script."""
        folder = self.path("programs")
        folder.mkdir(exist_ok=True)
        program = folder / "avahi-browse"
        program.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
        program.chmod(0o755)
        return {"PATH": str(folder)}

    def test_what_is_found_is_listed(self):
        env = self.fake(f"cat <<'END'\n{LINES}END")
        found = self.answer("devices", env=env)["devices"]
        self.assertEqual([d["name"] for d in found], ['"x\\', "pi-1", "pi-1", "self"])
        self.assertEqual(found[2], {"name": "pi-1", "host": "pi-1.local", "address": "192.168.1.20:5130", "version": "0.1.0", "cores": 6})
        self.assertEqual(found[0]["cores"], None)
        self.assertEqual(found[3]["address"], "[fd00::7]:5130")
        plain = mete("devices", env=env)
        self.assertEqual(plain.returncode, OK)
        self.assertEqual(len(plain.stdout.splitlines()), 5)
        self.assertIn("192.168.1.20:5130", plain.stdout)

    def test_a_devices_file_has_different_names_and_ours_first(self):
        env = self.fake(f"cat <<'END'\n{LINES}END")
        done = mete("devices", "--toml", env=env)
        self.assertEqual(done.returncode, OK, done.stderr)
        file = self.path("found.toml", done.stdout.encode())
        self.fails(BAD_FILE, "keys/self/ca.pem", "devices", "--processors", file)  # all else is as it should be
        devices = tomllib.loads(done.stdout)["device"]
        self.assertEqual(devices[0], {"name": "self"})
        self.assertEqual([d["name"] for d in devices[1:]], ['"x\\', "pi-1", "pi-1-2", "self-2"])
        self.assertEqual(devices[4]["address"], "[fd00::7]:5130")
        self.assertEqual(mete("devices", "--toml", "--json", env=env).returncode, USAGE)

    def test_none_found_is_a_note(self):
        env = self.fake("exit 0")
        done = mete("devices", env=env)
        self.assertEqual((done.returncode, done.stdout), (OK, ""))
        self.assertIn("no worker found", done.stderr)
        self.assertEqual(self.answer("devices", env=env), {"devices": []})

    def test_where_avahi_is_not_there_it_says_what_to_do(self):
        empty = self.path("empty")
        empty.mkdir()
        missing = mete("devices", "--json", env={"PATH": str(empty)})
        self.assertEqual(missing.returncode, FAILURE)
        error = json.loads(missing.stderr)["error"]
        self.assertEqual(error["code"], "UNAVAILABLE")
        self.assertIn("avahi-utils", error["message"])
        self.assertIn("devices file", error["message"])
        stopped = mete("devices", env=self.fake("echo 'Daemon not running' >&2; exit 1"))
        self.assertEqual(stopped.returncode, FAILURE)
        self.assertIn("got 'Daemon not running'; try 'systemctl start avahi-daemon'", stopped.stderr)

    def test_a_program_that_hangs_is_left(self):
        env = self.fake(f"cat <<'END'\n{LINES}END\nexec sleep 1000")
        # It ends, although the program does not. How much of the output has come by then depends on the machine.
        self.assertLessEqual(len(self.answer("devices", "--timeout", "0.5", env=env)["devices"]), 4)
        self.assertEqual(mete("devices", "--timeout", "0", env=env).returncode, USAGE)


if __name__ == "__main__":
    cli_testing.main()

"""The links of the experiment: the uplinks of DADS's experiments, and a network at home. Round trips are those of src/costs/network_link.cc."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "lab"))
import lines


class Link:
    """Rates in Mb/s as a stream has them; the round trip in ms."""

    def __init__(self, name, up, down, round_trip, source):
        self.name, self.up, self.down, self.round_trip, self.source = name, up, down, round_trip, source

    def line(self):
        """Of a lab; nothing: its plain link of 1 Gb/s."""
        if self.name == "lan":
            return None
        wire = lines.links.kFrameBytes / lines.kPayloadBytes  # a frame's size over that of a stream's bytes in it
        return lines.Line(mbit=(self.up * wire, self.down * wire), delay_ms=self.round_trip / 2)

    def site(self, name, address, worker=""):
        """The text of a site's file: what is known before the first exchange. There is no TLS, so that connecting takes one round trip.
        `worker`: the address of the server's worker; without one nothing is cut."""
        def figure(value):
            return f'{{ value = {value}, source = "the lab" }}'
        of_worker = f'worker = "{worker}"\n' if worker else ""
        return (f'name = "{name}"\n[server]\naddress = "{address}"\n{of_worker}[link]\nprofile = "lan"\nconnect_ms = {figure(self.round_trip)}\n'
                f"round_trip_ms = {figure(self.round_trip)}\nup_mbit_per_s = {figure(self.up)}\ndown_mbit_per_s = {figure(self.down)}\n"
                f"late_ratio = {figure(2)}\n")


kLinks = {link.name: link for link in (
    Link("cat1", 0.13, 0.13, 120, "DADS's uplink; the downlink and the round trip are guesses"),
    Link("3g", 1.1, 5, 120, "DADS's uplink; the profile `3g`"),
    Link("lte", 5.85, 20, 60, "DADS's uplink; the profile `lte`"),
    Link("wifi", 18.88, 50, 10, "DADS's uplink; the profile `wifi`"),
    Link("lan", 941, 941, 0.5, "the lab's plain link of 1 Gb/s, whose round trip is below the profile's"))}

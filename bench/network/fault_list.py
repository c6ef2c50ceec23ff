"""The faults: what each does to a scene while requests go on, and how it is undone."""
import os
import signal
import time

from fault_scene import Broken, kPlanner

kAgainS = 0.3     # guess: as soon as a service manager starts something again
kRefusedS = 10.0  # who answers that it will not is tried again after so long (src/run/back_off.h)


class Fault:
    """`hold_s`: from when it is made until it is undone. `back_s`: within which the caller tries again. `loses`: whether the caller has to
    notice; None: it may. `real`: needs links."""
    name, hold_s, loses, real, security, behind_proxy, workers = "", 3.0, True, False, "insecure", False, 1
    planner = kPlanner

    @property
    def back_s(self):
        return max(2 * self.hold_s, 2)  # tries are apart twice as long each time

    def before(self, scene):
        for index in range(1, 1 + self.workers):
            scene.start_worker(index)

    def make(self, scene):
        raise NotImplementedError

    def undo(self, scene):
        pass


class Killed(Fault):
    name, hold_s = "killed by -9", 1.0

    def make(self, scene):
        scene.kill_worker()

    def undo(self, scene):
        scene.start_worker()


class Stopped(Fault):
    name, hold_s = "stopped (SIGSTOP)", 4.0

    def make(self, scene):
        scene.signal_worker(signal.SIGSTOP)

    def undo(self, scene):
        scene.signal_worker(signal.SIGCONT)


class Hiccup(Stopped):
    """Shorter than anybody's patience: no reason to go on without it."""
    name, hold_s, loses = "stopped for 0.15 s", 0.15, None


class Cut(Fault):
    name, hold_s, real = "link cut", 4.0, True

    def make(self, scene):
        scene.lab.hosts[1].cut()

    def undo(self, scene):
        scene.lab.hosts[1].mend()


class Apart(Fault):
    """Each reaches the caller, but not the other: halos between them vanish."""
    name, hold_s, real, workers, planner = "two workers cut from each other", 4.0, True, 2, "dynamic"

    def make(self, scene):
        for host in scene.lab.hosts[1:]:
            host.isolate()

    def undo(self, scene):
        for host in scene.lab.hosts[1:]:
            host.isolate(on=False)


class KilledOfTwo(Killed):
    name, workers = "one of two killed by -9", 2


class Proxied(Fault):
    behind_proxy, kind, every = True, "", 0

    def before(self, scene):
        scene.start_worker()
        host = scene.lab.hosts[1]
        self.proxy = scene.start_helper(1, "fault_proxy.py", host.address, 7077, 7078, self.kind, self.every)
        host.await_port(self.proxy, 7077)

    def make(self, scene):
        self.proxy.send_signal(signal.SIGUSR1)

    def undo(self, scene):
        self.proxy.send_signal(signal.SIGUSR2)


class Flipped(Proxied):
    """A request here moves some 700 KB; one in three or so is hit."""
    name, kind, every, hold_s = "bytes flipped, plain text", "flip", 2_000_000, 5.0


class FlippedTls(Flipped):
    name, security = "bytes flipped, TLS", "keys"


class FlippedOften(Flipped):
    """Also programs, answers and what HTTP/2 itself says."""
    name, every = "bytes flipped often", 20_000


class StreamCut(Proxied):
    name, kind, every, hold_s = "stream cut in a message", "cut", 3_000_000, 4.0


class Restarted(Fault):
    """Another one comes up in its place, which is not to be used."""
    hold_s = 2.0

    def make(self, scene):
        scene.kill_worker()
        time.sleep(kAgainS)
        self.start_other(scene)

    def start_other(self, scene):
        raise NotImplementedError

    def undo(self, scene):
        scene.kill_worker()
        scene.start_worker()


class OtherVersion(Restarted):
    name, back_s = "restarted, another version", kRefusedS

    def start_other(self, scene):
        program = os.path.join(os.path.dirname(scene.mete), "other_version_worker")
        if not os.access(program, os.X_OK):
            raise Broken(f"[{self.name}] no program at '{program}'; try cmake --build --preset release --target other_version_worker")
        scene.start_worker(program=[program])


class OtherToken(Restarted):
    name, security, back_s = "restarted, wrong token", "token", kRefusedS

    def start_other(self, scene):
        scene.start_worker(secret="other-token")


class OtherAuthority(Restarted):
    name, security, back_s = "restarted, wrong certificate", "keys", kRefusedS

    def start_other(self, scene):
        scene.start_worker(secret="other-keys/worker-1")


class OtherName(Restarted):
    """The right authority has signed it, but for another host."""
    name, security, back_s = "restarted, another's certificate", "keys", kRefusedS

    def start_other(self, scene):
        scene.start_worker(secret="keys/own")


class DiskFull(Fault):
    """Its folder is a file system of 256 KB, which goes with the process. The weights do not fit: they are kept in memory."""
    name, hold_s = "restarted, disk full", 3.0

    def make(self, scene):
        folder = scene.path("small")
        os.makedirs(folder, exist_ok=True)
        scene.kill_worker()
        scene.start_worker(weights=folder, front=["unshare", "--mount", "sh", "-c",
                           'mount -t tmpfs -o size=256k none "$0" && exec "$@"', folder])

    def undo(self, scene):
        scene.kill_worker()
        scene.start_worker()


class Hostile(Fault):
    """The worker has other guests meanwhile. It may be late for it, so that the caller goes on without, but comes back."""
    loses, what, hold_s = None, "", 4.0

    def make(self, scene):
        self.guest = scene.start_helper(0, "hostile.py", scene.lab.hosts[1].address, 7077, self.hold_s, self.what)

    def undo(self, scene):
        if self.guest.wait(30) != 0:
            raise Broken(f"[{self.name}] the worker does not take connections; got exit code {self.guest.returncode}")


class Large(Hostile):
    name, what = "messages of 4 GiB", "large"


class ManyLarge(Hostile):
    name, what = "many of 64 MiB, never whole", "many"


class Random(Hostile):
    name, what = "random bytes", "random"


class HalfOpen(Hostile):
    name, what = "400 half-open connections", "open"


kFaults = [Killed, Stopped, Hiccup, Cut, Apart, KilledOfTwo, Flipped, FlippedTls, FlippedOften, StreamCut, DiskFull,
           OtherVersion, OtherToken, OtherAuthority, OtherName, Large, ManyLarge, Random, HalfOpen]

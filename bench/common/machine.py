"""What the numbers were measured on. Names no host."""
import glob
import os
import platform
import re


def _read(path):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def _field(text, name):
    found = re.search(rf"^{name}\s*:\s*(.*)$", text, re.M)
    return found[1] if found else ""


def _caches():
    """{"L1d": "48K", ...} of one core"""
    caches = {}
    for folder in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index*")):
        kind = {"Data": "d", "Instruction": "i"}.get(_read(f"{folder}/type"), "")
        caches[f"L{_read(f'{folder}/level')}{kind}"] = _read(f"{folder}/size")
    return caches


def describe():
    cpu = _read("/proc/cpuinfo")
    flags = _field(cpu, "flags").split()
    return {"cpu": _field(cpu, "model name") or platform.processor() or platform.machine(),
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
            "caches": _caches(),
            "memory_kib": int((_field(_read("/proc/meminfo"), "MemTotal") or "0").split()[0]),
            "instruction_sets": [f for f in flags if re.match(r"(avx|amx|fma|sse4|asimd|sve)", f)],
            "kernel": re.match(r"[\d.]*", platform.release())[0],  # what follows is the builder's own
            "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or "not told",
            "virtual": "hypervisor" in flags,
            "note": "a shared machine: others may have been at work; the engines ran in turn so that it hits all alike"}


def busy_s(cores, stat=None):
    """Seconds since the system's start that these cores did anything at all, for whomever; stolen time counts."""
    busy = 0
    for line in (stat or _read("/proc/stat")).splitlines():
        found = re.match(r"cpu(\d+) (.*)", line)
        if found and int(found[1]) in cores:
            user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, found[2].split()[:8])
            busy += user + nice + system + irq + softirq + steal
    return busy / os.sysconf("SC_CLK_TCK")


def _times(stat):
    """Ticks of a process, in user mode and in the kernel: its own, and those of its children that have ended."""
    own_user, own_system, user, system = map(int, stat.rpartition(")")[2].split()[11:15])
    return own_user + own_system, user + system


def process_s(pid):
    """Processor time that a process has used."""
    with open(f"/proc/{pid}/stat") as file:
        return _times(file.read())[0] / os.sysconf("SC_CLK_TCK")


def used_s(cores, folder="/proc"):
    """Seconds that all processes have used, ended ones too, on whatever core, and that were stolen from `cores`. For differences. It is
    busy_s where a core is slowed: a core's account is a sample each tick, and what keeps step with the tick is seen always or never."""
    stats = map(_read, glob.glob(f"{folder}/[0-9]*/stat"))  # empty where a process has just ended
    used = sum(sum(_times(stat)) for stat in stats if stat)
    stolen = re.findall(r"^cpu(\d+) (?:\d+ ){7}(\d+)", _read(f"{folder}/stat"), re.M)
    return (used + sum(int(ticks) for core, ticks in stolen if int(core) in cores)) / os.sysconf("SC_CLK_TCK")


def slug(cpu):
    """A cpu's name fit for a file's."""
    text = re.sub(r"\((R|TM)\)|\bCPU\b|@", "", cpu, flags=re.I)
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-") or "unknown"

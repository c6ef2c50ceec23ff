"""DADS's cuts between a Raspberry Pi 3B and a server, simulated, beside those that its paper reports.

DADS (Hu et al., INFOCOM 2019) cuts a graph where computing and sending take the least time. Nothing is measured here. The times of layers are
estimates from raspberry-pi-3b.toml and server-8-cores.toml, for Mete's kernels; the paper's program computed far more slowly, so there is a second
row with the speeds that the paper's own figures imply (implied()). The same sources give the same tables.
"""
import argparse
import os
import re
import sys
import tempfile

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(_here, "..", "common")]
import common_flags
import networks
import output
import tables

kLinks = {"dads-cat1": 0.13, "dads-3g": 1.1, "dads-4g": 5.85, "dads-wifi": 18.88}  # Mbit/s
kGains = dict(zip(kLinks, (1.46, 4.14, 7.23, 8.32)))  # of ResNet-18 over the device alone, by the paper
kPixels = {"resnet18": 224 * 224 * 3, "tiny_yolov2": 416 * 416 * 3}
# Of the paper's tiny YOLOv2: that the input is sent at 18 Mbit/s, and 62 % less time is taken at 4 Mbit/s with a cut behind max5, needs an input
# of 0.91 MB or more if values are f32. This value is a guess.
kInputOfPaper = 950_000


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                epilog="Tables go to stdout. Exit: 0 success, 1 a failure at run time, 2 usage, 3 a model that Mete cannot load.")
    common_flags.add_mete(p)
    common_flags.add_work(p)
    common_flags.add_report(p)
    return common_flags.parsed(p)


def slower(machine, factor):
    """The text of a machine file whose arithmetic and memory are slower."""
    with open(os.path.join(_here, machine), encoding="utf-8") as file:
        return re.sub(r"((?:f32_flops_per_cycle|int8_ops_per_cycle|gbytes_per_s) = \{ value = )([\d.]+)",
                      lambda m: f"{m[1]}{float(m[2]) / factor:.6g}", file.read())


def site(folder, input_bytes, device=1.0, server=1.0):
    """A site's file with these times as long; the input is sent in this many bytes."""
    for name, factor in (("raspberry-pi-3b.toml", device), ("server-8-cores.toml", server)):
        output.write_whole(os.path.join(folder, name), slower(name, factor))
    with open(os.path.join(_here, "dads.toml"), encoding="utf-8") as file:
        text = file.read()
    nothing = '{ value = 0, source = "derived: DADS begins with the input" }'
    text += (f'\n[photo]\nfile_bytes = {{ value = {input_bytes}, source = "derived: as scaled_bytes" }}\n'
             f'scaled_bytes = {{ value = {input_bytes}, source = "derived" }}\n'
             f"[photo.device]\ndecode_ms = {nothing}\nscale_ms = {nothing}\nencode_scaled_ms = {nothing}\n"
             f"[photo.server]\ndecode_scaled_ms = {nothing}\n")
    path = os.path.join(folder, "site.toml")
    output.write_whole(path, text)
    return path


def plan(flags, model, path, *words):
    """{way: figures} and the name of the choice"""
    _, file = networks.model_file(flags.mete, model, flags.work)
    answer = networks.mete(flags.mete, "simulate", file, "--site", path, *words)
    return {way["way"]: way for way in answer["ways"] if "why_not" not in way}, answer["choice"]


def with_rate(path, mbit_per_s):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r'profile = "dads-wifi"', f'profile = "dads-wifi"\nup_mbit_per_s = {{ value = {mbit_per_s}, source = "DADS" }}', file.read())
    other = path.replace(".toml", "-rate.toml")
    output.write_whole(other, text)
    return other


def implied(gains=None, input_bytes=None):
    """(device ms, server ms) of ResNet-18 that the paper's gains over 3G, 4G and Wi-Fi imply, if the input is sent as bytes on all three: with the
    device's time T and the server's C each gain g over a link is T = g (bytes / rate + C), which is linear in T and C (least squares)."""
    gains, input_bytes = gains or kGains, input_bytes or kPixels["resnet18"]
    rows = [(1 / gains[link], input_bytes * 8e-3 / kLinks[link]) for link in ("dads-3g", "dads-4g", "dads-wifi")]
    n, sx, sy = len(rows), sum(x for x, _ in rows), sum(y for _, y in rows)
    sxx, sxy = sum(x * x for x, _ in rows), sum(x * y for x, y in rows)
    device = (n * sxy - sx * sy) / (n * sxx - sx * sx)  # y = T / g - C
    return device, (device * sx - sy) / n


def where(way):
    return "behind " + way["on_device"][-1] if way["on_device"] else "at the input"


def best(ways, choice):
    return "device alone" if choice == "device" else where(ways[choice])


def resnet(flags, folder):
    pixels = kPixels["resnet18"]
    ways, _ = plan(flags, "resnet18", site(folder, pixels))
    device, server = implied()
    factors = device / ways["device"]["total_ms"], server / ways["scaled photo"]["compute_ms"]
    rows = []
    for link, rate in kLinks.items():
        row = {"link": link, "mbit_per_s": rate, "published": kGains[link]}
        for name, by in (("estimated", (1, 1)), ("implied", factors)):
            ways, choice = plan(flags, "resnet18", site(folder, pixels, *by), "--link", link)
            row[name] = {"gain": ways["device"]["total_ms"] / ways[choice]["total_ms"], "cut": best(ways, choice),
                         "device_ms": ways["device"]["total_ms"], "server_ms": ways["scaled photo"]["compute_ms"]}
        rows.append(row)
    return {"device_ms": device, "server_ms": server, "links": rows}


def yolo(flags, folder):
    """The cut by uplink: with Mete's kernels, and with a device that is as slow as the paper's figures imply."""
    pixels = kPixels["tiny_yolov2"]
    ways, _ = plan(flags, "tiny_yolov2", with_rate(site(folder, pixels), 4))
    # at 4 Mbit/s 0.38 of (0.95 MB / rate + server) is the device's part, 173 kB / rate, and the rest of the server's time
    cut, input_ms = ways["cut"], kInputOfPaper * 8e-3 / 4 + ways["scaled photo"]["server_ms"]
    device_ms = 0.38 * input_ms - cut["up_bytes"] * 8e-3 / 4 - cut["server_ms"]
    rows = []
    for rate in (18, 12, 8, 4, 2):
        row = {"mbit_per_s": rate}
        for name, size, by in (("estimated", pixels, 1), ("implied", kInputOfPaper, device_ms / cut["device_ms"])):
            ways, choice = plan(flags, "tiny_yolov2", with_rate(site(folder, size, by), rate))
            row[name] = {"cut": best(ways, choice), "less": 1 - ways[choice]["total_ms"] / ways["scaled photo"]["total_ms"],
                         "device_ms": ways["device"]["total_ms"]}
        rows.append(row)
    return {"uplinks": rows}


def text(document, markdown):
    r, y = document["resnet18"], document["tiny_yolov2"]
    rows = [["link", "Mbit/s", "DADS's gain", "with its speeds", "cut", "with Mete's kernels", "cut"]]
    rows += [[row["link"], str(row["mbit_per_s"]), f"{row['published']:.2f}x", f"{row['implied']['gain']:.2f}x", row["implied"]["cut"],
              f"{row['estimated']['gain']:.2f}x", row["estimated"]["cut"]] for row in r["links"]]
    first = r["links"][0]
    lines = ["ResNet-18, gain over the device alone; the input is sent as bytes", tables.aligned(rows, markdown), "",
             f"DADS's speeds: {r['device_ms'] / 1e3:.2f} s on the device and {r['server_ms'] / 1e3:.2f} s on the server, which its gains over 3G, 4G and Wi-Fi "
             f"imply. Mete's kernels, estimated: {first['estimated']['device_ms']:.0f} and {first['estimated']['server_ms']:.0f} ms. Over {first['link']} no cut gains "
             "with these speeds and values of f32, so the paper's gain there is not explained.", "",
             "Tiny YOLOv2: DADS sends the input at 18 Mbit/s, and cuts behind max5 at 4 Mbit/s, in 62 % less time than with the input"]
    rows = [["Mbit/s", "with its speeds", "less than the input", "with Mete's kernels", "less than the input"]]
    rows += [[str(row["mbit_per_s"])] + [cell for name in ("implied", "estimated")
                                         for cell in (row[name]["cut"], f"{100 * row[name]['less']:.0f} %")] for row in y["uplinks"]]
    u = y["uplinks"][0]
    lines += [tables.aligned(rows, markdown), "",
              f"DADS's speeds: an input of {kInputOfPaper} bytes (a guess) and a device that takes {u['implied']['device_ms']:.0f} ms alone, which its "
              f"figures imply. Mete's kernels, estimated: {u['estimated']['device_ms']:.0f} ms, and the input as bytes.", "",
              "All times are simulated: estimates from machine files of a Pi 3B and a guessed server of eight cores."]
    return "\n".join(lines)


def main():
    flags = arguments()
    try:
        with tempfile.TemporaryDirectory() as folder:
            output.report(flags, {"resnet18": resnet(flags, folder), "tiny_yolov2": yolo(flags, folder)}, text)
    except networks.BadModel as e:
        output.say(str(e))
        return output.kBadFile
    return output.kSuccess


if __name__ == "__main__":
    sys.exit(main())

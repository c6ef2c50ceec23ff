"""Pools of boards on one network, as the devices files that Mete reads. Pure: standard library only."""
import collections

# `boards`: how many of each.
Pool = collections.namedtuple("Pool", "name boards")

kLinkFile = "rk3399x6.toml"  # its figures are those of every pool's links
kLinkKeys = ["latency_us", "message_us", "up_mbit_per_s", "down_mbit_per_s"]
kBoards = {"rk3399": "rk3399.toml", "xu4": "exynos-5422.toml"}
kPools = ([Pool(f"rk3399 x{n}", {"rk3399": n}) for n in range(1, 7)] + [Pool(f"xu4 x{n}", {"xu4": n}) for n in range(1, 4)] +
          [Pool(f"rk3399 x{n} + xu4 x{n}", {"rk3399": n, "xu4": n}) for n in range(1, 4)])


def link_figures(text):
    """The lines of a devices file that say what its links do."""
    return "".join(line + "\n" for line in text.splitlines() if line.partition(" ")[0] in kLinkKeys)


def devices_file(pool, folder, link):
    """Its text; `folder` has the machine files."""
    text = f'name = "{pool.name}"\n'
    for board, count in pool.boards.items():
        text += f'\n[[device]]\nname = "{board}"\ncount = {count}\nmachine = "{folder}/{kBoards[board]}"\n{link}'
    return text

"""Pools of boards on one network, as the devices files that Mete reads. Pure: standard library only."""
import collections

# What programs get of Ethernet at 100 Mb/s, as in boards/rk3399x6.toml. `count` of each board.
Pool = collections.namedtuple("Pool", "name boards")

_kLink = """latency_us = { value = 150, source = "estimate: half of a ping of 0.3 ms through one switch of 100 Mb/s" }
message_us = { value = 200, source = "estimate: system calls, copies and a remote procedure call on a board's fast core" }
up_mbit_per_s = { value = 94.1, source = "derived: 100 Mb/s less headers, 1448 of 1538 bytes of each frame" }
down_mbit_per_s = { value = 94.1, source = "derived: as up_mbit_per_s" }
"""

kBoards = {"rk3399": "rk3399.toml", "xu4": "exynos-5422.toml"}
kPools = ([Pool(f"rk3399 x{n}", {"rk3399": n}) for n in range(1, 7)] + [Pool(f"xu4 x{n}", {"xu4": n}) for n in range(1, 4)] +
          [Pool(f"rk3399 x{n} + xu4 x{n}", {"rk3399": n, "xu4": n}) for n in range(1, 4)])


def devices_file(pool, folder):
    """Its text; `folder` has the machine files."""
    text = f'name = "{pool.name}"\n'
    for board, count in pool.boards.items():
        text += f'\n[[device]]\nname = "{board}"\ncount = {count}\nmachine = "{folder}/{kBoards[board]}"\n{_kLink}'
    return text

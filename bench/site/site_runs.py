"""What is measured: runs, each a photo that goes one way in one state over one link, and the plans that Mete makes before them.

Not every cell is a run (cells.py composes the others): the device's way does not depend on the link, the exchange not on the device's state, a
start before a raw photo is sent not on the photo, and one before a scaled photo is sent on its size alone. A cut is a way of a resident model alone:
processes in the other states know no worker.
"""
import operator
import os
import shutil
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import device
import host_speed
import pages
import site_states
from cells import is_cut_measured, total, warm_ups
from output import say
from site_names import kHost, kParts, kStates, kSteps, kTaken, kWays, kWholeWays
from site_table import Table

kKeys = ["model", "photo", "size", "link", "state", "way"]
kSmallSize = "quarter"  # of the photos with which starts are measured whose answer comes from the server
kScaledStarts = 3  # photos of each other size with which starts of the scaled way are measured: the device decodes them; guess
kTries = 3   # to reach a state; guess


def run_table(folder):
    """`bound`: the way was given up then, and takes longer. `pages`: of the files of model, program and what is kept, in memory before it."""
    return Table(os.path.join(folder, "runs.csv"), kKeys, ["whole_ms", *kSteps, "bound", "pages", "photo_bytes", *kHost, *kTaken])


def plan_table(folder):
    """`layers`: of a cut, how many the device computes."""
    return Table(os.path.join(folder, "plans.csv"), kKeys, ["choice", *kSteps, *kParts, "layers"])


def failed_table(folder):
    """Ways that were tried and have no answer that counts."""
    return Table(os.path.join(folder, "failed.csv"), kKeys, ["why"])


class Runs:
    def __init__(self, flags, scene, photos, folder):
        """`photos`: those of scaled_photos.py."""
        self.flags, self.scene, self.photos = flags, scene, photos
        self.runs, self.plans, self.failed = run_table(folder), plan_table(folder), failed_table(folder)

    # resident: a process for each link, which answers all photos

    def resident(self, model, is_first_model):
        wanted = [photo for photo in self.photos if self._lacks(model, photo)]
        if not wanted:
            return
        self._prepare(model)
        self._warm_up_states(model)
        warm = self.photos[-1]
        devices = {}
        try:
            for link in reversed(self.flags.links):  # the server's worker has the weights for cuts from the fastest one
                devices[link] = self.scene.start(model, warm["path"], link, "device", sites=self.scene.sites_with_worker)
                self._warm_up(devices[link], kWays)
            for i, photo in enumerate(wanted):
                say(f"{model.name}, resident: {i + 1} of {len(wanted)}, {photo['photo']} {photo['size']}")
                for link, process in devices.items():
                    self._plan(model, photo, link, process)
                    self._cut(model, photo, link, process)
                    for way in ("scaled", "raw"):  # what is left of a photo that was given up is behind the other
                        self._exchange(model, photo, link, way, process, is_first_model)
                self._device(model, photo, devices)
        finally:
            for process in devices.values():
                process.close()

    def _lacks(self, model, photo):
        return (model.name, photo["photo"], photo["size"], self._device_link(), "resident", "device") not in self.runs

    def _device_link(self):
        """Over which the device's way is measured, which sends nothing."""
        return self.flags.links[-1]

    def _warm_up(self, process, ways):
        for photo in self._warm_photos():
            for way in ways:
                if way == "device" or self._foreseen(process.plans(photo["path"]), way) <= 1e3 * self.flags.limit:
                    process.run(photo["path"], way)

    def _prepare(self, model):
        """Processes until nothing more is kept of the model: the first one measures kernels, and the next packs weights for those it chooses."""
        before = None
        while before != (kept := sorted(pages.files_in(self.scene.cache))):
            before = kept
            with self.scene.start(model, self.photos[-1]["path"], self._device_link(), "device") as process:
                for _ in range(2):
                    process.run(self.photos[-1]["path"], "device")
                    process.settle()

    def _warm_photos(self):
        by_name = {(photo["photo"], photo["size"]): photo for photo in self.photos}
        return [by_name[name] for name in warm_ups(list(by_name), self.flags.sizes[-1])]

    def _warm_up_states(self, model):
        """Answers from each state, so that what Mete plans for others follows from what it has seen."""
        for state in self.flags.states[1:]:
            say(f"{model.name}, {state}: {len(self._warm_photos())} photos before any counts")
            if state == "evicted":
                self._warm_up_evicted(model)
                continue
            for photo in self._warm_photos():
                for way in ("device", "raw"):
                    self._started(model, self._device_link(), state, photo, way)

    def _warm_up_evicted(self, model):
        with self._process_for_evicted(model) as process:
            try:
                for photo in self._warm_photos():
                    self._evict(model, process)
                    process.run(photo["path"], "device")
            except site_states.PagesStay as stay:
                say(stay)

    def _plan(self, model, photo, link, process):
        key = (model.name, photo["photo"], photo["size"], link)
        if (*key, kStates[0], "device") in self.plans:
            return
        told = process.plans(photo["path"])
        planned = told["states"]["resident"]
        for way in planned["ways"]:
            word = next((word for word, name in kWays.items() if name == way["way"]), None)
            if not word:
                continue  # a way that is not measured here
            layers = way["cut"]["layers_on_device"] if word == "cut" else ""
            self.plans.add(**dict(zip(kKeys, (*key, "resident", word))), choice=planned["choice"], layers=layers,
                           **{name: way[name] for name in kSteps + kParts})

    def _plan_in(self, state, model, photo, done):
        """Plans for all links in a state. Over the link of the process that is in it, its plan and its choice; over the others they are composed, of
        its steps before the server and of the resident processes' uploads."""
        for link in self.flags.links:
            key = (model.name, photo["photo"], photo["size"], link)
            rows = {way: dict(self.plans.rows[(*key, "resident", way)]) for way in kWholeWays if (*key, "resident", way) in self.plans}
            if not rows:
                continue
            is_own = link == self._device_link()
            for way, row in rows.items():
                row.update((step, done["planned"][kWays[way]][step]) for step in (kSteps if is_own else self._before_the_server(way)))
            choice = done["choice"] if is_own else kWays[min(rows, key=lambda way: total(rows[way]))]
            for way, row in rows.items():
                if (*key, state, way) not in self.plans:
                    self.plans.add(**{**row, "state": state, "choice": choice})

    @staticmethod
    def _before_the_server(way):
        """The steps that depend on the device's state; a raw photo is decoded by the server."""
        return ["load_ms"] if way == "raw" else ["load_ms", "preprocess_ms"]

    @staticmethod
    def _foreseen(told, way):
        return next((w["total_ms"] for w in told["states"]["resident"]["ways"] if w["way"] == kWays[way]), 0)

    def _exchange(self, model, photo, link, way, process, is_first_model):
        key = (model.name, photo["photo"], photo["size"], link, "resident", way)
        if key in self.runs:
            return
        limit_ms = 1e3 * self.flags.limit
        foreseen = self._foreseen(process.plans(photo["path"]), way)
        is_example = photo["photo"] == self.photos[0]["photo"]
        is_long = foreseen > limit_ms
        # what a model adds to an exchange is its computing, which shorter exchanges have
        if not is_first_model and (is_long or (way == "raw" and foreseen > limit_ms / 4)):
            return
        if way == "scaled" and is_long and not is_example:
            return  # as many bytes as those of the first photo
        give_up_ms = limit_ms if is_long and not is_example else 0
        self._measure(key, photo, lambda: self._awake(process, photo, way, give_up_ms), give_up_ms)

    def _cut(self, model, photo, link, process):
        key = (model.name, photo["photo"], photo["size"], link, "resident")
        foreseen = {way: total(self.plans.rows[(*key, way)]) for way in kWays if (*key, way) in self.plans}
        if is_cut_measured(foreseen) and (*key, "cut") not in self.runs:
            self._measure((*key, "cut"), photo, lambda: self._awake(process, photo, "cut"))

    def _device(self, model, photo, devices):
        key = (model.name, photo["photo"], photo["size"], self._device_link(), "resident", "device")
        self._measure(key, photo, lambda: self._awake(devices[self._device_link()], photo, "device"))

    def _awake(self, process, photo, way, give_up_ms=0):
        """A photo for a process that has just planned for it, and does not sleep."""
        def run():
            process.plans(photo["path"])
            return process.run(photo["path"], way, give_up_ms)
        return self._with_host(run)

    def _measure(self, key, photo, attempt, limit_ms=0, on_answer=lambda done: None):
        """Keeps the first answer that counts, or that none does."""
        *_, state, way = key
        try:
            done, bound = site_states.answered(attempt, state, way, limit_ms)
        except site_states.NoAnswer as problem:
            say(f"{key}: {problem}")
            self.failed.add(**dict(zip(kKeys, key)), why=problem)
            return
        on_answer(done)
        self._add(key, done, bound, photo, done.get("left", ""))

    def _with_host(self, run):
        """What it gives, with what a fixed work takes on both cores before and after it, and for how long the host takes them away meanwhile."""
        cores = self.flags.cores
        taken, before = host_speed.taken_ms(cores), host_speed.work_ms(cores)
        done = run()
        after, taken_then = host_speed.work_ms(cores), host_speed.taken_ms(cores)
        return {**done, "host": {**dict(zip(kHost, before + after)), **dict(zip(kTaken, map(operator.sub, taken_then, taken)))}}

    def _add(self, key, done, bound, photo, left):
        self.runs.add(**dict(zip(kKeys, key)), whole_ms=done["whole_ms"], **done["steps"], **done["host"], bound=bound, pages=left, photo_bytes=photo["bytes"])

    # the other states, over the link on which the device's way is measured

    def ways_of(self, photo):
        if photo["size"] == self.small_size():
            return list(kWholeWays)
        first = list(dict.fromkeys(other["photo"] for other in self.photos))[:kScaledStarts]
        return ["device", "scaled"] if photo["photo"] in first else ["device"]

    def small_size(self):
        return kSmallSize if kSmallSize in self.flags.sizes else self.flags.sizes[-1]

    def other(self, model, state):
        """Runs in one of the states other than resident."""
        link = self._device_link()
        wanted = [(photo, way) for photo in self.photos for way in self.ways_of(photo)
                  if (model.name, photo["photo"], photo["size"], link, state, way) not in self.runs]
        say(f"{model.name}, {state}: {len(wanted)} runs")
        if wanted and state == "evicted":
            return self._evicted(model, wanted)
        for photo, way in wanted:
            self._count(model, state, photo, way, lambda: self._started(model, link, state, photo, way))

    def _count(self, model, state, photo, way, attempt):
        def plan(done):
            if way == "device":
                self._plan_in(state, model, photo, done)
        self._measure((model.name, photo["photo"], photo["size"], self._device_link(), state, way), photo, attempt, on_answer=plan)

    def _process_for_evicted(self, model):
        process = self.scene.start(model, self.photos[-1]["path"], self._device_link(), "device")
        self._warm_up(process, kWholeWays)
        return process

    def _evict(self, model, process):
        """The pages of the model and of what is kept leave memory. Those of the program that it needs to wait stay."""
        for _ in range(kTries):
            process.release()
            pages.evict(self.scene.files(model, self.scene.cache))
            left = pages.pages_of(self.scene.model_files(model, self.scene.cache))
            if not left:
                return
        raise site_states.PagesStay(f"[evicted] pages stay in memory; got {left} of {model.name}, expected none")

    def _evicted(self, model, wanted):
        with self._process_for_evicted(model) as process:
            for photo, way in wanted:
                try:
                    self._count(model, "evicted", photo, way, lambda: self._from_evicted(model, process, photo, way))
                except site_states.PagesStay as stay:
                    say(f"{stay}; not measured")

    def _from_evicted(self, model, process, photo, way):
        self._evict(model, process)
        done = self._with_host(lambda: process.run(photo["path"], way))
        process.run(photo["path"], "device")  # the next one is evicted from a process that has answered
        return {**done, "left": 0}

    def _started(self, model, link, state, photo, way):
        """A run of a new process, with the pages that were in memory before it (`left`)."""
        cache = self._first_cache() if state == "first-ever" else self.scene.cache
        left = site_states.reach(state, self.scene.files(model, cache))
        def start():
            with self.scene.start(model, photo["path"], link, way, cache) as process:
                return process.first
        first = {**self._with_host(start), "left": left}
        if state == "first-ever":  # what it has learned of the link and of its times stays
            shutil.copytree(os.path.join(cache, "starts"), os.path.join(self.scene.cache, "starts"), dirs_exist_ok=True)
        return first

    def _first_cache(self):
        """A folder without timings and packed weights, but with what `mete profile --starts` and earlier photos have told."""
        shutil.rmtree(self.scene.first_cache, ignore_errors=True)
        shutil.copytree(os.path.join(self.scene.cache, "starts"), os.path.join(self.scene.first_cache, "starts"))
        return self.scene.first_cache

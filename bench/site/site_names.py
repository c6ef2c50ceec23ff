"""Names of the experiment's states, ways and steps, as Mete has them."""

kStates = ["resident", "evicted", "killed", "cold", "first-ever"]  # src/plan/site/site_costs.h
kWays = {"device": "device", "raw": "raw photo", "scaled": "scaled photo", "cut": "cut"}  # of --way, and of plans
kWholeWays = [way for way in kWays if way != "cut"]  # the model is on one side
kSteps = ["load_ms", "preprocess_ms", "upload_ms", "compute_ms"]
kHost = ["device_before_ms", "server_before_ms", "device_after_ms", "server_after_ms"]  # of a fixed work on their cores, around a run
kTaken = ["device_taken_ms", "server_taken_ms"]  # for which the host took their cores away during it
kParts = ["ask_ms", "connect_ms", "round_trip_ms", "bytes_ms", "slow_start_ms"]  # of a planned upload

"""What these programs print, write and end with."""
import json
import sys

kSuccess, kFailure, kUsage, kBadFile = range(4)  # as mete's
kCancelled = 5


def say(text):
    print(text, file=sys.stderr, flush=True)


def write_json(path, value):
    """`-` is stdout."""
    text = json.dumps(value, indent=1) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    with open(path, "w") as file:
        file.write(text)

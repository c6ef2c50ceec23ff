"""What these programs print, write and end with."""
import json
import os
import sys
import tempfile

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
    write_whole(path, text)


def report(flags, document, text):
    """The document as --json asks, and the tables of text(document, markdown) unless stdout has it (common_flags.add_report)."""
    if flags.json:
        write_json(flags.json, document)
    if flags.json != "-":
        print(text(document, flags.markdown))


def write_whole(path, text):
    """Renamed into place: a reader finds the old file or the new one."""
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(os.path.abspath(path)), delete=False) as file:
        try:
            file.write(text)
            file.close()
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise

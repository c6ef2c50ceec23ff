"""The state of the sources that a page of results is of."""
import os
import subprocess

_root = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def state():
    """Their commit, for people."""
    def git(*words):
        return subprocess.run(["git", "-C", _root, *words], capture_output=True, text=True, check=False).stdout.strip()
    commit = git("rev-parse", "--short=8", "HEAD") or "an unknown commit"
    return commit + (" with changes" if git("status", "--porcelain", "--untracked-files=no", "--", "src", "apps", "include", "bench") else "")

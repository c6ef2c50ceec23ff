"""`python -m mete`: the command line."""
import os
import sys

from mete import program
from mete.errors import NotFound


def main():
    try:
        file = program.path()
    except NotFound as error:
        sys.exit(str(error))
    os.execv(file, ["mete", *sys.argv[1:]])


if __name__ == "__main__":
    main()

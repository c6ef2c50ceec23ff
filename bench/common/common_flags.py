"""Flags that several of these programs have."""
import argparse
import os

kRoot = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def add_mete(parser):
    parser.add_argument("--mete", default=os.path.join(kRoot, "build", "release", "mete"), metavar="FILE", help="the program")


def add_work(parser):
    parser.add_argument("--work", default=os.path.join(kRoot, "build", "models"), metavar="FOLDER",
                        help="where models of the zoo are, or are made (default: build/models)")


def networks_parser(description, models):
    """Of a program that measures networks with Mete; its status is that of output.py."""
    p = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter,
                                epilog="Tables go to stdout, progress to stderr. Exit: 0 success, 1 a failure at run time, 2 usage, 3 a "
                                       "model that Mete cannot load.")
    add_mete(p)
    p.add_argument("--models", nargs="+", default=models, metavar="M", help=f"files, or names of the zoo (default: {' '.join(models)})")
    add_work(p)
    return p


def add_report(parser):
    parser.add_argument("--json", metavar="FILE", help="everything measured; - for stdout, in place of the tables")
    parser.add_argument("--markdown", action="store_true", help="tables in Markdown")


def parsed(parser):
    """The flags of the command line, whose program --mete is there."""
    flags = parser.parse_args()
    if not os.access(flags.mete, os.X_OK):
        parser.error(f"[--mete] no program at '{flags.mete}'; try 'make release'")
    return flags

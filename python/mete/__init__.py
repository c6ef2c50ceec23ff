"""Mete from Python. There are no bindings of the library yet: what is here starts the program `mete`."""

"""The errors that Mete raises: one class for each of gRPC's codes, below `Error`.

Their texts have the form "[where] what; got X, expected Y; try Z".
"""


class Error(RuntimeError):
    """Any error of Mete; `code` is the name of gRPC's code."""

    code = "UNKNOWN"


class Cancelled(Error):
    code = "CANCELLED"


class InvalidArgument(Error, ValueError):
    code = "INVALID_ARGUMENT"


class DeadlineExceeded(Error, TimeoutError):
    code = "DEADLINE_EXCEEDED"


class NotFound(Error, FileNotFoundError):
    code = "NOT_FOUND"


class ResourceExhausted(Error, MemoryError):
    code = "RESOURCE_EXHAUSTED"


class FailedPrecondition(Error):
    code = "FAILED_PRECONDITION"


class OutOfRange(Error, IndexError):
    code = "OUT_OF_RANGE"


class Unimplemented(Error, NotImplementedError):
    code = "UNIMPLEMENTED"


class Internal(Error):
    code = "INTERNAL"


class Unavailable(Error):
    code = "UNAVAILABLE"


class DataLoss(Error):
    code = "DATA_LOSS"


_CLASSES = {c.code: c for c in Error.__subclasses__()}


def class_of(code):
    """The class of a code's name; `Error` for one that is not known."""
    return _CLASSES.get(code, Error)

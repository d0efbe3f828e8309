"""The exceptions: one class for each status of the C++ API, with the library's own sentences."""


class Error(RuntimeError):
    """What Trine raises. str() is one or more complete sentences; `status` is for programs."""

    status = "internal"


class ArgumentError(Error, ValueError):
    """A check refused the arguments before anything was written."""

    status = "invalid_argument"


class ArrayError(Error, TypeError):
    """An argument is no array that Trine can read."""

    status = "invalid_argument"


class UnsupportedError(Error, NotImplementedError):
    """The call is legal, but this device or rung can't do it."""

    status = "unsupported"


class NotFoundError(Error, LookupError):
    """No device, backend, rung or parameter has this name."""

    status = "not_found"


class OutOfMemoryError(Error, MemoryError):
    """Host or device memory is exhausted."""

    status = "out_of_memory"


class BackendError(Error):
    """The driver or the vendor's runtime failed."""

    status = "backend_error"


class DeviceLostError(Error):
    """The device can't be used any more in this process."""

    status = "device_lost"


class InternalError(Error):
    """A defect of Trine or of a backend."""

    status = "internal"


_CLASSES = {
    kind.status: kind
    for kind in (
        ArgumentError,
        UnsupportedError,
        NotFoundError,
        OutOfMemoryError,
        BackendError,
        DeviceLostError,
        InternalError,
    )
}


def of_status(status: str, sentence: str) -> Error:
    """The exception for a status of the library."""
    return _CLASSES[status](sentence)

"""DLPack tensors and buffers that no library would make, filled by hand."""

import ctypes


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


class Older(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
INT, UINT, FLOAT, BFLOAT, COMPLEX, BOOL = 0, 1, 2, 4, 5, 6


class Produced:
    """A producer of hand-made DLPack: any dtype, shape and strides of the memory of `values`."""

    def __init__(self, values, shape, strides=None, version=(1, 0), flags=0, **fields):
        self.values, self.version = values, version
        default = {"device_type": 1, "code": FLOAT, "bits": 64, "lanes": 1, "ndim": len(shape or ())}
        numbers = [None if s is None else (ctypes.c_int64 * len(s))(*s) for s in (shape, strides)]
        shape, strides = (None if n is None else ctypes.addressof(n) for n in numbers)
        self.kept = numbers
        self.tensor = Tensor(
            data=values.ctypes.data, shape=shape, strides=strides, **(default | fields)
        )
        self.versioned = Versioned(*(version or (0, 0)), None, None, flags, self.tensor)
        self.older = Older(self.tensor, None, None)

    def __dlpack__(self, max_version=None):
        if self.version is None:
            return new_capsule(ctypes.addressof(self.older), b"dltensor", None)
        return new_capsule(ctypes.addressof(self.versioned), b"dltensor_versioned", None)


# Py_buffer, and a type whose bf_getbuffer fills it as it is told: no object of Python's own says such things.
class Buffer(ctypes.Structure):
    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


class Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(Slot)),
    ]


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Buffer), ctypes.c_int)
def get_buffer(exporter, view, flags):
    ctypes.memset(view, 0, ctypes.sizeof(Buffer))
    for name, value in Exporter.facts.items():
        setattr(view.contents, name, value)
    view.contents.obj = id(exporter)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(exporter))
    return 0


def exporting_type():
    slots = (Slot * 2)(Slot(1, ctypes.cast(get_buffer, ctypes.c_void_p)), Slot(0, None))  # Py_bf_getbuffer
    spec = Spec(b"tests.Exporter", object.__basicsize__, 0, 1 << 18 | 1 << 10, slots)
    from_spec = ctypes.pythonapi.PyType_FromSpec
    from_spec.restype, from_spec.argtypes = ctypes.py_object, [ctypes.POINTER(Spec)]
    return from_spec(ctypes.byref(spec)), slots


class Exporter:
    kind, slots = exporting_type()
    facts = {}

    def __new__(cls, **facts):
        cls.facts = facts
        return cls.kind()

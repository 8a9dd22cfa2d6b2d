"""ctypes for libstarswitch. Written by tools/bindings from the C headers,
which say what all of it means; do not edit. Names are C's."""

from ctypes import (
    CDLL,
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int64,
    c_size_t,
    c_uint,
    c_uint32,
    c_uint64,
    c_void_p,
)
from enum import IntEnum
from typing import Any

STAR_VERSION = "0.1.0"
STAR_ABI = 1


class star_link(Structure):
    pass


class star_status(IntEnum):
    STAR_OK = 0
    STAR_BAD_ARGUMENT = 1
    STAR_NO_MEMORY = 2
    STAR_NO_NETWORK = 3
    STAR_NO_FILE = 4
    STAR_TIMEOUT = 5
    STAR_CLOSED = 6
    STAR_NOT_YET = 7


class star_advice(IntEnum):
    STAR_GO = 0
    STAR_STOP = 1
    STAR_REFUSED = 2


class star_level(IntEnum):
    STAR_DEBUG = 0
    STAR_INFO = 1
    STAR_WARNING = 2
    STAR_ERROR = 3


STAR_RANK_MAX = 8


class star_kind(IntEnum):
    STAR_TRAINED = 0
    STAR_AVERAGED = 1
    STAR_LARGEST = 2


class star_tensor(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("rank", c_int),
        ("name", c_char_p),
        ("shape", c_uint64 * 8),
        ("value", POINTER(c_float)),
        ("gradient", POINTER(c_float)),
        ("kind", c_int),
    ]


class star_event(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("level", c_int),
        ("lost", c_uint64),
        ("event", c_char * 32),
        ("text", c_char * 256),
    ]


class star_options(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("quiet", c_int),
        ("hub", c_char_p),
        ("name", c_char_p),
        ("log", CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)),
        ("step", CFUNCTYPE(None, c_void_p, POINTER(c_float), c_size_t, c_size_t)),
        ("replaced", CFUNCTYPE(None, c_void_p, c_int)),
        (
            "evaluate",
            CFUNCTYPE(
                c_int, c_void_p, POINTER(c_float), POINTER(c_double), POINTER(c_double)
            ),
        ),
        ("hurry", CFUNCTYPE(c_int, c_void_p)),
        ("context", c_void_p),
        ("up", c_uint64),
        ("down", c_uint64),
        ("cores", c_char_p),
        ("record", c_char_p),
        ("key", c_char_p),
        ("identity", c_char_p),
        (
            "change",
            CFUNCTYPE(
                None, c_void_p, c_double, c_double, POINTER(c_float), c_size_t, c_size_t
            ),
        ),
        ("raise_to", CFUNCTYPE(None, c_void_p, POINTER(c_float), c_size_t, c_size_t)),
    ]


class star_progress(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("loss", c_double),
        ("samples", c_uint64),
        ("accuracy", c_double),
        ("optimizer", c_double),
        ("data_wait", c_double),
        ("idle", c_double),
    ]


class star_state(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("attached", c_int),
        ("iteration", c_uint64),
        ("offered", c_uint64),
        ("applied", c_uint64),
        ("missed", c_uint64),
        ("every", c_uint64),
        ("delay", c_uint64),
        ("shard", c_uint32),
        ("shards", c_uint32),
        ("bytes_up", c_uint64),
        ("bytes_down", c_uint64),
        ("inside", c_double),
        ("waited", c_double),
        ("exit_code", c_int),
        ("status", c_int),
        ("name", c_char * 40),
        ("text", c_char * 128),
        ("global_samples", c_uint64),
        ("members", c_uint64),
        ("version", c_uint64),
        ("tasks", c_uint64),
    ]


class star_due(IntEnum):
    STAR_DUE_OFFER = 1
    STAR_DUE_RESULT = 2
    STAR_DUE_COPY = 4


class star_task(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("id", c_uint64),
        ("epoch", c_uint64),
        ("part", c_uint32),
        ("parts", c_uint32),
    ]


STAR_TASKS_MAX = 64


class star_next(IntEnum):
    STAR_TASK = 0
    STAR_NO_TASK = 1
    STAR_TASKS_OVER = 2


class star_versions(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("lowest", c_uint64),
        ("highest", c_uint64),
    ]


class star_group(Structure):
    pass


class star_group_status(IntEnum):
    STAR_GROUP_NO_NEED = -1
    STAR_GROUP_SUCCESS = 0
    STAR_GROUP_FAIL = 1
    STAR_GROUP_ABORT = 2


class star_consensus_mode(IntEnum):
    STAR_PASSIVE = 0
    STAR_ACTIVE = 1


class star_manner(IntEnum):
    STAR_ELASTIC = 0
    STAR_PATIENT = 1


class star_op(IntEnum):
    STAR_SUM = 0
    STAR_MEAN = 1
    STAR_MAX = 2
    STAR_MIN = 3
    STAR_BITOR = 4


class star_dtype(IntEnum):
    STAR_I8 = 0
    STAR_U8 = 1
    STAR_I32 = 2
    STAR_U32 = 3
    STAR_I64 = 4
    STAR_U64 = 5
    STAR_F32 = 6
    STAR_F64 = 7


class star_group_options(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("quiet", c_int),
        ("manner", c_int),
        ("mode", c_int),
        ("members", c_uint),
        ("timeout", c_double),
        ("patience", c_double),
        ("log", CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)),
        ("context", c_void_p),
        ("key", c_char_p),
        ("identity", c_char_p),
    ]


class star_group_tensor(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("values", POINTER(c_float)),
        ("count", c_size_t),
    ]


class star_group_state(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("rank", c_uint),
        ("members", c_uint),
        ("epoch", c_uint64),
        ("averages", c_uint64),
        ("version", c_uint64),
        ("joined", c_int),
        ("exit_code", c_int),
        ("text", c_char * 128),
    ]


STAR_ANY = -1


class star_request(Structure):
    pass


class star_message(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("source", c_int),
        ("tag", c_int),
        ("bytes", c_size_t),
        ("id", c_uint64),
    ]


class star_rebuild_status(IntEnum):
    STAR_REBUILD_SKIP_ALLREDUCE = -1
    STAR_REBUILD_SUCCESS = 0
    STAR_REBUILD_FAIL = 1
    STAR_REBUILD_ABORT = 2


class star_consensus_status(IntEnum):
    STAR_CONSENSUS_SKIP_ALLREDUCE = -1
    STAR_CONSENSUS_SUCCESS = 0
    STAR_CONSENSUS_FAIL = 1


class star_commlib_status(IntEnum):
    STAR_COMMLIB_SUCCESS = 0
    STAR_COMMLIB_FAIL = 1


FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "star_version": (
        c_char_p,
        [],
    ),
    "star_attach": (
        c_int,
        [
            POINTER(star_options),
            POINTER(star_tensor),
            c_size_t,
            POINTER(POINTER(star_link)),
            c_char_p,
            c_size_t,
        ],
    ),
    "star_step": (
        c_int,
        [
            POINTER(star_link),
            POINTER(star_progress),
        ],
    ),
    "star_idle": (
        c_int,
        [
            POINTER(star_link),
        ],
    ),
    "star_due": (
        c_uint,
        [
            POINTER(star_link),
        ],
    ),
    "star_offer": (
        c_int,
        [
            POINTER(star_link),
            c_uint64,
        ],
    ),
    "star_retarget": (
        c_int,
        [
            POINTER(star_link),
            POINTER(star_tensor),
            c_size_t,
            c_char_p,
            c_size_t,
        ],
    ),
    "star_wants_gradient": (
        c_int,
        [
            POINTER(star_link),
        ],
    ),
    "star_task_next": (
        c_int,
        [
            POINTER(star_link),
            POINTER(star_task),
        ],
    ),
    "star_task_done": (
        c_int,
        [
            POINTER(star_link),
            c_uint64,
            c_int,
        ],
    ),
    "star_look": (
        c_int,
        [
            POINTER(star_link),
            POINTER(star_state),
        ],
    ),
    "star_centre": (
        c_int,
        [
            POINTER(star_link),
            POINTER(c_float),
            c_size_t,
            POINTER(star_versions),
            c_char_p,
            c_size_t,
        ],
    ),
    "star_wait": (
        c_int,
        [
            POINTER(star_link),
            c_double,
        ],
    ),
    "star_poll": (
        c_int,
        [
            POINTER(star_link),
            POINTER(star_event),
        ],
    ),
    "star_say": (
        None,
        [
            POINTER(star_link),
            c_int,
            c_char_p,
            c_char_p,
        ],
    ),
    "star_detach": (
        None,
        [
            POINTER(POINTER(star_link)),
        ],
    ),
    "star_detach_within": (
        c_int,
        [
            POINTER(POINTER(star_link)),
            c_double,
        ],
    ),
    "star_gather": (
        None,
        [
            POINTER(POINTER(c_float)),
            POINTER(c_uint64),
            c_size_t,
            POINTER(c_float),
        ],
    ),
    "star_scatter": (
        None,
        [
            c_double,
            c_double,
            POINTER(c_float),
            POINTER(POINTER(c_float)),
            POINTER(c_uint64),
            c_size_t,
        ],
    ),
    "star_offer_pieces": (
        c_int,
        [
            POINTER(star_link),
            c_uint64,
            POINTER(POINTER(c_float)),
            POINTER(c_uint64),
            c_size_t,
        ],
    ),
    "star_group_join": (
        c_int,
        [
            c_char_p,
            c_char_p,
            POINTER(star_group_options),
            POINTER(POINTER(star_group)),
            c_char_p,
            c_size_t,
        ],
    ),
    "star_group_leave": (
        None,
        [
            POINTER(POINTER(star_group)),
        ],
    ),
    "star_group_interrupt": (
        None,
        [
            POINTER(star_group),
        ],
    ),
    "star_group_look": (
        c_int,
        [
            POINTER(star_group),
            POINTER(star_group_state),
        ],
    ),
    "star_group_poll": (
        c_int,
        [
            POINTER(star_group),
            POINTER(star_event),
        ],
    ),
    "star_group_rank": (
        c_uint,
        [
            POINTER(star_group),
        ],
    ),
    "star_group_size": (
        c_uint,
        [
            POINTER(star_group),
        ],
    ),
    "star_group_build": (
        c_int,
        [
            POINTER(star_group),
        ],
    ),
    "star_group_wait_joined": (
        c_int,
        [
            POINTER(star_group),
            c_double,
        ],
    ),
    "star_group_allreduce_average": (
        c_int,
        [
            POINTER(star_group),
            POINTER(star_group_tensor),
            c_size_t,
        ],
    ),
    "star_group_broadcast": (
        c_int,
        [
            POINTER(star_group),
            c_void_p,
            c_size_t,
            c_uint,
        ],
    ),
    "star_group_barrier": (
        c_int,
        [
            POINTER(star_group),
        ],
    ),
    "star_group_allreduce": (
        c_int,
        [
            POINTER(star_group),
            c_void_p,
            c_size_t,
            c_int,
            c_int,
            CFUNCTYPE(None, c_void_p),
            c_void_p,
        ],
    ),
    "star_group_allreduce_custom": (
        c_int,
        [
            POINTER(star_group),
            c_void_p,
            c_size_t,
            c_size_t,
            CFUNCTYPE(None, c_void_p, c_void_p, c_size_t),
        ],
    ),
    "star_group_allgather": (
        c_int,
        [
            POINTER(star_group),
            c_void_p,
            c_size_t,
            c_void_p,
            c_size_t,
            POINTER(c_size_t),
        ],
    ),
    "star_group_stop": (
        c_int,
        [
            POINTER(star_group),
        ],
    ),
    "star_group_isend": (
        POINTER(star_request),
        [
            POINTER(star_group),
            c_void_p,
            c_size_t,
            c_uint,
            c_int,
        ],
    ),
    "star_group_improbe": (
        c_int,
        [
            POINTER(star_group),
            c_int,
            c_int,
            POINTER(star_message),
        ],
    ),
    "star_group_mprobe": (
        c_int,
        [
            POINTER(star_group),
            c_int,
            c_int,
            c_double,
            POINTER(star_message),
        ],
    ),
    "star_group_imrecv": (
        POINTER(star_request),
        [
            POINTER(star_group),
            POINTER(star_message),
            c_void_p,
            c_size_t,
        ],
    ),
    "star_group_test": (
        c_int,
        [
            POINTER(star_group),
            POINTER(POINTER(star_request)),
            POINTER(c_int),
        ],
    ),
    "star_group_wait": (
        c_int,
        [
            POINTER(star_group),
            POINTER(POINTER(star_request)),
            c_double,
        ],
    ),
    "star_group_load_checkpoint": (
        c_int64,
        [
            POINTER(star_group),
            POINTER(c_void_p),
            POINTER(c_size_t),
        ],
    ),
    "star_group_checkpoint": (
        c_int,
        [
            POINTER(star_group),
            c_void_p,
            c_size_t,
        ],
    ),
    "star_group_lazy_checkpoint": (
        c_int,
        [
            POINTER(star_group),
            c_void_p,
            c_size_t,
        ],
    ),
    "star_group_version_number": (
        c_uint64,
        [
            POINTER(star_group),
        ],
    ),
    "star_group_init": (
        c_int,
        [
            POINTER(star_group),
            c_char_p,
            c_char_p,
        ],
    ),
    "star_group_initialized": (
        c_int,
        [
            POINTER(star_group),
        ],
    ),
    "star_group_skip_allreduce": (
        c_int,
        [
            POINTER(star_group),
        ],
    ),
    "star_group_manual_join": (
        c_int,
        [
            POINTER(star_group),
            c_double,
        ],
    ),
    "star_group_consensus_joined": (
        c_int,
        [
            POINTER(star_group),
        ],
    ),
    "star_group_wait_weights_ready": (
        c_int,
        [
            POINTER(star_group),
            POINTER(star_group_tensor),
            c_size_t,
        ],
    ),
    "star_group_execute": (
        c_int,
        [
            POINTER(star_group),
            CFUNCTYPE(c_int, c_void_p),
            c_void_p,
            POINTER(c_int),
        ],
    ),
    "star_group_join_arguments": (
        c_int,
        [
            c_int,
            POINTER(c_char_p),
            POINTER(POINTER(star_group)),
            c_char_p,
            c_size_t,
        ],
    ),
    "star_group_is_distributed": (
        c_int,
        [
            POINTER(star_group),
        ],
    ),
    "star_group_processor_name": (
        c_char_p,
        [
            POINTER(star_group),
        ],
    ),
    "star_group_tracker_print": (
        None,
        [
            POINTER(star_group),
            c_char_p,
        ],
    ),
}


def load(path: str) -> CDLL:
    """The library in this file, its functions told their types. OSError: there
    is none; AttributeError: it lacks a function, as it is older than this."""
    library = CDLL(path)
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library

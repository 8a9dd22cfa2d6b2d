"""Payloads of chunks, as docs/codecs.md lays them out, in NumPy."""
import numpy as np

F32 = np.dtype("<f4")
LEAST = np.float32(2.0**-100)
FOUR_THIRDS = np.float32(4) / np.float32(3)
SIZES = np.array([0] + [2.0**e for e in range(-6, 1)], F32)


def _pack(codes, bits):
    """Codes of less than a byte, in planes: byte i has those of i, m + i..."""
    per = 8 // bits
    plane = -(-len(codes) // per)
    padded = np.zeros(plane * per, np.uint8)
    padded[:len(codes)] = codes
    out = np.zeros(plane, np.uint8)
    for p in range(per):
        out |= padded[p * plane:(p + 1) * plane] << np.uint8(p * bits)
    return out.tobytes()


def _unpack(data, length, bits):
    raw = np.frombuffer(data, np.uint8)
    planes = [raw >> np.uint8(p * bits) & np.uint8((1 << bits) - 1)
              for p in range(8 // bits)]
    return np.concatenate(planes)[:length]


def _largest(x):
    most = np.abs(x).max(initial=np.float32(0))
    return most if most >= LEAST else np.float32(0)


def _whole_codes(x, most):
    largest = _largest(x)
    if not largest:
        return np.float32(0), np.zeros(len(x), np.int8)
    inverse = np.float32(most) / largest
    return largest / np.float32(most), np.rint(x * inverse).astype(np.int8)


def _int8_encode(x):
    step, codes = _whole_codes(x, 127)
    return step.tobytes() + codes.tobytes()


def _int8_decode(data, length):
    return np.frombuffer(data[4:], np.int8).astype(F32) * \
        np.frombuffer(data[:4], F32)[0]


def _int4_encode(x):
    step, codes = _whole_codes(x, 7)
    return step.tobytes() + _pack(codes.view(np.uint8) & np.uint8(15), 4)


def _int4_decode(data, length):
    codes = _unpack(data[4:], length, 4).astype(np.int8)
    codes = np.where(codes < 8, codes, codes - 16).astype(F32)
    return codes * np.frombuffer(data[:4], F32)[0]


def _e3m0_encode(x):
    largest = _largest(x)
    inverse = FOUR_THIRDS / largest if largest else np.float32(0)
    size = np.abs(x) * inverse
    codes = (size >= FOUR_THIRDS * np.float32(1 / 128)).astype(np.uint8)
    for code in range(2, 8):
        codes[size >= SIZES[code]] = code
    codes |= np.signbit(x).astype(np.uint8) << np.uint8(3)
    return largest.tobytes() + _pack(codes, 4)


def _e3m0_decode(data, length):
    codes = _unpack(data[4:], length, 4)
    size = SIZES[codes & 7]
    return np.where(codes & 8, -size, size) * np.frombuffer(data[:4], F32)[0]


def _sign_encode(x):
    lanes = np.zeros(16)
    for i, value in enumerate(x):
        lanes[i % 16] += abs(float(value))
    for half in (8, 4, 2, 1):
        lanes[:half] += lanes[half:2 * half]
    mean = np.float32(lanes[0] / len(x))
    return mean.tobytes() + _pack(np.signbit(x).astype(np.uint8), 1)


def _sign_decode(data, length):
    mean = np.frombuffer(data[:4], F32)[0]
    return np.where(_unpack(data[4:], length, 1), -mean, mean)


def _top_encode(share):
    def encode(x):
        kept = -(-len(x) // share)
        places = np.sort(np.argsort(-np.abs(x), kind="stable")[:kept])
        return places.astype("<u2").tobytes() + x[places].tobytes()
    return encode


def _top_decode(share):
    def decode(data, length):
        kept = -(-length // share)
        places = np.frombuffer(data[:2 * kept], "<u2").astype(int)
        if (np.diff(places) <= 0).any() or places[-1] >= length:
            raise ValueError("places that make no sense")
        out = np.zeros(length, F32)
        out[places] = np.frombuffer(data[2 * kept:], F32)
        return out
    return decode


def _sparse_encode(x):
    kept = -(-len(x) // 64)
    places = np.sort(np.argsort(-np.abs(x), kind="stable")[:kept])
    step, codes = _whole_codes(x[places], 7)
    codes = codes.astype(int) & 15
    return step.tobytes() + (places | codes << 12).astype("<u2").tobytes()


def _sparse_decode(data, length):
    entries = np.frombuffer(data[4:], "<u2").astype(int)
    places, codes = entries & 4095, entries >> 12
    if (np.diff(places) <= 0).any() or places[-1] >= length:
        raise ValueError("places that make no sense")
    out = np.zeros(length, F32)
    out[places] = (np.where(codes < 8, codes, codes - 16).astype(F32)
                   * np.frombuffer(data[:4], F32)[0])
    return out


def _f16_encode(x):
    with np.errstate(over="ignore"):
        half = x.astype("<f2")
    most = np.float16(65504)
    return np.where(np.abs(x) >= 65504, np.copysign(most, x),
                    half).astype("<f2").tobytes()


def _bf16_encode(x):
    bits = x.view("<u4").astype(np.uint64)
    size = bits & 0x7fffffff
    code = np.minimum(size + 0x7fff + (size >> 16 & 1) >> 16, 0x7f7f)
    return (code | bits >> 16 & 0x8000).astype("<u2").tobytes()


def _bf16_decode(data, length):
    return (np.frombuffer(data, "<u2").astype("<u4") << 16).view(F32)


# name: elements of a block, bytes of one of so many, encode, decode
CODECS = {
    "raw": (1 << 40, lambda n: 4 * n, lambda x: x.tobytes(),
            lambda b, n: np.frombuffer(b, F32)),
    "f16": (1 << 40, lambda n: 2 * n, _f16_encode,
            lambda b, n: np.frombuffer(b, "<f2").astype(F32)),
    "bf16": (1 << 40, lambda n: 2 * n, _bf16_encode, _bf16_decode),
    "int8": (256, lambda n: 4 + n, _int8_encode, _int8_decode),
    "int4": (256, lambda n: 4 + -(-n // 2), _int4_encode, _int4_decode),
    "e3m0": (256, lambda n: 4 + -(-n // 2), _e3m0_encode, _e3m0_decode),
    "sign": (256, lambda n: 4 + -(-n // 8), _sign_encode, _sign_decode),
    "top1": (4096, lambda n: 6 * -(-n // 100), _top_encode(100),
             _top_decode(100)),
    "top10": (4096, lambda n: 6 * -(-n // 10), _top_encode(10),
              _top_decode(10)),
    "sparse": (4096, lambda n: 4 + 2 * -(-n // 64), _sparse_encode,
               _sparse_decode),
}
FOR_ALL = ("raw", "f16", "bf16")


def encode(codec, x, exempt):
    """`exempt`: which elements of the chunk always are float32."""
    x = np.ascontiguousarray(x, F32)
    if codec == "raw":
        return x.tobytes()
    block, _, one, _ = CODECS[codec]
    coded = x[~exempt]
    parts = [one(coded[i:i + block]) for i in range(0, len(coded), block)]
    return b"".join(parts) + x[exempt].tobytes()


def decode(codec, payload, exempt):
    block, size, _, one = CODECS[codec] if codec != "raw" else CODECS["raw"]
    out = np.empty(len(exempt), F32)
    if codec == "raw":
        out[:] = np.frombuffer(payload, F32)
        return out
    coded, parts, at = int((~exempt).sum()), [], 0
    for first in range(0, coded, block):
        length = min(block, coded - first)
        parts.append(one(payload[at:at + size(length)], length))
        at += size(length)
    out[~exempt] = np.concatenate(parts) if parts else []
    out[exempt] = np.frombuffer(payload[at:], F32)
    return out

"""Keys as they are written in their files (rfc.zeromq.org/spec/32)."""

DIGITS = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    ".-:+=^!/*?&<>()[]{}@%$#"
)


def decode(text: str) -> bytes:
    out = b""
    for at in range(0, len(text), 5):
        value = 0
        for digit in text[at : at + 5]:
            value = value * 85 + DIGITS.index(digit)
        out += value.to_bytes(4, "big")
    return out

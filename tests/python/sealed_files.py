"""Files of traces with other contents, and the digest that is right for these: what comes in then is the decoder's to judge."""

import struct

_ALL = (1 << 64) - 1
# After the beginning, a byte for the form, the length and the digest.
_HEAD = len(b"slotrt traces\n") + 1
_CONTENT = _HEAD + 8 + 16


def content_of(file):
    """What a file holds."""
    return file[_CONTENT:]


def sealed(file, content):
    """The same file with another content."""
    return file[:_HEAD] + struct.pack("<Q", len(content)) + _digest(content) + content


def _digest(content):
    content = struct.pack("<Q", len(content)) + content
    first, second = (_siphash(bytes([which]) + content) for which in (0, 1))
    return struct.pack("<QQ", second, first)


def _rotated(value, count):
    return (value << count | value >> 64 - count) & _ALL


def _siphash(data):
    """SipHash-1-3 with zeros for a key, as Rust's `DefaultHasher` has it."""
    v0, v1, v2, v3 = 0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573

    def mixed(v0, v1, v2, v3):
        v0, v2 = (v0 + v1) & _ALL, (v2 + v3) & _ALL
        v1, v3 = _rotated(v1, 13) ^ v0, _rotated(v3, 16) ^ v2
        v0, v2 = (_rotated(v0, 32) + v3) & _ALL, (v2 + v1) & _ALL
        return v0, _rotated(v1, 17) ^ v2, _rotated(v2, 32), _rotated(v3, 21) ^ v0

    whole = len(data) // 8 * 8
    last = data[whole:] + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for word in struct.unpack(f"<{whole // 8 + 1}Q", data[:whole] + last):
        v0, v1, v2, v3 = mixed(v0, v1, v2, v3 ^ word)
        v0 ^= word
    v2 ^= 0xFF
    for _ in range(3):
        v0, v1, v2, v3 = mixed(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3

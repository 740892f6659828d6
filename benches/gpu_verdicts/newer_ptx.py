#!/usr/bin/env python3
"""Makes the PTX of a program look as if a later toolkit had written it: `newer_ptx.py PROGRAM MAJOR MINOR`.

The program must hold its PTX uncompressed. The version stands in the text, which the driver reads, and in the header
of the entry: magic, version and sizes of the container, then entries with kind, header size, payload size, minor and
major version at 24 and 26.
"""

import re
import struct
import sys

CONTAINER = struct.pack("<IH", 0xBA55ED50, 1)


def main():
    path, major, minor = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with open(path, "rb") as file:
        data = bytearray(file.read())
    entries = texts = 0
    at = data.find(CONTAINER)
    while at >= 0:
        header, size = struct.unpack_from("<HQ", data, at + 6)
        entry, end = at + header, at + header + size
        while entry < end:
            kind = struct.unpack_from("<H", data, entry)[0]
            length, payload = struct.unpack_from("<II", data, entry + 4)
            if kind == 1:
                struct.pack_into("<HH", data, entry + 24, minor, major)
                entries += 1
                begin = entry + length
                text = bytes(data[begin : begin + payload])
                found = re.search(rb"\.version (\d+\.\d+)", text)
                new = f"{major}.{minor}".encode()
                if found and len(found[1]) == len(new):
                    data[begin + found.start(1) : begin + found.end(1)] = new
                    texts += 1
            entry += length + payload
        at = data.find(CONTAINER, end)
    if not entries or entries != texts:
        sys.exit(f"{path}: {entries} entries with PTX, and {texts} texts that could be changed")
    with open(path, "wb") as file:
        file.write(data)


main()

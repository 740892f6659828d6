"""Reads pages as XML, which forgives nothing: every element closed, in order, every attribute quoted."""

import sys
import xml.etree.ElementTree

for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    doctype, _, rest = text.partition("\n")
    if doctype != "<!DOCTYPE html>":
        sys.exit(f"{path}: begins with {doctype!r}")
    try:
        root = xml.etree.ElementTree.fromstring(rest)
    except xml.etree.ElementTree.ParseError as error:
        sys.exit(f"{path}: {error}")
    if [child.tag for child in root] != ["head", "body"]:
        sys.exit(f"{path}: is not made of a head and a body")
    print(f"{path}: {sum(1 for _ in root.iter())} elements")

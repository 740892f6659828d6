#!/usr/bin/env python3
"""An index of Python packages on the loopback, so that pip downloads and caches as it does from PyPI.

    index.py FOLDER PORTFILE        serves the wheels of FOLDER until it is ended; PORTFILE gets the port
"""

import http.server
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


class Index(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder = ""

    def do_GET(self):
        parts = self.path.strip("/").split("/")
        if parts[0] == "simple" and len(parts) == 2:
            names = [name for name in sorted(os.listdir(self.folder)) if normal(name.split("-")[0]) == normal(parts[1])]
            page = "".join(f'<a href="/files/{name}">{name}</a><br>\n' for name in names if name.endswith(".whl"))
            self.answer(200 if page else 404, "text/html", page.encode())
        elif parts[0] == "files" and len(parts) == 2 and os.path.isfile(os.path.join(self.folder, parts[1])):
            full = os.path.join(self.folder, parts[1])
            self.begin(200, "application/octet-stream", os.path.getsize(full), "max-age=365000000, immutable, public")
            with open(full, "rb") as file:
                shutil.copyfileobj(file, self.wfile, 1 << 20)
        else:
            self.answer(404, "text/plain", b"not found\n")

    def begin(self, status, media_type, length, caching):
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(length))
        self.send_header("Cache-Control", caching)
        self.end_headers()

    def answer(self, status, media_type, body):
        self.begin(status, media_type, len(body), "max-age=600, public")
        self.wfile.write(body)

    def log_message(self, format, *words):
        pass


def main():
    Index.folder, port_file = sys.argv[1:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
    with open(port_file + ".partial", "w", encoding="utf-8") as file:
        file.write(str(server.server_port))
    os.rename(port_file + ".partial", port_file)
    server.serve_forever()


if __name__ == "__main__":
    main()

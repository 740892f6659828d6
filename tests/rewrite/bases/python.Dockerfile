# Stand-in of python:3.11-slim-bookworm: Debian's Python under /usr/local, where the real image has one of its own.
FROM debian:bookworm-slim
ENV PATH /usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin
ENV LANG C.UTF-8
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates netbase tzdata && rm -rf /var/lib/apt/lists/*
ENV PYTHON_VERSION 3.11.2
RUN set -eux; \
    apt-get update; \
    apt-get install -y --no-install-recommends libbz2-1.0 libdb5.3 libexpat1 libffi8 liblzma5 libncursesw6 libreadline8 \
        libsqlite3-0 libssl3 libuuid1 zlib1g; \
    cd /tmp; \
    apt-get download python3.11-minimal libpython3.11-minimal libpython3.11-stdlib python3-pip-whl; \
    for package in *.deb; do dpkg-deb --extract "$package" unpacked; done; \
    mv unpacked/usr/bin/python3.11 /usr/local/bin/; \
    mv unpacked/usr/lib/python3.11 /usr/local/lib/; \
    mkdir -p /usr/local/lib/python3.11/site-packages; \
    rm -f /usr/local/lib/python3.11/EXTERNALLY-MANAGED /usr/local/lib/python3.11/sitecustomize.py; \
    echo 'import site; site.addsitedir("/usr/local/lib/python3.11/site-packages")' \
        >/usr/local/lib/python3.11/sitecustomize.py; \
    ln -s python3.11 /usr/local/bin/python3; \
    ln -s python3 /usr/local/bin/python; \
    wheel=$(echo unpacked/usr/share/python-wheels/pip-*.whl); \
    python3 "$wheel/pip" install --no-index --no-cache-dir --target /usr/local/lib/python3.11/site-packages "$wheel"; \
    printf '#!/usr/local/bin/python3\nimport sys\nfrom pip._internal.cli.main import main\nsys.exit(main())\n' \
        >/usr/local/bin/pip; \
    chmod 755 /usr/local/bin/pip; \
    ln -s pip /usr/local/bin/pip3; \
    rm -rf /tmp/* /var/lib/apt/lists/*; \
    python3 --version; pip --version
CMD ["python3"]

# Makes the packages that the stand-in of micromamba knows, into /channel.
set -euo pipefail
mkdir /channel

pack() { # NAME: the folder of that name
    mkdir -p "$1/info"
    (cd "$1" && find . -type f ! -path './info/*' -printf '%P\n' >info/files)
    tar -C "$1" -czf "/channel/$1.conda" .
}

cd /tmp
# Python: Debian's, with the libraries that it needs beside it.
name=python-3.11.2-h1_0
mkdir -p $name/bin $name/lib
cp /usr/local/bin/python3.11 $name/bin/
ln -s python3.11 $name/bin/python3
ln -s python3.11 $name/bin/python
cp -a /usr/local/lib/python3.11 $name/lib/
find $name -name __pycache__ -prune -exec rm -rf {} +
printf 'import site, sys\nsite.addsitedir(f"{sys.prefix}/lib/python3.11/site-packages")\n' \
    >$name/lib/python3.11/sitecustomize.py
# Packages go to site-packages here.
sed -i "s/'posix_local'/'posix_prefix'/" $name/lib/python3.11/sysconfig.py
for library in libexpat.so.1 libffi.so.8 libssl.so.3 libcrypto.so.3 libz.so.1 libbz2.so.1.0 liblzma.so.5 libsqlite3.so.0 \
    libuuid.so.1; do
    cp -L "$(ldconfig -p | sed -n "s/.*$library .*=> //p" | head -n 1)" $name/lib/
done
chmod 755 $name/lib/lib*.so.*
patchelf --set-rpath '$ORIGIN/../lib' $name/bin/python3.11
patchelf --set-rpath '$ORIGIN' $name/lib/lib*.so.*
for extension in $name/lib/python3.11/lib-dynload/*.so; do patchelf --set-rpath '$ORIGIN/../..' "$extension"; done
printf '#!/bin/sh\nexec "$(dirname "$0")/python3.11" -m pip "$@"\n' >$name/bin/pip
chmod 755 $name/bin/pip
# The tests of the standard library, which conda's Python brings.
mkdir -p $name/lib/python3.11/test
for number in $(seq 200); do
    seq -f "# line %g of test $number" 2000 >$name/lib/python3.11/test/test_part$number.py
done
pack $name

name=openblas-0.3.28-h1_0
mkdir -p $name/lib $name/include
echo 'int openblas_stand_in(void) { return 1; } char openblas_filler[12 << 20] = {1};' >openblas.c
gcc -shared -fPIC -Wl,-soname,libopenblas.so.0 -o $name/lib/libopenblas.so.0 openblas.c
ln -s libopenblas.so.0 $name/lib/libopenblas.so
gcc -c openblas.c && ar rcs $name/lib/libopenblas.a openblas.o
echo 'int openblas_stand_in(void);' >$name/include/cblas.h
pack $name

name=libnvjpeg-12.4.0.76-h1_0
mkdir -p $name/lib
python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract("nvidia/nvjpeg/lib/libnvjpeg.so.12")' \
    /var/wheels/nvidia_nvjpeg_cu12-12.4.0.76-*.whl
mv nvidia/nvjpeg/lib/libnvjpeg.so.12 $name/lib/
pack $name

# Stand-in of ubuntu:22.04. ubuntu.tar is Debian with the papers of Ubuntu.
FROM scratch
ARG RELEASE
LABEL org.opencontainers.image.ref.name=ubuntu
LABEL org.opencontainers.image.version=22.04
ADD ubuntu.tar /
CMD ["/bin/bash"]

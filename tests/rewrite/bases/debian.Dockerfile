# Stand-in of debian:bookworm-slim.
FROM scratch
ADD debian.tar /
CMD ["bash"]

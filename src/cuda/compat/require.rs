//! The grammar of `NVIDIA_REQUIRE_*`.

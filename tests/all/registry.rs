//! Images at registries: the real program, Debian's docker-registry on the loopback, images pushed by skopeo, and a
//! proxy between them that misbehaves.

pub mod bench;
mod faults;
mod guard;
mod http;
mod logins;
mod mirrors;
mod names;
pub mod proxy;
mod resume;
mod same;
mod second;
pub mod server;
mod trust;

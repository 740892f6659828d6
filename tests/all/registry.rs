//! Images at registries: the real program, Debian's docker-registry on the loopback, images pushed by skopeo, and a
//! proxy between them that misbehaves.

pub mod bench;
mod faults;
pub mod guard;
pub mod http;
mod kept;
mod logins;
mod mirrors;
mod names;
pub mod proxy;
mod restart;
mod resume;
mod same;
mod second;
pub mod server;
mod trust;
mod unproven;

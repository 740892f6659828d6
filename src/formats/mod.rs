//! In: bytes, pushed or pulled through small traits.
//! Out: facts: tar members, compression, ELF and GPU code, package databases.
//! Must not know: where bytes come from, layers, catalogues; facts never depend on a rule that may change.
//!
//! # The tar walk
//!
//! `tar::Header` parses the fields, and the tar crate writes the fixtures. Its reader is not used on images:
//! it does not bound long names and extension headers, ignores PAX sparse records, splits PAX records at line
//! ends, and does not report header offsets. Unusual archives are interpreted as by Go's `archive/tar`,
//! because container engines extract with it.

pub mod ar;
pub mod binary;
pub mod compression;
pub mod contents;
pub mod cuda_version;
pub mod dockerfile;
pub mod document;
pub mod elf;
pub mod fatbin;
pub mod feed;
pub mod glob;
pub mod inflate;
pub mod input;
pub mod ld_so_conf;
pub mod members;
pub mod os_release;
pub mod packages;
pub mod pax;
pub mod pieces;
pub mod python_environment;
pub mod python_project;
pub mod string_references;
pub mod tar;
pub mod zstd;

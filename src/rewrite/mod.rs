//! In: an analysed image, the findings to remove, and its Dockerfile if there is one.
//! Out: [`Proposals`]: Dockerfiles as edits of the user's own, each with reasons, predicted sizes and proof.
//! Must not know: how layers are read, how anything is shown or saved; runs nothing and reads no bytes.
//!
//! # Design
//!
//! **The parser** (`formats/dockerfile`) is lossless: every byte of the text belongs to one piece, and every
//! word has its position. An edit replaces a span and leaves everything else unchanged: comments,
//! continuation lines, heredocs, line ends. The grammar is BuildKit's. Commands of a `RUN` are parsed as far
//! as they are plain; loops, substitutions and conditions are neither parsed nor edited.
//!
//! **The recipe** (`rewrite/recipe`) maps each instruction to entries of the history, to layers and to their
//! bytes. The file is the user's, or one reconstructed from the history as written by BuildKit, the legacy
//! builder, buildah and kaniko. A file that does not match the history is rejected: edits of the wrong file
//! would be worse than none. A reconstructed file is redacted, and names by line what the history lacks.
//!
//! **Drafts** come from two planners: `split` (a smaller image from the same instructions) and `tidy` (the
//! same stages, cleaner instructions). A draft is edits of the text and a `Selection`: the entries of this
//! image's layers that the new image has. This works because the nvidia/cuda images are built on each other,
//! devel on runtime on base on the distribution: a smaller base is the first layers of this image, known to
//! the byte without fetching anything. What is copied or installed again is entries of the layers above.
//!
//! **Instructions, not files** (`rewrite/split`). `steps` classifies each instruction of the final stage
//! (`shell` classifies its commands) and maps files to the instruction that added them, ignoring later
//! ownership changes. If nothing compiles, `swap` replaces the base image and trims the package lines. If
//! something compiles, `stages` and `lines` split the file after the last instruction that builds and write
//! the final stage in the order of today's instructions: repeated (`runs` trims a `RUN` to the commands and
//! packages that the image needs), repeated in part (a `COPY` of the context without sources, `sources`), or
//! replaced by `COPY --from` of build results (`roots` finds the folders). `owners` converts a recursive
//! `chown` into `COPY --chown`. `keep` is the requirement behind this: whether each path comes from the base,
//! a package, a copy, or is dropped, by the links, the command and the packages of what is kept. Nothing from
//! an image becomes syntax: a path, name or value that needs non-trivial quoting is rejected with a reason.
//!
//! **The proof** (`rewrite/proof`) does not trust the planner. `rootfs::merge_kept` computes the merged view
//! of the selection, `cuda::inventory` is taken of it as of any image, and everything the image's files
//! resolve today is looked up in it. The two views share inodes and paths, not nodes. A loss is a fault, and
//! what cannot be checked is listed; either lowers the applicability. Nothing is run, and no file of the
//! image is read again.
//!
//! A proposal costs about as much as an inventory; a draft without an edit is not proven. `report` and
//! `dockerfile` compute them, `check` does not, and the window computes them in the background.

mod draft;
mod edit;
mod environments;
mod input;
mod proof;
mod propose;
mod recipe;
mod select;
mod split;
mod tidy;
mod value;

#[cfg(feature = "fuzzing")]
pub use edit::fuzz_edits;
pub use input::{DOCKERFILE_BYTES, Given, Input, RewriteError};
pub use propose::propose;
pub use recipe::{InstructionLayers, Origin, Recipe};
pub use select::Selection;
pub use value::{
    Applicability, Closure, Edit, Hint, Predicted, Proposal, Proposals, Reason, Removed, StageSize,
};

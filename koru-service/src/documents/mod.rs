//! Documents in the service: kept open, changed, read.
//!
//! Invariant: a document changes in [`change`] alone. Its memory moves on only with its rows: what a
//! job changed is dropped where the commit fails.

pub mod change;
mod commit;
pub mod create;
pub mod extract;
mod facts;
mod following;
pub mod history;
mod names;
pub mod note;
mod packing;
pub mod reading;
mod refusal;
mod residents;
mod states;

pub use packing::Packing;
pub use residents::Residents;
pub use states::States;

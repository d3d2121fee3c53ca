//! Files in the service: every step of an upload that fails, reading at every edge, notes, attachments, removal.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod coming;
mod faults;
mod reading;
mod support;
mod using;

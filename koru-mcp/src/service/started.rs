//! What the last start of the service came to, kept in the start lock's file for all bridges.
//!
//! A bridge that is newer than the service beside it would otherwise have that service replaced by itself for ever.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use koru_model::protocol::wire::Hello;
use serde::{Deserialize, Serialize};

use super::program;

/// At most one hand-over in this many seconds.
const BETWEEN_HAND_OVERS_S: u64 = 60;

#[derive(Debug, Serialize, Deserialize)]
struct Started {
    program: PathBuf,
    /// When the program's file was last changed, so that an update is seen.
    modified: u128,
    release: String,
    build: String,
    /// When an older service was last asked to make room, in seconds since 1970.
    handed_over: Option<u64>,
}

/// Whether to put the service beside us in the place of that one can help, and is not done too often.
pub(super) fn may_replace(lock: &mut File, theirs: &Hello) -> bool {
    let Some(last) = read(lock) else { return true };
    let too_soon =
        last.handed_over.is_some_and(|then| now().saturating_sub(then) < BETWEEN_HAND_OVERS_S);
    let is_same_program = own_program() == Some((last.program, last.modified));
    let is_same_build = last.release == theirs.release && last.build == theirs.build;
    if too_soon { false } else { !is_same_program || !is_same_build }
}

/// Notes a start; what cannot be written is only forgotten.
pub(super) fn note(lock: &mut File, theirs: &Hello, hand_over: bool) {
    let Some((program, modified)) = own_program() else { return };
    let started = Started {
        program,
        modified,
        release: theirs.release.clone(),
        build: theirs.build.clone(),
        handed_over: if hand_over { Some(now()) } else { None },
    };
    if let Ok(text) = serde_json::to_vec(&started)
        && lock.set_len(0).is_ok()
        && lock.rewind().is_ok()
    {
        let _ = lock.write_all(&text);
    }
}

fn read(lock: &mut File) -> Option<Started> {
    let mut text = Vec::new();
    lock.rewind().ok()?;
    lock.read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn own_program() -> Option<(PathBuf, u128)> {
    let program = program::find().ok()?;
    let modified = std::fs::metadata(&program).ok()?.modified().ok()?;
    Some((program, modified.duration_since(UNIX_EPOCH).ok()?.as_nanos()))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_over_is_not_repeated_at_once() {
        let mut lock = tempfile::tempfile().unwrap();
        let theirs = Hello::of_this_build();
        assert!(may_replace(&mut lock, &theirs));
        let started = Started {
            program: "/elsewhere".into(),
            modified: 1,
            release: "0".into(),
            build: "0".into(),
            handed_over: Some(now()),
        };
        lock.write_all(&serde_json::to_vec(&started).unwrap()).unwrap();
        assert!(!may_replace(&mut lock, &theirs));
        let started = Started { handed_over: Some(now() - 120), ..started };
        lock.set_len(0).unwrap();
        lock.rewind().unwrap();
        lock.write_all(&serde_json::to_vec(&started).unwrap()).unwrap();
        assert!(may_replace(&mut lock, &theirs));
    }
}

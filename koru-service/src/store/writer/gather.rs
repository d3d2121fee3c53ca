//! Which jobs share a commit.
//!
//! Taking only what waits splits busy writers in two halves that take turns: while one half's commit
//! runs, the other half's jobs come in. So a commit waits, at most half of what the last one
//! took, for those who were answered by the last one. A writer that is alone never waits.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// The most jobs that share a commit.
const GROUP: usize = 64;
/// The part of the last commit's duration that a commit waits, at most.
const PART: u32 = 2;
/// How long a commit waits, at most.
const LONGEST: Duration = Duration::from_millis(3);

/// The commit before this one.
pub(super) struct Last {
    jobs: usize,
    took: Duration,
    ended: Instant,
}

impl Last {
    pub(super) fn of(jobs: usize, began: Instant) -> Self {
        Self { jobs, took: began.elapsed(), ended: Instant::now() }
    }
}

/// The next jobs to commit together, of which `first` is one. `waited` says that it lay in the queue
/// when the last commit ended.
pub(super) fn group<J>(first: J, waited: bool, jobs: &Receiver<J>, last: Option<&Last>) -> Vec<J> {
    let mut group = vec![first];
    while group.len() < GROUP
        && let Ok(next) = jobs.try_recv()
    {
        group.push(next);
    }
    let Some(last) = last else { return group };
    let wanted = last.jobs + if waited { group.len() } else { 0 };
    let until = last.ended + (last.took / PART).min(LONGEST);
    while group.len() < wanted.min(GROUP) {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(next) = jobs.recv_timeout(left) else { break };
        group.push(next);
    }
    group
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    fn long(jobs: usize) -> Last {
        Last {
            jobs,
            took: Duration::from_secs(60),
            ended: Instant::now() + Duration::from_secs(60),
        }
    }

    #[test]
    fn what_waits_is_taken() {
        let (sender, jobs) = sync_channel(9);
        for job in 1..=3 {
            sender.send(job).unwrap();
        }
        assert_eq!(group(0, true, &jobs, None), [0, 1, 2, 3]);
    }

    #[test]
    fn those_who_were_just_answered_are_waited_for() {
        let (sender, jobs) = sync_channel(9);
        sender.send(1).unwrap();
        let late = std::thread::spawn(move || (2..=3).try_for_each(|job| sender.send(job)));
        assert_eq!(group(0, true, &jobs, Some(&long(2))), [0, 1, 2, 3]);
        late.join().unwrap().unwrap();
    }

    #[test]
    fn a_writer_that_is_alone_does_not_wait() {
        // It would wait for a minute.
        let (_sender, jobs) = sync_channel::<u8>(1);
        assert_eq!(group(0, false, &jobs, Some(&long(1))), [0]);
    }

    #[test]
    fn nobody_is_waited_for_long_after() {
        let (_sender, jobs) = sync_channel::<u8>(1);
        let ended = Instant::now().checked_sub(Duration::from_secs(1)).unwrap();
        let last = Last { jobs: 8, took: Duration::from_secs(60), ended };
        assert_eq!(group(0, false, &jobs, Some(&last)), [0]);
    }
}

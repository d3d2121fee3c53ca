//! The one thread that writes, and the queue in front of it.

mod gather;
mod group;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use self::gather::Last;
use self::group::Writing;
use super::workspaces::Opened;
use crate::errors::{ServiceError, StorageFault, StoreError};

/// The most jobs that wait.
const QUEUE: usize = 256;
/// After how long without writes the write-ahead log is emptied.
const IDLE: Duration = Duration::from_secs(3);

/// What lives on the writing thread and must agree with what is on disk.
pub trait WriterState: Send + 'static {
    /// What the jobs since the last call changed is on disk.
    fn committed(&mut self);

    /// What the jobs since the last [`Self::committed`] changed may not be on disk: forget all that they touched.
    fn aborted(&mut self);

    /// A job begins.
    fn begun(&mut self) {}

    /// The job that began last succeeded: what was left for its end is written now. Where this fails, the
    /// job fails.
    ///
    /// # Errors
    /// Those of the storage.
    fn ending(&mut self, _: &Connection) -> Result<(), ServiceError> {
        Ok(())
    }

    /// A job failed and was undone: mends what made it fail, where that can be mended. Whether it was; the job runs
    /// again then.
    ///
    /// # Errors
    /// Those of the storage.
    fn mend(&mut self, _: &Connection) -> Result<bool, ServiceError> {
        Ok(false)
    }

    /// The job that began last failed and was undone, while earlier ones of its commit still count. Forgetting all
    /// that was touched since [`Self::committed`] is right, if slow: later jobs find it in the
    /// transaction.
    fn undone(&mut self) {
        self.aborted();
    }
}

/// For a store whose writing thread keeps nothing.
#[derive(Debug, Default)]
pub struct Stateless;

impl WriterState for Stateless {
    fn committed(&mut self) {}
    fn aborted(&mut self) {}
}

/// What a job writes with. Both fields can be borrowed at once.
pub struct Transaction<'a, S> {
    /// The connection, inside the job's savepoint: no `BEGIN`, `COMMIT` or `ROLLBACK` in a job.
    pub connection: &'a Connection,
    /// What lives on the writing thread.
    pub state: &'a mut S,
}

/// What was written since the store was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Commits that reached the disk; each costs a sync.
    pub commits: u64,
    /// Jobs that changed something and were committed.
    pub edits: u64,
}

/// What the writing thread tells about itself.
#[derive(Debug, Default)]
struct Gauges {
    commits: AtomicU64,
    edits: AtomicU64,
    unhealthy: AtomicBool,
}

/// Why the jobs of a commit are answered otherwise than by their own result.
#[derive(Debug, Clone, Copy)]
enum Fate {
    /// They are not applied.
    Failed(StorageFault),
    /// Nobody can tell whether they are applied.
    Unknown(StorageFault),
}

/// A job in the queue, whatever it returns.
trait Job<S>: Send {
    /// Runs it and keeps the result; whether it succeeded.
    fn run(&mut self, transaction: &mut Transaction<'_, S>) -> bool;
    /// Puts a failure in place of the result.
    fn spoil(&mut self, error: ServiceError);
    /// Answers with the result.
    fn answer(self: Box<Self>);
}

struct Queued<T, F> {
    job: F,
    result: Result<T, ServiceError>,
    reply: SyncSender<Result<T, ServiceError>>,
}

impl<S, T, F> Job<S> for Queued<T, F>
where
    T: Send,
    F: FnMut(&mut Transaction<'_, S>) -> Result<T, ServiceError> + Send,
{
    fn run(&mut self, transaction: &mut Transaction<'_, S>) -> bool {
        self.result = (self.job)(transaction);
        self.result.is_ok()
    }

    fn spoil(&mut self, error: ServiceError) {
        self.result = Err(error);
    }

    fn answer(self: Box<Self>) {
        // Nobody waits any more where the caller's thread is gone.
        let _ = self.reply.send(self.result);
    }
}

type Boxed<S> = Box<dyn Job<S>>;

/// The writing thread, from outside.
pub(super) struct Writer<S> {
    queue: RwLock<Option<SyncSender<Boxed<S>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    gauges: Arc<Gauges>,
}

impl<S: WriterState> Writer<S> {
    pub(super) fn start(
        path: PathBuf,
        connection: Connection,
        state: S,
        opened: Arc<Opened>,
    ) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::sync_channel(QUEUE);
        let gauges = Arc::new(Gauges::default());
        let mark = group::last_mark(&connection)
            .map_err(|source| super::connection::refusal(&path, source))?;
        let writing = Writing {
            path: path.clone(),
            connection: Some(connection),
            mark,
            state,
            opened,
            gauges: Arc::clone(&gauges),
        };
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(move || run(writing, &jobs))
            .map_err(|source| StoreError::File { path, source })?;
        Ok(Self { queue: RwLock::new(Some(queue)), thread: Mutex::new(Some(thread)), gauges })
    }

    pub(super) fn write<T, F>(&self, job: F) -> Result<T, ServiceError>
    where
        T: Send + 'static,
        F: FnMut(&mut Transaction<'_, S>) -> Result<T, ServiceError> + Send + 'static,
    {
        let (reply, answer) = mpsc::sync_channel(1);
        let result = Err(ServiceError::Internal("a job that never ran"));
        let queued: Boxed<S> = Box::new(Queued { job, result, reply });
        {
            let queue = self.queue.read().unwrap_or_else(PoisonError::into_inner);
            let Some(queue) = queue.as_ref() else { return Err(ServiceError::Stopping) };
            match queue.try_send(queued) {
                Ok(()) => {}
                Err(TrySendError::Full(_)) => return Err(ServiceError::WritesQueued),
                Err(TrySendError::Disconnected(_)) => return Err(ServiceError::Stopping),
            }
        }
        // The thread answers each job that it took, so a lost answer means that the thread died.
        answer.recv().unwrap_or(Err(ServiceError::OutcomeUnknown(StorageFault::Refused)))
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            commits: self.gauges.commits.load(Ordering::Relaxed),
            edits: self.gauges.edits.load(Ordering::Relaxed),
        }
    }

    pub(super) fn is_healthy(&self) -> bool {
        !self.gauges.unhealthy.load(Ordering::Relaxed)
    }

    /// Lets the thread finish what waits, and waits for its end.
    pub(super) fn close(&self) {
        drop(self.queue.write().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the writing thread ended by a panic");
        }
    }
}

fn run<S: WriterState>(mut writing: Writing<S>, jobs: &Receiver<Boxed<S>>) {
    let mut log_is_empty = true;
    let mut last = None;
    loop {
        let waiting = jobs.try_recv().ok();
        let waited = waiting.is_some();
        match waiting.map_or_else(|| jobs.recv_timeout(IDLE), Ok) {
            Ok(first) => {
                let group = gather::group(first, waited, jobs, last.as_ref());
                let (size, began) = (group.len(), Instant::now());
                writing.process(group);
                last = Some(Last::of(size, began));
                log_is_empty = false;
            }
            Err(RecvTimeoutError::Timeout) => {
                if writing.flush_opened() {
                    log_is_empty = false;
                }
                if !log_is_empty {
                    log_is_empty = writing.checkpoint(Duration::ZERO);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                writing.flush_opened();
                writing.checkpoint(Duration::from_millis(500));
                return;
            }
        }
    }
}

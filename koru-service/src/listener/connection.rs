//! One connection: hellos, then many calls at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use koru_model::limits;
use koru_model::protocol::error::ToolError;
use koru_model::protocol::wire::{Answer, Hello, Request, frame};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::AbortHandle;

use super::frames::{self, Incoming, Message};
use crate::dispatch;
use crate::errors::ServiceError;
use crate::service::Service;

/// How long the other side may take to say hello.
const HELLO: Duration = Duration::from_secs(5);
/// The most calls in flight, the answers that are not written yet included.
const IN_FLIGHT: u32 = 32;
/// While so many bytes of answers wait to be written, no further call is taken.
const OUTGOING_BYTES: usize = 8 * 1024 * 1024;

/// An answer on its way out; its call counts as in flight until it is written.
struct Outgoing {
    bytes: Vec<u8>,
    _permit: OwnedSemaphorePermit,
}

/// What the calls of a connection share.
struct Calls {
    service: Arc<Service>,
    /// The connection's number.
    connection: u64,
    running: Mutex<HashMap<u64, AbortHandle>>,
    in_flight: Arc<Semaphore>,
    waiting_bytes: watch::Sender<usize>,
    outgoing: mpsc::UnboundedSender<Outgoing>,
}

/// Serves a connection, which has a number of its own, until the other side goes, or the service's end is asked for and
/// its calls are answered.
pub(super) async fn serve<S>(service: Arc<Service>, connection: u64, stream: S)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let _connected = service.connected();
    let (mut reader, mut writer) = tokio::io::split(stream);
    let hellos = async {
        writer.write_all(&frame(&service.hello()).ok()?).await.ok()?;
        let Incoming::Frame(bytes) = frames::next(&mut reader).await else { return None };
        serde_json::from_slice::<Hello>(&bytes).ok()
    };
    let Ok(Some(hello)) = tokio::time::timeout(HELLO, hellos).await else { return };
    let understood = service.hello().can_talk_to(&hello);
    let (outgoing, answers) = mpsc::unbounded_channel();
    let waiting_bytes = watch::Sender::new(0);
    let writing = tokio::spawn(write(writer, answers, waiting_bytes.clone()));
    let calls = Arc::new(Calls {
        running: Mutex::default(),
        in_flight: Arc::new(Semaphore::new(IN_FLIGHT as usize)),
        waiting_bytes,
        outgoing,
        connection,
        service,
    });
    let mut stopping = calls.service.stopping();
    tokio::select! {
        biased;
        _ = stopping.wait_for(|stop| *stop) => {}
        () = read(&calls, &mut reader, understood) => {}
    }
    // What was begun is finished, whoever still listens.
    drop(calls.in_flight.acquire_many(IN_FLIGHT).await);
    drop(calls);
    let _ = writing.await;
}

/// Takes calls until the other side goes.
async fn read(calls: &Arc<Calls>, reader: &mut (impl AsyncRead + Unpin), understood: bool) {
    let mut waiting_bytes = calls.waiting_bytes.subscribe();
    loop {
        let message = match frames::next(reader).await {
            Incoming::End => return,
            Incoming::Frame(bytes) => frames::read(&bytes),
            Incoming::TooLong(Some(id), bytes) => {
                refuse(calls, id, ServiceError::RequestTooLarge { bytes }).await;
                continue;
            }
            Incoming::TooLong(None, _) => return,
        };
        // A slow reader is read from no faster than it reads.
        if waiting_bytes.wait_for(|bytes| *bytes < OUTGOING_BYTES).await.is_err() {
            return;
        }
        match message {
            Message::Cancel(id) => cancel(calls, id),
            Message::Nonsense(None) => return,
            Message::Nonsense(Some(id)) => {
                refuse(calls, id, ServiceError::invalid("", "not a request of Koru's bridge"))
                    .await;
            }
            Message::Request(request) if !understood && !request.call.starts_with("service.") => {
                refuse(calls, request.id, ServiceError::NoCommonProtocol).await;
            }
            Message::Request(request) => begin(calls, request).await,
        }
    }
}

async fn begin(calls: &Arc<Calls>, request: Request) {
    let Some(permit) = permit(calls).await else { return };
    let id = request.id;
    let (service, connection) = (Arc::clone(&calls.service), calls.connection);
    let answer = move || bytes_of(dispatch::answer(&service, connection, request));
    let job = tokio::task::spawn_blocking(answer);
    running(calls).insert(id, job.abort_handle());
    let calls = Arc::clone(calls);
    tokio::spawn(async move {
        let answer = job.await;
        // A call that was cancelled is no longer there; nobody waits for its answer.
        let wanted = running(&calls).remove(&id).is_some();
        if let Ok(bytes) = answer
            && wanted
        {
            send(&calls, bytes, permit);
        }
    });
}

/// Nobody waits any more. A call that has not begun never does; one that has is finished, and its answer dropped.
fn cancel(calls: &Calls, id: u64) {
    if let Some(job) = running(calls).remove(&id) {
        job.abort();
    }
}

async fn refuse(calls: &Calls, id: u64, error: ServiceError) {
    if let Some(permit) = permit(calls).await {
        let error = Some(ToolError::from(error));
        send(calls, bytes_of(Answer { id, ok: None, error }), permit);
    }
}

fn send(calls: &Calls, bytes: Vec<u8>, permit: OwnedSemaphorePermit) {
    calls.waiting_bytes.send_modify(|waiting| *waiting += bytes.len());
    // Fails when the other side is gone.
    let _ = calls.outgoing.send(Outgoing { bytes, _permit: permit });
}

async fn permit(calls: &Calls) -> Option<OwnedSemaphorePermit> {
    Arc::clone(&calls.in_flight).acquire_owned().await.ok()
}

fn running(calls: &Calls) -> std::sync::MutexGuard<'_, HashMap<u64, AbortHandle>> {
    calls.running.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bytes_of(answer: Answer) -> Vec<u8> {
    let id = answer.id;
    let bytes = frame(&answer).unwrap_or_default();
    if (1..=limits::REPLY_BYTES + 4).contains(&bytes.len()) {
        return bytes;
    }
    let too_large = ServiceError::ResultTooLarge { bytes: bytes.len(), limit: limits::REPLY_BYTES };
    let answer = Answer { id, ok: None, error: Some(too_large.into()) };
    frame(&answer).unwrap_or_default()
}

/// Writes answers until the last sender is gone; after the other side went it only drops them.
async fn write(
    mut writer: impl AsyncWrite + Unpin,
    mut answers: mpsc::UnboundedReceiver<Outgoing>,
    waiting_bytes: watch::Sender<usize>,
) {
    let mut reached = true;
    while let Some(answer) = answers.recv().await {
        reached = reached && writer.write_all(&answer.bytes).await.is_ok();
        waiting_bytes.send_modify(|waiting| *waiting -= answer.bytes.len());
    }
    let _ = writer.shutdown().await;
}

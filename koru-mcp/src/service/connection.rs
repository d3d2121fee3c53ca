//! One connection to the service, which carries many calls at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use koru_model::limits;
use koru_model::protocol::error::{Code, ToolError};
use koru_model::protocol::wire::{self, Answer, FromClient, Hello, Request};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};

use super::socket::not_answering;

/// How long the service may take to say hello.
const HELLO: Duration = Duration::from_secs(5);
/// How many frames wait to be written.
const OUTGOING: usize = 64;
/// What a frame's buffer begins with, whatever length the frame claims.
const BUFFER_BYTES: usize = 64 * 1024;

/// The answer to a call.
pub(super) type Outcome = Result<Box<RawValue>, ToolError>;

/// The connection ended before the answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken;

/// A connection whose hellos were exchanged.
#[derive(Debug)]
pub(crate) struct Connection {
    hello: Hello,
    outgoing: mpsc::Sender<Vec<u8>>,
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    last_id: u64,
    closed: bool,
    calls: HashMap<u64, oneshot::Sender<Outcome>>,
}

impl Connection {
    /// Exchanges hellos; none where the other side goes away instead.
    ///
    /// # Errors
    /// When the service does not say hello in time.
    pub(super) async fn greet<S>(
        stream: S,
        own: Hello,
        deadline: Instant,
    ) -> Result<Option<Self>, ToolError>
    where
        S: AsyncRead + tokio::io::AsyncWrite + Send + 'static,
    {
        let (mut reader, mut writer) = tokio::io::split(stream);
        let hellos = async {
            writer.write_all(&encode(&own)?).await.ok()?;
            writer.flush().await.ok()?;
            read_frame::<Hello>(&mut reader).await
        };
        let until = deadline.min(Instant::now() + HELLO);
        let Ok(hello) = tokio::time::timeout_at(until.into(), hellos).await else {
            return Err(not_answering());
        };
        let Some(hello) = hello else { return Ok(None) };
        let waiting = Arc::<Mutex<Waiting>>::default();
        let (outgoing, mut frames) = mpsc::channel::<Vec<u8>>(OUTGOING);
        let answers = Arc::clone(&waiting);
        tokio::spawn(async move {
            while let Some(answer) = read_frame::<Answer>(&mut reader).await {
                let waiting = lock(&answers).calls.remove(&answer.id);
                if let Some(waiting) = waiting {
                    let _ = waiting.send(outcome(answer));
                }
            }
            let mut waiting = lock(&answers);
            waiting.closed = true;
            waiting.calls.clear();
        });
        tokio::spawn(async move {
            while let Some(frame) = frames.recv().await {
                if writer.write_all(&frame).await.is_err() || writer.flush().await.is_err() {
                    break;
                }
            }
            let _ = writer.shutdown().await;
        });
        Ok(Some(Self { hello, outgoing, waiting }))
    }

    /// What the service said of itself.
    pub(crate) fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Whether the other side has gone away.
    pub(super) fn is_closed(&self) -> bool {
        self.outgoing.is_closed() || lock(&self.waiting).closed
    }

    /// Sends a call and waits for its answer. To drop the future is to tell the service that nobody waits any more.
    ///
    /// # Errors
    /// When the connection ends before the answer.
    pub(crate) async fn call(&self, mut request: Request) -> Result<Outcome, Broken> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut waiting = lock(&self.waiting);
            if waiting.closed {
                return Err(Broken);
            }
            waiting.last_id += 1;
            request.id = waiting.last_id;
            waiting.calls.insert(request.id, sender);
        }
        let mut unanswered = Unanswered { connection: self, id: request.id, armed: true };
        let Some(frame) = encode(&FromClient::Request(request)) else {
            return Ok(Err(ToolError::new(
                Code::Internal,
                "The call could not be written for the service.",
            )));
        };
        if frame.len() - 4 > limits::FRAME_BYTES {
            unanswered.armed = false;
            lock(&self.waiting).calls.remove(&unanswered.id);
            return Ok(Err(ToolError::new(
                Code::TooLarge,
                format!(
                    "The call is larger than the limit of {} bytes. Split it into smaller calls.",
                    limits::REQUEST_BYTES
                ),
            )));
        }
        self.outgoing.send(frame).await.map_err(|_| Broken)?;
        let outcome = receiver.await.map_err(|_| Broken);
        unanswered.armed = false;
        outcome
    }
}

/// Cancels the call where its future is dropped before the answer.
struct Unanswered<'a> {
    connection: &'a Connection,
    id: u64,
    armed: bool,
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        if self.armed && lock(&self.connection.waiting).calls.remove(&self.id).is_some() {
            // A full queue loses the cancellation: the call is answered to nobody, which is harmless.
            if let Some(frame) = encode(&FromClient::Cancel { cancel: self.id }) {
                let _ = self.connection.outgoing.try_send(frame);
            }
        }
    }
}

fn outcome(answer: Answer) -> Outcome {
    match (answer.ok, answer.error) {
        (Some(ok), _) => Ok(ok),
        (None, Some(error)) => Err(error),
        (None, None) => {
            Err(ToolError::new(Code::Internal, "The service gave an answer without a result."))
        }
    }
}

fn encode<T: serde::Serialize>(message: &T) -> Option<Vec<u8>> {
    wire::frame(message).ok()
}

/// The next frame; none at the end, and where it is none of ours.
async fn read_frame<T: DeserializeOwned>(reader: &mut (impl AsyncRead + Unpin)) -> Option<T> {
    let length = reader.read_u32().await.ok()? as usize;
    if length > limits::REPLY_BYTES {
        return None;
    }
    let mut frame = Vec::with_capacity(length.min(BUFFER_BYTES));
    let read = reader.take(length as u64).read_to_end(&mut frame).await.ok()?;
    if read < length {
        return None;
    }
    serde_json::from_slice(&frame).ok()
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

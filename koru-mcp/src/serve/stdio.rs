//! The transport over stdin and stdout: a thread that reads and judges lines, and a thread that writes them.
//!
//! Invariant: one thread writes to stdout, whole lines only, each flushed.

use std::io::{self, BufReader, Write as _};
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{mpsc, oneshot, watch};

use super::guard::{Guard, Verdict};
use super::lines::Lines;
use super::live::Live;
use super::ready;

const READ_BYTES: usize = 64 * 1024;
const INCOMING: usize = 64;
const OUTGOING: usize = 64;

/// What the writing thread is given.
enum Output {
    Line(Vec<u8>),
    Flushed(oneshot::Sender<()>),
}

/// What tells that one of the streams has ended.
#[derive(Debug)]
pub(super) struct Ends {
    input: watch::Receiver<bool>,
    output: watch::Receiver<bool>,
    outgoing: mpsc::Sender<Output>,
}

impl Ends {
    /// Waits for the end of input.
    pub(super) async fn input(&self) {
        let _ = self.input.clone().wait_for(|ended| *ended).await;
    }

    /// Waits until stdout cannot be written any more.
    pub(super) async fn output(&self) {
        let _ = self.output.clone().wait_for(|ended| *ended).await;
    }

    /// Waits until all that was handed over is written.
    pub(super) async fn flush(&self) {
        let (sender, receiver) = oneshot::channel();
        if self.outgoing.send(Output::Flushed(sender)).await.is_ok() {
            let _ = receiver.await;
        }
    }
}

/// rmcp's view of the two streams.
pub(super) struct Stdio {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    outgoing: mpsc::Sender<Output>,
    live: Arc<Live>,
}

/// Opens the streams.
///
/// # Errors
/// When a thread cannot be started.
pub(super) fn open(live: &Arc<Live>) -> io::Result<(Stdio, Ends)> {
    let (outgoing, lines) = mpsc::channel(OUTGOING);
    let (messages, incoming) = mpsc::channel(INCOMING);
    let (input_ended, input) = watch::channel(false);
    let (output_ended, output) = watch::channel(false);
    let guard = Guard::new(Arc::clone(live));
    let answers = outgoing.clone();
    std::thread::Builder::new().name("input".into()).spawn(move || {
        read(guard, &messages, &answers);
        let _ = input_ended.send(true);
    })?;
    std::thread::Builder::new().name("output".into()).spawn(move || {
        if let Err(error) = write(lines) {
            tracing::warn!(kind = %error.kind(), "stdout cannot be written");
        }
        let _ = output_ended.send(true);
    })?;
    let ends = Ends { input, output, outgoing: outgoing.clone() };
    Ok((Stdio { incoming, outgoing, live: Arc::clone(live) }, ends))
}

fn read(
    mut guard: Guard,
    messages: &mpsc::Sender<ClientJsonRpcMessage>,
    answers: &mpsc::Sender<Output>,
) {
    let mut lines = Lines::new(BufReader::with_capacity(READ_BYTES, io::stdin()));
    loop {
        let line = match lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(kind = %error.kind(), "stdin cannot be read");
                return;
            }
        };
        let delivered = match guard.judge(&line) {
            Verdict::Pass(message) => messages.blocking_send(*message).is_ok(),
            Verdict::Answer(bytes) => {
                tracing::info!("a line was refused");
                answers.blocking_send(Output::Line(bytes)).is_ok()
            }
            Verdict::Ignore => true,
        };
        if !delivered {
            return;
        }
    }
}

fn write(mut lines: mpsc::Receiver<Output>) -> io::Result<()> {
    let mut stdout = io::stdout();
    while let Some(output) = lines.blocking_recv() {
        match output {
            Output::Line(mut line) => {
                line.push(b'\n');
                stdout.write_all(&line)?;
                stdout.flush()?;
            }
            Output::Flushed(done) => {
                let _ = done.send(());
            }
        }
    }
    Ok(())
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        let live = Arc::clone(&self.live);
        async move {
            let id = match &message {
                JsonRpcMessage::Response(response) => Some(response.id.clone()),
                JsonRpcMessage::Error(error) => error.id.clone(),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
            };
            let line = ready::encode(message)?;
            // Before the line is out, because a client may use the id again as soon as it reads it.
            if let Some(id) = id {
                live.answered(&id);
            }
            outgoing.send(Output::Line(line)).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

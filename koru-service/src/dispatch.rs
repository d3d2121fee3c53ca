//! One call: who asks, what, how long it took, and that nothing of it brings the service down.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use koru_model::limits;
use koru_model::protocol::error::ToolError;
use koru_model::protocol::wire::{Answer, Request};
use serde_json::value::RawValue;

use crate::errors::ServiceError;
use crate::handlers::{self, Call};
use crate::service::Service;
use crate::session::Session;

/// Does what a request on the connection of that number asks for and returns the answer. Blocks.
#[must_use]
pub fn answer(service: &Arc<Service>, connection: u64, request: Request) -> Answer {
    let started = Instant::now();
    let session = Session::new(request.client.as_deref(), request.scope, request.key);
    let session = Session { connection, ..session };
    let parsed = Call::parse(&request.call, &request.params);
    // A name that is no call's is the caller's text, and stays out of the log.
    let known = !matches!(parsed, Err(ServiceError::UnknownCall));
    let call = if known { request.call.as_str() } else { "unknown" };
    let span = tracing::info_span!("call", name = call, client = ?session.client);
    let _inside = span.enter();
    let result = parsed.and_then(|parsed| guarded(service, &session, parsed));
    let took = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    match result {
        Ok(ok) => {
            tracing::info!(took_us = took, bytes = ok.get().len(), code = "ok");
            Answer { id: request.id, ok: Some(ok), error: None }
        }
        Err(error) => {
            let error = ToolError::from(error);
            tracing::info!(took_us = took, code = error.code.name());
            Answer { id: request.id, ok: None, error: Some(error) }
        }
    }
}

fn guarded(
    service: &Arc<Service>,
    session: &Session,
    call: Call,
) -> Result<Box<RawValue>, ServiceError> {
    let limit = if call.writes() { limits::REPLY_BYTES } else { limits::RESULT_BYTES };
    // Safe to go on after a panic: only a draft or an uncommitted transaction was touched.
    let result = catch_unwind(AssertUnwindSafe(|| handlers::run(service, session, call)))
        .unwrap_or(Err(ServiceError::Internal("a handler panicked")))?;
    let bytes = result.get().len();
    if bytes > limit { Err(ServiceError::ResultTooLarge { bytes, limit }) } else { Ok(result) }
}

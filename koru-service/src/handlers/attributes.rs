//! Defining and removing attributes.

use std::sync::Arc;

use koru_model::ids::WorkspaceId;
use koru_model::value::ValueKind;
use serde_json::json;
use serde_json::value::RawValue;

use super::ready;
use crate::errors::ServiceError;
use crate::service::Service;
use crate::session::Session;
use crate::store::attributes;

pub(super) fn define(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    key: String,
    label: Option<String>,
    kinds: Vec<ValueKind>,
    options: Option<Vec<String>>,
) -> Result<Box<RawValue>, ServiceError> {
    let session = session.clone();
    let defined = service.write(move |service, tx| {
        let row = session.reach_to_write(service, tx.connection, workspace)?;
        let (label, options) = (label.as_deref(), options.as_deref());
        attributes::define(tx.connection, row, &key, label, &kinds, options)?;
        let all = attributes::list(tx.connection, row)?;
        Ok(all.into_iter().find(|found| found.definition.key == key))
    })?;
    ready(&json!({ "attribute": defined }))
}

pub(super) fn remove(
    service: &Arc<Service>,
    session: &Session,
    workspace: WorkspaceId,
    key: String,
) -> Result<Box<RawValue>, ServiceError> {
    let session = session.clone();
    let result = json!({ "removed": key });
    service.write(move |service, tx| {
        let row = session.reach_to_write(service, tx.connection, workspace)?;
        attributes::remove(tx.connection, row, &key)
    })?;
    ready(&result)
}

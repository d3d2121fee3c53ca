//! What the bridge answers: the catalogue by itself, the tools through the service.

use std::sync::Arc;
use std::time::Instant;

use koru_model::protocol::error::{Code, ToolError};
use koru_model::protocol::wire::{RELEASE, Scope};
use rmcp::RoleServer;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, ErrorCode, ErrorData, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, RequestId, Resource,
    ResourceContents, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::catalogue::{self, Entry};
use super::gate::Gate;
use super::live::Live;
use super::pages::{Pages, TTL_MS};
use super::{failure, identity, ready};
use crate::service::{Call, Client, Kind};

const MARKDOWN: &str = "text/markdown";

/// The server that a client sees.
#[derive(Debug)]
pub(super) struct Handler {
    service: Client,
    scope: Scope,
    pages: Pages,
    gate: Gate,
    live: Arc<Live>,
    info: ServerConfig,
}

impl Handler {
    pub(super) fn new(service: Client, scope: Scope, split_pages: bool, live: Arc<Live>) -> Self {
        let offered = catalogue::all().iter().filter(|tool| tool.read_only || !scope.read_only);
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let name = Implementation::new("koru", RELEASE).with_title("Koru");
        Self {
            service,
            pages: Pages::new(offered, split_pages),
            scope,
            gate: Gate::new(),
            live,
            info: ServerConfig::new(capabilities)
                .with_server_info(name)
                .with_instructions(catalogue::INSTRUCTIONS),
        }
    }

    /// A tool's result, or its failure.
    async fn run(
        &self,
        tool: &Entry,
        arguments: Map<String, Value>,
        client: &str,
    ) -> Result<Box<RawValue>, ToolError> {
        if self.scope.read_only && !tool.read_only {
            return Err(ToolError::new(
                Code::PermissionDenied,
                "This connection is read-only: it was started with --read-only, so nothing can be changed through it.",
            ));
        }
        let params = catalogue::check(tool.name, arguments)?;
        if tool.name == catalogue::GET_DOCUMENTATION {
            return documentation();
        }
        let _place = self.gate.enter().await?;
        let kind = if tool.read_only { Kind::Read } else { Kind::Write };
        let call = Call { name: tool.name, params: &params, scope: &self.scope, client, kind };
        self.service.send(call).await
    }
}

/// Notes that a tool has ended, however it did.
struct Ran<'a> {
    live: &'a Live,
    id: RequestId,
}

impl Drop for Ran<'_> {
    fn drop(&mut self) {
        self.live.ran(&self.id);
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.info.clone()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.pages.page(cursor.as_deref()).ok_or_else(|| {
            invalid_params("The cursor is unknown. Begin again with tools/list without a cursor.")
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let _ran = Ran { live: &self.live, id: context.id.clone() };
        let Some(tool) = catalogue::all().iter().find(|tool| tool.name == request.name) else {
            let known: Vec<&str> = catalogue::all().iter().map(|tool| tool.name).collect();
            return Err(invalid_params(format!(
                "There is no tool of this name. The tools are: {}.",
                known.join(", ")
            )));
        };
        let client = identity::of(context.client_info().as_ref());
        let began = Instant::now();
        let outcome = tokio::select! {
            outcome = self.run(tool, request.arguments.unwrap_or_default(), &client) => outcome,
            () = context.ct.cancelled() => {
                tracing::info!(tool = tool.name, ms = millis(began), client, "cancelled");
                return Ok(failure::result(unanswered(tool)).into());
            }
        };
        let ms = millis(began);
        Ok(match outcome {
            Ok(result) => {
                tracing::info!(tool = tool.name, ms, client, "ok");
                ready::result(result).into()
            }
            Err(error) => {
                tracing::info!(tool = tool.name, ms, client, code = error.code.name(), "failed");
                failure::result(error).into()
            }
        })
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(invalid_params("The cursor is unknown: the resources are one page."));
        }
        let mut resource = Resource::new(catalogue::DOCUMENTATION_URI, "model")
            .with_title("Koru's document model and editing contract")
            .with_description(
                "What documents are made of and how to edit them. Read it before the first change.",
            );
        resource.mime_type = Some(MARKDOWN.into());
        resource.size = Some(catalogue::DOCUMENTATION.len() as u64);
        Ok(ListResourcesResult::with_all_items(vec![resource])
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(Vec::new())
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != catalogue::DOCUMENTATION_URI {
            return Err(ErrorData::resource_not_found(
                format!("There is one resource: {}.", catalogue::DOCUMENTATION_URI),
                Some(json!({ "code": Code::NotFound.name() })),
            ));
        }
        let text = ResourceContents::text(catalogue::DOCUMENTATION, catalogue::DOCUMENTATION_URI)
            .with_mime_type(MARKDOWN);
        let mut result = ReadResourceResult::new(vec![text]);
        result.ttl_ms = Some(TTL_MS);
        result.cache_scope = Some(CacheScope::Public);
        Ok(result.into())
    }
}

/// What is said where the bridge ends before the answer came; after a cancellation nobody hears it.
fn unanswered(tool: &Entry) -> ToolError {
    if tool.read_only {
        ToolError::new(Code::ServiceUnavailable, "The connection ended before the answer came.")
    } else {
        ToolError::new(
            Code::OutcomeUnknown,
            "The connection ended before the answer came: the change may or may not be saved. Read the document before trying again.",
        )
    }
}

/// The one tool that needs no service.
pub(crate) fn documentation() -> Result<Box<RawValue>, ToolError> {
    serde_json::value::to_raw_value(&json!({
        "uri": catalogue::DOCUMENTATION_URI,
        "mime_type": MARKDOWN,
        "text": catalogue::DOCUMENTATION,
    }))
    .map_err(|_| ToolError::new(Code::Internal, "The documentation could not be written."))
}

fn invalid_params(message: impl Into<String>) -> ErrorData {
    ErrorData::new(
        ErrorCode::INVALID_PARAMS,
        message.into(),
        Some(json!({ "code": Code::InvalidRequest.name() })),
    )
}

fn millis(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

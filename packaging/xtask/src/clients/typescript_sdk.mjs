// The TypeScript SDK parses lists most strictly: it lists, calls two tools, and makes one bad call.
// usage: node typescript_sdk.mjs PATH-OF-KORU-MCP
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const transport = new StdioClientTransport({
  command: process.argv[2],
  args: ["serve", "--stdio"],
  env: process.env,
});
const client = new Client({ name: "typescript", version: "1.0.0" });
await client.connect(transport);
const { tools } = await client.listTools();
assert.ok(tools.length >= 20);
const { resources } = await client.listResources();
assert.equal(resources[0].uri, "koru://docs/model");
const good = await client.callTool({ name: "list_workspaces", arguments: {} });
assert.equal(good.structuredContent.workspaces.length, 1);
const found = await client.callTool({ name: "search_documents", arguments: { query: "\"nothing" } });
assert.deepEqual(found.structuredContent, { hits: [], updating_workspaces: [] });
const bad = await client.callTool({ name: "list_tags", arguments: { workspace: "x" } });
assert.equal(bad.isError, true);
assert.equal(bad.structuredContent.code, "invalid_request");
await client.close();
console.log(`${tools.length} tools listed; a bad call is a tool error`);

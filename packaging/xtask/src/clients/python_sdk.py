"""Lists the tools with the Python SDK, calls each well, and makes one bad call.

usage: python_sdk.py legacy|auto|REVISION PATH-OF-KORU-MCP"""

import asyncio
import base64
import json
import os
import subprocess
import sys
import tempfile
import uuid

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

mode, server = sys.argv[1:3]


def new():
    return str(uuid.uuid4())


def add(name, content):
    """Adds a file as a person does; its entry."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(content)
        said = subprocess.run([server, "file", "add", "--json", path], check=True, capture_output=True)
        return json.loads(said.stdout)["files"][0]


async def listed(client):
    tools, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor:
            return sorted(tool.name for tool in tools)


async def main():
    parameters = StdioServerParameters(
        command=server,
        args=["serve", "--stdio"],
        env={name: os.environ[name] for name in ("KORU_HOME", "PATH", "HOME")},
    )
    async with Client(stdio_client(parameters), mode=mode) as client:
        names = await listed(client)
        called = set()

        async def ok(tool, **arguments):
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, (tool, result)
            called.add(tool)
            return result.structured_content

        told = await ok("get_documentation", uri="koru://docs/model")
        resource = await client.read_resource("koru://docs/model")
        assert resource.contents[0].text == told["text"]
        workspace = (await ok("list_workspaces"))["workspaces"][0]["id"]
        here = {"workspace_id": workspace}
        root, task = new(), new()
        made = await ok(
            "create_document",
            **here,
            title="From Python",
            idempotency_key=new(),
            root_node_id=root,
            initial_operations=[
                {"op": "insert", "node_id": task, "parent_id": root, "at_end": True, "kind": "task", "text": "Say hello"}
            ],
        )
        document = {**here, "document_id": made["document_id"]}
        read = await ok("read_document", **document, compact=True)
        edited = await ok(
            "edit_document",
            **document,
            base_revision=read["revision"],
            operations=[{"op": "set_done", "node_id": read["nodes"][1]["id"], "expected": "Say hello", "done": True}],
        )
        assert edited["history"]["author"].strip(), edited
        found = await ok("search_documents", query="say hel", done=True)
        assert found["hits"][0]["node"] == task, found
        await ok("save_document_version", **document, label="checked")
        entries = (await ok("list_document_versions", **document))["entries"]
        assert len(entries) == 4, entries
        created = entries[-1]["id"]
        then = await ok("read_document_version", **here, entry_id=created)
        assert then["nodes"][1]["done"] is False, then
        compared = await ok("compare_document_versions", **here, left_entry_id=created)
        assert [change["change"] for change in compared["changes"]] == ["modified"], compared
        restored = await ok(
            "restore_document_version", **document, entry_id=created, base_revision=edited["revision"]
        )
        extracted = await ok(
            "extract_to_document",
            **here,
            source_document_id=made["document_id"],
            base_revision=restored["revision"],
            source_node_id=task,
            expected="Say hello",
            new_document_title="Taken out",
        )
        taken = await ok("read_document", **here, document_id=extracted["document_id"])
        assert taken["nodes"][1]["node_id"] == task, taken
        await ok("list_documents", **here)
        await ok("list_document_links", **document)
        await ok("list_tags", **here)
        await ok("list_attributes", **here)
        scan = add("scan.pdf", b"%PDF-1.7")
        file = {**here, "file_id": scan["file_id"]}
        assert (await ok("list_files", **here))["files"] == [scan]
        assert (await ok("search_files", **here, query="SCAN"))["files"] == [scan]
        assert await ok("get_file", **file) == scan
        piece = await ok("read_file", **file, length=1048576)
        assert base64.b64decode(piece["base64"]) == b"%PDF-1.7" and piece["eof"], piece
        note = await ok("ensure_file_note", **file)
        assert note["created"], note
        assert sorted(called) == names, (sorted(called), names)

        bad = await client.call_tool("read_document", {**document, "page_sise": 3})
        assert bad.is_error, bad
        assert bad.structured_content["code"] == "invalid_request", bad
        assert "page_size" in bad.content[0].text, bad
        print(f"{len(names)} tools listed, each called; a bad call is a tool error")


asyncio.run(main())

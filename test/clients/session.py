"""One session with a gateway through a client library of Python.

Reads what to do from stdin, `{"url", "token", "calls": [[tool, arguments], ...]}`, and prints as one line of JSON what the
library made of it. A tool that pages is paged to its end. The argument names the library: mcp1, mcp2 or fastmcp.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager


class Refused(Exception):
    """A tool call was answered with an error of JSON-RPC."""

    def __init__(self, error):
        self.error = {"code": error.code, "message": error.message, "data": error.data}


class Mcp1:
    """`mcp` 1.x, whose session is opened over a transport by hand."""

    def __init__(self, session, greeting):
        self.session = session
        self.revision = greeting.protocolVersion
        self.server = greeting.serverInfo.name

    @classmethod
    @asynccontextmanager
    async def connect(cls, url, headers):
        import httpx
        from mcp import ClientSession
        from mcp.client.streamable_http import streamable_http_client

        async with (
            httpx.AsyncClient(headers=headers) as http,
            streamable_http_client(url, http_client=http) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            yield cls(session, await session.initialize())

    async def tools(self):
        return [tool.name for tool in (await self.session.list_tools()).tools]

    async def call(self, name, arguments):
        from mcp import McpError

        try:
            result = await self.session.call_tool(name, arguments)
        except McpError as error:
            raise Refused(error.error) from error
        return result.structuredContent, result.content, result.isError


class Mcp2:
    """`mcp` 2.x, whose client asks for a newer revision of the protocol first and falls back."""

    def __init__(self, client):
        self.client = client
        self.revision = client.protocol_version
        self.server = client.server_info.name

    @classmethod
    @asynccontextmanager
    async def connect(cls, url, headers):
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            yield cls(client)

    async def tools(self):
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def call(self, name, arguments):
        from mcp import MCPError

        try:
            result = await self.client.call_tool(name, arguments)
        except MCPError as error:
            raise Refused(error.error) from error
        return result.structured_content, result.content, result.is_error


class FastMcp:
    """`fastmcp`, which has a client of its own on top of `mcp`."""

    def __init__(self, client):
        self.client = client
        self.revision = client.initialize_result.protocol_version
        self.server = client.initialize_result.server_info.name

    @classmethod
    @asynccontextmanager
    async def connect(cls, url, headers):
        from fastmcp import Client
        from fastmcp.client.transports import StreamableHttpTransport

        async with Client(StreamableHttpTransport(url, headers=headers)) as client:
            yield cls(client)

    async def tools(self):
        return [tool.name for tool in await self.client.list_tools()]

    async def call(self, name, arguments):
        from mcp import MCPError

        try:
            result = await self.client.call_tool(name, arguments)
        except MCPError as error:
            raise Refused(error.error) from error
        return result.structured_content, result.content, result.is_error


async def pages(connection, name, arguments):
    """Every payload of a tool, from the first page to the last, or the one error."""
    payloads = []
    cursor = None
    while True:
        try:
            payload, content, is_error = await connection.call(name, {**arguments, **cursor_of(cursor)})
        except Refused as refused:
            return {"error": refused.error}
        assert content == [] and not is_error, f"{name} has more in its envelope than its payload"
        payloads.append(payload)
        cursor = payload.get("nextCursor")
        if cursor is None:
            return {"payloads": payloads}


def cursor_of(cursor):
    return {} if cursor is None else {"cursor": cursor}


async def run(library, plan):
    headers = {"Authorization": f"Bearer {plan['token']}"}
    async with library.connect(plan["url"], headers) as connection:
        return {
            "revision": connection.revision,
            "server": connection.server,
            "tools": await connection.tools(),
            "answers": [await pages(connection, name, arguments) for name, arguments in plan["calls"]],
        }


LIBRARIES = {"mcp1": Mcp1, "mcp2": Mcp2, "fastmcp": FastMcp}

print(json.dumps(asyncio.run(run(LIBRARIES[sys.argv[1]], json.load(sys.stdin)))))

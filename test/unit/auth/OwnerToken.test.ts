/** With which headers the owner's token passes. */
import { assert, describe, it } from "@effect/vitest"
import { isDirect } from "../../../src/subjects/auth/OwnerToken.ts"

const plain = { authorization: "Bearer token", host: "127.0.0.1:20128", connection: "close" }
const isAccepted = (headers: Readonly<Record<string, string>>): boolean =>
  isDirect("token", { ...plain, ...headers }, "127.0.0.1")

describe("isDirect", () => {
  it("accepts what programs send, with the headers of MCP, A2A and a WebSocket", () => {
    for (const headers of [
      {},
      { "content-type": "application/json", "transfer-encoding": "chunked", accept: "*/*" },
      { "mcp-session-id": "s", "mcp-protocol-version": "2025-11-25", "last-event-id": "1" },
      { "a2a-version": "1.0", "a2a-extensions": "x" },
      {
        upgrade: "websocket",
        "sec-websocket-key": "k",
        "sec-websocket-version": "13",
        "sec-websocket-extensions": "x"
      },
      { "x-gateway-mcp-toolsets": "models" }
    ]) {
      assert.isTrue(isAccepted(headers), JSON.stringify(headers))
    }
  })

  it("refuses what browsers, proxies and tunnels add, also beside the headers of MCP", () => {
    for (const name of [
      "origin",
      "referer",
      "cookie",
      "sec-fetch-mode",
      "x-forwarded-for",
      "via",
      "x-real-ip",
      "dnt"
    ]) {
      assert.isFalse(isAccepted({ "mcp-session-id": "s", [name]: "x" }), name)
    }
    assert.isFalse(isAccepted({ upgrade: "websocket", "sec-websocket-key": "k", origin: "http://127.0.0.1:20128" }))
  })
})

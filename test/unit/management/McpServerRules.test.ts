/** What is shown of the arguments of a registered program, and what a change keeps. */
import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import type { McpServer } from "../../../src/subjects/mcpServers/entity.ts"
import { changed, moveProblem, shownArguments } from "../../../src/subjects/mcpServers/rules.ts"

const shown = (...args: ReadonlyArray<string>) => shownArguments(args.map((text) => Redacted.make(text)))

const http: McpServer & { readonly locked: boolean } = {
  id: "1",
  name: "docs",
  url: "https://mcp.example.com/mcp",
  headers: { authorization: Redacted.make("Bearer secret") },
  program: null,
  timeoutMs: 30_000,
  isEnabled: true,
  allowedTools: null,
  allowedKeys: null,
  createdAtMs: 1,
  updatedAtMs: 1,
  locked: false
}

describe("a registered MCP server", () => {
  it("shows its arguments without what tells of a secret", () => {
    assert.deepStrictEqual(shown("--root", "/srv/files/v2/a-long-name-of-a-folder", "-v"), [
      "--root",
      "/srv/files/v2/a-long-name-of-a-folder",
      "-v"
    ])
    assert.deepStrictEqual(shown("--api-key", "abc", "--TOKEN=abcdefghijklmnop", "--password"), [
      "--api-key",
      "…",
      "--TOKEN=…mnop",
      "--password"
    ])
    assert.deepStrictEqual(shown("0123456789abcdef0123456789abcdef"), ["…cdef"])
    assert.deepStrictEqual(shown("--token", "--verbose"), ["--token", "--verbose"])
  })

  it("sends its headers to no other address, unless they are given again", () => {
    const moved = changed(http, { url: "https://other.example.com/mcp" })
    assert.strictEqual(moveProblem(http, moved)?.field, "headers")
    const headers = { authorization: Redacted.make("Bearer other") }
    assert.isNull(moveProblem(http, changed(http, { url: "https://other.example.com/mcp", headers })))
    assert.isNull(moveProblem(http, changed(http, { url: "https://other.example.com/mcp", headers: null })))
    assert.isNull(moveProblem(http, changed(http, { url: "https://MCP.example.com/mcp" })))
    const locked = { ...http, headers: null, locked: true }
    assert.strictEqual(moveProblem(locked, changed(locked, { url: "https://other.example.com/" }))?.field, "headers")
  })
})

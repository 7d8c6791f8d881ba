/** A gateway's configuration as a file, from the answers of its lists. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { Declared } from "../../../src/subjects/declared/Document.ts"
import { exported } from "../../../src/subjects/declared/Export.ts"
import { plan } from "../../../src/subjects/declared/Plan.ts"
import { type Answers, presentOf } from "../../../src/subjects/declared/CurrentState.ts"
import { filled } from "../../../src/subjects/declared/Variables.ts"
import { wantedOf } from "../../../src/subjects/declared/DesiredState.ts"

const server = (name: string, more: object) => ({
  id: `id-${name}`,
  name,
  transport: "http",
  url: `https://${name}.example.com/mcp`,
  headerNames: [],
  timeoutMs: 30_000,
  enabled: true,
  allowedTools: null,
  allowedKeys: null,
  ...more
})

const answers: Answers = {
  nodes: { nodes: [] },
  connections: { connections: [{ id: "c1", provider: "openai", name: "work", apiKey: "sk-…1234", source: "stored" }] },
  combos: { combos: [] },
  aliases: { aliases: [] },
  prices: { openai: { "gpt-4o": { input: 2, output: 8 }, "ft:${x}": { input: 0, output: 0, perImage: 0.04 } } },
  keys: {
    keys: [
      { id: "k1", name: "laptop", allowedConnections: ["c1", "gone"], isActive: true },
      { id: "k2", name: "open", allowedConnections: [], isActive: true }
    ]
  },
  mcpServers: {
    servers: [
      server("pages", { headerNames: ["X-Token"], timeoutMs: 20_000, allowedKeys: ["k1", "gone"] }),
      server("none", { allowedKeys: ["gone"], allowedTools: [], enabled: false }),
      server("program", { transport: "stdio", url: null })
    ]
  },
  settings: {}
}

describe("an export", () => {
  const present = presentOf(answers)
  const { document, leftOut, variables } = exported(present)

  it("names keys and connections, and widens nothing where some are gone", () => {
    assert.deepStrictEqual(document["mcpServers"], [
      {
        name: "pages",
        url: "https://pages.example.com/mcp",
        timeoutMs: 20_000,
        allowedKeys: ["laptop"],
        headers: { "x-token": "${MCP_PAGES_X_TOKEN}" }
      },
      { name: "none", url: "https://none.example.com/mcp", enabled: false, allowedTools: [], allowedKeys: [] }
    ])
    assert.deepStrictEqual(document["keys"], [
      { name: "laptop", allowedConnections: ["openai/work", "gone"] },
      { name: "open" }
    ])
    assert.deepStrictEqual(document["prices"], answers.prices)
    assert.deepStrictEqual(variables, ["OPENAI_WORK_API_KEY", "MCP_PAGES_X_TOKEN"])
    assert.isTrue(leftOut.some((sentence) => sentence.includes("'program' is a program")))
  })

  it("is a file that has nothing to change at the same gateway", () => {
    const { gaps, value } = filled(
      document,
      new Map([
        ["OPENAI_WORK_API_KEY", "sk-a-key-of-openai-1234"],
        ["MCP_PAGES_X_TOKEN", "any"]
      ])
    )
    assert.deepStrictEqual(gaps, [])
    Schema.decodeUnknownSync(Declared)(value)
    assert.deepStrictEqual(plan(wantedOf(value as never), present, { prune: new Set() }), [])
  })

  it("pins no number that the gateway takes from its machine", () => {
    const resilience = {
      loadShedding: { maxInFlight: 9_872, retryAfterMs: 7_000 },
      retry: { maxRetries: 0, delayMs: 500 }
    }
    const { document, leftOut } = exported(presentOf({ ...answers, resilience }))
    assert.deepStrictEqual(document["resilience"], { loadShedding: { retryAfterMs: 7_000 } })
    assert.isTrue(leftOut.some((sentence) => sentence.includes("maxInFlight (9872)")))
  })

  it("does not touch a program that a file has by the same name", () => {
    const wanted = wantedOf({ mcpServers: [{ name: "program", url: "https://x.example.com/mcp" }] })
    const thing = present.find(({ name }) => name === "program")
    assert.isTrue(thing?.readOnly)
    assert.lengthOf(plan(wanted, present, { prune: null }), 1)
    assert.deepStrictEqual(plan([], present, { prune: new Set(["mcpServer program"]) }), [])
  })
})

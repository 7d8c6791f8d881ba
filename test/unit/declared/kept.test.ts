/** Secrets of a file that refer to variables without a value. */
import { assert, describe, it } from "@effect/vitest"
import { keeping, sortedGaps } from "../../../src/subjects/declared/Kept.ts"
import { plan, type Thing } from "../../../src/subjects/declared/Plan.ts"
import { filled } from "../../../src/subjects/declared/Variables.ts"
import { wantedOf } from "../../../src/subjects/declared/DesiredState.ts"

const secret = "sk-the-secret-that-is-there-1234"

const present: ReadonlyArray<Thing> = [
  {
    kind: "connection",
    name: "openai/work",
    id: "1",
    readOnly: false,
    fields: {
      name: "work",
      apiKey: "sk-…1234",
      baseUrl: "https://a.example",
      headers: { "x-token": "…5678", "x-team": "red" }
    }
  },
  { kind: "connection", name: "openai/bare", id: "2", readOnly: false, fields: { name: "bare" } },
  {
    kind: "node",
    name: "cellar",
    id: "3",
    readOnly: false,
    fields: { baseUrl: "http://127.0.0.1:1", headers: { authorization: "…abcd" } }
  },
  {
    kind: "mcpServer",
    name: "pages",
    id: "4",
    readOnly: false,
    fields: { url: "https://p.example/mcp", headers: { authorization: "…", "x-b": "…" } }
  }
]

const judged = (file: unknown, environment: ReadonlyArray<readonly [string, string]> = []) => {
  const { gaps, value } = filled(file as never, new Map(environment))
  const { missing, needed } = sortedGaps(gaps)
  const kept = keeping(wantedOf(value as never, missing), present)
  return { needed, ...kept, changes: plan(kept.wanted, present, { prune: null }) }
}

const work = { provider: "openai", name: "work", apiKey: "${A}", baseUrl: "https://a.example" }

describe("secrets without a value", () => {
  it.each([
    ["a key", { connections: [work] }],
    ["a key and its headers", { connections: [{ ...work, headers: { "x-token": "${B}", "x-team": "red" } }] }],
    ["a header of a node", { nodes: [{ prefix: "cellar", headers: { authorization: "Bearer ${B}" } }] }],
    [
      "headers of an MCP server",
      { mcpServers: [{ name: "pages", headers: { Authorization: "Bearer ${B}", "X-B": "given" } }] }
    ],
    ["tokens", { connections: [{ ...work, oauth: { accessToken: "${B}", refreshToken: "${C}" } }] }]
  ])("stay as they are where the thing is there: %s", (_, file) => {
    const { changes, needed, notes, problems } = judged(file)
    assert.deepStrictEqual([needed, problems, changes], [[], [], []])
    assert.lengthOf(notes, 1)
    assert.match(notes[0] ?? "", /keeps its secrets\. Not set in the environment: [A-C]/)
  })

  it("stay while other members change", () => {
    const { changes, problems } = judged({ connections: [{ ...work, priority: 7 }] })
    assert.deepStrictEqual(problems, [])
    assert.deepStrictEqual(changes[0]?.body, { priority: 7 })
  })

  it("stay while another header changes, sent as the gateway shows them", () => {
    const { changes, problems } = judged({
      connections: [{ ...work, headers: { "x-token": "${B}", "x-team": "blue" } }]
    })
    assert.deepStrictEqual(problems, [])
    assert.deepStrictEqual(changes[0]?.body, { headers: { "x-token": "…5678", "x-team": "blue" } })
  })

  it.each([
    ["is new", { connections: [{ provider: "openai", name: "new", apiKey: "${A}" }] }, "A"],
    ["is new", { nodes: [{ prefix: "new", headers: { authorization: "${B}" } }] }, "B"],
    ["is new", { mcpServers: [{ name: "new", headers: { authorization: "${B} ${C}" } }] }, "B, C"],
    ["has no key there", { connections: [{ provider: "openai", name: "bare", apiKey: "${A}" }] }, "A"],
    ["gets another address", { connections: [{ ...work, baseUrl: "https://b.example" }] }, "A"],
    [
      "gets another address",
      { mcpServers: [{ name: "pages", url: "https://q.example/mcp", headers: { authorization: "${B}" } }] },
      "B"
    ],
    ["has no header 'x-other'", { connections: [{ ...work, apiKey: secret, headers: { "x-other": "${B}" } }] }, "B"],
    ["gets other headers", { mcpServers: [{ name: "pages", headers: { authorization: "${B}", "x-c": "given" } }] }, "B"]
  ])("are a problem where the thing %s", (why, file, variables) => {
    const { problems } = judged(file)
    assert.lengthOf(problems, 1)
    assert.include(problems[0], why)
    assert.include(problems[0], `Not set in the environment: ${variables}.`)
  })

  it("are taken from the environment where it has them, and other values must be there", () => {
    assert.lengthOf(judged({ connections: [work] }, [["A", "sk-another-secret-for-it-9876"]]).changes, 1)
    const { needed } = judged({
      connections: [{ ...work, baseUrl: "${HOST}", name: "${NAME}" }],
      aliases: { a: "${HOST}" }
    })
    assert.deepStrictEqual(needed, ["NAME", "HOST"])
  })
})

/** What is taken of the words of registered servers. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import {
  mostTools,
  offeredName,
  partsOf,
  readPage,
  readResult,
  readTool
} from "../../../../src/agents/mcp/upstream/ForeignTools.ts"
import type { Json } from "../../../../src/wire/json/Json.ts"

const tool = (more: Readonly<Record<string, Json>> = {}): Json => ({
  name: "search",
  inputSchema: { type: "object", properties: {} },
  ...more
})

const serverName = FastCheck.stringMatching(/^[a-z0-9][a-z0-9-]{0,30}$/)
const toolName = FastCheck.stringMatching(/^[\w./-]{1,128}$/)
const anything = FastCheck.jsonValue() as FastCheck.Arbitrary<Json>

describe("tools of a registered server", () => {
  it("have offered names that mean one tool of one server", () => {
    FastCheck.assert(
      FastCheck.property(serverName, toolName, (server, name) => {
        assert.deepStrictEqual(partsOf(offeredName(server, name)), { server, tool: name })
      })
    )
    for (const none of ["", "search", "__search", "gateway_get_health"]) assert.isNull(partsOf(none), none)
  })

  it("are read of whatever comes, within limits", () => {
    const member = FastCheck.constantFrom(
      "name",
      "title",
      "description",
      "inputSchema",
      "annotations",
      "_meta",
      "icons"
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.dictionary(member, anything), anything, (given, other) => {
        for (const value of [tool(given), given, other]) {
          const read = readTool(value)
          if (read === null) continue
          assert.match(read.name, /^[\w./-]{1,128}$/)
          assert.strictEqual(read.inputSchema["type"], "object")
          assert.isAtMost(read.description.length, 16_384)
          assert.isAtMost(read.title.length, 300)
        }
      })
    )
  })

  it("are left out when a part of them is missing or too large, or they run as tasks only", () => {
    const large = { type: "object", description: "x".repeat(70_000) }
    for (const wrong of [
      { name: "a b" },
      { name: "x".repeat(129) },
      { name: 5 },
      { inputSchema: null },
      { inputSchema: { type: "string" } },
      { inputSchema: large },
      { outputSchema: large },
      { _meta: large },
      { execution: { taskSupport: "required" } }
    ]) {
      assert.isNull(readTool(tool(wrong)), JSON.stringify(wrong).slice(0, 100))
    }
    assert.strictEqual(readTool(tool({ description: "y".repeat(20_000) }))?.description.length, 16_384)
  })

  it("are taken to destroy unless they say otherwise", () => {
    const effectOf = (annotations: Json) => readTool(tool({ annotations }))?.effect
    assert.strictEqual(effectOf({}), "destroy")
    assert.strictEqual(effectOf({ destructiveHint: false }), "write")
    assert.strictEqual(effectOf({ readOnlyHint: true }), "read")
    assert.strictEqual(effectOf("wrong"), "destroy")
  })

  it("are the first allowed ones of a page", () => {
    const page = { tools: Array.from({ length: 10_000 }, (_, at) => tool({ name: `t${at}` })), nextCursor: "more" }
    const all = readPage(page, () => true)
    assert.strictEqual(all?.tools.length, mostTools)
    assert.strictEqual(all?.nextCursor, "more")
    const few = readPage(page, (name) => name.startsWith("t999"))
    assert.deepStrictEqual(
      few?.tools.map(({ name }) => name),
      ["t999", ...Array.from({ length: 10 }, (_, at) => `t999${at}`)]
    )
    assert.isNull(readPage({ tools: {} }, () => true))
  })

  it("have results that are handed on with the members clients know", () => {
    const content: ReadonlyArray<Json> = [
      { type: "text", text: "no" },
      5,
      { type: "image", data: "aa", mimeType: "image/png" }
    ]
    const read = readResult({ content, isError: true, structuredContent: { a: 1 }, other: 1 })
    const blocks = [content[0], content[2]]
    assert.deepStrictEqual<unknown>(read?.passed, { content: blocks, structuredContent: { a: 1 }, isError: true })
    assert.strictEqual(read?.error, "no")
    assert.isNull(readResult({ nothing: true }))
  })
})

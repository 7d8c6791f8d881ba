/** A wish for a search of the web: read from the four forms, written in each, and what each cannot say. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import {
  asksForWebSearch,
  type SearchWire,
  unsaid,
  webSearchAsk,
  type WebSearchAsk,
  writeWebSearch
} from "../../../../src/wire/canonical/WebSearchAsk.ts"
import { codecs, translateRequest } from "../../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"

const bodies: Readonly<Record<SearchWire, (more: JsonObject) => JsonObject>> = {
  chat: (more) => ({ model: "m", messages: [{ role: "user", content: "Hi" }], ...more }),
  messages: (more) => ({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }], ...more }),
  responses: (more) => ({ model: "m", input: "Hi", ...more }),
  gemini: (more) => ({ model: "m", contents: [{ role: "user", parts: [{ text: "Hi" }] }], ...more })
}
const wires = ["chat", "messages", "responses", "gemini"] as const

const askOf = (wire: SearchWire, more: JsonObject): WebSearchAsk | null =>
  webSearchAsk(Either.getOrThrow(codecs[wire].decodeRequest(bodies[wire](more))))

const location = { city: "Berlin", region: "BE", country: "DE", timezone: "Europe/Berlin" }

describe("a client's search of the web", () => {
  it("is read from every form and name", () => {
    const forms: ReadonlyArray<readonly [SearchWire, JsonObject, Partial<WebSearchAsk>]> = [
      [
        "messages",
        {
          tools: [
            {
              type: "web_search_20250305",
              name: "web_search",
              max_uses: 4,
              allowed_domains: ["a.test"],
              user_location: { type: "approximate", ...location }
            }
          ]
        },
        { field: "tools.web_search_20250305", maxUses: 4, allowedDomains: ["a.test"], location }
      ],
      [
        "messages",
        {
          tools: [
            {
              type: "web_search_20260209",
              name: "web_search",
              blocked_domains: ["b.test"],
              allowed_callers: ["direct"]
            }
          ]
        },
        { blockedDomains: ["b.test"], others: ["allowed_callers"] }
      ],
      ...["web_search", "web_search_2025_08_26", "web_search_preview", "web_search_preview_2025_03_11"].map(
        (type) =>
          [
            "responses",
            {
              tools: [
                {
                  type,
                  filters: { allowed_domains: ["a.test"], blocked_domains: ["b.test"] },
                  user_location: { type: "approximate", ...location },
                  search_context_size: "high"
                }
              ]
            },
            {
              field: `tools.${type}`,
              allowedDomains: ["a.test"],
              blockedDomains: ["b.test"],
              location,
              contextSize: "high"
            }
          ] as const
      ),
      ["gemini", { tools: [{ googleSearch: { excludeDomains: ["b.test"] } }] }, { blockedDomains: ["b.test"] }],
      ["gemini", { tools: [{ google_search: {} }] }, { field: "tools.googleSearch" }],
      [
        "gemini",
        { tools: [{ googleSearchRetrieval: { dynamicRetrievalConfig: { mode: "MODE_DYNAMIC" } } }] },
        { others: ["dynamicRetrievalConfig"] }
      ],
      [
        "chat",
        {
          web_search_options: {
            search_context_size: "low",
            user_location: { type: "approximate", approximate: location }
          }
        },
        { field: "web_search_options", contextSize: "low", location }
      ]
    ]
    for (const [wire, more, expected] of forms) {
      assert.deepInclude(askOf(wire, more), expected, `${wire} ${JSON.stringify(more)}`)
      assert.isTrue(asksForWebSearch(wire, bodies[wire](more)))
    }
  })

  it("is none where there is another tool, or something of another shape", () => {
    const none: ReadonlyArray<readonly [WireName, JsonObject]> = [
      ["messages", { tools: [{ name: "web_search", input_schema: {} }] }],
      ["messages", { tools: [{ type: "web_fetch_20250910", name: "web_fetch" }] }],
      ["messages", { tools: [null, 1, "web_search_20250305"] }],
      ["responses", { tools: [{ type: "function", name: "web_search" }] }],
      ["responses", { tools: { type: "web_search" } }],
      ["gemini", { tools: [{ functionDeclarations: [{ name: "googleSearch" }] }] }],
      ["chat", { web_search_options: null, tools: [{ type: "function", function: { name: "web_search" } }] }],
      ["ollama", { tools: [{ type: "web_search" }], web_search_options: {} }]
    ]
    for (const [wire, body] of none) assert.isFalse(asksForWebSearch(wire, body), `${wire} ${JSON.stringify(body)}`)
  })

  it("bounds what it reads of foreign lists and names", () => {
    const ask = askOf("messages", {
      tools: [
        {
          type: "web_search_20250305",
          name: "web_search",
          max_uses: -1,
          allowed_domains: [...Array.from({ length: 500 }, (_, index) => `d${index}.test`), 1, "x".repeat(9_999)],
          user_location: { city: "x".repeat(9_999), country: 7 }
        }
      ]
    })
    assert.strictEqual(ask?.allowedDomains.length, 100)
    assert.isNull(ask?.maxUses)
    assert.isNull(ask?.location)
  })

  const domains = FastCheck.uniqueArray(FastCheck.domain(), { maxLength: 4 })
  const asks: FastCheck.Arbitrary<WebSearchAsk> = FastCheck.record({
    field: FastCheck.constant("f"),
    name: FastCheck.constant("web_search"),
    maxUses: FastCheck.option(FastCheck.integer({ min: 1, max: 50 })),
    allowedDomains: domains,
    blockedDomains: domains,
    location: FastCheck.option(FastCheck.constant(location)),
    contextSize: FastCheck.option(FastCheck.constantFrom("low" as const, "medium" as const, "high" as const)),
    others: FastCheck.constant([])
  })

  it("comes back from each form as it was, but for what is named as missing", () => {
    FastCheck.assert(
      FastCheck.property(asks, FastCheck.constantFrom(...wires), (ask, wire) => {
        const { members, missing, tool } = writeWebSearch(wire, ask)
        const read = askOf(wire, { ...members, ...(tool === null ? {} : { tools: [tool.value] }) })
        const lost = new Set<string>(missing)
        for (const member of ["maxUses", "allowedDomains", "blockedDomains", "location", "contextSize"] as const) {
          if (lost.has(member)) continue
          assert.deepEqual(read?.[member], ask[member], `${wire} ${member}`)
        }
        for (const member of missing) assert.isAbove([ask[member]].flat().filter((value) => value !== null).length, 0)
      })
    )
  })

  it("is offered as an endpoint's own, with what cannot be said by the client's own names", () => {
    const body = bodies.messages({
      tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 2, allowed_domains: ["a.test"] }],
      tool_choice: { type: "tool", name: "web_search" }
    })
    const options = { model: "up", stream: false, maxOutputTokens: null, reasoning: null, ownSearch: true } as const
    const told = (wire: SearchWire) => Either.getOrThrow(translateRequest(codecs.messages, codecs[wire], body, options))
    const responses = told("responses")
    assert.deepEqual(responses.body["tools"], [{ type: "web_search", filters: { allowed_domains: ["a.test"] } }])
    assert.deepEqual(responses.body["tool_choice"], { type: "web_search" })
    assert.strictEqual(responses.body["max_tool_calls"], 2)
    assert.deepEqual(responses.dropped, [])
    assert.include(responses.mapped, "tools.web_search_20250305")
    assert.isUndefined(responses.body["include"])
    const gemini = told("gemini")
    assert.deepEqual(gemini.body["tools"], [{ googleSearch: {} }])
    assert.sameMembers(
      [...gemini.dropped],
      ["tools.web_search_20250305.max_uses", "tools.web_search_20250305.allowed_domains"]
    )
    assert.deepEqual(told("chat").body["web_search_options"], {})
    assert.deepEqual(
      unsaid("gemini", askOf("gemini", { tools: [{ googleSearch: { excludeDomains: ["b"] } }] })!, ["blockedDomains"]),
      ["tools.googleSearch.excludeDomains"]
    )
  })
})

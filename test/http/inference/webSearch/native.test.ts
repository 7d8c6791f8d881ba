/** A client's search of the web at providers that have one of their own: asked in their form, and told in the client's. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"
import { asks, page, query, read, said, searched, type SearchWire, wires } from "../../../support/WebSearch.ts"

/** A model of each wire whose maker documents that it searches. */
const models: Readonly<Record<SearchWire, string>> = {
  chat: "openai/gpt-4o-search-preview",
  messages: "anthropic/claude-sonnet-4-6",
  responses: "openai/gpt-5.4",
  gemini: "gemini/gemini-2.5-flash"
}
const providers: Readonly<Record<SearchWire, string>> = {
  chat: "openai",
  messages: "anthropic",
  responses: "openai",
  gemini: "gemini"
}

const setUp = (upstreamWire: SearchWire) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const upstream = yield* Fake.start
    upstream.always(searched(upstreamWire))
    yield* Effect.promise(() =>
      gateway.manage("POST", "/api/providers", {
        provider: providers[upstreamWire],
        name: "up",
        apiKey: "key-of-the-provider-0123456789",
        baseUrl: `${upstream.origin}/v1`
      })
    )
    return { gateway, upstream }
  })

// eslint-disable-next-line typescript/no-explicit-any -- as below
const toolIn: Readonly<Record<SearchWire, (body: any) => unknown>> = {
  chat: (body) => body.web_search_options,
  messages: (body) => body.tools[0].type,
  responses: (body) => body.tools[0].type,
  gemini: (body) => body.tools[0].googleSearch
}
const toolAs: Readonly<Record<SearchWire, unknown>> = {
  chat: {},
  messages: "web_search_20250305",
  responses: "web_search",
  gemini: {}
}

describe("a search of the web, offered in the provider's form", () => {
  for (const upstreamWire of wires) {
    for (const client of wires) {
      for (const stream of [false, true]) {
        it.scopedLive(`${client} client, ${upstreamWire} provider, ${stream ? "streamed" : "whole"}`, () =>
          Effect.gen(function* () {
            const { gateway, upstream } = yield* setUp(upstreamWire)
            yield* Effect.promise(async () => {
              const response = await gateway.post(...asks[client](models[upstreamWire], stream))
              const text = await response.text()
              assert.strictEqual(response.status, 200, text)
              const sent = JSON.parse(upstream.requests[0]?.body ?? "{}")
              assert.deepStrictEqual(toolIn[upstreamWire](sent), toolAs[upstreamWire])
              const answer = read(client, text, stream)
              assert.strictEqual(answer.text, said)
              assert.deepEqual([...new Set(answer.links.map(({ url }) => url))], [page.url])
              const [{ words } = { words: "" }] = answer.links
              // What the wire of one of the two cannot tell finer is told of the whole text.
              assert.include([said, said.slice(0, 9)], words)
              if (client === "chat" || upstreamWire === "chat") return
              assert.deepEqual(answer.queries, [query])
              assert.deepEqual(answer.found, [page.url])
            })
          })
        )
      }
    }
  }
})

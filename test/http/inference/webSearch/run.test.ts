/** A client's search of the web at models that have none: the gateway searches, and the client gets what its wire shows of a search. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { tavilyAnswer } from "../../../support/Searches.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"
import { asks, read, type SearchWire, tells, type Told, wires } from "../../../support/WebSearch.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const [upstream, tavily] = [yield* Fake.start, yield* Fake.start]
  tavily.always(Fake.json(tavilyAnswer))
  yield* Effect.promise(() =>
    gateway.manage("POST", "/api/providers", {
      provider: "tavily",
      name: "tavily",
      apiKey: "key-of-tavily",
      baseUrl: tavily.origin
    })
  )
  return { gateway, upstream, tavily }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

const url = "https://example.com/gateways"
const searchFor = (query: string, name = "web_search"): Told => ({ call: { name, args: { query } } })
const answer: Told = { text: `Gateways pass requests on ([Gateways](${url})).` }

const offered = (wire: SearchWire, body: string): ReadonlyArray<string> => {
  const { tools = [] } = JSON.parse(body)
  // eslint-disable-next-line typescript/no-explicit-any -- tools are read as they come
  return tools.flatMap((tool: any) =>
    wire === "gemini"
      ? (tool.functionDeclarations ?? []).map(({ name }: { name: string }) => name)
      : (tool.function?.name ?? tool.name)
  )
}

describe("a search of the web that the gateway makes", () => {
  for (const upstreamWire of wires) {
    for (const client of wires) {
      // In one wire between client and target the target's own tool is left to it.
      if (upstreamWire === client && client !== "chat") continue
      for (const stream of [false, true]) {
        scene(
          `${client} client, ${upstreamWire} model, ${stream ? "streamed" : "whole"}: two searches, then the answer`,
          async ({ gateway, tavily, upstream }) => {
            await gateway.connect("up", upstream, upstreamWire)
            upstream.enqueue(
              tells(upstreamWire, { text: "Let me see. ", ...searchFor("first") }),
              tells(upstreamWire, searchFor("second")),
              tells(upstreamWire, answer)
            )
            const response = await gateway.post(...asks[client]("up/m", stream))
            const text = await response.text()
            assert.strictEqual(response.status, 200, text)
            const got = read(client, text, stream)
            assert.strictEqual(got.text, `Let me see. ${answer.text}`)
            assert.deepEqual(got.calls, [])
            assert.include(["stop", "end_turn", "completed", "STOP"], got.stop)
            assert.deepEqual([...new Set(got.links.map((link) => link.url))], [url])
            if (client !== "messages")
              assert.deepEqual(
                got.links.map(({ words }) => words),
                [`[Gateways](${url})`]
              )
            if (client !== "chat") {
              assert.deepEqual(got.queries, ["first", "second"])
              assert.include(got.found, url)
            }
            assert.deepEqual(
              tavily.requests.map(({ body }) => JSON.parse(body).query),
              ["first", "second"]
            )
            const [one, two, three] = upstream.requests.map(({ body }) => body)
            assert.deepEqual(offered(upstreamWire, one ?? ""), ["web_search"])
            assert.include(two, "What a gateway is.")
            assert.include(three, "first")
            assert.lengthOf(upstream.requests, 3)
            // The client's usage is that of all calls.
            const row = await gateway.usageRow(response.headers.get("x-gateway-request-id")!)
            assert.deepInclude(row.tokens, { in: 60, out: 21 })
            assert.strictEqual(row.outcome, "completed")
          }
        )
      }
    }
  }
})

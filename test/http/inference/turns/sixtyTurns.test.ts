/**
 * A session of sixty turns with system messages in between, from each client that can have them to each upstream wire: no request
 * changes the begin of the one before, which is what prompt caches live by. Directly there is no break either.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"
import { type Client, type ClientName, clients } from "./Clients.ts"
import { type Break, changedPrefixes, missedMarks, type Prompt, promptOf } from "./PromptCache.ts"
import { answerOf } from "./Upstreams.ts"

const turns = 60

const upstreams: ReadonlyArray<WireName> = ["chat", "messages", "responses", "gemini", "ollama"]

const names = Object.keys(clients) as ReadonlyArray<ClientName>

/** The beta is for messages upstreams alone. */
const pairs = names.flatMap((name) =>
  upstreams.flatMap((wire) => (name === "messages with the beta" && wire !== "messages" ? [] : [{ name, wire }]))
)

const wireOf = (name: ClientName): WireName => (name === "messages with the beta" ? "messages" : name)

/** All of it; the prompts that a provider of the client's own wire would have seen. */
const play = async (client: Client, wire: WireName): Promise<ReadonlyArray<Prompt>> => {
  const direct: Array<Prompt> = []
  let open: ReadonlyArray<string> = []
  for (let turn = 0; turn < turns; turn += 1) {
    if (open.length > 0) client.results(open, `forty-two ${turn}`)
    else client.user(`Go on with ${turn}.`)
    // Behind a tool's result as well as behind the user's words.
    if (turn % 5 === 3) client.system(`Note ${turn}: the file has changed.`)
    direct.push(promptOf(wire, client.body()))
    open = await client.ask(turn % 2 === 0)
  }
  return direct
}

const breaksOf = (prompts: ReadonlyArray<Prompt>): ReadonlyArray<Break> => [
  ...changedPrefixes(prompts),
  ...missedMarks(prompts)
]

/** How much each request has marked. */
const marksOf = (prompts: ReadonlyArray<Prompt>): ReadonlyArray<number> => prompts.map(({ marks }) => marks.length)

/** With `TURNS=all` one line of the counts. */
const told = (name: ClientName, wire: WireName, direct: ReadonlyArray<Break>, seen: ReadonlyArray<Break>): void => {
  if (process.env["TURNS"] === "all") {
    process.stdout.write(`${name} to ${wire}: ${turns} requests, breaks ${seen.length}, directly ${direct.length}\n`)
  }
}

describe("sixty turns with system messages in between", () => {
  for (const { name, wire } of pairs) {
    it.scopedLive(
      `${name} to ${wire}: no cache break`,
      () =>
        Effect.gen(function* () {
          const gateway = yield* TestGateway.start()
          const upstream = yield* Fake.start
          upstream.always((response, request) => {
            const { stream } = JSON.parse(request.body) as { stream?: boolean }
            const streams = stream ?? (wire === "ollama" || request.url.includes("stream"))
            return answerOf(wire, upstream.requests.length - 1, streams)(response, request)
          })
          yield* Effect.promise(async () => {
            await gateway.connect("up", upstream, wire)
            const direct = await play(clients[name]({ url: gateway.url, model: "up/m" }), wireOf(name))
            assert.lengthOf(upstream.requests, turns)
            const seen = upstream.requests.map(({ body }) => promptOf(wire, JSON.parse(body)))
            assert.isAbove(seen.at(-1)?.items.length ?? 0, turns)
            told(name, wire, breaksOf(direct), breaksOf(seen))
            assert.deepStrictEqual(breaksOf(direct), [])
            assert.deepStrictEqual(breaksOf(seen), [])
            if (wireOf(name) === wire && wire === "messages") assert.deepStrictEqual(marksOf(seen), marksOf(direct))
          })
        }),
      60_000
    )
  }
})

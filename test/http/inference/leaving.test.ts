/** A client that disconnects ends all of its calls, whatever waits for them, and its usage row records it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const ask = { messages: [{ role: "user", content: "Hi" }] }
const oauth = { authType: "oauth", oauth: { accessToken: "an-access-token-of-the-tests" } }

/** The row of the only request of a combo. */
const rowOf = (gateway: TestGateway.TestGateway, combo: string) =>
  eventuallyFound(`the usage row of the combo ${combo}`, async () => {
    const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=10")
    return logs.find((entry: { combo: string }) => entry.combo === combo)
  })

const hedged = { hedging: true, hedgeDelayMs: 20 }
const targets = [{ model: "one/m" }, { model: "two/m" }]

describe("a client that leaves", () => {
  for (const signedIn of ["one", "two", "both"]) {
    for (const stream of [false, true]) {
      it.scopedLive(`ends both calls of a hedged request (OAuth: ${signedIn}, stream: ${stream})`, () =>
        Effect.gen(function* () {
          const gateway = yield* TestGateway.start()
          const [one, two] = [yield* Fake.start, yield* Fake.start]
          yield* Effect.promise(async () => {
            await gateway.connect("one", one, "chat", signedIn === "two" ? {} : oauth)
            await gateway.connect("two", two, "chat", signedIn === "one" ? {} : oauth)
            await gateway.manage("POST", "/api/combos", { name: "c", strategy: "priority", targets, config: hedged })
            one.always(Fake.silence())
            two.always(Fake.silence())
            const leaving = new AbortController()
            const left = gateway
              .post("/v1/chat/completions", { ...ask, model: "c", stream }, {}, leaving.signal)
              .catch(() => null)
            const calls = [await one.received(1), await two.received(1)]
            leaving.abort()
            await left
            await Promise.all(calls.map(({ closed }) => closed))
            assert.deepInclude(await rowOf(gateway, "c"), { outcome: "aborted", status: 499, attempts: 2 })
          })
        })
      )
    }
  }
})

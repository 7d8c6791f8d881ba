/** Which accounts a request can put out, seen from outside: echoes of its own words, the client's own mistakes, proven ends. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Say from "../../../src/plane/resilience/failure/Phrases.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const wires: ReadonlyArray<WireName> = ["chat", "messages", "responses", "gemini", "ollama"]

const pathOf = (wire: WireName, model: string, stream: boolean): string =>
  ({
    chat: "/v1/chat/completions",
    messages: "/v1/messages",
    responses: "/v1/responses",
    gemini: `/v1beta/models/${encodeURIComponent(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    ollama: "/api/chat"
  })[wire]

const bodyOf = (wire: WireName, model: string, prompt: string, more: object = {}): object => {
  switch (wire) {
    case "responses":
      return { model, input: prompt, ...more }
    case "gemini":
      return { contents: [{ role: "user", parts: [{ text: prompt }] }], ...more }
    default:
      return { model, max_tokens: 20, messages: [{ role: "user", content: prompt }], ...more }
  }
}

/** Every phrase that is no pattern, and a sentence for some that are. */
const phrases = [
  ...Object.values(Say)
    .flat()
    .filter((phrase) => typeof phrase === "string"),
  "your account has been deactivated",
  "this organization has been disabled",
  "your credit balance is too low",
  "daily limit reached",
  "requests per day",
  "you have reached your 5-hour limit",
  "monthly quota exceeded, resets in 3 days",
  "billing limit"
]

const start = TestGateway.start({ environment: new Map([["ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE", "true"]]) })

/** A gateway with one node of that wire, and what it knows of the accounts there. */
const one = (wire: WireName, accounts = 1) =>
  Effect.gen(function* () {
    const gateway = yield* start
    const upstream = yield* Fake.start
    const ids = yield* Effect.promise(async () => {
      const first = await gateway.connect("up", upstream, wire)
      const others = Array.from({ length: accounts - 1 }, (_, index) =>
        gateway.manage("POST", "/api/providers", {
          provider: "up",
          name: `${index}`,
          apiKey: `key-of-${index}`,
          models: ["m"]
        })
      )
      return [first.id, ...(await Promise.all(others)).map(({ connection }) => String(connection.id))]
    })
    const states = (): Promise<ReadonlyArray<string>> =>
      Promise.all(ids.map(async (id) => (await gateway.manage("GET", `/api/providers/${id}`)).connection.testStatus))
    const failures = async (): Promise<number> => {
      const { breakers } = await gateway.manage("GET", "/api/resilience/breakers")
      return breakers.find((breaker: { provider: string }) => breaker.provider === "up")?.failures ?? 0
    }
    const ask = async (prompt: string, more: object = {}, stream = false) => {
      const body = bodyOf(wire, "up/m", prompt, { ...more, ...(stream && wire !== "gemini" ? { stream } : {}) })
      const response = await gateway.post(pathOf(wire, "up/m", stream), body)
      return { status: response.status, text: await response.text() }
    }
    return { gateway, upstream, states, failures, ask }
  })

describe("a caller's own words", () => {
  for (const wire of wires) {
    it.scopedLive(
      `put no account out that repeats them: ${wire}`,
      () =>
        Effect.gen(function* () {
          const { ask, failures, states, upstream } = yield* one(wire, 2)
          // It repeats the whole prompt, or the value of an unknown parameter.
          upstream.always((response, request) => {
            const sent = JSON.parse(request.body) as Record<string, unknown>
            const said = typeof sent["note"] === "string" ? sent["note"] : JSON.stringify(sent)
            return Fake.json(Fake.errorBody(wire, `Invalid value: '${said}'.`), { status: 400 })(response, request)
          })
          yield* Effect.promise(async () => {
            const asking = phrases.flatMap((phrase) => [
              () => ask("Hi", { note: phrase }),
              () => ask(`Please explain: ${phrase}`)
            ])
            for (let from = 0; from < asking.length; from += 20) {
              await Promise.all(asking.slice(from, from + 20).map((send) => send()))
            }
            // What may be too large for one account only is asked of the other, too.
            assert.isAtLeast(upstream.requests.length, 2 * phrases.length)
            for (const state of await states()) assert.include(["unknown", "active"], state)
            assert.strictEqual(await failures(), 0)
          })
        }),
      60_000
    )

    it.scopedLive(`put no account out inside a stream's error event: ${wire}`, () =>
      Effect.gen(function* () {
        const { ask, gateway, upstream } = yield* one(wire)
        const words = "your account has been deactivated, credit balance is too low"
        const error = { code: "invalid_prompt", message: `Flagged: ${words}`, type: "invalid_request_error" }
        const line = JSON.stringify(
          wire === "responses"
            ? { type: "response.failed", response: { status: "failed", error } }
            : { type: "error", error }
        )
        upstream.always(Fake.sse([wire === "ollama" ? `${line}\n` : `data: ${line}\n\n`]))
        yield* Effect.promise(async () => {
          for (let turn = 0; turn < 12; turn += 1) {
            const { status, text } = await ask(`${words} ${turn}`, {}, true)
            assert.strictEqual(status, 400, text)
          }
          assert.strictEqual(upstream.requests.length, 12)
          const { breakers } = await gateway.manage("GET", "/api/resilience/breakers")
          for (const { failures } of breakers) assert.strictEqual(failures, 0)
          const { connections } = await gateway.manage("GET", "/api/providers")
          for (const { testStatus } of connections) assert.include(["unknown", "active"], testStatus)
        })
      })
    )
  }
})

describe("an account", () => {
  const refusing = (status: number, message: string, detail: object = {}) =>
    Fake.json(Fake.errorBody("chat", message, detail), { status })

  it.scopedLive("is doubted for a sentence, asked again when alone, and out when another request meets it too", () =>
    Effect.gen(function* () {
      const { ask, states, upstream } = yield* one("chat")
      upstream.always(refusing(400, "Your credit balance is too low to access the API."))
      yield* Effect.promise(async () => {
        await ask("Hello")
        assert.deepStrictEqual(await states(), ["unavailable"])
        await ask("Hello")
        assert.deepStrictEqual(await states(), ["unavailable"])
        await ask("What does 'your credit balance is too low' mean?")
        assert.deepStrictEqual(await states(), ["unavailable"])
        assert.strictEqual(upstream.requests.length, 3)
        await ask("Something else")
        assert.deepStrictEqual(await states(), ["credits_exhausted"])
        await ask("And again")
        assert.strictEqual(upstream.requests.length, 4)
      })
    })
  )

  it.scopedLive("is out at once by the provider's code, and only one for one request", () =>
    Effect.gen(function* () {
      const { ask, states, upstream } = yield* one("chat", 5)
      upstream.always(refusing(401, "Incorrect API key provided.", { code: "invalid_api_key" }))
      yield* Effect.promise(async () => {
        const { status } = await ask("Hello")
        assert.strictEqual(status, 401)
        assert.strictEqual(upstream.requests.length, 5)
        const after = await states()
        assert.strictEqual(after.filter((state) => state === "expired").length, 1)
        assert.strictEqual(after.filter((state) => state === "unavailable").length, 4)
        for (let turn = 0; turn < 4; turn += 1) await ask(`Hello ${turn}`)
        assert.deepStrictEqual(
          await states(),
          Array.from({ length: 5 }, () => "expired")
        )
      })
    })
  )
})

describe("what a client or a model did wrong", () => {
  it.scopedLive("a flagged prompt is asked once, and twelve of them open no breaker", () =>
    Effect.gen(function* () {
      const { ask, failures, states, upstream } = yield* one("responses", 3)
      const error = { code: "invalid_prompt", message: "Your prompt was flagged as potentially violating our policy." }
      const event = { type: "response.failed", response: { id: "resp_1", object: "response", status: "failed", error } }
      upstream.always(Fake.sse([`event: response.failed\ndata: ${JSON.stringify(event)}\n\n`]))
      yield* Effect.promise(async () => {
        for (let turn = 0; turn < 12; turn += 1) assert.strictEqual((await ask(`Bad ${turn}`, {}, true)).status, 400)
        assert.strictEqual(upstream.requests.length, 12)
        assert.strictEqual(await failures(), 0)
        for (const state of await states()) assert.include(["unknown", "active"], state)
      })
    })
  )

  for (const reason of ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"]) {
    for (const stream of [false, true]) {
      it.scopedLive(`Gemini's ${reason} cools nothing (${stream ? "streamed" : "whole"})`, () =>
        Effect.gen(function* () {
          const { failures, gateway, states, upstream } = yield* one("gemini")
          const answer = { candidates: [{ content: { role: "model", parts: [] }, finishReason: reason, index: 0 }] }
          upstream.always(stream ? Fake.sse([`data: ${JSON.stringify(answer)}\n\n`]) : Fake.json(answer))
          yield* Effect.promise(async () => {
            // From a client of another wire: on its own wire it is an answer like any other.
            for (let turn = 0; turn < 12; turn += 1) {
              await (
                await gateway.post("/v1/chat/completions", bodyOf("chat", "up/m", `Hi ${turn}`, { stream }))
              ).text()
            }
            assert.isAtLeast(upstream.requests.length, 12)
            assert.strictEqual(await failures(), 0)
            for (const state of await states()) assert.include(["unknown", "active"], state)
          })
        })
      )
    }
  }
})

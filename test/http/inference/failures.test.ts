/** What clients see when upstreams fail: another target before the first word, the truth after it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as RawRequest from "../../support/RawRequest.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const ask = { messages: [{ role: "user", content: "Hi" }] }
const id = (response: Response): string => response.headers.get("x-gateway-request-id") ?? assert.fail("no request id")

/** Two chat upstreams behind the combo `two`: `bad` first. */
const pair = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const bad = yield* Fake.start
  const good = yield* Fake.start
  good.always(async (response, request) => {
    const stream = (JSON.parse(request.body) as { stream?: boolean }).stream === true
    const answer = stream ? Fake.sse(Fake.chatStream(["fine"])) : Fake.json(Fake.chatCompletion({ text: "fine" }))
    await answer(response, request)
  })
  yield* Effect.promise(async () => {
    await gateway.connect("bad", bad, "chat")
    await gateway.connect("good", good, "chat")
    await gateway.combo("two", "bad/m", "good/m")
  })
  return { gateway, bad, good }
})

const role = Fake.chatStream([])[0] ?? ""
const word = Fake.chatStream(["some text"])[1] ?? ""

const beforeTheFirstWord: Readonly<Record<string, Fake.Answer>> = {
  "503": Fake.json(Fake.errorBody("chat", "down"), { status: 503 }),
  "429": Fake.json(Fake.errorBody("chat", "slow"), { status: 429 }),
  "401": Fake.json(Fake.errorBody("chat", "no"), { status: 401 }),
  "HTML in place of JSON": Fake.text("<html>gateway</html>", { status: 502 }),
  "a reset before the headers": Fake.resetBeforeHeaders(),
  "an error object in a 200": Fake.json({ error: { message: "quota", type: "server_error" } }),
  "a 200 that is no JSON": Fake.text("hello", { headers: { "content-type": "application/json" } })
}

const inAStream: Readonly<Record<string, Fake.Answer>> = {
  "an error event first": Fake.sse([role, 'data: {"error":{"message":"overloaded"}}\n\n']),
  "an empty stream": Fake.sse([]),
  "a stream with only a role": Fake.sse([role, "data: [DONE]\n\n"]),
  "a stream that stops without content": Fake.sse(Fake.chatStream([]))
}

describe("before the first word", () => {
  for (const [name, answer] of Object.entries({ ...beforeTheFirstWord, ...inAStream })) {
    for (const stream of name in inAStream ? [true] : [false, true]) {
      it.scopedLive(`${name} goes on to the next target (${stream ? "streamed" : "whole"})`, () =>
        Effect.gen(function* () {
          const { bad, gateway, good } = yield* pair
          bad.always(answer)
          yield* Effect.promise(async () => {
            const response = await gateway.post("/v1/chat/completions", { ...ask, model: "two", stream })
            assert.strictEqual(response.status, 200)
            assert.strictEqual(response.headers.get("x-gateway-provider"), "good")
            assert.strictEqual(response.headers.get("x-gateway-fallback-attempts"), "1")
            assert.include(await response.text(), "fine")
            assert.strictEqual(bad.requests.length, 1)
            assert.strictEqual(good.requests.length, 1)
            const row = await gateway.usageRow(id(response))
            assert.deepInclude(row, { outcome: "completed", provider: "good", combo: "two", attempts: 2 })
            const { decision } = await gateway.manage("GET", `/api/routing/decisions/${id(response)}`)
            assert.deepStrictEqual(
              decision.attempts.map((attempt: { provider: string; outcome: string }) => [
                attempt.provider,
                attempt.outcome
              ]),
              [
                ["bad", "failed"],
                ["good", "completed"]
              ]
            )
          })
        })
      )
    }
  }

  it.scopedLive("when every target failed, the last one's status and words come with the list of attempts", () =>
    Effect.gen(function* () {
      const { bad, gateway, good } = yield* pair
      bad.always(Fake.json(Fake.errorBody("chat", "first"), { status: 500 }))
      good.always(Fake.json(Fake.errorBody("chat", "second"), { status: 429, headers: { "retry-after": "3" } }))
      yield* Effect.promise(async () => {
        const response = await gateway.post("/v1/chat/completions", { ...ask, model: "two" })
        const { error } = (await response.json()) as { error: Record<string, unknown> }
        assert.strictEqual(response.status, 429)
        assert.strictEqual(response.headers.get("retry-after"), "3")
        assert.include(String(error["message"]), "second")
        assert.deepStrictEqual(
          (error["attempts"] as ReadonlyArray<Record<string, unknown>>).map(({ provider, reason, status }) => [
            provider,
            status,
            reason
          ]),
          [
            ["bad", 500, "http_500"],
            ["good", 429, "http_429"]
          ]
        )
        assert.deepInclude(await gateway.usageRow(id(response)), {
          outcome: "failed",
          status: 429,
          costUsd: 0,
          attempts: 2
        })
      })
    })
  )

  it.scopedLive("an upstream that answers whole to a streamed request is told as a stream", () =>
    Effect.gen(function* () {
      const { bad, gateway } = yield* pair
      bad.always(Fake.json(Fake.chatCompletion({ text: "in one piece" })))
      yield* Effect.promise(async () => {
        const response = await gateway.post("/v1/chat/completions", { ...ask, model: "bad/m", stream: true })
        const text = await response.text()
        assert.include(response.headers.get("content-type"), "text/event-stream")
        assert.isNull(response.headers.get("x-gateway-fallback-attempts"))
        assert.include(text, '"content":"in one piece"')
        assert.isTrue(text.endsWith("data: [DONE]\n\n"))
      })
    })
  )
})

describe("after the first word", () => {
  const broken: Readonly<Record<string, (gate: Fake.Latch) => Fake.Answer>> = {
    "a cut": (gate) => Fake.cutOff([role, word, gate]),
    "a reset": (gate) => Fake.resetMidBody([role, word, gate]),
    "an orderly end without a finish reason": (gate) => Fake.sse([role, word, gate]),
    "an error event": (gate) => Fake.sse([role, word, gate, 'data: {"error":{"message":"boom"}}\n\n'])
  }
  for (const [name, answer] of Object.entries(broken)) {
    for (const path of ["/v1/chat/completions", "/v1/messages"]) {
      it.scopedLive(`${name} is told as an error on ${path}, never as a good end`, () =>
        Effect.gen(function* () {
          const { bad, gateway, good } = yield* pair
          const gate = Fake.makeLatch()
          bad.always(answer(gate))
          yield* Effect.promise(async () => {
            const response = await gateway.post(path, { ...ask, max_tokens: 9, model: "two", stream: true })
            assert.strictEqual(response.headers.get("x-gateway-provider"), "bad")
            gate.open()
            const text = await response.text()
            assert.include(text, "some text")
            assert.notInclude(text, "[DONE]")
            assert.notInclude(text, "message_stop")
            assert.match(text, path === "/v1/messages" ? /event: error\ndata: \{"type":"error"/ : /data: \{"error":\{/)
            assert.strictEqual(good.requests.length, 0)
            const row = await gateway.usageRow(id(response))
            assert.deepInclude(row, { outcome: "failed", provider: "bad", usageSource: "estimated" })
            assert.isAbove(row.tokens.out, 0)
          })
        })
      )
    }
  }

  const call = { id: "c1", name: "bake", arguments: "{}" }
  const messagesPieces = Fake.messagesStream(["some text"])
  const unreasoned: Readonly<Record<"chat" | "messages", ReadonlyArray<string>>> = {
    chat: [role, word, "data: [DONE]\n\n"],
    messages: messagesPieces.filter((piece) => !piece.includes("message_delta"))
  }
  for (const wire of ["chat", "messages"] as const) {
    for (const [path, reason, mapped] of [
      ["/v1/chat/completions", /"finish_reason":"stop"/, "finish_reason"],
      ["/v1/messages", /"stop_reason":"end_turn"/, "stop_reason"],
      ["/v1/responses", /"status":"completed"/, "status"]
    ] as const) {
      it.scopedLive(`the end mark without a finish reason is an end, named as mapped (${wire} to ${path})`, () =>
        Effect.gen(function* () {
          const { gateway } = yield* pair
          const up = yield* Fake.start
          up.always(Fake.sse(unreasoned[wire]))
          yield* Effect.promise(async () => {
            await gateway.connect("short", up, wire)
            const asked = { ...ask, input: "Hi", max_tokens: 9, model: "short/m", stream: true }
            const body = path === "/v1/responses" ? { input: "Hi", model: "short/m", stream: true } : asked
            const answer = await RawRequest.ask(gateway.url, {
              method: "POST",
              path,
              headers: { "content-type": "application/json", te: "trailers" },
              body: JSON.stringify(path === "/v1/chat/completions" ? { ...body, input: undefined } : body)
            })
            assert.match(answer.body, reason)
            assert.notInclude(answer.body, "event: error")
            const told = `${answer.headers["x-gateway-mapped"] ?? ""},${answer.trailers["x-gateway-mapped"] ?? ""}`
            assert.include(told, mapped)
            const row = await gateway.usageRow(String(answer.headers["x-gateway-request-id"]))
            assert.deepInclude(row, { outcome: "completed" })
            const { connections } = await gateway.manage("GET", "/api/providers")
            for (const { backoffLevel, lastError } of connections)
              assert.deepStrictEqual([backoffLevel, lastError], [0, null])
          })
        })
      )
    }
  }

  it.scopedLive("an end mark behind a call is an end by it", () =>
    Effect.gen(function* () {
      const { bad, gateway } = yield* pair
      bad.always(Fake.sse([...Fake.chatStream([], { toolCalls: [call] }).slice(0, 2), "data: [DONE]\n\n"]))
      yield* Effect.promise(async () => {
        const response = await gateway.post("/v1/chat/completions", { ...ask, model: "bad/m", stream: true })
        assert.include(await response.text(), '"finish_reason":"tool_calls"')
      })
    })
  )

  it.scopedLive("a finish reason without the end mark is a whole answer and gets its mark", () =>
    Effect.gen(function* () {
      const { bad, gateway } = yield* pair
      const pieces = Fake.chatStream(["all of it"])
      bad.always(Fake.sse(pieces.slice(0, -1)))
      yield* Effect.promise(async () => {
        const response = await gateway.post("/v1/chat/completions", { ...ask, model: "bad/m", stream: true })
        assert.isTrue((await response.text()).endsWith("data: [DONE]\n\n"))
        assert.deepInclude(await gateway.usageRow(id(response)), { outcome: "completed" })
      })
    })
  )

  it.scopedLive("a well-formed stream arrives byte for byte", () =>
    Effect.gen(function* () {
      const { bad, gateway } = yield* pair
      const pieces = Fake.chatStream(["Gr", "üße ", "🌍 data: [DONE] \u2028"])
      bad.always(Fake.byteByByte(pieces.join("")))
      yield* Effect.promise(async () => {
        const options = { include_usage: true }
        const response = await gateway.post("/v1/chat/completions", {
          ...ask,
          model: "bad/m",
          stream: true,
          stream_options: options
        })
        assert.strictEqual(await response.text(), pieces.join(""))
      })
    })
  )
})

describe("the client leaves", () => {
  for (const stream of [false, true]) {
    it.scopedLive(`the upstream call ends, and the row says aborted (${stream ? "streamed" : "whole"})`, () =>
      Effect.gen(function* () {
        const { bad, gateway } = yield* pair
        bad.always(stream ? Fake.silence([role, word]) : Fake.hang())
        yield* Effect.promise(async () => {
          const leaving = new AbortController()
          const call = gateway.post("/v1/chat/completions", { ...ask, model: "bad/m", stream }, {}, leaving.signal)
          const upstreamCall = await bad.received(1)
          if (stream) await call
          leaving.abort()
          await call.catch(() => null)
          await upstreamCall.closed
          const { logs } = await waitForRow(gateway)
          assert.deepInclude(logs[0], { outcome: "aborted", provider: "bad", usageSource: "estimated" })
        })
      })
    )
  }

  const waitForRow = (gateway: TestGateway.TestGateway): Promise<{ logs: ReadonlyArray<unknown> }> =>
    eventually(
      "a usage row",
      () => gateway.manage("GET", "/api/usage/logs"),
      ({ logs }) => logs.length > 0
    )
})

describe("timeouts", () => {
  const limits = (gateway: TestGateway.TestGateway, timeouts: Readonly<Record<string, number>>) =>
    gateway.manage("PATCH", "/api/resilience", { timeouts })

  for (const stream of [false, true]) {
    it.scopedLive(`a silent upstream loses its turn after firstByteMs (${stream ? "streamed" : "whole"})`, () =>
      Effect.gen(function* () {
        const { bad, gateway } = yield* pair
        bad.always(Fake.silence([": ping\n\n", role]))
        yield* Effect.promise(async () => {
          await limits(gateway, { firstByteMs: 60 })
          const response = await gateway.post("/v1/chat/completions", { ...ask, model: "two", stream })
          assert.include(await response.text(), "fine")
          const { decision } = await gateway.manage("GET", `/api/routing/decisions/${id(response)}`)
          assert.strictEqual(decision.attempts[0].reason, "first_byte_timeout")
        })
      })
    )
  }

  it.scopedLive("silence after content ends in an error event", () =>
    Effect.gen(function* () {
      const { bad, gateway } = yield* pair
      bad.always(Fake.silence([role, word]))
      yield* Effect.promise(async () => {
        await limits(gateway, { idleMs: 60 })
        const response = await gateway.post("/v1/chat/completions", { ...ask, model: "bad/m", stream: true })
        const text = await response.text()
        assert.include(text, "some text")
        assert.include(text, '"error"')
        assert.notInclude(text, "[DONE]")
        assert.deepInclude(await gateway.usageRow(id(response)), { outcome: "failed", error: "idle_timeout" })
      })
    })
  )

  it.scopedLive("totalMs bounds all attempts together", () =>
    Effect.gen(function* () {
      const { bad, gateway, good } = yield* pair
      bad.always(Fake.hang())
      yield* Effect.promise(async () => {
        await limits(gateway, { totalMs: 60 })
        const response = await gateway.post("/v1/chat/completions", { ...ask, model: "two" })
        assert.strictEqual(response.status, 504)
        assert.strictEqual(good.requests.length, 0)
      })
    })
  )
})

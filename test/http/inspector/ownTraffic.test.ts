/** What the gateway records of its own traffic: requests of clients on all wires, however they end. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { DecisionRecord } from "../../../src/subjects/routing/entity.ts"
import type { ApiKind, TrafficRecord } from "../../../src/contract/domain/TrafficRecord.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Tapped from "../../support/TappedGateway.ts"
import { open } from "../ws/support.ts"

const setUp = Effect.gen(function* () {
  const tapped = yield* Tapped.start()
  const upstream = yield* Fake.start
  upstream.always(async (response, request) => {
    const stream = (JSON.parse(request.body) as { stream?: boolean }).stream === true
    const answer = stream
      ? Fake.sse(Fake.chatStream(["Bon", "jour"]))
      : Fake.json(Fake.chatCompletion({ text: "Bonjour" }))
    await answer(response, request)
  })
  const { id } = yield* Effect.promise(() => tapped.gateway.connect("up", upstream, "chat"))
  return { ...tapped, upstream, connectionId: id }
})

const messages = [{ role: "user", content: "Hi" }]
const contents = [{ role: "user", parts: [{ text: "Hi" }] }]

const wires: ReadonlyArray<readonly [path: string, body: object, apiKind: ApiKind, streamed: boolean]> = [
  ["/v1/chat/completions", { model: "up/m", messages }, "chat", false],
  ["/v1/chat/completions", { model: "up/m", messages, stream: true }, "chat", true],
  ["/v1/messages", { model: "up/m", messages, max_tokens: 9 }, "messages", false],
  ["/v1/messages", { model: "up/m", messages, max_tokens: 9, stream: true }, "messages", true],
  ["/v1/responses", { model: "up/m", input: "Hi" }, "responses", false],
  ["/v1/responses", { model: "up/m", input: "Hi", stream: true }, "responses", true],
  ["/v1beta/models/up/m:generateContent", { contents }, "gemini", false],
  ["/v1beta/models/up/m:streamGenerateContent?alt=sse", { contents }, "gemini", true],
  ["/api/chat", { model: "up/m", messages, stream: false }, "ollama", false],
  ["/api/chat", { model: "up/m", messages, stream: true }, "ollama", true]
]

describe("the gateway's own traffic", () => {
  for (const [path, body, apiKind, streamed] of wires) {
    it.scopedLive(`is recorded: ${apiKind}${streamed ? ", streamed" : ""}`, () =>
      Effect.gen(function* () {
        const { connectionId, finished, gateway, sent, upstream } = yield* setUp
        yield* Effect.promise(async () => {
          const response = await gateway.post(path, body, { "x-mine": "1" })
          const text = await response.text()
          const record = await finished()
          assert.deepInclude(record, {
            source: "gateway",
            method: "POST",
            scheme: "http",
            host: new URL(gateway.url).host,
            path,
            status: 200,
            error: null,
            requestBody: JSON.stringify(body),
            responseBody: text,
            responseSize: Buffer.byteLength(text),
            sourceModel: "up/m",
            mappedModel: "m",
            detectedKind: "llm",
            gatewayRequestId: response.headers.get("x-gateway-request-id"),
            replayOf: null
          })
          assert.strictEqual(record.requestHeaders["x-mine"], "1")
          assert.strictEqual(record.responseHeaders["x-gateway-provider"], "up")
          const decision = record.decision as DecisionRecord
          assert.strictEqual(decision.attempts.length, 1)
          assert.strictEqual(decision.attempts[0]!.outcome, "completed")
          assert.deepInclude(record.llm, { apiKind, streamed, provider: "up", mappedTo: "m", tokensEstimated: false })
          assert.strictEqual(record.llm!.ttftMs !== null, streamed)
          assert.isAtLeast(record.totalLatencyMs!, record.upstreamLatencyMs!)
          const call = sent.get(record.id)!
          const { body: sentBody, ...facts } = call
          assert.deepStrictEqual(facts, { wire: "chat", provider: "up", account: connectionId, model: "m" })
          // A chat goes on as the client wrote it; what was translated is known as it was sent.
          if (apiKind === "chat") assert.isNull(sentBody)
          else assert.strictEqual(String(sentBody), upstream.requests[0]!.body)
        })
      })
    )
  }

  it.scopedLive("is listed while it runs, and updated in its place", () =>
    Effect.gen(function* () {
      const { finished, gateway, list, upstream } = yield* setUp
      const gate = Fake.makeLatch()
      const [first, ...rest] = Fake.chatStream(["Bon", "jour"])
      upstream.enqueue(Fake.sse([first!, gate, ...rest]))
      yield* Effect.promise(async () => {
        const asked = gateway.post("/v1/chat/completions", { model: "up/m", messages, stream: true })
        await upstream.received(1)
        const [item] = await list()
        assert.deepInclude(item, { status: "in-flight", source: "gateway", responseSize: 0, totalLatencyMs: null })
        gate.open()
        await (await asked).text()
        const record = await finished()
        assert.strictEqual(record.id, item!.id)
        assert.strictEqual(record.status, 200)
      })
    })
  )

  it.scopedLive("has errors of upstreams with their attempts, and refusals without any", () =>
    Effect.gen(function* () {
      const { finished, gateway, sent, upstream } = yield* setUp
      upstream.always(Fake.json(Fake.errorBody("chat", "no such thing"), { status: 400 }))
      yield* Effect.promise(async () => {
        const failed = await gateway.post("/v1/chat/completions", { model: "up/m", messages })
        const text = await failed.text()
        const record = await finished()
        assert.deepInclude(record, { status: 400, responseBody: text, error: "no such thing" })
        assert.strictEqual((record.decision as DecisionRecord).attempts[0]!.status, 400)
        const refused = await gateway.post("/v1/chat/completions", { model: "nobody/m", messages })
        assert.strictEqual(refused.status, 404)
        const refusal = await finished(2)
        assert.deepInclude(refusal, { status: 404, responseBody: await refused.text(), decision: null })
        assert.isNull(sent.get(refusal.id))
        const broken = await gateway.post("/v1/messages", "{not json")
        assert.deepInclude(await finished(3), { status: broken.status, requestBody: "{not json" })
      })
    })
  )

  it.scopedLive("has refusals at the door, with nothing of the wrong key", () =>
    Effect.gen(function* () {
      const { finished, gateway } = yield* Tapped.start({ environment: new Map([["REQUIRE_API_KEY", "true"]]) })
      yield* Effect.promise(async () => {
        const wrong = "sk-wrong-key-of-nobody-0123456789"
        const response = await gateway.post(
          "/v1/chat/completions",
          { model: "up/m", messages },
          { authorization: `Bearer ${wrong}`, "x-api-key": wrong, cookie: `a=${wrong}` }
        )
        assert.strictEqual(response.status, 401)
        const record = await finished()
        assert.strictEqual(record.status, 401)
        assert.notInclude(JSON.stringify(record), wrong)
      })
    })
  )

  it.scopedLive("keeps nothing of a credential, in headers, path or query", () =>
    Effect.gen(function* () {
      const { finished, gateway } = yield* setUp
      yield* Effect.promise(async () => {
        const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "k" })
        assert.isString(key.id)
        const body = { model: "up/m", messages }
        const ways: ReadonlyArray<readonly [string, Record<string, string>]> = [
          ["/v1/chat/completions", { authorization: `Bearer ${secret}` }],
          ["/v1/chat/completions", { "x-api-key": secret }],
          ["/v1/chat/completions", { "api-key": secret, "x-goog-api-key": secret }],
          [`/v1/chat/completions?key=${secret}`, {}],
          [`/api/v1/editor/${secret}/chat/completions`, {}]
        ]
        for (const [at, [path, headers]] of ways.entries()) {
          const response = await gateway.post(path, body, headers)
          assert.strictEqual(response.status, 200, await response.text())
          const record = await finished(at + 1)
          assert.notInclude(JSON.stringify(record), secret)
          assert.notInclude(JSON.stringify(record), secret.slice(0, -6))
        }
      })
    })
  )

  it.scopedLive("tells of a client that left, with what it had and the decision", () =>
    Effect.gen(function* () {
      const { finished, gateway, upstream } = yield* setUp
      upstream.enqueue(Fake.silence([Fake.chatStream(["Bon"])[0]!, Fake.chatStream(["Bon"])[1]!]))
      yield* Effect.promise(async () => {
        const leaving = new AbortController()
        const response = await gateway.post(
          "/v1/chat/completions",
          { model: "up/m", messages, stream: true },
          {},
          leaving.signal
        )
        const reader = response.body!.getReader()
        await reader.read()
        leaving.abort()
        const record = await finished()
        assert.strictEqual(record.status, "error")
        assert.match(record.error ?? "", /client left/)
        assert.isAbove(record.responseSize, 0)
        assert.strictEqual((record.decision as DecisionRecord).attempts[0]!.outcome, "aborted")
      })
    })
  )

  it.scopedLive("has each turn of a WebSocket lane", () =>
    Effect.gen(function* () {
      const { finished, gateway, upstream } = yield* setUp
      const client = yield* open(gateway)
      yield* Effect.promise(async () => {
        client.send({ type: "response.create", model: "up/m", input: "Hi", stream_id: "a" })
        const frames = await client.turn()
        assert.strictEqual(frames.at(-1).type, "response.completed")
        const record = await finished()
        assert.deepInclude(record, { scheme: "ws", path: "/v1/responses", status: 200, sourceModel: "up/m" })
        assert.deepInclude(record.llm, { apiKind: "responses", streamed: true, tokensEstimated: false })
        assert.include(record.responseBody ?? "", "response.completed")
        upstream.always(Fake.silence([Fake.chatStream(["Bon"])[0]!, Fake.chatStream(["Bon"])[1]!]))
        client.send({ type: "response.create", model: "up/m", input: "Again", stream_id: "a" })
        await client.next()
        client.socket.terminate()
        assert.deepInclude(await finished(2), { scheme: "ws", status: "error" })
      })
    })
  )

  it.scopedLive("has forms by their fields, and bounds a large body", () =>
    Effect.gen(function* () {
      const { finished, gateway } = yield* setUp
      yield* Effect.promise(async () => {
        const form = new FormData()
        form.set("model", "up/m")
        form.set("file", new Blob([Buffer.alloc(300_000, 7)]), "a.wav")
        const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, { method: "POST", body: form })
        await response.text()
        const record = await finished()
        assert.strictEqual(record.status, response.status)
        assert.include(record.requestBody ?? "", '"model":"up/m"')
        assert.isBelow(record.requestBody!.length, 2_000)
        const large = { model: "up/m", messages: [{ role: "user", content: "word ".repeat(1_800_000) }] }
        const answered = await gateway.post("/v1/chat/completions", large)
        assert.strictEqual(answered.status, 200, await answered.text())
        const cut = await finished(2)
        assert.isTrue(cut.requestTruncated)
        assert.strictEqual(cut.requestSize, Buffer.byteLength(JSON.stringify(large)))
        assert.isAtMost(cut.requestBody!.length, 1_048_576 + 100)
      })
    })
  )

  it.scopedLive("is not recorded while it is off", () =>
    Effect.gen(function* () {
      const { calls, finished, gateway, sink, tap } = yield* setUp
      yield* Effect.promise(async () => {
        const ask = async (): Promise<number> =>
          (await gateway.post("/v1/chat/completions", { model: "up/m", messages })).status
        tap.turn(null)
        assert.isFalse(tap.isOn)
        for (const [path, body] of wires) await (await gateway.post(path, body)).text()
        for (const [name, more] of [
          ["compare", { models: ["up/m"] }],
          ["improve-prompt", { model: "up/m" }]
        ] as const) {
          await (await gateway.post(`/api/playground/${name}`, { prompt: "Hi", ...more })).text()
        }
        assert.deepStrictEqual(calls, { begin: 0, update: 0, finish: 0 })
        tap.turn(sink)
        assert.strictEqual(await ask(), 200)
        await finished()
        assert.deepStrictEqual(calls, { begin: 1, update: 0, finish: 1 })
      })
    })
  )

  it.scopedLive("has each column of a comparison once, with its request, answer and decision", () =>
    Effect.gen(function* () {
      const { calls, connectionId, finished, gateway, inspector, list, sent, upstream } = yield* setUp
      upstream.always((response, request) => {
        const { model, stream } = JSON.parse(request.body)
        const answer =
          model === "b"
            ? Fake.json(Fake.errorBody("chat", "no such thing"), { status: 400 })
            : stream === true
              ? Fake.sse(Fake.chatStream(["Bon", "jour"]))
              : Fake.json(Fake.chatCompletion({ text: "Bonjour" }))
        return answer(response, request)
      })
      yield* Effect.promise(async () => {
        const targets = [{ model: "up/c" }, { model: "up/d" }]
        await gateway.manage("POST", "/api/combos", { name: "panel", strategy: "fusion", targets })
        const models = ["up/a", "up/b", "panel", "nobody/m"]
        const path = "/api/playground/compare"
        const response = await gateway.post(path, { models, system: "Short.", prompt: "Hi", params: { seed: 7 } })
        const text = await response.text()
        assert.include(text, "event: done")
        await finished(models.length)
        assert.deepStrictEqual(calls, { begin: models.length, update: 0, finish: models.length })
        const items = await list()
        const records = await Promise.all(items.map(({ id }) => Effect.runPromise(inspector.get(id, true))))
        const of = (model: string): TrafficRecord =>
          records.find(({ requestBody }) => JSON.parse(requestBody ?? "").model === model)!
        for (const model of models) {
          const record = of(model)
          assert.deepInclude(record, { source: "gateway", method: "POST", path, replayOf: null })
          if (record.status === 200) assert.isNull(record.error)
          else assert.match(String(record.error), /^no such|does not exist/)
          assert.deepInclude(JSON.parse(record.requestBody ?? ""), { seed: 7, stream: true })
          // The id of the record's request is the one that the column tells.
          assert.include(text, `"requestId":"${record.gatewayRequestId}"`)
          assert.deepInclude(record.llm, { apiKind: "chat", model })
        }
        const answered = of("up/a")
        assert.deepInclude(answered, { status: 200, sourceModel: "up/a", mappedModel: "a", detectedKind: "llm" })
        assert.include(answered.responseBody ?? "", "jour")
        assert.strictEqual((answered.decision as DecisionRecord).attempts[0]!.outcome, "completed")
        assert.deepInclude(sent.get(answered.id), { wire: "chat", provider: "up", account: connectionId, model: "a" })
        const failed = of("up/b")
        assert.strictEqual(failed.status, 400)
        assert.strictEqual((failed.decision as DecisionRecord).attempts[0]!.status, 400)
        // The models of the panel are asked by the gateway: they are no records.
        assert.strictEqual(of("panel").status, 200)
        assert.isAbove(upstream.requests.length, models.length)
        assert.deepInclude(of("nobody/m"), { status: 404, decision: null })
      })
    })
  )

  it.scopedLive("has the columns that were left", () =>
    Effect.gen(function* () {
      const { calls, finished, gateway, list, upstream } = yield* setUp
      upstream.always(Fake.silence(Fake.chatStream(["Bon"]).slice(0, 2)))
      yield* Effect.promise(async () => {
        const leaving = new AbortController()
        const asked = { models: ["up/a", "up/b"], prompt: "Hi" }
        const response = await gateway.post("/api/playground/compare", asked, {}, leaving.signal)
        await Promise.all([upstream.received(1), upstream.received(2)])
        await response.body!.getReader().read()
        leaving.abort()
        await finished(2)
        for (const item of await list()) assert.deepInclude(item, { status: "error", source: "gateway" })
        assert.deepStrictEqual(calls, { begin: 2, update: 0, finish: 2 })
      })
    })
  )

  it.scopedLive("has each request that improves a prompt", () =>
    Effect.gen(function* () {
      const { calls, finished, gateway, upstream } = yield* setUp
      const says = (improvedPrompt: string) =>
        Fake.json(Fake.chatCompletion({ text: JSON.stringify({ improvedPrompt }) }))
      upstream.enqueue(says("The name is lost."), says("Hi, {{name}}!"))
      yield* Effect.promise(async () => {
        const path = "/api/playground/improve-prompt"
        const response = await gateway.post(path, { prompt: "hi {{name}}", model: "up/m" })
        assert.strictEqual(response.status, 200, await response.text())
        const record = await finished(2)
        assert.deepInclude(record, { source: "gateway", path, status: 200, sourceModel: "up/m", mappedModel: "m" })
        assert.include(record.responseBody ?? "", "{{name}}")
        assert.strictEqual((record.decision as DecisionRecord).attempts.length, 1)
        assert.deepStrictEqual(calls, { begin: 2, update: 0, finish: 2 })
      })
    })
  )

  it.scopedLive("leaves out what the gateway asks itself", () =>
    Effect.gen(function* () {
      const { calls, finished, gateway, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        const targets = [{ model: "up/m" }, { model: "up/m2" }]
        await gateway.manage("POST", "/api/combos", { name: "panel", strategy: "fusion", targets })
        const response = await gateway.post("/v1/chat/completions", { model: "panel", messages })
        await response.text()
        await finished()
        assert.isAbove(upstream.requests.length, 1)
        assert.strictEqual(calls.begin, 1)
      })
    })
  )
})

/** Recorded requests that are asked again. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import * as Replay from "../../../src/agents/bridge/Replay.ts"
import type { Principal } from "../../../src/subjects/keys/entity.ts"
import type { TrafficRecord } from "../../../src/contract/domain/TrafficRecord.ts"
import * as InnerRequests from "../../../src/plane/InnerRequests.ts"
import { makeInnerReply } from "../../../src/plane/request/InnerReply.ts"
import { headerIn } from "../../../src/plane/reply/ReplyHeaders.ts"
import { GatewayCapture } from "../../../src/plane/tap/GatewayCapture.ts"
import { LazyInspector } from "../../../src/observe/inspector/LazyInspector.ts"
import { eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const anonymous: Principal = { _tag: "Anonymous" }

const setUp = Effect.gen(function* () {
  const { built, gateway } = yield* TestGateway.startBuilt()
  const upstream = yield* Fake.start
  upstream.always(async (response, request) => {
    const stream = (JSON.parse(request.body) as { stream?: boolean }).stream === true
    const answer = stream
      ? Fake.sse(Fake.chatStream(["Bon", "jour"]))
      : Fake.json(Fake.chatCompletion({ text: "Bonjour" }))
    await answer(response, request)
  })
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat", { models: ["m", "m2"] }))
  const { inspector } = yield* Context.get(built, LazyInspector).get
  const replay = Context.get(
    yield* Layer.build(Replay.layer.pipe(Layer.provide(InnerRequests.layer))).pipe(Effect.provide(built)),
    Replay.Replay
  )
  const records = async (): Promise<ReadonlyArray<TrafficRecord>> => {
    await Effect.runPromise(inspector.settled)
    return [...(await Effect.runPromise(inspector.exported({})))]
  }
  const finished = (count: number): Promise<TrafficRecord> =>
    eventuallyFound(`${count} finished records`, async () => {
      const all = await records()
      return all.length === count && all.every(({ status }) => status !== "in-flight") ? all.at(-1) : undefined
    })
  const again = async (id: string, changes: Replay.ReplayChanges = {}, principal: Principal = anonymous) => {
    const chunks: Array<string> = []
    let head: { readonly status: number; readonly headers: ReadonlyArray<string> } | null = null
    const outcome = await Effect.runPromise(
      Effect.either(
        replay.ask(id, changes, principal, {
          ...makeInnerReply(),
          head: (status, headers) => {
            head = { status, headers }
          },
          write: (chunk) => chunks.push(String(chunk)) > 0,
          end: (chunk) => void chunks.push(String(chunk))
        })
      )
    )
    const told = head as { readonly status: number; readonly headers: ReadonlyArray<string> } | null
    return {
      failed: Either.isLeft(outcome) ? outcome.left._tag : null,
      status: told?.status ?? null,
      header: (name: string) => headerIn(told?.headers ?? [], name),
      pieces: chunks.length,
      body: chunks.join("")
    }
  }
  /** Captured elsewhere. */
  const captured = async (path: string, body: string, size = Buffer.byteLength(body)): Promise<string> => {
    const id = inspector.begin(operatorsOwn, {
      source: "http-proxy",
      method: "POST",
      scheme: "https",
      host: "api.openai.com",
      path,
      headers: {
        authorization: "Bearer sk-of-somebody-else-0123456789",
        "x-mine": "1",
        "content-type": "application/json"
      },
      body: Buffer.from(body),
      bodySize: size
    })
    inspector.finish(id, {
      status: 200,
      responseBody: Buffer.from("{}"),
      responseHeaders: { "content-type": "application/json" }
    })
    await Effect.runPromise(inspector.settled)
    return id
  }
  return { built, gateway, upstream, again, captured, finished, records }
})

const messages = [{ role: "user", content: "Hi" }]

describe("a replay", () => {
  it.scopedLive("asks again what was captured, with a usage row and a record of its own", () =>
    Effect.gen(function* () {
      const { again, captured, finished, gateway, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        const body = { model: "up/m", messages }
        const id = await captured("/v1/chat/completions", JSON.stringify(body))
        const answer = await again(id)
        assert.deepInclude(answer, { failed: null, status: 200 })
        assert.strictEqual(answer.header("x-gateway-replay-of"), id)
        assert.strictEqual(JSON.parse(answer.body).choices[0].message.content, "Bonjour")
        assert.strictEqual(upstream.requests[0]!.headers.authorization, "Bearer upstream-key-of-up")
        const requestId = answer.header("x-gateway-request-id")!
        assert.deepInclude(await gateway.usageRow(requestId), { status: 200, model: "m" })
        assert.deepInclude(await finished(2), {
          source: "gateway",
          replayOf: id,
          gatewayRequestId: requestId,
          responseBody: answer.body,
          path: "/v1/chat/completions"
        })
      })
    })
  )

  const forms: ReadonlyArray<readonly [path: string, body: object, holds: RegExp, pieces: "one" | "many"]> = [
    ["/v1/chat/completions", { model: "up/m", messages, stream: true }, /data: \[DONE\]/, "many"],
    ["/v1/messages", { model: "up/m", messages, max_tokens: 5 }, /"type":"message"/, "one"],
    ["/v1/responses", { model: "up/m", input: "Hi", stream: true }, /response\.completed/, "many"],
    ["/v1beta/models/up/m:generateContent", { contents: [{ parts: [{ text: "Hi" }] }] }, /"candidates"/, "one"],
    [
      "/v1beta/models/up%2Fm:streamGenerateContent?alt=sse",
      { contents: [{ parts: [{ text: "Hi" }] }] },
      /^data: \{/,
      "many"
    ],
    ["/v1beta/models/up/m:streamGenerateContent", { contents: [{ parts: [{ text: "Hi" }] }] }, /^\[[\s\S]*\]$/, "many"],
    ["/api/chat", { model: "up/m", messages, stream: false }, /"done":true/, "one"],
    ["/v1/completions", { model: "up/m", prompt: "Hi" }, /"text_completion"/, "one"]
  ]
  for (const [path, body, holds, pieces] of forms) {
    it.scopedLive(`speaks the wire of ${path}`, () =>
      Effect.gen(function* () {
        const { again, captured } = yield* setUp
        yield* Effect.promise(async () => {
          const answer = await again(await captured(path, JSON.stringify(body)))
          assert.deepInclude(answer, { failed: null, status: 200 }, answer.body)
          assert.match(answer.body.trim(), holds)
          assert.strictEqual(answer.pieces > 1, pieces === "many")
        })
      })
    )
  }

  it.scopedLive("takes another body, model and headers", () =>
    Effect.gen(function* () {
      const { again, captured, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        const id = await captured("/v1/chat/completions", JSON.stringify({ model: "up/m", messages }))
        await again(id, { model: "up/m2", headers: { "OpenAI-Beta": "x", Authorization: "Bearer another", Host: "h" } })
        const [first] = upstream.requests
        assert.deepInclude(JSON.parse(first!.body), { model: "m2", messages })
        assert.strictEqual(first!.headers["openai-beta"], "x")
        assert.strictEqual(first!.headers.authorization, "Bearer upstream-key-of-up")
        await again(id, { body: { model: "up/m", messages: [{ role: "user", content: "Else" }] } })
        assert.include(upstream.requests[1]!.body, "Else")
        const gemini = await captured(
          "/v1beta/models/up/m:generateContent",
          JSON.stringify({ contents: [{ parts: [{ text: "Hi" }] }] })
        )
        await again(gemini, { model: "up/m2" })
        assert.strictEqual(JSON.parse(upstream.requests[2]!.body).model, "m2")
      })
    })
  )

  it.scopedLive("counts for the limits of the key that asks for it", () =>
    Effect.gen(function* () {
      const { again, captured, gateway } = yield* setUp
      yield* Effect.promise(async () => {
        const { key } = await gateway.manage("POST", "/api/keys", { name: "k", allowedModels: ["up/m2"] })
        const principal: Principal = { _tag: "Key", key: { ...key, allowedModels: ["up/m2"] } }
        const id = await captured("/v1/chat/completions", JSON.stringify({ model: "up/m", messages }))
        const refused = await again(id, {}, principal)
        assert.strictEqual(refused.status, 403, refused.body)
        assert.strictEqual(refused.header("x-gateway-replay-of"), id)
      })
    })
  )

  it.scopedLive("is refused for what is no request to a model, or not whole", () =>
    Effect.gen(function* () {
      const { again, captured, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        assert.deepInclude(await again("nobody"), { failed: "RecordNotFound", status: null })
        const other = await captured("/v1/thing", JSON.stringify({ a: 1 }))
        assert.deepInclude(await again(other), { failed: "ReplayNotLlm", status: null })
        const text = JSON.stringify({ model: "up/m", messages })
        const cut = await captured("/v1/chat/completions", text, text.length + 1_000)
        assert.deepInclude(await again(cut), { failed: "BodyTruncated", status: null })
        assert.deepInclude(await again(cut, { body: { model: "up/m", messages } }), { failed: null, status: 200 })
        const wrapped = JSON.stringify({
          model: "gemini-3-pro",
          project: "p",
          request: { contents: [{ parts: [{ text: "Hi" }] }] }
        })
        const inner = await captured("/v1internal:generateContent", wrapped)
        assert.deepInclude(await again(inner), { failed: "ReplayNotLlm" })
        assert.lengthOf(upstream.requests, 1)
      })
    })
  )

  it.scopedLive("says 502 where no upstream answers, and sends nothing of the capture's switch", () =>
    Effect.gen(function* () {
      const { again, built, captured, upstream } = yield* setUp
      upstream.always(Fake.resetBeforeHeaders())
      yield* Effect.promise(async () => {
        const id = await captured("/v1/chat/completions", JSON.stringify({ model: "up/m", messages }))
        assert.deepInclude(await again(id), { failed: null, status: 502 })
      })
      assert.isFalse(Context.get(built, GatewayCapture).isEnabled())
    })
  )
})

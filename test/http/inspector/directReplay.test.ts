/** Captured requests, sent once more to their own servers: as they are kept and changed, with whose credential, compared, and refused. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import { adminKey } from "../../support/TestGateway.ts"
import { type Answer, ingestToken, start } from "./support.ts"

const openGuard = { OUTBOUND_SSRF_GUARD_ENABLED: "false" }
const given = "sk-given-4f8Gh2kLm9Qw4Zx8Vb1NcPq7"

const setUp = (environment: Readonly<Record<string, string>> = openGuard) =>
  Effect.gen(function* () {
    const inspector = yield* start({}, environment)
    const upstream = yield* Fake.start
    const host = new URL(upstream.origin).host
    const answer = (text: string) => JSON.stringify(Fake.chatCompletion({ text }))
    const request = { model: "m", messages: [{ role: "user", content: "Hi" }] }
    const capture = (over: Readonly<Record<string, unknown>> = {}) =>
      inspector.captured({
        scheme: "http",
        host,
        requestHeaders: { "content-type": "application/json", authorization: `Bearer ${given}`, "x-note": "kept" },
        requestBody: JSON.stringify(request),
        requestSize: 70,
        responseBody: answer("Bonjour"),
        ...over
      })
    const direct = async (id: string, body: unknown = {}): Promise<{ status: number; text: string; json: Answer }> => {
      const response = await inspector.ask("POST", `/requests/${id}/replay-direct`, body)
      const text = await response.text()
      return { status: response.status, text, json: JSON.parse(text) }
    }
    const refusal = async (id: string, body?: unknown) => {
      const { json, status } = await direct(id, body)
      return [status, json.error?.code] as const
    }
    return { ...inspector, answer, capture, direct, host, refusal, request, upstream }
  })

describe("a captured request, sent to its own server", () => {
  it.scopedLive("goes as it is kept or changed, and its answer is recorded and compared", () =>
    Effect.gen(function* () {
      const { answer, capture, direct, json, upstream } = yield* setUp()
      upstream.always(Fake.json(JSON.parse(answer("Bonsoir"))))
      yield* Effect.promise(async () => {
        const { id } = await capture()
        const headers = { authorization: `Bearer ${given}` }
        const first = await direct(id, { headers })
        assert.strictEqual(first.status, 200, first.text)
        const [sent] = upstream.requests
        assert.deepInclude(sent, { method: "POST", url: "/v1/chat/completions" })
        assert.deepInclude(sent?.headers, { authorization: `Bearer ${given}`, "x-note": "kept" })
        assert.deepStrictEqual(
          JSON.parse(sent?.body ?? ""),
          JSON.parse((await json("GET", `/requests/${id}`)).requestBody)
        )
        assert.notInclude(first.text, given)
        const { connectionId, diff, record } = first.json
        assert.isNull(connectionId)
        assert.deepInclude(record, { replayOf: id, status: 200, source: "http-proxy" })
        assert.strictEqual(diff.comparedAs, "json")
        assert.deepInclude(diff.changes, {
          op: "replace",
          path: "body.choices[0].message.content",
          before: "Bonjour",
          after: "Bonsoir"
        })
        assert.deepInclude(await json("GET", `/requests/${record.id}`), { id: record.id, replayOf: id })

        const changed = await direct(id, { headers, model: "other", path: "/v2/chat?x=1", body: undefined })
        assert.strictEqual(changed.status, 200, changed.text)
        assert.strictEqual(upstream.requests[1]?.url, "/v2/chat?x=1")
        assert.strictEqual(JSON.parse(upstream.requests[1]?.body ?? "").model, "other")
        const edited = await direct(id, { headers: { ...headers, "x-note": "" }, body: "plain" })
        assert.strictEqual(edited.status, 200, edited.text)
        assert.strictEqual(upstream.requests[2]?.body, "plain")
        assert.notProperty(upstream.requests[2]?.headers, "x-note")
      })
    })
  )

  it.scopedLive("compares streams by what they say, and other answers by their lines", () =>
    Effect.gen(function* () {
      const { capture, direct, upstream } = yield* setUp()
      yield* Effect.promise(async () => {
        const headers = { authorization: `Bearer ${given}` }
        upstream.always(Fake.sse(Fake.chatStream(["Bon", "soir"])))
        const stream = Fake.chatStream(["Bonj", "our"]).join("")
        const streamed = { id: "s", responseHeaders: { "content-type": "text/event-stream" }, responseBody: stream }
        await capture(streamed)
        const { diff } = (await direct("s", { headers })).json
        assert.strictEqual(diff.comparedAs, "turns")
        assert.deepInclude(diff.changes, {
          op: "replace",
          path: "body.turns[0].blocks[0].text",
          before: "Bonjour",
          after: "Bonsoir"
        })
        upstream.always((response) => void response.writeHead(200, { "content-type": "text/plain" }).end("one\nthree"))
        const text = { method: "GET", path: "/text", requestBody: null, requestSize: 0, responseBody: "one\ntwo" }
        await capture({ id: "t", ...text, responseHeaders: { "content-type": "text/plain" } })
        const lines = (await direct("t", { headers })).json.diff
        assert.strictEqual(lines.comparedAs, "text")
        assert.isTrue(lines.changes.some(({ path }: Answer) => path.startsWith("body[1]")))
      })
    })
  )

  it.scopedLive("takes a masked credential from the connection of its address, and sends it nowhere else", () =>
    Effect.gen(function* () {
      const { answer, capture, direct, gateway, refusal, upstream } = yield* setUp()
      const other = yield* Fake.start
      // It says what it was sent.
      upstream.always(
        (response, request) =>
          void response
            .writeHead(200, { "content-type": "application/json", "x-echo": String(request.headers["authorization"]) })
            .end(answer(String(request.headers["authorization"])))
      )
      yield* Effect.promise(async () => {
        const { id } = await capture()
        assert.deepStrictEqual(await refusal(id), [422, "credential_needed"])
        assert.strictEqual(upstream.requests.length, 0)
        const elsewhere = await gateway.connect("elsewhere", other, "chat", { models: ["m"] })
        const stored = "sk-stored-9Qw4Zx8Vb1NcPq7Rt5Lm2"
        const connection = await gateway.connect("own", upstream, "chat", { models: ["m"], apiKey: stored })
        const before = upstream.requests.length
        const answered = await direct(id)
        assert.strictEqual(answered.status, 200, answered.text)
        assert.strictEqual(upstream.requests[before]?.headers["authorization"], `Bearer ${stored}`)
        assert.strictEqual(answered.json.connectionId, connection.id)
        assert.notInclude(answered.text, stored)
        assert.deepStrictEqual(await refusal(id, { connectionId: elsewhere.id }), [422, "connection_elsewhere"])
        assert.deepStrictEqual(await refusal(id, { connectionId: "none" }), [422, "connection_elsewhere"])
        assert.strictEqual(other.requests.length, 0)
        // What was given goes before it.
        await direct(id, { headers: { authorization: `Bearer ${given}` } })
        assert.strictEqual(upstream.requests.at(-1)?.headers["authorization"], `Bearer ${given}`)
        // A parameter that was masked is left out for it.
        await capture({ id: "q", path: "/v1/chat/completions?key=AIzaSyD4f8Gh2kLm9Qw4Zx8Vb1NcPq7Rt5Lm2XY&alt=sse" })
        assert.strictEqual((await direct("q")).status, 200)
        assert.strictEqual(upstream.requests.at(-1)?.url, "/v1/chat/completions?alt=sse")
      })
    })
  )

  it.scopedLive("is refused where it cannot be sent, or its address may not be called", () =>
    Effect.gen(function* () {
      const { capture, direct, refusal, upstream } = yield* setUp({ OUTBOUND_SSRF_GUARD_ENABLED: "true" })
      yield* Effect.promise(async () => {
        const headers = { authorization: `Bearer ${given}` }
        for (const [at, host] of ["127.0.0.1:1", "169.254.169.254", "10.0.0.1", "[::1]:1", "localhost:1"].entries()) {
          await capture({ id: `blocked-${at}`, host })
          const { json, status, text } = await direct(`blocked-${at}`, { headers })
          assert.deepStrictEqual([status, json.error?.code], [422, "address_blocked"], `${host}: ${text}`)
        }
        const { id } = await capture()
        assert.deepStrictEqual(await refusal(id, { headers }), [422, "address_blocked"])
        assert.strictEqual(upstream.requests.length, 0)
        const wrong: ReadonlyArray<readonly [Readonly<Record<string, unknown>>, string]> = [
          [{ scheme: "ws" }, "replay_not_direct"],
          [{ source: "gateway" }, "replay_not_direct"],
          [{ method: "TRACE" }, "replay_not_direct"],
          [{ host: "user:password@example.com" }, "replay_not_direct"],
          [{ host: "example.com/x" }, "replay_not_direct"]
        ]
        for (const [at, [over, code]] of wrong.entries()) {
          await capture({ id: `wrong-${at}`, ...over })
          assert.deepStrictEqual(await refusal(`wrong-${at}`, { headers }), [422, code], JSON.stringify(over))
        }
        assert.deepStrictEqual(await refusal("none", { headers }), [404, "not_found"])
        for (const path of ["no-slash", "/a b", "/a#b", "//x\r\nHost: y"]) {
          assert.strictEqual((await refusal(id, { headers, path }))[0], 400, path)
        }
      })
    })
  )

  it.scopedLive("tells why no answer came, and follows no redirect", () =>
    Effect.gen(function* () {
      const { capture, direct, json, upstream } = yield* setUp()
      const other = yield* Fake.start
      yield* Effect.promise(async () => {
        const { id } = await capture()
        const headers = { authorization: `Bearer ${given}` }
        upstream.always((response) => void response.writeHead(307, { location: other.origin }).end())
        assert.strictEqual((await direct(id, { headers })).json.record.status, 307)
        assert.strictEqual(other.requests.length, 0)
        upstream.always((response) => void response.destroy())
        const broken = await direct(id, { headers })
        assert.strictEqual(broken.status, 502, broken.text)
        const { requests } = await json("GET", "/requests?status=error")
        assert.deepInclude(requests[0], { replayOf: id, status: "error" })
        for (const text of [broken.text, JSON.stringify(requests)]) assert.notInclude(text, given)
      })
    })
  )

  it.scopedLive("is for who may manage", () =>
    Effect.gen(function* () {
      const { ask, capture } = yield* setUp()
      yield* Effect.promise(async () => {
        const { id } = await capture()
        for (const authorization of ["", `Bearer ${ingestToken}`, `Bearer ${adminKey}x`]) {
          const answer = await ask("POST", `/requests/${id}/replay-direct`, {}, { authorization })
          assert.strictEqual(answer.status, 401)
        }
      })
    })
  )
})

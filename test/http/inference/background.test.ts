/** Responses that a provider makes in the background: one provider, nobody punished, one bill, and their later calls at the connection that made them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import * as TestGateway from "../../support/TestGateway.ts"

type Status = "queued" | "in_progress" | "completed" | "cancelled" | "failed"

const response = (id: string, status: Status) => ({
  id,
  object: "response",
  created_at: 1_700_000_000,
  model: "m",
  background: true,
  status,
  error: status === "failed" ? { code: "server_error", message: "it broke" } : null,
  incomplete_details: null,
  output:
    status === "completed"
      ? [
          {
            type: "message",
            id: "msg_1",
            role: "assistant",
            status,
            content: [{ type: "output_text", text: "made later", annotations: [] }]
          }
        ]
      : [],
  usage: status === "completed" ? { input_tokens: 11, output_tokens: 5, total_tokens: 16 } : null
})

/** A provider with background responses: each stands as `status` says. */
const provider = (upstream: Fake.FakeUpstream, id: string) => {
  const state = { status: "queued" as Status, isDeleted: false }
  upstream.always((reply, asked) => {
    const json = (value: unknown, status = 200) => Fake.json(value, { status })(reply, asked)
    const [path = "", query = ""] = asked.url.split("?")
    if (asked.method === "POST" && path === "/v1/responses") return json(response(id, state.status))
    if (!path.startsWith(`/v1/responses/${id}`) || state.isDeleted) {
      return json({ error: { message: "no such response", type: "invalid_request_error", code: null } }, 404)
    }
    if (path.endsWith("/input_items")) return json({ object: "list", data: [{ type: "message" }], query })
    if (path.endsWith("/cancel")) {
      state.status = "cancelled"
      return json(response(id, state.status))
    }
    if (asked.method === "DELETE") {
      state.isDeleted = true
      return json({ id, object: "response", deleted: true })
    }
    if (query.includes("stream=true")) {
      return Fake.sse([
        `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":8,"delta":"later","output_index":0,"content_index":0,"item_id":"msg_1"}\n\n`,
        `event: response.completed\ndata: ${JSON.stringify({ type: "response.completed", sequence_number: 9, response: response(id, "completed") })}\n\n`
      ])(reply, asked)
    }
    return json(response(id, state.status))
  })
  return state
}

const ask = { model: "two", input: "Think long", background: true }

const house = (config: Parameters<typeof TestGateway.start>[0] = {}) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start(config)
    const first = yield* Fake.start
    const second = yield* Fake.start
    const state = provider(first, "resp_one")
    second.always(Fake.json(Fake.chatCompletion({ text: "the second" })))
    yield* Effect.promise(async () => {
      await gateway.connect("first", first, "responses")
      await gateway.connect("second", second, "chat")
      await gateway.combo("two", "first/m", "second/m")
    })
    return { gateway, first, second, state }
  })

interface Row {
  readonly [member: string]: unknown
  readonly tokens: { readonly in: number; readonly out: number }
}

const rowsOf = async (gateway: TestGateway.TestGateway): Promise<ReadonlyArray<Row>> =>
  (await gateway.manage("GET", "/api/usage/logs?limit=100")).logs

const get = async (gateway: TestGateway.TestGateway, path: string, method = "GET", key?: string) => {
  const answer = await fetch(gateway.url + path, {
    method,
    ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } })
  })
  const text = await answer.text()
  return { status: answer.status, text, body: text.startsWith("{") ? JSON.parse(text) : null }
}

const unpunished = async (gateway: TestGateway.TestGateway): Promise<void> => {
  const { connections } = await gateway.manage("GET", "/api/providers")
  for (const { rateLimitedUntil, lastError, backoffLevel, testStatus } of connections) {
    assert.deepStrictEqual([rateLimitedUntil, lastError, backoffLevel], [null, null, 0])
    assert.notStrictEqual(testStatus, "unavailable")
  }
  const { breakers } = await gateway.manage("GET", "/api/resilience/breakers")
  for (const { failures } of breakers) assert.strictEqual(failures, 0)
}

const billed = (gateway: TestGateway.TestGateway) =>
  eventually(
    "the bill",
    async () => (await rowsOf(gateway)).filter(({ tokens }) => tokens.out > 0),
    (rows) => rows.length === 1
  )

describe("a response in the background", () => {
  for (const status of ["queued", "in_progress", "cancelled"] as const) {
    it.scopedLive(`that is ${status} is an answer: nobody else is asked, and nobody is punished`, () =>
      Effect.gen(function* () {
        const { gateway, second, state } = yield* house()
        state.status = status
        yield* Effect.promise(async () => {
          const answer = await gateway.post("/v1/responses", ask)
          assert.strictEqual(answer.status, 200)
          assert.deepInclude(await answer.json(), { id: "resp_one", status })
          const row = await gateway.usageRow(answer.headers.get("x-gateway-request-id") ?? "")
          assert.deepInclude(row, { outcome: "completed", status: 200, provider: "first" })
          assert.deepInclude(row.tokens, { in: 0, out: 0 })
          await unpunished(gateway)
        })
        assert.lengthOf(second.requests, 0)
      })
    )
  }

  it.scopedLive("is billed once when it is over, also when nobody comes back", () =>
    Effect.gen(function* () {
      const { first, gateway, state } = yield* house()
      yield* Effect.promise(async () => {
        await (await gateway.post("/v1/responses", ask)).json()
        await first.received(2)
        state.status = "completed"
        await billed(gateway)
        const { body } = await get(gateway, "/v1/responses/resp_one")
        assert.strictEqual(body.output[0].content[0].text, "made later")
        const [row] = await billed(gateway)
        assert.deepInclude(row?.["tokens"], { in: 11, out: 5 })
        assert.deepInclude(row, { provider: "first", model: "m", requestedModel: "two", usageSource: "upstream" })
        await unpunished(gateway)
      })
    })
  )

  it.scopedLive("goes on over a restart, and is billed then", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const first = yield* Fake.start
      const state = provider(first, "resp_one")
      const scope = yield* Scope.make()
      const gateway = yield* Scope.extend(TestGateway.start({ dataDir, drainMs: 0 }), scope)
      yield* Effect.promise(async () => {
        await gateway.connect("first", first, "responses")
        await (await gateway.post("/v1/responses", { ...ask, model: "first/m" })).json()
        await first.received(2)
      })
      yield* Scope.close(scope, Exit.void)
      state.status = "completed"
      const again = yield* TestGateway.start({ dataDir })
      yield* Effect.promise(async () => {
        assert.deepInclude((await billed(again))[0]?.["tokens"], { in: 11, out: 5 })
        assert.strictEqual((await get(again, "/v1/responses/resp_one")).body.status, "completed")
      })
      assert.lengthOf(
        first.requests.filter(({ method }) => method === "POST"),
        1
      )
    })
  )

  for (const isRestarted of [false, true]) {
    it.scopedLive(`is billed at the price of its beginning${isRestarted ? ", over a restart" : ""}`, () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryFolder
        const first = yield* Fake.start
        const state = provider(first, "resp_one")
        const scope = yield* Scope.make()
        const gateway = yield* Scope.extend(TestGateway.start({ dataDir, drainMs: 0 }), scope)
        yield* Effect.promise(async () => {
          await gateway.connect("first", first, "responses")
          await gateway.manage("PATCH", "/api/pricing", { first: { m: { input: 1_000, output: 1_000 } } })
          await (await gateway.post("/v1/responses", { ...ask, model: "first/m" })).json()
          await gateway.manage("PATCH", "/api/pricing", { first: { m: { input: 50_000, output: 50_000 } } })
          await first.received(2)
        })
        if (isRestarted) yield* Scope.close(scope, Exit.void)
        state.status = "completed"
        const last = isRestarted ? yield* TestGateway.start({ dataDir }) : gateway
        yield* Effect.promise(async () => {
          const [row] = await billed(last)
          assert.deepInclude(row?.["tokens"], { in: 11, out: 5 })
          assert.closeTo(Number(row?.["costUsd"]), 0.016, 1e-9)
        })
        if (!isRestarted) yield* Scope.close(scope, Exit.void)
      })
    )
  }

  it.scopedLive("is asked about at the connection that made it: its state, its items, its end", () =>
    Effect.gen(function* () {
      const { first, gateway, state } = yield* house()
      yield* Effect.promise(async () => {
        await (await gateway.post("/v1/responses", ask)).json()
        assert.strictEqual((await get(gateway, "/v1/responses/resp_one")).body.status, "queued")
        const items = await get(gateway, "/v1/responses/resp_one/input_items?limit=5&key=secret")
        assert.deepInclude(items.body, { object: "list", query: "limit=5" })
        const include = await get(gateway, "/responses/resp_one?include%5B%5D=reasoning")
        assert.strictEqual(include.status, 200)
        assert.strictEqual((await get(gateway, "/v1/responses/resp_one/cancel", "POST")).body.status, "cancelled")
        const asked = first.requests.find(({ url }) => url.endsWith("/cancel"))
        assert.strictEqual(asked?.headers.authorization, "Bearer upstream-key-of-first")
        state.status = "cancelled"
        assert.deepInclude((await get(gateway, "/v1/responses/resp_one", "DELETE")).body, { deleted: true })
        assert.strictEqual((await get(gateway, "/v1/responses/resp_one")).status, 404)
        await unpunished(gateway)
      })
    })
  )

  it.scopedLive("is on the bill before it is deleted", () =>
    Effect.gen(function* () {
      const { gateway, state } = yield* house()
      yield* Effect.promise(async () => {
        await (await gateway.post("/v1/responses", ask)).json()
        state.status = "completed"
        assert.deepInclude((await get(gateway, "/v1/responses/resp_one", "DELETE")).body, { deleted: true })
        assert.deepInclude((await billed(gateway))[0]?.["tokens"], { in: 11, out: 5 })
      })
    })
  )

  it.scopedLive("is nobody else's", () =>
    Effect.gen(function* () {
      const { first, gateway } = yield* house()
      yield* Effect.promise(async () => {
        const own = await gateway.manage("POST", "/api/keys", { name: "own" })
        const other = await gateway.manage("POST", "/api/keys", { name: "other" })
        await (await gateway.post("/v1/responses", ask, { authorization: `Bearer ${own.secret}` })).json()
        const path = "/v1/responses/resp_one"
        assert.strictEqual((await get(gateway, path, "GET", own.secret)).status, 200)
        const before = first.requests.length
        for (const [tail, method] of [
          ["", "GET"],
          ["", "DELETE"],
          ["/cancel", "POST"],
          ["/input_items", "GET"]
        ] as const) {
          for (const key of [other.secret, undefined]) {
            const { body, status } = await get(gateway, path + tail, method, key)
            assert.strictEqual(status, 404)
            assert.strictEqual(body.error.code, "response_not_found")
          }
        }
        assert.isFalse(first.requests.slice(before).some(({ method, url }) => method !== "GET" || url.includes("/c")))
        assert.strictEqual((await get(gateway, "/v1/responses/resp_one%3Fx", "GET", own.secret)).status, 404)
        assert.strictEqual((await get(gateway, "/v1/responses/resp_unknown", "GET", own.secret)).status, 404)
      })
    })
  )

  it.scopedLive("streams, goes on when its client leaves, and is streamed again from a number on", () =>
    Effect.gen(function* () {
      const { first, gateway, second, state } = yield* house()
      const created = (status: Status, type: string, n: number) =>
        `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: n, response: response("resp_one", status) })}\n\n`
      first.enqueue(
        Fake.sse([created("queued", "response.created", 0), created("queued", "response.queued", 1), Fake.makeLatch()])
      )
      yield* Effect.promise(async () => {
        const leaving = new AbortController()
        const answer = await gateway.post("/v1/responses", { ...ask, stream: true }, {}, leaving.signal)
        const reader = answer.body?.getReader() ?? assert.fail("no body")
        const { value } = await reader.read()
        assert.include(new TextDecoder().decode(value), "resp_one")
        const id = answer.headers.get("x-gateway-request-id") ?? ""
        leaving.abort()
        const row = await gateway.usageRow(id)
        assert.deepInclude(row, { outcome: "aborted" })
        assert.deepInclude(row.tokens, { in: 0, out: 0 })
        state.status = "completed"
        const again = await get(gateway, "/v1/responses/resp_one?stream=true&starting_after=7")
        assert.include(again.text, '"sequence_number":8')
        assert.isTrue(first.requests.some(({ url }) => url.endsWith("?stream=true&starting_after=7")))
        assert.deepInclude((await billed(gateway))[0]?.["tokens"], { in: 11, out: 5 })
        await unpunished(gateway)
      })
      assert.lengthOf(second.requests, 0)
    })
  )

  it.scopedLive("that is whole at once is billed at once, and known", () =>
    Effect.gen(function* () {
      const { gateway, state } = yield* house()
      state.status = "completed"
      yield* Effect.promise(async () => {
        await (await gateway.post("/v1/responses", ask)).json()
        assert.strictEqual((await get(gateway, "/v1/responses/resp_one")).status, 200)
        assert.deepInclude((await billed(gateway))[0]?.["tokens"], { in: 11, out: 5 })
      })
    })
  )
})

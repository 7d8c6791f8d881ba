/** Models side by side: each column is a request of its own. */
import { assert, describe } from "@effect/vitest"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import { eventuallyFound } from "../../support/eventually.ts"
import { admin, eventsIn, scenario, type Setting } from "./support.ts"

const compare = "/api/playground/compare"

const modelOf = (body: string): string => JSON.parse(body).model

/** Says its own name in two pieces; `b` fails. */
const byModel: FakeUpstream.Answer = (response, request) => {
  const model = modelOf(request.body)
  if (model === "b") {
    return FakeUpstream.json({ error: { message: "no such thing", type: "invalid_request_error" } }, { status: 400 })(
      response,
      request
    )
  }
  return FakeUpstream.sse(FakeUpstream.chatStream(["I am ", model], { usage: { in: 11, out: 4 } }))(response, request)
}

const ask = async ({ gateway }: Setting, body: object, headers: Readonly<Record<string, string>> = {}) => {
  const response = await gateway.post(compare, body, headers)
  return { response, events: eventsIn(await response.text()) }
}

const three = { models: ["up/a", "up/b", "up/c"], system: "Be short.", prompt: "Who?", params: { temperature: 0.5 } }

describe("a comparison", () => {
  scenario("streams each model's answer in its column, and one that fails disturbs no other", async (setting) => {
    const { gateway, upstream } = setting
    await gateway.manage("PATCH", "/api/pricing", { up: { a: { input: 1, output: 10 } } })
    upstream.always(byModel)
    const { events, response } = await ask(setting, three)
    assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
    assert.deepEqual(
      events.filter(({ event }) => event === "column").map(({ data }) => data),
      three.models.map((model, column) => ({ column, model }))
    )
    const textOf = (column: number): string =>
      events.flatMap(({ data, event }) => (event === "delta" && data.column === column ? data.text : [])).join("")
    assert.deepEqual([textOf(0), textOf(1), textOf(2)], ["I am a", "", "I am c"])
    assert.deepEqual(events.at(-1), { event: "done", data: {} })
    const failed = events.find(({ event }) => event === "column_error")?.data
    assert.deepInclude(failed, { column: 1 })
    assert.include(failed.error.message, "no such thing")
    const done = events.filter(({ event }) => event === "column_done").map(({ data }) => data)
    assert.sameMembers(
      done.map(({ column }) => column),
      [0, 2]
    )
    for (const { column, metrics, requestId } of done) {
      assert.deepInclude(metrics, { tokensIn: 11, tokensOut: 4, isEstimate: true })
      assert.isAtLeast(metrics.ttftMs, 0)
      assert.isAbove(metrics.tokensPerSecond, 0)
      const row = await gateway.usageRow(requestId)
      assert.deepInclude(row, { requestedModel: three.models[column], outcome: "completed", costUsd: metrics.costUsd })
    }
    const priced = done.find(({ column }) => column === 0)
    assert.closeTo(priced.metrics.costUsd, 0.000051, 1e-12)
    assert.strictEqual((await gateway.usageRow(failed.requestId)).outcome, "failed")
    for (const { body } of upstream.requests) {
      assert.deepInclude(JSON.parse(body), {
        temperature: 0.5,
        stream: true,
        messages: [
          { role: "system", content: "Be short." },
          { role: "user", content: "Who?" }
        ]
      })
    }
  })

  scenario("takes a conversation in place of a prompt", async (setting) => {
    setting.upstream.always(byModel)
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello" },
      { role: "user", content: "Who?" }
    ]
    const { events } = await ask(setting, { models: ["up/a"], messages })
    assert.strictEqual(events.at(-2)?.event, "column_done")
    assert.deepEqual(JSON.parse(setting.upstream.requests[0]?.body ?? "").messages, messages)
  })

  scenario("asks all its models at once", async (setting) => {
    const latch = FakeUpstream.makeLatch()
    setting.upstream.always((response, request) =>
      FakeUpstream.sse([latch, ...FakeUpstream.chatStream(["x"])])(response, request)
    )
    const answering = ask(setting, { models: ["up/a", "up/b", "up/c", "up/d"], prompt: "Who?" })
    // None is answered before all four have come.
    await setting.upstream.received(4)
    latch.open()
    const { events } = await answering
    assert.lengthOf(
      events.filter(({ event }) => event === "column_done"),
      4
    )
  })

  scenario("that is left ends all calls of upstreams", async ({ gateway, upstream }) => {
    upstream.always(FakeUpstream.silence(FakeUpstream.chatStream(["so far"]).slice(0, 2)))
    const leaving = new AbortController()
    const response = await gateway.post(
      compare,
      { models: ["up/a", "up/b", "up/c", "up/d"], prompt: "Who?" },
      {},
      leaving.signal
    )
    const reader = response.body?.getReader()
    await reader?.read()
    const requests = await Promise.all([1, 2, 3, 4].map((n) => upstream.received(n)))
    leaving.abort()
    await reader?.read().catch(() => {})
    await Promise.all(requests.map(({ closed }) => closed))
    const rows = await eventuallyFound("four aborted rows", async () => {
      const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=10")
      return logs.length === 4 ? logs : undefined
    })
    assert.deepEqual(
      rows.map(({ outcome }: { outcome: string }) => outcome),
      Array.from({ length: 4 }, () => "aborted")
    )
  })

  scenario("tells a broken answer from a whole one", async (setting) => {
    const pieces = FakeUpstream.chatStream(["half"])
    setting.upstream.always(FakeUpstream.sse(pieces.slice(0, 2)))
    const { events } = await ask(setting, { models: ["up/a"], prompt: "Who?" })
    const kinds = events.map(({ event }) => event)
    assert.include(kinds, "column_error")
    assert.notInclude(kinds, "column_done")
    assert.strictEqual(kinds.at(-1), "done")
  })

  scenario("is refused with five models, none, the same twice, and without or with two prompts", async ({ send }) => {
    const models = ["up/a", "up/b", "up/c", "up/d", "up/m"]
    const wrong: ReadonlyArray<readonly [string, object]> = [
      ["models", { models, prompt: "x" }],
      ["models", { models: [], prompt: "x" }],
      ["models", { prompt: "x" }],
      ["models.1", { models: ["up/a", "up/a"], prompt: "x" }],
      ["models.0", { models: [7], prompt: "x" }],
      ["prompt", { models: ["up/a"] }],
      ["prompt", { models: ["up/a"], prompt: "  " }],
      ["messages", { models: ["up/a"], prompt: "x", messages: [{ role: "user", content: "y" }] }],
      ["messages", { models: ["up/a"], messages: [] }],
      ["params", { models: ["up/a"], prompt: "x", params: 7 }],
      ["messages.0", { models: ["up/a"], messages: ["y"] }],
      ["params.top_k", { models: ["up/a"], prompt: "x", params: { top_k: 1 } }]
    ]
    for (const [field, body] of wrong) {
      const answer = await send("POST", compare, body)
      assert.deepEqual([answer.status, answer.body.error?.param], [400, field], JSON.stringify(body))
      assert.notInclude(answer.body.error.message, "Playground")
    }
  })

  scenario("shows an unknown model in its own column", async (setting) => {
    setting.upstream.always(byModel)
    const { events } = await ask(setting, { models: ["up/a", "nowhere/at-all"], prompt: "Who?" })
    const failed = events.find(({ event }) => event === "column_error")?.data
    assert.deepInclude(failed.error, { status: 404, code: "model_not_found" })
    assert.strictEqual(events.find(({ event }) => event === "column_done")?.data.column, 0)
  })

  scenario("keeps to the limits of the caller's key, column by column", async (setting) => {
    const { gateway, upstream } = setting
    upstream.always(byModel)
    const { key, secret } = await gateway.manage("POST", "/api/keys", {
      name: "small",
      allowedModels: ["up/a", "up/c"],
      rateLimits: [{ limit: 1, window: 60 }]
    })
    const { events } = await ask(
      setting,
      { models: ["up/a", "up/c", "up/d"], prompt: "Who?" },
      { authorization: `Bearer ${secret}` }
    )
    const done = events.filter(({ event }) => event === "column_done").map(({ data }) => data)
    assert.lengthOf(done, 1)
    assert.strictEqual((await gateway.usageRow(done[0].requestId)).apiKeyId, key.id)
    const statuses = events.flatMap(({ data, event }) => (event === "column_error" ? data.error.status : []))
    assert.sameMembers(statuses, [403, 429])
  })

  scenario("is for keys that may chat", async ({ gateway, send }) => {
    const { secret } = await gateway.manage("POST", "/api/keys", { name: "vectors", allowedEndpoints: ["embeddings"] })
    const { body, status } = await send(
      "POST",
      compare,
      { models: ["up/a"], prompt: "x" },
      { authorization: `Bearer ${secret}` }
    )
    assert.deepEqual([status, body.error.code], [403, "key_endpoint"])
    assert.strictEqual((await send("GET", "/api/playground/presets", undefined, admin)).status, 200)
  })
})

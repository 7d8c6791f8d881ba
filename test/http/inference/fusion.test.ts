/** The strategy `fusion` over real sockets: a panel, a judge, one answer, one bill. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const id = (response: Response): string => response.headers.get("x-gateway-request-id") ?? assert.fail("no request id")

const tools = [{ type: "function", function: { name: "look_up", parameters: { type: "object", properties: {} } } }]
const ask = { model: "fused", messages: [{ role: "user", content: "What is a quorum?" }] }

// eslint-disable-next-line typescript/no-explicit-any -- bodies are read as they come
const bodyOf = (upstream: Fake.FakeUpstream, n: number): any => JSON.parse(upstream.requests[n]?.body ?? "null")

/** Says a text, whole or streamed as it is asked, and remembers nothing. */
const says =
  (text: string, usage = { in: 10, out: 1 }): Fake.Answer =>
  (response, request) => {
    const { stream } = JSON.parse(request.body) as { stream?: boolean }
    return stream === true
      ? Fake.sse(Fake.chatStream([text], { usage }))(response, request)
      : Fake.json(Fake.chatCompletion({ text, usage }))(response, request)
  }

const fails = (status: number, message = "down"): Fake.Answer => Fake.json(Fake.errorBody("chat", message), { status })

type Names = ReadonlyArray<string>

/** Upstreams `a`, `b`, … that all answer with their own letter, behind the combo `fused`. */
const panel = (names: Names, config: Readonly<Record<string, unknown>> = {}, wires: Record<string, WireName> = {}) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const nodes: Record<string, Fake.FakeUpstream> = {}
    for (const name of names) nodes[name] = yield* Fake.start
    const node = (name: string): Fake.FakeUpstream => nodes[name] ?? assert.fail(`no node ${name}`)
    const setUp = async (members: Names): Promise<void> => {
      for (const name of names) {
        node(name).always(says(`answer of ${name}`))
        await gateway.connect(name, node(name), wires[name] ?? "chat")
      }
      const targets = members.map((name) => ({ model: `${name}/m` }))
      await gateway.manage("POST", "/api/combos", { name: "fused", strategy: "fusion", targets, config })
    }
    yield* Effect.promise(() => setUp(names.filter((name) => name !== "judge")))
    return { gateway, node }
  })

const chat = "/v1/chat/completions"

const attemptsOf = async (gateway: TestGateway.TestGateway, response: Response) => {
  const { decision } = await gateway.manage("GET", `/api/routing/decisions/${id(response)}`)
  return decision.attempts as ReadonlyArray<{
    provider: string
    outcome: string
    reason: string
    status: number | null
  }>
}

const contentOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { choices: ReadonlyArray<{ message: { content: string } }> }).choices[0]?.message
    .content ?? ""

describe("a full panel", () => {
  it.scopedLive("calls the whole panel without tools, and the first model as the judge", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b", "c"])
      const [a, b, c] = [node("a"), node("b"), node("c")]
      a.enqueue(says("one of a"), says("the joined answer"))
      yield* Effect.promise(async () => {
        const request = { ...ask, tools, tool_choice: "auto", temperature: 0.2, parallel_tool_calls: false }
        const response = await gateway.post(chat, request)
        assert.strictEqual(response.status, 200)
        assert.strictEqual(await contentOf(response), "the joined answer")
        assert.strictEqual(response.headers.get("x-gateway-provider"), "a")
        assert.match(response.headers.get("x-gateway-decision") ?? "", /^fusion;/)
        assert.isNull(response.headers.get("x-gateway-fallback-attempts"))
        assert.deepStrictEqual([a.requests.length, b.requests.length, c.requests.length], [2, 1, 1])
        for (const upstream of [a, b, c]) {
          assert.deepStrictEqual(bodyOf(upstream, 0), { model: "m", messages: ask.messages, temperature: 0.2 })
        }
        const judged = bodyOf(a, 1)
        assert.deepStrictEqual(judged.tools, tools)
        assert.strictEqual(judged.tool_choice, "auto")
        assert.strictEqual(judged.parallel_tool_calls, false)
        assert.strictEqual(judged.temperature, 0.2)
        const told = JSON.stringify(judged.messages)
        assert.isTrue(told.indexOf("What is a quorum?") < told.indexOf("Source 1:"))
        for (const part of ["Source 1:\\none of a", "Source 2:\\nanswer of b", "Source 3:\\nanswer of c"]) {
          assert.include(told, part)
        }
        assert.notInclude(told, "b/m")
        assert.deepStrictEqual(
          (await attemptsOf(gateway, response)).map(({ outcome }) => outcome),
          ["completed", "completed", "completed", "completed"]
        )
      })
    })
  )

  it.scopedLive("is one row, whose tokens and cost are the sum, each model at its own price", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b", "judge"], { judgeModel: "judge/m" })
      node("a").always(says("A", { in: 100, out: 10 }))
      node("b").always(says("B", { in: 200, out: 20 }))
      node("judge").always(says("C", { in: 1000, out: 50 }))
      yield* Effect.promise(async () => {
        await gateway.manage("PATCH", "/api/pricing", {
          a: { m: { input: 1, output: 10 } },
          b: { m: { input: 2, output: 20 } },
          judge: { m: { input: 3, output: 30 } }
        })
        for (const stream of [false, true]) {
          const response = await gateway.post(chat, { ...ask, stream })
          assert.include(await response.text(), stream ? "[DONE]" : "C")
          const row = await gateway.usageRow(id(response))
          assert.deepInclude(row.tokens, { in: 1300, out: 80 })
          assert.deepInclude(row, { provider: "judge", combo: "fused", attempts: 3, usageSource: "upstream" })
          assert.strictEqual(row.outcome, "completed")
          const usd = (100 * 1 + 10 * 10 + 200 * 2 + 20 * 20 + 1000 * 3 + 50 * 30) / 1e6
          assert.closeTo(row.costUsd, usd, 1e-12)
          if (!stream) {
            assert.closeTo(Number(response.headers.get("x-gateway-response-cost")), usd, 1e-12)
            assert.strictEqual(response.headers.get("x-gateway-tokens-in"), "1300")
          }
          const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=100")
          assert.lengthOf(
            logs.filter((entry: { requestId: string }) => entry.requestId === id(response)),
            1
          )
        }
      })
    })
  )

  it.scopedLive("lets the judge stream, with tool calls, when the client asked so", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b", "judge"], { judgeModel: "judge/m" })
      const call = { id: "call_1", name: "look_up", arguments: "{}" }
      node("judge").always(Fake.sse(Fake.chatStream([], { toolCalls: [call] })))
      yield* Effect.promise(async () => {
        const response = await gateway.post(chat, { ...ask, tools, stream: true })
        assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/)
        assert.strictEqual(response.headers.get("x-gateway-provider"), "judge")
        // The members, as in an answer that is not streamed; not those who could be asked to judge.
        assert.strictEqual(response.headers.get("x-gateway-decision"), "fusion;2;judged 2 of 2 answers")
        const text = await response.text()
        assert.include(text, "look_up")
        assert.include(text, "[DONE]")
        assert.isUndefined(bodyOf(node("a"), 0).stream)
        assert.strictEqual(bodyOf(node("judge"), 0).stream, true)
        assert.deepStrictEqual(bodyOf(node("judge"), 0).tools, tools)
      })
    })
  )

  it.scopedLive("takes the judge that is named, also from among its members", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b"], { judgeModel: "b/m" })
      node("b").enqueue(says("B"), says("joined by b"))
      yield* Effect.promise(async () => {
        const response = await gateway.post(chat, ask)
        assert.strictEqual(await contentOf(response), "joined by b")
        assert.strictEqual(response.headers.get("x-gateway-provider"), "b")
      })
    })
  )

  it.scopedLive("waits in line where two members share one place", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      upstream.enqueue(says("first"), says("second"), says("joined"))
      yield* Effect.promise(async () => {
        await gateway.connect("a", upstream, "chat", { models: ["m", "n"], max_concurrent: 1 })
        const targets = [{ model: "a/m" }, { model: "a/n" }]
        await gateway.manage("POST", "/api/combos", { name: "fused", strategy: "fusion", targets })
        const response = await gateway.post(chat, ask)
        assert.strictEqual(await contentOf(response), "joined")
        assert.include(JSON.stringify(bodyOf(upstream, 2)), "Source 2:\\nsecond")
      })
    })
  )

  it.scopedLive("goes on with a survivor when the judge cannot be asked", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b", "judge"], { judgeModel: "judge/m" })
      node("judge").always(fails(500))
      node("a").enqueue(says("A"), says("joined by a"))
      yield* Effect.promise(async () => {
        const response = await gateway.post(chat, ask)
        assert.strictEqual(await contentOf(response), "joined by a")
        assert.strictEqual(response.headers.get("x-gateway-provider"), "a")
        assert.include(JSON.stringify(bodyOf(node("a"), 1)), "Source 2:")
      })
    })
  )
})

const tuning = (more: Readonly<Record<string, number>>) => ({ fusionTuning: { stragglerGraceMs: 60, ...more } })

describe("a judge that fails", () => {
  it.scopedLive("with all who could take over leaves the panel on the bill", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b", "judge"], { judgeModel: "judge/m" })
      node("judge").always(fails(500))
      node("a").enqueue(says("A", { in: 100, out: 10 }), fails(502))
      node("b").enqueue(says("B", { in: 200, out: 20 }), fails(504, "the last words"))
      yield* Effect.promise(async () => {
        const response = await gateway.post(chat, ask)
        assert.strictEqual(response.status, 504)
        assert.include(await response.text(), "the last words")
        const row = await gateway.usageRow(id(response))
        assert.deepInclude(row, { outcome: "failed", status: 504, attempts: 5 })
        assert.deepInclude(row.tokens, { in: 300, out: 30 })
      })
    })
  )
})

describe("a panel that is not complete", () => {
  it.scopedLive("cancels a straggler after the grace period, without a failure", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b", "c"], tuning({}))
      node("c").always(Fake.hang())
      yield* Effect.promise(async () => {
        const response = await gateway.post(chat, ask)
        assert.strictEqual(response.status, 200)
        const straggler = await node("c").received(1)
        await straggler.closed
        assert.notInclude(JSON.stringify(bodyOf(node("a"), 1)), "Source 3:")
        const attempts = await attemptsOf(gateway, response)
        assert.deepInclude(
          attempts.find(({ provider }) => provider === "c"),
          { outcome: "aborted", reason: "straggler", status: null }
        )
        const { breakers } = await gateway.manage("GET", "/api/resilience/breakers")
        const breaker = (breakers as ReadonlyArray<{ provider: string; failures: number }>).find(
          ({ provider }) => provider === "c"
        )
        assert.strictEqual(breaker?.failures ?? 0, 0)
        const { connections } = await gateway.manage("GET", "/api/providers")
        for (const connection of connections) {
          assert.deepInclude(connection, { rateLimitedUntil: null, backoffLevel: 0 })
        }
        assert.deepInclude(await gateway.usageRow(id(response)), { outcome: "completed", attempts: 4 })
      })
    })
  )

  it.scopedLive("judges what is there when one fails, and the failure is its target's", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b", "c"])
      node("a").always(fails(503, "a is down"))
      yield* Effect.promise(async () => {
        const response = await gateway.post(chat, ask)
        assert.strictEqual(response.status, 200)
        assert.strictEqual(response.headers.get("x-gateway-provider"), "b")
        const judged = JSON.stringify(bodyOf(node("b"), 1))
        assert.include(judged, "Source 1:\\nanswer of b")
        assert.include(judged, "Source 2:\\nanswer of c")
        assert.notInclude(judged, "Source 3:")
        assert.lengthOf(node("a").requests, 1)
        const { connections } = await gateway.manage("GET", "/api/providers")
        const a = connections.find((connection: { provider: string }) => connection.provider === "a")
        assert.strictEqual(a.testStatus, "unavailable")
      })
    })
  )

  for (const stream of [false, true]) {
    it.scopedLive(`gives the only answer as it is (${stream ? "streamed" : "whole"})`, () =>
      Effect.gen(function* () {
        const { gateway, node } = yield* panel(["a", "b", "c"])
        node("a").always(fails(500))
        node("c").always(fails(429))
        yield* Effect.promise(async () => {
          const response = await gateway.post(chat, { ...ask, tools, stream })
          assert.strictEqual(response.status, 200)
          assert.strictEqual(response.headers.get("x-gateway-provider"), "b")
          if (stream) {
            const text = await response.text()
            assert.include(text, '"content":"answer of b"')
            assert.isTrue(text.endsWith("data: [DONE]\n\n"))
          } else assert.strictEqual(await contentOf(response), "answer of b")
          assert.lengthOf(node("b").requests, 1)
          const row = await gateway.usageRow(id(response))
          assert.deepInclude(row, { outcome: "completed", provider: "b", attempts: 3, streamed: stream })
          assert.deepInclude(row.tokens, { in: 10, out: 1 })
        })
      })
    )
  }

  it.scopedLive("shows the judge what its window has room for, and says what is cut", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b", "judge"], { judgeModel: "judge/m" })
      node("a").always(says("x".repeat(40_000)))
      node("judge").always(says("the joined answer"))
      yield* Effect.promise(async () => {
        const known = { provider: "judge", modelId: "m", contextLength: 4_000 }
        await gateway.manage("POST", "/api/provider-models", known)
        const response = await gateway.post(chat, ask)
        assert.strictEqual(await contentOf(response), "the joined answer")
        const told = JSON.stringify(bodyOf(node("judge"), 0).messages)
        assert.isBelow(told.length, 12_000)
        assert.match(told, /Source 1:\\nx+\\n\[This source is longer: its last \d+ characters are left out here\.\]/)
        assert.include(told, "Source 2:\\nanswer of b")
      })
    })
  )

  it.scopedLive("is a 503 with the reasons when all fail", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b", "c"])
      node("a").always(fails(500))
      node("b").always(fails(401, "no"))
      node("c").always(fails(400, "the last words"))
      yield* Effect.promise(async () => {
        const response = await gateway.post(chat, { ...ask, stream: true })
        assert.strictEqual(response.status, 503)
        const { error } = (await response.json()) as { error: { message: string; attempts: Array<{ reason: string }> } }
        assert.include(error.message, "the last words")
        assert.sameMembers(
          error.attempts.map(({ reason }) => reason),
          ["http_500", "http_401", "http_400"]
        )
        assert.deepInclude(await gateway.usageRow(id(response)), {
          outcome: "failed",
          status: 503,
          costUsd: 0,
          attempts: 3
        })
      })
    })
  )

  it.scopedLive("is a 503 when no model answers before the hard timeout", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b"], tuning({ panelHardTimeoutMs: 80 }))
      node("a").always(Fake.hang())
      node("b").always(Fake.hang())
      yield* Effect.promise(async () => {
        const response = await gateway.post(chat, ask)
        assert.strictEqual(response.status, 503)
        const { error } = (await response.json()) as { error: { attempts: Array<{ reason: string }> } }
        assert.deepStrictEqual(
          error.attempts.map(({ reason }) => reason),
          ["panel_timeout", "panel_timeout"]
        )
        const { connections } = await gateway.manage("GET", "/api/providers")
        for (const connection of connections) assert.isNull(connection.rateLimitedUntil)
      })
    })
  )

  it.scopedLive("stays within the time of the whole request, without a failure", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b", "c"])
      node("c").always(Fake.hang())
      node("b").always(Fake.hang())
      yield* Effect.promise(async () => {
        await gateway.manage("PATCH", "/api/resilience", { timeouts: { totalMs: 400 } })
        const response = await gateway.post(chat, ask)
        assert.strictEqual(response.status, 200)
        assert.strictEqual(await contentOf(response), "answer of a")
        const outcomes = (await attemptsOf(gateway, response)).map(({ outcome }) => outcome)
        assert.sameMembers(outcomes, ["completed", "aborted", "aborted"])
      })
    })
  )

  it.scopedLive("leaves out who may not be called, with the reason in the record", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b", "c"])
      node("c").enqueue(fails(429))
      yield* Effect.promise(async () => {
        await (await gateway.post(chat, { ...ask, model: "c/m" })).text()
        const response = await gateway.post(chat, ask)
        assert.strictEqual(response.status, 200)
        assert.lengthOf(node("c").requests, 1)
        const { decision } = await gateway.manage("GET", `/api/routing/decisions/${id(response)}`)
        const left = decision.candidates.find((candidate: { provider: string }) => candidate.provider === "c")
        assert.strictEqual(left.excluded.rule, "cooldown")
      })
    })
  )
})

describe("a panel of one", () => {
  it.scopedLive("is an ordinary request, with its stream and tools", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a"])
      yield* Effect.promise(async () => {
        const response = await gateway.post(chat, { ...ask, tools, stream: true })
        assert.include(await response.text(), "[DONE]")
        assert.lengthOf(node("a").requests, 1)
        assert.deepInclude(bodyOf(node("a"), 0), { stream: true, tools, messages: ask.messages })
      })
    })
  )

  it.scopedLive("stands also behind a combo that names it twice", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a"])
      yield* Effect.promise(async () => {
        const { combos } = await gateway.manage("GET", "/api/combos")
        const targets = [{ model: "a/m" }, { model: "a/m" }]
        await gateway.manage("PUT", `/api/combos/${combos[0].id}`, { name: "fused", strategy: "fusion", targets })
        assert.strictEqual(await contentOf(await gateway.post(chat, ask)), "answer of a")
        assert.lengthOf(node("a").requests, 1)
      })
    })
  )
})

describe("a client that leaves", () => {
  it.scopedLive("takes the whole panel with it", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b", "c"])
      node("b").always(Fake.hang())
      node("c").always(Fake.hang())
      yield* Effect.promise(async () => {
        const leaving = new AbortController()
        const asked = gateway.post(chat, ask, {}, leaving.signal).catch(() => "left")
        const hanging = await Promise.all([node("b").received(1), node("c").received(1)])
        await node("a").received(1)
        leaving.abort()
        assert.strictEqual(await asked, "left")
        await Promise.all(hanging.map(({ closed }) => closed))
        const row = await lastRow(gateway)
        assert.deepInclude(row, { outcome: "aborted", status: 499, usageSource: "estimated" })
        assert.isAbove(row.tokens.in, 0)
        const { decision } = await gateway.manage("GET", `/api/routing/decisions/${row.requestId}`)
        const reasons = decision.attempts.map((attempt: { provider: string; reason: string }) => attempt.reason)
        assert.notInclude(reasons, "straggler")
        const { connections } = await gateway.manage("GET", "/api/providers")
        for (const connection of connections) assert.isNull(connection.rateLimitedUntil)
      })
    })
  )

  it.scopedLive("while the judge speaks still has the panel on its bill", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b", "judge"], { judgeModel: "judge/m" })
      node("a").always(says("A", { in: 3_000, out: 10 }))
      node("b").always(says("B", { in: 4_000, out: 20 }))
      node("judge").always(Fake.silence(Fake.chatStream(["some words"]).slice(0, 2)))
      yield* Effect.promise(async () => {
        const leaving = new AbortController()
        const response = await gateway.post(chat, { ...ask, stream: true }, {}, leaving.signal)
        const reader = response.body?.getReader()
        await reader?.read()
        leaving.abort()
        const judge = await node("judge").received(1)
        await judge.closed
        const row = await gateway.usageRow(id(response))
        assert.deepInclude(row, { outcome: "aborted", usageSource: "estimated", provider: "judge" })
        assert.isAbove(row.tokens.in, 7_000)
        assert.isAbove(row.tokens.out, 30)
      })
    })
  )
})

const lastRow = (gateway: TestGateway.TestGateway) =>
  eventuallyFound("a usage row", async () => (await gateway.manage("GET", "/api/usage/logs?limit=1")).logs[0])

describe("other wires", () => {
  const messagesSays =
    (text: string): Fake.Answer =>
    (response, request) =>
      (JSON.parse(request.body) as { stream?: boolean }).stream === true
        ? Fake.sse(Fake.messagesStream([text]))(response, request)
        : Fake.json(Fake.messagesAnswer({ text }))(response, request)

  it.scopedLive("a messages client is judged by its own wire, with members of several", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(
        ["a", "b", "judge"],
        { judgeModel: "judge/m" },
        { a: "messages", judge: "messages" }
      )
      node("a").always(messagesSays("A"))
      node("judge").always(messagesSays("joined"))
      const request = {
        model: "fused",
        max_tokens: 50,
        system: [{ type: "text", text: "Be short.", cache_control: { type: "ephemeral" } }],
        tools: [{ name: "look_up", input_schema: { type: "object", properties: {} } }],
        tool_choice: { type: "auto" },
        messages: [
          { role: "user", content: "Look it up" },
          { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "look_up", input: { q: 1 } }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "found" }] }
        ],
        stream: true
      }
      yield* Effect.promise(async () => {
        const response = await gateway.post("/v1/messages", request, { "anthropic-version": "2023-06-01" })
        assert.strictEqual(response.status, 200)
        const text = await response.text()
        assert.include(text, "joined")
        assert.include(text, "message_stop")
        const member = bodyOf(node("a"), 0)
        assert.isUndefined(member.tools)
        assert.isUndefined(member.tool_choice)
        assert.deepStrictEqual(member.system, request.system)
        assert.notInclude(JSON.stringify(member), "tool_use")
        assert.include(JSON.stringify(member), "found")
        const judged = bodyOf(node("judge"), 0)
        assert.deepStrictEqual(judged.tools, request.tools)
        assert.deepStrictEqual(judged.system, request.system)
        assert.deepStrictEqual(judged.messages.slice(0, 2).at(-1), request.messages[1])
        assert.include(JSON.stringify(judged.messages), "Source 2:\\nanswer of b")
      })
    })
  )

  for (const [path, body] of [
    ["/v1/responses", { model: "fused", input: "Hi", max_output_tokens: 50 }],
    ["/v1/completions", { model: "fused", prompt: "Hi" }],
    ["/v1beta/models/fused:generateContent", { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }],
    ["/api/chat", { model: "fused", messages: [{ role: "user", content: "Hi" }], stream: false }],
    ["/api/generate", { model: "fused", prompt: "Hi", stream: false }]
  ] as const) {
    it.scopedLive(`${path} is judged, and one survivor speaks its words`, () =>
      Effect.gen(function* () {
        const { gateway, node } = yield* panel(["a", "b"])
        node("a").enqueue(says("A"), says("joined"), says("of a alone"))
        node("b").enqueue(says("B"), fails(503))
        yield* Effect.promise(async () => {
          const response = await gateway.post(path, body)
          const text = await response.text()
          assert.strictEqual(response.status, 200, text)
          assert.include(text, "joined")
          assert.include(JSON.stringify(bodyOf(node("a"), 1)), "Source 2:\\nB")
          const direct = await (await gateway.post(path, body)).text()
          assert.include(direct, "of a alone")
          assert.sameMembers(Object.keys(JSON.parse(direct)), Object.keys(JSON.parse(text)))
        })
      })
    )
  }

  it.scopedLive("the next turn of a responses client does not hear of the sources", () =>
    Effect.gen(function* () {
      const { gateway, node } = yield* panel(["a", "b"])
      yield* Effect.promise(async () => {
        const first = (await (await gateway.post("/v1/responses", { model: "fused", input: "Hi" })).json()) as {
          id: string
        }
        const next = { model: "a/m", input: "And now?", previous_response_id: first.id }
        await (await gateway.post("/v1/responses", next)).text()
        const told = JSON.stringify(bodyOf(node("a"), 2))
        assert.include(told, "And now?")
        assert.include(told, "Hi")
        assert.notInclude(told, "Source 1:")
      })
    })
  )
})

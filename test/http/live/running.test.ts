/** Requests under way: their decision, their list, and what the feed tells of them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { eventually } from "../../support/eventually.ts"
import { type Client, open } from "../ws/support.ts"

const bearer = { authorization: `Bearer ${TestGateway.adminKey}` }

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const [bad, good] = [yield* Fake.start, yield* Fake.start]
  yield* Effect.promise(async () => {
    await gateway.connect("bad", bad, "chat")
    await gateway.connect("good", good, "chat")
    await gateway.combo("pair", "bad/m", "good/m")
  })
  const key = async () => {
    const made = await gateway.manage("POST", "/api/keys", { name: "k" })
    return { id: String(made.key.id), bearer: { authorization: `Bearer ${made.secret}` } }
  }
  return { gateway, bad, good, key }
})

const question = (model: string, stream = false) => ({ model, stream, messages: [{ role: "user", content: "Hi" }] })

/** The frames of the channel, until one of the event comes. */
const until = async (client: Client, last: string) => {
  const frames: Array<{ event: string; data: Record<string, unknown> }> = []
  for (;;) {
    const frame = await client.next()
    if (frame.channel === "requests") frames.push(frame)
    if (frame.event === last) return frames
  }
}

interface RunningOne {
  readonly candidates: number
  readonly requestId: string
  readonly apiKeyId: string | null
  readonly state: string
  readonly target: string | null
  readonly tokensOut: number
  readonly startedAt: string
}

describe("requests under way", () => {
  it.scopedLive("are listed with age, key, target and state, and their decision is there from its moment", () =>
    Effect.gen(function* () {
      const { gateway, good, key } = yield* setUp
      const latch = Fake.makeLatch()
      good.always(async (response, request) => {
        await latch.opened
        return Fake.json(Fake.chatCompletion({ text: "served" }))(response, request)
      })
      yield* Effect.promise(async () => {
        const { bearer: own, id } = await key()
        assert.deepStrictEqual(await gateway.manage("GET", "/api/requests/running"), { count: 0, requests: [] })
        const asked = gateway.post("/v1/chat/completions", question("good/m"), own)
        const { requests } = await eventually(
          "the request to be called",
          () => gateway.manage("GET", "/api/requests/running"),
          (answer) => answer.requests[0]?.state === "calling"
        )
        const [running] = requests as ReadonlyArray<RunningOne>
        assert.deepInclude(running, { apiKeyId: id, candidates: 1, target: "good/m", state: "calling", tokensOut: 0 })
        assert.isAtMost(Math.abs(Date.now() - Date.parse(running?.startedAt ?? "")), 60_000)
        const path = `/api/routing/decisions/${running?.requestId}`
        const { decision } = await gateway.manage("GET", path)
        assert.deepInclude(decision, { state: "running", requestedModel: "good/m", chosen: null, attempts: [] })
        assert.lengthOf(decision.candidates, 1)
        latch.open()
        const answer = await asked
        assert.strictEqual(answer.headers.get("x-gateway-request-id"), running?.requestId)
        await answer.arrayBuffer()
        const ended = (await gateway.manage("GET", path)).decision
        assert.deepInclude(ended, { state: "ended", chosen: "good/m" })
        await eventually(
          "nothing to be under way",
          () => gateway.manage("GET", "/api/requests/running"),
          ({ count, requests: left }) => count === 0 && left.length === 0
        )
      })
    })
  )

  it.scopedLive("count the tokens of a stream as it comes", () =>
    Effect.gen(function* () {
      const { gateway, good } = yield* setUp
      const latch = Fake.makeLatch()
      good.always(async (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        const piece = (content: string, reason: string | null = null) =>
          `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content }, finish_reason: reason }] })}\n\n`
        response.write(piece("a".repeat(400)))
        await latch.opened
        response.end(`${piece("b", "stop")}data: [DONE]\n\n`)
      })
      yield* Effect.promise(async () => {
        const answer = await gateway.post("/v1/chat/completions", question("good/m", true))
        const { requests } = await eventually(
          "the stream to be counted",
          () => gateway.manage("GET", "/api/requests/running"),
          (listed) => listed.requests[0]?.state === "streaming"
        )
        const [running] = requests as ReadonlyArray<RunningOne>
        assert.deepInclude(running, { target: "good/m" })
        assert.isAtLeast(running?.tokensOut ?? 0, 50)
        latch.open()
        await answer.arrayBuffer()
      })
    })
  )

  it.scopedLive("are told from the decision over each call to the first content, in order", () =>
    Effect.gen(function* () {
      const { bad, gateway, good, key } = yield* setUp
      bad.always(Fake.json({ error: { message: "no" } }, { status: 503 }))
      good.always(Fake.sse(Fake.chatStream(["served"])))
      const client = yield* open(gateway, "/api/live", bearer)
      yield* Effect.promise(async () => {
        await client.next()
        const { bearer: own, id } = await key()
        const answer = await gateway.post("/v1/chat/completions", question("pair", true), own)
        const requestId = answer.headers.get("x-gateway-request-id")
        await answer.arrayBuffer()
        const frames = await until(client, "request.completed")
        assert.deepStrictEqual(
          frames.map(({ event }) => event),
          [
            "request.started",
            "request.attempt",
            "request.attempt",
            "request.attempt",
            "request.streaming",
            "request.attempt",
            "request.completed"
          ]
        )
        const [started, ...others] = frames.map(({ data }) => data)
        assert.deepStrictEqual(started, {
          requestId,
          apiKeyId: id,
          requestedModel: "pair",
          combo: "pair",
          strategy: "priority",
          candidates: 2,
          first: "bad/m"
        })
        const attempts = others.filter((data) => "n" in data)
        assert.deepStrictEqual(
          attempts.map(({ n, outcome, reason, target }) => [n, target, outcome, reason]),
          [
            [1, "bad/m", null, null],
            [1, "bad/m", "failed", "http_503"],
            [2, "good/m", null, null],
            [2, "good/m", "completed", "ok"]
          ]
        )
        assert.isTrue(others.slice(0, -1).every((data) => data["requestId"] === requestId))
        const streaming = frames.find(({ event }) => event === "request.streaming")
        assert.isAtLeast(Number(streaming?.data["ttftMs"]), 0)
      })
    })
  )

  it.scopedLive("are not for keys without the right to manage", () =>
    Effect.gen(function* () {
      const { gateway, good, key } = yield* setUp
      const latch = Fake.makeLatch()
      good.always(async (response, request) => {
        await latch.opened
        return Fake.json(Fake.chatCompletion({ text: "served" }))(response, request)
      })
      yield* Effect.promise(async () => {
        const asked = gateway.post("/v1/chat/completions", question("good/m"))
        const { requests } = await eventually(
          "a request under way",
          () => gateway.manage("GET", "/api/requests/running"),
          ({ count }) => count === 1
        )
        const { bearer: other } = await key()
        for (const path of ["/api/requests/running", `/api/routing/decisions/${requests[0].requestId}`]) {
          assert.strictEqual((await fetch(gateway.url + path, { headers: other })).status, 403)
          assert.strictEqual((await fetch(gateway.url + path)).status, 401)
        }
        latch.open()
        await (await asked).arrayBuffer()
      })
    })
  )
})

describe("the channel of sums", () => {
  it.scopedLive("counts rows that no client has asked for: the test of a connection", () =>
    Effect.gen(function* () {
      const { gateway, good } = yield* setUp
      good.always(Fake.json(Fake.chatCompletion({ text: "served", usage: { in: 7, out: 3 } })))
      const client = yield* open(gateway, "/api/live", bearer)
      yield* Effect.promise(async () => {
        const { connections } = await gateway.manage("GET", "/api/providers")
        const { id } = connections.find(({ provider }: { provider: string }) => provider === "good")
        await gateway.manage("POST", `/api/providers/${id}/test`, {})
        const { logs } = await eventually(
          "the row of the test",
          () => gateway.manage("GET", "/api/usage/logs"),
          (page) => page.logs.length === 1
        )
        for (;;) {
          const frame = await client.next()
          if (frame.channel !== "stats" || frame.data.completed === 0) continue
          assert.deepInclude(frame.data, { completed: 1, tokensIn: logs[0].tokens.in, tokensOut: logs[0].tokens.out })
          break
        }
      })
    })
  )

  it.scopedLive("adds up to the usage log, whatever was sampled, in one frame a second", () =>
    Effect.gen(function* () {
      const { bad, gateway, good } = yield* setUp
      bad.always(Fake.json({ error: { message: "no" } }, { status: 400 }))
      good.always(Fake.json(Fake.chatCompletion({ text: "served", usage: { in: 7, out: 3 } })))
      const client = yield* open(gateway, "/api/live", bearer)
      yield* Effect.promise(async () => {
        await client.next()
        const total = 300
        const ask = async (n: number): Promise<void> => {
          const path = n % 5 === 0 ? "/v1/messages" : "/v1/chat/completions"
          const model = n % 7 === 0 ? "bad/m" : n % 11 === 0 ? "nowhere/x" : "good/m"
          await (await gateway.post(path, { ...question(model, false), max_tokens: 9 })).arrayBuffer()
        }
        for (let n = 0; n < total; n += 20) await Promise.all(Array.from({ length: 20 }, (_, k) => ask(n + k)))
        const sums = { completed: 0, failed: 0, aborted: 0, tokensIn: 0, tokensOut: 0, started: 0 }
        const ofProviders = { ...sums }
        let sampled = 0
        const told = new Set<number>()
        while (sums.completed + sums.failed + sums.aborted < total) {
          const frame = await client.next()
          if (frame.channel === "requests") sampled += frame.sampled ?? 1
          if (frame.channel !== "stats") continue
          assert.isFalse(told.has(Date.parse(frame.at)))
          told.add(Date.parse(frame.at))
          for (const name of Object.keys(sums) as Array<keyof typeof sums>) sums[name] += frame.data[name]
          for (const part of [...frame.data.byProvider, ...(frame.data.rest === null ? [] : [frame.data.rest])]) {
            for (const name of ["completed", "failed", "aborted", "tokensIn", "tokensOut"] as const) {
              ofProviders[name] += part[name]
            }
          }
        }
        const { logs } = await eventually(
          "all rows",
          () => gateway.manage("GET", "/api/usage/logs?limit=1000"),
          (page) => page.logs.length === total
        )
        const count = (outcome: string): number =>
          logs.filter((each: { outcome: string }) => each.outcome === outcome).length
        const sum = (side: "in" | "out"): number =>
          logs.reduce((all: number, each: { tokens: Record<string, number> }) => all + (each.tokens[side] ?? 0), 0)
        const expected = {
          completed: count("completed"),
          failed: count("failed"),
          aborted: count("aborted"),
          tokensIn: sum("in"),
          tokensOut: sum("out")
        }
        const { started, ...ended } = sums
        assert.deepStrictEqual(ended, expected)
        assert.deepStrictEqual({ ...ofProviders, started }, { ...expected, started })
        // Refused before a decision: those are not among the started.
        assert.strictEqual(started, logs.filter((each: { error: string }) => each.error !== "model_not_found").length)
        assert.isAbove(sampled, 0)
      })
    })
  )
})

/** Requests that come again under their key, and equal ones at the same time, over HTTP: one upstream call, the same bytes, a row for each. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const question = { model: "up/m", messages: [{ role: "user", content: "Hi" }] }
const chatPath = "/v1/chat/completions"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
  const ask = (body: object, headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal) =>
    gateway.post(chatPath, { ...question, ...body }, headers, signal)
  return { gateway, upstream, ask }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const errorOf = async (response: Response): Promise<object> => JSON.parse(await response.text()).error

/** Until so many requests are under way. */
const underWay = ({ gateway }: SetUp, requests: number) =>
  eventually(
    `${requests} requests under way`,
    async () => {
      const page = await fetch(`${gateway.url}/metrics`, {
        headers: { authorization: `Bearer ${TestGateway.adminKey}` }
      })
      return Number(/^gateway_requests_in_flight (\d+)$/m.exec(await page.text())?.[1])
    },
    (found) => found === requests
  )

const idOf = (response: Response): string => response.headers.get("x-gateway-request-id") ?? ""
const key = (value: string) => ({ "idempotency-key": value })

/** A stream that waits in its middle. */
const pausing = () => {
  const latch = Fake.makeLatch()
  const [first = "", second = "", ...rest] = Fake.chatStream(["one ", "two ", "three"])
  return { latch, pieces: [first, second, latch, ...rest] }
}

/** Reads until `text` has come, and leaves the rest. */
const readUntil = async (reader: ReadableStreamDefaultReader<Uint8Array>, text: string): Promise<string> => {
  let all = ""
  while (!all.includes(text)) {
    const { done, value } = await reader.read()
    if (done) break
    all += Buffer.from(value).toString()
  }
  return all
}

const readerOf = (response: Response): ReadableStreamDefaultReader<Uint8Array> => {
  assert.isNotNull(response.body)
  return response.body.getReader()
}

describe("a request that comes again under its Idempotency-Key", () => {
  scenario("gets the same answer, has a row of its own and costs nothing", async ({ ask, gateway, upstream }) => {
    await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 10, output: 10 } } })
    upstream.always(Fake.json(Fake.chatCompletion()))
    const first = await ask({}, key("a"))
    const second = await ask({}, key("a"))
    assert.strictEqual(await second.text(), await first.text())
    assert.isNull(first.headers.get("x-gateway-idempotent"))
    assert.strictEqual(second.headers.get("x-gateway-idempotent"), "true")
    assert.notStrictEqual(idOf(second), idOf(first))
    assert.strictEqual(first.headers.get("x-gateway-response-cost"), "0.0001000000")
    assert.strictEqual(second.headers.get("x-gateway-response-cost"), "0.0000000000")
    assert.strictEqual(second.headers.get("x-gateway-provider"), "up")
    assert.strictEqual(upstream.requests.length, 1)
    assert.deepInclude(await gateway.usageRow(idOf(first)), { coalesced: false, attempts: 1, outcome: "completed" })
    assert.deepInclude(await gateway.usageRow(idOf(second)), {
      coalesced: true,
      attempts: 0,
      costUsd: 0,
      outcome: "completed",
      provider: "up",
      requestedModel: "up/m"
    })
  })

  scenario("is refused with another body, and asks anew with another key, caller or route", async (room) => {
    const { ask, gateway, upstream } = room
    upstream.always(Fake.json(Fake.chatCompletion()))
    await (await ask({}, key("a"))).text()
    const other = await ask({ max_tokens: 5 }, key("a"))
    assert.strictEqual(other.status, 409)
    assert.deepInclude(await errorOf(other), { code: "idempotency_conflict", type: "invalid_request_error" })
    assert.deepInclude(await gateway.usageRow(idOf(other)), { outcome: "failed", status: 409, costUsd: 0 })
    assert.strictEqual((await ask({ stream: true }, key("a"))).status, 409)
    assert.strictEqual(upstream.requests.length, 1)
    assert.isNull((await ask({}, key("b"))).headers.get("x-gateway-idempotent"))
    const { secret } = await gateway.manage("POST", "/api/keys", { name: "another" })
    const ofAnother = await ask({ max_tokens: 5 }, { ...key("a"), authorization: `Bearer ${secret}` })
    assert.deepEqual([ofAnother.status, ofAnother.headers.get("x-gateway-idempotent")], [200, null])
    const messages = await gateway.post("/v1/messages", { ...question, max_tokens: 5 }, key("a"))
    assert.strictEqual(messages.status, 200)
    assert.strictEqual(upstream.requests.length, 4)
    const conflict = await gateway.post("/v1/messages", { ...question, max_tokens: 6 }, key("a"))
    assert.strictEqual(conflict.status, 409)
    assert.deepInclude(JSON.parse(await conflict.text()), { type: "error" })
  })

  scenario("gets a running stream from its beginning", async ({ ask, gateway, upstream }) => {
    const { latch, pieces } = pausing()
    upstream.always(Fake.sse(pieces))
    const first = await ask({ stream: true }, key("a"))
    const firstReader = readerOf(first)
    const firstBegin = await readUntil(firstReader, "one ")
    const second = await ask({ stream: true }, key("a"))
    assert.strictEqual(second.headers.get("x-gateway-idempotent"), "true")
    const secondReader = readerOf(second)
    const secondBegin = await readUntil(secondReader, "one ")
    latch.open()
    const whole = firstBegin + (await readUntil(firstReader, "[DONE]\n\n"))
    assert.strictEqual(secondBegin + (await readUntil(secondReader, "[DONE]\n\n")), whole)
    const third = await ask({ stream: true }, key("a"))
    assert.strictEqual(await third.text(), whole)
    assert.strictEqual(third.headers.get("content-type"), "text/event-stream")
    assert.strictEqual(upstream.requests.length, 1)
    assert.deepInclude(await gateway.usageRow(idOf(second)), { coalesced: true, streamed: true, costUsd: 0 })
  })

  scenario("goes on when the client that came first leaves, and ends with the last one", async (room) => {
    const { ask, gateway, upstream } = room
    const { latch, pieces } = pausing()
    upstream.enqueue(Fake.sse(pieces))
    const leaving = new AbortController()
    const first = await ask({ stream: true }, key("a"), leaving.signal)
    await readUntil(readerOf(first), "one ")
    const second = await ask({ stream: true }, key("a"))
    const reader = readerOf(second)
    const begin = await readUntil(reader, "one ")
    leaving.abort()
    latch.open()
    assert.include(begin + (await readUntil(reader, "[DONE]")), "three")
    assert.deepInclude(await gateway.usageRow(idOf(first)), { outcome: "completed", coalesced: false })

    upstream.enqueue(Fake.silence(pieces.slice(0, 2).map(String)))
    const both = [new AbortController(), new AbortController()] as const
    for (const { signal } of both) {
      const response = await ask({ stream: true }, key("b"), signal)
      await readUntil(readerOf(response), "one ")
    }
    const call = await upstream.received(2)
    both[0].abort()
    both[1].abort()
    await call.closed
    const rows = await eventually(
      "two rows of clients that left",
      async (): Promise<ReadonlyArray<{ outcome: string; coalesced: boolean }>> => {
        const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=10")
        return logs.filter(({ outcome }: { outcome: string }) => outcome === "aborted")
      },
      ({ length }) => length === 2
    )
    assert.sameMembers(
      rows.map(({ coalesced }) => coalesced),
      [false, true]
    )
    upstream.enqueue(Fake.sse(Fake.chatStream(["anew"])))
    assert.include(await (await ask({ stream: true }, key("b"))).text(), "anew")
  })

  scenario("shares a failure with those that wait, and asks anew afterwards", async (room) => {
    const { ask, gateway, upstream } = room
    const latch = Fake.makeLatch()
    const wrong = { error: { message: "wrong", type: "invalid_request_error" } }
    upstream.enqueue(async (response, request) => {
      await latch.opened
      await Fake.json(wrong, { status: 400 })(response, request)
    })
    upstream.always(Fake.json(Fake.chatCompletion()))
    const leading = ask({ n: 1 }, key("a"))
    await upstream.received(1)
    const following = ask({ n: 1 }, key("a"))
    await underWay(room, 2)
    latch.open()
    const [first, second] = [await leading, await following]
    const again = await ask({ n: 1 }, key("a"))
    assert.deepEqual([first.status, second.status, again.status], [400, 400, 200])
    assert.deepInclude(await errorOf(second), { message: "wrong" })
    assert.strictEqual(second.headers.get("x-gateway-idempotent"), "true")
    assert.isNull(again.headers.get("x-gateway-idempotent"))
    assert.deepInclude(await gateway.usageRow(idOf(second)), {
      outcome: "failed",
      status: 400,
      costUsd: 0,
      coalesced: true
    })
    assert.strictEqual(upstream.requests.length, 2)
  })

  scenario("is cut where the stream of the first is cut, and never shown as whole", async ({ ask, upstream }) => {
    const latch = Fake.makeLatch()
    const [first = "", second = ""] = Fake.chatStream(["one ", "two "])
    upstream.enqueue(Fake.resetMidBody([first, second, latch]))
    const leader = readerOf(await ask({ stream: true }, key("a")))
    const begin = await readUntil(leader, "one ")
    const follower = readerOf(await ask({ stream: true }, key("a")))
    const followed = await readUntil(follower, "one ")
    latch.open()
    const whole = begin + (await readUntil(leader, "never"))
    assert.strictEqual(followed + (await readUntil(follower, "never")), whole)
    assert.include(whole, "error")
    assert.notInclude(whole, "[DONE]")
    upstream.enqueue(Fake.sse(Fake.chatStream(["anew"])))
    assert.include(await (await ask({ stream: true }, key("a"))).text(), "anew")
  })

  scenario("counts an X-Request-Id with an equal body only", async ({ ask, upstream }) => {
    upstream.always(Fake.json(Fake.chatCompletion()))
    const id = { "x-request-id": "r" }
    await (await ask({}, id)).text()
    assert.strictEqual((await ask({}, id)).headers.get("x-gateway-idempotent"), "true")
    const other = await ask({ max_tokens: 5 }, id)
    assert.deepEqual([other.status, other.headers.get("x-gateway-idempotent")], [200, null])
    assert.isNull((await ask({}, { ...id, ...key("a") })).headers.get("x-gateway-idempotent"))
    assert.strictEqual(upstream.requests.length, 3)
  })

  scenario("is a new request where the window is closed", async ({ ask, gateway, upstream }) => {
    upstream.always(Fake.json(Fake.chatCompletion()))
    await gateway.manage("PATCH", "/api/settings", { idempotencyWindowMs: 0 })
    for (const maxTokens of [5, 6]) {
      const response = await ask({ max_tokens: maxTokens }, key("a"))
      assert.deepEqual([response.status, response.headers.get("x-gateway-idempotent")], [200, null])
      await response.text()
    }
    assert.strictEqual(upstream.requests.length, 2)
  })

  scenario("is answered again as sound, and compared with its files", async ({ gateway, upstream }) => {
    await gateway.manage("POST", "/api/providers", {
      provider: "openai",
      name: "openai",
      apiKey: "k",
      baseUrl: `${upstream.origin}/v1`,
      models: ["tts-1", "whisper-1"]
    })
    const sound = randomBytes(300_000)
    upstream.enqueue((response) => void response.writeHead(200, { "content-type": "audio/mpeg" }).end(sound))
    const say = () => gateway.post("/v1/audio/speech", { model: "openai/tts-1", input: "Hi", voice: "alloy" }, key("s"))
    await (await say()).arrayBuffer()
    const again = await say()
    assert.isTrue(Buffer.from(await again.arrayBuffer()).equals(sound))
    assert.strictEqual(again.headers.get("x-gateway-idempotent"), "true")
    upstream.enqueue(Fake.json({ text: "Hello" }))
    const send = (bytes: Buffer) => {
      const form = new FormData()
      form.append("model", "openai/whisper-1")
      form.append("file", new Blob([new Uint8Array(bytes)], { type: "audio/mpeg" }), "a.mp3")
      return fetch(`${gateway.url}/v1/audio/transcriptions`, { method: "POST", body: form, headers: key("t") })
    }
    const large = Buffer.alloc(400_000, "a")
    assert.deepEqual(await (await send(large)).json(), { text: "Hello" })
    const sent = await send(large)
    assert.strictEqual(sent.headers.get("x-gateway-idempotent"), "true")
    large.write("b", 399_999)
    assert.strictEqual((await send(large)).status, 409)
    assert.strictEqual(upstream.requests.length, 2)
  })
})

describe("equal requests at the same time whose answer is the same each time", () => {
  const cold = { temperature: 0, stream: true }

  scenario("share one call from its beginning, without a key", async ({ ask, gateway, upstream }) => {
    const { latch, pieces } = pausing()
    upstream.always(Fake.sse(pieces))
    const first = await ask(cold)
    const second = await ask(cold)
    latch.open()
    const [one, two] = [await first.text(), await second.text()]
    assert.strictEqual(two, one)
    assert.include(one, "[DONE]")
    assert.isNull(second.headers.get("x-gateway-idempotent"))
    assert.strictEqual(upstream.requests.length, 1)
    assert.deepInclude(await gateway.usageRow(idOf(second)), { coalesced: true, costUsd: 0, streamed: true })
    // Nothing is kept: the next one asks anew.
    await (await ask(cold)).text()
    assert.strictEqual(upstream.requests.length, 2)
  })

  scenario("share none where one differs in what changes the answer", async ({ ask, gateway, upstream }) => {
    const { latch, pieces } = pausing()
    upstream.always(Fake.sse(pieces))
    const { secret } = await gateway.manage("POST", "/api/keys", { name: "another" })
    const all = [
      await ask(cold),
      await ask({ ...cold, temperature: 0.1 }),
      await ask({ ...cold, seed: 1 }),
      await ask({ ...cold, temperature: 0.2 }),
      await ask({ ...cold, temperature: 0.2 }),
      await ask({ stream: true }),
      await ask({ stream: true }),
      await ask(cold, { authorization: `Bearer ${secret}` }),
      await ask(cold, { "x-session-id": "s" }),
      await ask(cold, { "x-gateway-no-cache": "true" }),
      await ask(cold, key("a"))
    ]
    latch.open()
    for (const response of all) assert.include(await response.text(), "[DONE]")
    assert.strictEqual(upstream.requests.length, all.length)
  })

  scenario("make a call each where coalescing is off", async ({ ask, gateway, upstream }) => {
    await gateway.manage("PATCH", "/api/settings", { coalescing: { enabled: false } })
    const { latch, pieces } = pausing()
    upstream.always(Fake.sse(pieces))
    const both = [await ask(cold), await ask(cold)]
    latch.open()
    for (const response of both) await response.text()
    assert.strictEqual(upstream.requests.length, 2)
  })
})

/** Progress events with the official SDKs, and the cost of streams in trailers, over real sockets. */
import Anthropic from "@anthropic-ai/sdk"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { request as httpRequest } from "node:http"
import OpenAI from "openai"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const question = { model: "up/m", messages: [{ role: "user" as const, content: "Hi" }] }
const wanted = { "X-Gateway-Progress": "true" }

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "any", maxRetries: 0, defaultHeaders: wanted })
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: "any", maxRetries: 0, defaultHeaders: wanted })
  return { gateway, upstream, openai, anthropic }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const toldIn = (text: string) =>
  [...text.matchAll(/^event: progress\ndata: (.*)\n\n/gm)].map(([, data]) => JSON.parse(data ?? ""))

describe("progress events", () => {
  scenario("come while a stream is silent, and break no official SDK", async ({ anthropic, openai, upstream }) => {
    // Each stream opens its own latch when it is in its middle; 2.1 seconds later it goes on.
    upstream.always(async (response, request) => {
      const latch = Fake.makeLatch()
      const [first = "", second = "", ...rest] = Fake.chatStream(["one ", "two"], { usage: { in: 7, out: 3 } })
      setTimeout(latch.open, 2_100)
      await Fake.sse([first, second, latch, ...rest])(response, request)
    })
    const chat = async (): Promise<string> => {
      let text = ""
      for await (const chunk of await openai.chat.completions.create({ ...question, stream: true })) {
        text += chunk.choices[0]?.delta.content ?? ""
      }
      return text
    }
    const chatHelper = async (): Promise<string | null> => {
      const stream = openai.chat.completions.stream({ ...question })
      return stream.finalContent()
    }
    const responses = async (): Promise<string> => {
      const stream = openai.responses.stream({ model: "up/m", input: "Hi" })
      return (await stream.finalResponse()).output_text
    }
    const messages = async (): Promise<string> => {
      const stream = anthropic.messages.stream({ ...question, max_tokens: 100 })
      return stream.finalText()
    }
    assert.deepEqual(await Promise.all([chat(), chatHelper(), responses(), messages()]), Array(4).fill("one two"))
  })

  scenario("stand in streams of three wires, for who asked for them", async ({ gateway, upstream }) => {
    upstream.always(Fake.sse(Fake.chatStream(["one ", "two"], { usage: { in: 7, out: 3 } })))
    const input = { model: "up/m", input: "Hi", stream: true }
    const asked: ReadonlyArray<readonly [string, object, ReadonlyArray<string>]> = [
      ["/v1/chat/completions", { ...question, stream: true, stream_options: { include_usage: true } }, ["choices"]],
      ["/v1/messages", { ...question, max_tokens: 100, stream: true }, []],
      ["/v1/responses", input, ["type"]]
    ]
    for (const [path, body, members] of asked) {
      const response = await gateway.post(path, body, wanted)
      assert.strictEqual(response.headers.get("x-gateway-progress"), "enabled", path)
      const [last, ...others] = toldIn(await response.text()).toReversed()
      assert.hasAllKeys(last, [...members, "tokens_generated", "elapsed_ms", "done"])
      assert.deepInclude(last, { tokens_generated: 3, done: true })
      assert.isEmpty(others)
      const without = await gateway.post(path, body)
      assert.isNull(without.headers.get("x-gateway-progress"))
      assert.isEmpty(toldIn(await without.text()))
    }
    const gemini = await gateway.post(
      "/v1beta/models/up/m:streamGenerateContent?alt=sse",
      { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
      wanted
    )
    assert.isNull(gemini.headers.get("x-gateway-progress"))
    assert.isEmpty(toldIn(await gemini.text()))
  })

  scenario("are each client's own where an answer is given again", async ({ gateway, upstream }) => {
    upstream.always(Fake.sse(Fake.chatStream(["one"])))
    const ask = async (headers: Readonly<Record<string, string>>) => {
      const body = { ...question, stream: true }
      return (await gateway.post("/v1/chat/completions", body, { "idempotency-key": "a", ...headers })).text()
    }
    const told = [toldIn(await ask(wanted)), toldIn(await ask({})), toldIn(await ask(wanted))]
    assert.deepEqual(
      told.map(({ length }) => length),
      [1, 0, 1]
    )
    assert.strictEqual(upstream.requests.length, 1)
  })
})

/** An answer with its trailers, which `fetch` does not show. */
const askRaw = (url: string, body: object, headers: Readonly<Record<string, string>>) =>
  new Promise<{
    readonly headers: NodeJS.Dict<string | string[]>
    readonly trailers: NodeJS.Dict<string>
    readonly text: string
  }>((resolve, reject) => {
    const request = httpRequest(
      url,
      { method: "POST", headers: { "content-type": "application/json", ...headers } },
      (response) => {
        let text = ""
        response.on("data", (chunk: Buffer) => (text += chunk.toString()))
        response.on("end", () => resolve({ headers: response.headers, trailers: response.trailers, text }))
      }
    )
    request.on("error", reject)
    request.end(JSON.stringify(body))
  })

describe("the cost of a stream", () => {
  scenario("stands in its trailers, for a client that takes some", async ({ gateway, upstream }) => {
    await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 10, output: 10 } } })
    upstream.always(Fake.sse(Fake.chatStream(["one"])))
    const url = `${gateway.url}/v1/chat/completions`
    const body = { ...question, stream: true }
    const takes = { te: "trailers" }
    const { headers, text, trailers } = await askRaw(url, body, { ...takes, "idempotency-key": "a" })
    assert.include(text, "[DONE]")
    assert.include(headers["trailer"], "X-Gateway-Response-Cost")
    assert.deepInclude(trailers, {
      "x-gateway-response-cost": "0.0001000000",
      "x-gateway-tokens-in": "7",
      "x-gateway-tokens-out": "3",
      "x-gateway-cache-hit": "false"
    })
    assert.match(trailers["x-gateway-latency-ms"] ?? "", /^\d+$/)
    const again = await askRaw(url, body, { ...takes, "idempotency-key": "a" })
    assert.strictEqual(again.text, text)
    assert.deepInclude(again.trailers, { "x-gateway-response-cost": "0.0000000000", "x-gateway-tokens-out": "0" })
    const without = await askRaw(url, body, {})
    assert.isUndefined(without.headers["trailer"])
    assert.isEmpty(without.trailers)
    upstream.always(Fake.json(Fake.chatCompletion()))
    const whole = await askRaw(url, question, takes)
    assert.isUndefined(whole.headers["trailer"])
    assert.strictEqual(whole.headers["x-gateway-response-cost"], "0.0001000000")
  })
})

/** The plugins that come with the gateway, at work on real requests. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { installSample, linesOf } from "../../support/RealPlugins.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const usage = { in: 11, out: 4 }

const answering: Fake.Answer = (response, request) =>
  JSON.parse(request.body).stream === true
    ? Fake.sse(Fake.chatStream(["a bad ", "Ba", "d word"], { usage }))(response, request)
    : Fake.json(Fake.chatCompletion({ text: "a bad Bad word", usage }))(response, request)

const setUp = Effect.gen(function* () {
  const dataDir = yield* temporaryFolder
  const gateway = yield* TestGateway.start({ dataDir })
  const upstream = yield* Fake.start
  upstream.always(answering)
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
  const chat = (content: string, more: object = {}, headers: Readonly<Record<string, string>> = {}) =>
    gateway.post("/v1/chat/completions", { model: "up/m", messages: [{ role: "user", content }], ...more }, headers)
  return { dataDir, gateway, upstream, chat }
})
type Room = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: Room) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

// eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
const errorOf = async (response: Response): Promise<any> => ((await response.json()) as any).error

describe("the samples", () => {
  scenario("rate-limiter: counts each value of a header, and answers 429 with when to come back", async (room) => {
    const { chat, gateway, upstream } = room
    await installSample(gateway, "rate-limiter", { perMinute: 2, header: "X-Team" })
    const statuses = async (headers: Readonly<Record<string, string>>) => {
      const answers = []
      for (let at = 0; at < 3; at += 1) answers.push((await chat("Hi", {}, headers)).status)
      return answers
    }
    assert.deepStrictEqual(await statuses({ "x-team": "blue" }), [200, 200, 429])
    assert.deepStrictEqual(await statuses({ "x-team": "red" }), [200, 200, 429])
    assert.deepStrictEqual(await statuses({}), [200, 200, 429])
    const refused = await chat("Hi", {}, { "x-team": "blue" })
    assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/)
    assert.strictEqual(refused.headers.get("x-gateway-plugins"), "rate-limiter")
    assert.deepInclude(await errorOf(refused), { code: "rate_limit_exceeded" })
    assert.strictEqual(upstream.requests.length, 6)
    await gateway.manage("PUT", "/api/plugins/rate-limiter/config", { values: { withoutHeader: "refuse" } })
    assert.strictEqual((await chat("Hi")).status, 400)
    await gateway.manage("PUT", "/api/plugins/rate-limiter/config", { values: { withoutHeader: "pass" } })
    assert.strictEqual((await chat("Hi")).status, 200)
  })

  scenario("word-guard: refuses a word wherever it stands, in any letter case", async ({ chat, gateway, upstream }) => {
    await installSample(gateway, "word-guard", { words: "tiger, lion", message: "No animals" })
    for (const response of [
      await chat("a Tiger"),
      await chat("Hi", { tools: [{ type: "function", function: { name: "feed_lion", parameters: {} } }] }),
      await chat("a tiger", { stream: true }),
      await gateway.post("/v1/responses", { model: "up/m", input: "LION" }),
      await gateway.post("/v1/embeddings", { model: "up/m", input: ["one", "tiger"] })
    ]) {
      assert.strictEqual(response.status, 403)
      assert.deepInclude(await errorOf(response), { message: "No animals", code: "word_not_allowed" })
    }
    assert.strictEqual(upstream.requests.length, 0)
    assert.strictEqual((await chat("a cat")).status, 200)
  })

  scenario("answer-filter: replaces words in whole answers and in streams", async ({ chat, gateway }) => {
    await installSample(gateway, "answer-filter", { words: "bad", replacement: "good" })
    const whole = await chat("Hi")
    assert.strictEqual(whole.headers.get("x-gateway-plugins"), "answer-filter")
    assert.include(await whole.text(), "a good good word")
    const streamed = await (await chat("Hi", { stream: true })).text()
    assert.include(streamed, "good")
    assert.notMatch(streamed, /bad|Ba"/)
    assert.include(streamed, "data: [DONE]")
  })

  scenario("cost-tracker: sums up what whole answers and streams took, by day and model", async (room) => {
    const { chat, dataDir, gateway } = room
    await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1_000_000, output: 0 } } })
    await installSample(gateway, "cost-tracker", { warnAboveUsd: 1 }, ["file-read", "file-write"])
    await chat("Hi")
    await (await chat("Hi", { stream: true })).text()
    const file = join(dataDir, "plugin-data", "cost-tracker", "costs.json")
    const read = (): ReadonlyArray<Record<string, unknown>> => {
      try {
        return Object.values(JSON.parse(readFileSync(file, "utf8")))
      } catch {
        return []
      }
    }
    const [day] = await eventually("two requests in its file", read, ([sum]) => sum?.["requests"] === 2)
    assert.deepInclude(day, { tokensIn: 22, tokensOut: 8, costUsd: 22, models: { "up/m": 22 } })
    assert.match((await linesOf(gateway, "cost-tracker"))[0] ?? "", /USD so far, more than 1$/)
  })

  scenario(
    "request-logger: writes what was asked, what failed and how it ended",
    async ({ chat, gateway, upstream }) => {
      await installSample(gateway, "request-logger", { headers: "x-team" })
      await chat("Hi", {}, { "x-team": "blue" })
      await (await chat("Hi", { stream: true })).text()
      upstream.always(Fake.json({ error: { message: "no such thing" } }, { status: 404 }))
      await chat("Hi")
      const lines = await eventually(
        "all lines",
        () => linesOf(gateway, "request-logger"),
        (found) => found.some((line) => /\b404 /.test(line)) && found.some((line) => line.includes("completed: "))
      )
      const all = lines.join("\n")
      assert.match(all, /chat up\/m -> up\/m \(\S+\) x-team="blue"/)
      assert.match(all, /answered with 200: 11 tokens in, 4 out, /)
      assert.match(all, /completed: 11 tokens in, 4 out, /)
      assert.match(all, /attempt 1 at up\/m failed: \S+ \(404\)/)
      assert.notInclude(all, "Hi")
    }
  )
})

/** The gateway's own headers of answers, over HTTP. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { version } from "../../../src/platform/Version.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const [one, two] = yield* Effect.all([Fake.start, Fake.start])
  one.always(Fake.json(Fake.chatCompletion({ usage: { in: 20, out: 100 } })))
  two.always(Fake.json({ error: { message: "down" } }, { status: 503 }))
  yield* Effect.promise(async () => {
    await gateway.connect("one", one, "chat", { models: ["m"] })
    await gateway.connect("two", two, "chat", { models: ["m"] })
    await gateway.manage("PATCH", "/api/pricing", { one: { m: { input: 1, output: 10 } } })
    await gateway.combo("both", "two/m", "one/m")
  })
  return { gateway, one }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const messages = [{ role: "user", content: "Hi" }]

scenario("every answer has its id and the version, whatever is asked", async ({ gateway, one }) => {
  const answers = await Promise.all([
    gateway.post("/v1/chat/completions", { model: "one/m", messages }),
    gateway.post("/v1/messages", { model: "nowhere/m", messages, max_tokens: 5 }),
    gateway.post("/v1/responses", "no object"),
    gateway.post("/v1/no-such-path", {}),
    fetch(`${gateway.url}/v1/models`),
    fetch(`${gateway.url}/v1/chat/completions`),
    fetch(`${gateway.url}/v1/files/file-none`),
    fetch(`${gateway.url}/api/keys`),
    fetch(`${gateway.url}/`)
  ])
  const ids = new Set<string>()
  for (const answer of answers) {
    assert.strictEqual(answer.headers.get("x-gateway-version"), version, answer.url)
    ids.add(answer.headers.get("x-gateway-request-id") ?? "none")
    await answer.arrayBuffer()
  }
  assert.notInclude([...ids], "none")
  assert.strictEqual(ids.size, answers.length)
  one.always(Fake.sse(Fake.chatStream(["Hi"])))
  const streamed = await gateway.post("/v1/chat/completions", { model: "one/m", messages, stream: true })
  assert.strictEqual(streamed.headers.get("x-gateway-version"), version)
  assert.isString(streamed.headers.get("x-gateway-request-id"))
  await streamed.arrayBuffer()
})

scenario("a whole answer tells its cost, its tokens, who gave it and how long it took", async ({ gateway }) => {
  for (const [model, fallbacks] of [
    ["one/m", null],
    ["both", "1"]
  ] as const) {
    const { headers, status } = await gateway.post("/v1/chat/completions", { model, messages })
    assert.strictEqual(status, 200)
    assert.strictEqual(headers.get("x-gateway-response-cost"), "0.0010200000")
    assert.strictEqual(headers.get("x-gateway-tokens-in"), "20")
    assert.strictEqual(headers.get("x-gateway-tokens-out"), "100")
    assert.strictEqual(headers.get("x-gateway-provider"), "one")
    assert.strictEqual(headers.get("x-gateway-model"), "m")
    assert.match(headers.get("x-gateway-latency-ms") ?? "", /^\d+$/)
    assert.strictEqual(headers.get("x-gateway-fallback-attempts"), fallbacks)
  }
})

scenario("a session's id is taken in every spelling, and told back", async ({ gateway }) => {
  for (const name of ["X-Session-Id", "x_session_id"]) {
    const { headers } = await gateway.post(
      "/v1/chat/completions",
      { model: "one/m", messages },
      { [name]: `s-${name}` }
    )
    assert.strictEqual(headers.get("x-gateway-session-id"), `s-${name}`)
  }
  const plain = await gateway.post("/v1/chat/completions", { model: "one/m", messages })
  assert.isNull(plain.headers.get("x-gateway-session-id"))
})

/** Music over HTTP: jobs of providers, waited for. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  yield* Effect.promise(() => gateway.connect("one", upstream, "chat"))
  return { gateway, upstream }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

describe("POST /v1/music/generations", () => {
  scenario("submits a job, waits for it and answers with what was made", async ({ gateway, upstream }) => {
    upstream.always((response, request) =>
      Fake.json(
        request.method === "POST"
          ? { id: "song 1", status: "pending" }
          : { id: "song 1", status: "success", duration: 90.5, output: [{ audio_url: "https://cdn.test/song.mp3" }] }
      )(response, request)
    )
    await gateway.manage("PATCH", "/api/pricing", { one: { m: { perSecond: 0.002 } } })
    const response = await gateway.post("/v1/music/generations", { model: "one/m", lyrics: "Open, gate", seed: 1 })
    assert.strictEqual(response.status, 200)
    const answer = (await response.json()) as Record<string, unknown>
    assert.deepInclude(answer, { status: "completed", seconds: 90.5 })
    assert.deepStrictEqual(answer["data"], [{ url: "https://cdn.test/song.mp3" }])
    assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.1810000000")
    assert.deepStrictEqual(
      upstream.requests.map(({ method, url }) => `${method} ${url}`),
      ["POST /v1/music/generations", "GET /v1/music/generations/song%201"]
    )
    assert.deepStrictEqual(JSON.parse(upstream.requests[0]?.body ?? ""), {
      lyrics: "Open, gate",
      seed: 1,
      model: "m"
    })
  })

  scenario("goes where a node says, and refuses what is no request", async ({ gateway, upstream }) => {
    upstream.always(Fake.json({ id: "1", status: "done", output: "https://cdn.test/song.mp3" }))
    await gateway.manage("POST", "/api/provider-nodes", {
      name: "own",
      prefix: "own",
      type: "openai-compatible",
      baseUrl: `${upstream.origin}/v1`,
      mediaPaths: { music: "/songs" }
    })
    await gateway.manage("POST", "/api/providers", { provider: "own", name: "own", apiKey: "k", models: ["m"] })
    for (const wrong of [{}, { prompt: "" }, { prompt: 1 }]) {
      assert.strictEqual((await gateway.post("/v1/music/generations", { model: "own/m", ...wrong })).status, 400)
    }
    assert.strictEqual(upstream.requests.length, 0)
    const response = await gateway.post("/v1/music/generations", { model: "own/m", prompt: "A slow waltz." })
    assert.strictEqual(response.status, 200)
    assert.strictEqual(upstream.requests[0]?.url, "/v1/songs")
  })
})

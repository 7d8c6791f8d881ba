/** Films over HTTP: jobs of providers, waited for. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const first = yield* Fake.start
  const second = yield* Fake.start
  yield* Effect.promise(() => gateway.connect("one", first, "chat"))
  yield* Effect.promise(() => gateway.connect("two", second, "chat"))
  yield* Effect.promise(() => gateway.combo("films", "one/m", "two/m"))
  const film = (model: string, more: object = {}) =>
    gateway.post("/v1/videos/generations", { model, prompt: "A gate opens.", ...more })
  return { gateway, first, second, film }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const polls = new Map<string, number>()

/** A provider in OpenAI's form whose jobs are over with the second poll. */
const openAi =
  (last: object): Fake.Answer =>
  (response, request) => {
    polls.set(request.url, (polls.get(request.url) ?? 0) + 1)
    const state = request.method === "POST" ? "queued" : "in_progress"
    const isLast = request.method === "GET" && (polls.get(request.url) ?? 0) > 1
    return Fake.json({ id: "video_1", object: "video", status: state, ...(isLast ? last : {}) })(response, request)
  }

describe("GET on the same paths", () => {
  scenario("lists the models that make films, and those that make music", async ({ first, gateway }) => {
    const connect = (provider: string, models: ReadonlyArray<string>) =>
      gateway.manage("POST", "/api/providers", { provider, apiKey: "k", baseUrl: `${first.origin}/v1`, models })
    await connect("openai", ["gpt-4o", "sora-2", "gpt-image-1", "tts-1"])
    await connect("runway", ["gen4_turbo", "upscale_v1"])
    await connect("suno", ["V4_5"])
    await connect("replicate", ["minimax/video-01", "minimax/music-01", "black-forest-labs/flux-dev"])
    const listed = async (kind: string): Promise<ReadonlyArray<string>> => {
      const { data, object } = await gateway.manage("GET", `/v1/${kind}/generations`)
      assert.strictEqual(object, "list")
      return data.map(({ id }: { readonly id: string }) => id).sort()
    }
    assert.deepStrictEqual(await listed("videos"), [
      "openai/sora-2",
      "replicate/minimax/video-01",
      "runway/gen4_turbo",
      "runway/upscale_v1"
    ])
    assert.deepStrictEqual(await listed("music"), ["replicate/minimax/music-01", "suno/V4_5"])
    const one = await gateway.manage("GET", "/v1/videos/generations?limit=1")
    assert.deepStrictEqual([one.data.length, one.has_more], [1, true])
  })
})

describe("POST /v1/videos/generations", () => {
  scenario("submits a job, waits for it and answers with what was made", async ({ film, first, gateway }) => {
    polls.clear()
    await gateway.manage("PATCH", "/api/pricing", { one: { m: { perSecond: 0.1 } } })
    first.always(openAi({ status: "completed", seconds: "6", data: [{ url: "https://cdn.test/film.mp4" }] }))
    const response = await film("one/m", { seconds: 8, size: "1280x720", seed: 5 })
    const answer = (await response.json()) as Record<string, unknown>
    assert.strictEqual(response.status, 200, JSON.stringify(answer))
    assert.deepInclude(answer, {
      id: response.headers.get("x-gateway-request-id"),
      status: "completed",
      model: "m",
      seconds: 6
    })
    assert.deepStrictEqual(answer["data"], [{ url: "https://cdn.test/film.mp4" }])
    assert.strictEqual(response.headers.get("x-gateway-provider"), "one")
    assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.6000000000")
    assert.deepStrictEqual(
      first.requests.map(({ method, url }) => `${method} ${url}`),
      ["POST /v1/videos", "GET /v1/videos/video_1", "GET /v1/videos/video_1"]
    )
    assert.deepStrictEqual(JSON.parse(first.requests[0]?.body ?? ""), {
      prompt: "A gate opens.",
      size: "1280x720",
      seed: 5,
      model: "m",
      seconds: "8"
    })
    assert.strictEqual(first.requests[1]?.headers.authorization, "Bearer upstream-key-of-one")
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { outcome: "completed", costUsd: 0.6, usageSource: "upstream", attempts: 1 })
  })

  for (const [what, failing] of [
    ["a submit that failed", Fake.json({ error: { message: "busy" } }, { status: 503 })],
    ["a job that failed", Fake.json({ id: "v", status: "failed", error: { code: "internal_error", message: "broke" } })]
  ] as const) {
    scenario(`goes on at the next target after ${what}`, async ({ film, first, gateway, second }) => {
      first.always(failing)
      second.always(Fake.json({ id: "v2", status: "succeeded", output: ["https://cdn.test/two.mp4"] }))
      const response = await film("films", { seconds: "4" })
      assert.strictEqual(response.status, 200)
      assert.deepStrictEqual(((await response.json()) as { data: unknown }).data, [{ url: "https://cdn.test/two.mp4" }])
      const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
      assert.deepInclude(row, { outcome: "completed", provider: "two", attempts: 2 })
    })
  }

  scenario("goes on at a provider of another form, with its own fields and states", async (room) => {
    const { film, first, gateway, second } = room
    const connect = (provider: string, upstream: Fake.FakeUpstream, models: ReadonlyArray<string>) =>
      gateway.manage("POST", "/api/providers", {
        provider,
        name: provider,
        apiKey: "k",
        baseUrl: `${upstream.origin}/v1`,
        models
      })
    await connect("runway", first, ["gen4"])
    await connect("replicate", second, ["a/b"])
    await gateway.combo("forms", "runway/gen4", "replicate/a/b")
    first.always((response, request) =>
      Fake.json(request.method === "POST" ? { id: "t" } : { id: "t", status: "FAILED", failureCode: "INTERNAL" })(
        response,
        request
      )
    )
    second.always((response, request) =>
      Fake.json(
        request.method === "POST"
          ? { id: "p", status: "starting", urls: { get: `${second.origin}/v1/predictions/p` } }
          : { id: "p", status: "succeeded", output: "https://cdn.test/film.mp4" }
      )(response, request)
    )
    const response = await film("forms", { seconds: 5, size: "1280x720" })
    assert.strictEqual(response.status, 200)
    assert.deepStrictEqual(((await response.json()) as { data: unknown }).data, [{ url: "https://cdn.test/film.mp4" }])
    assert.strictEqual(response.headers.get("x-gateway-fallback-attempts"), "1")
    assert.strictEqual(response.headers.get("x-gateway-dropped"), "size")
    assert.deepStrictEqual(
      [...first.requests, ...second.requests].map(({ method, url }) => `${method} ${url}`),
      ["POST /v1/text_to_video", "GET /v1/tasks/t", "POST /v1/predictions", "GET /v1/predictions/p"]
    )
    assert.strictEqual(first.requests[0]?.headers["x-runway-version"], "2024-11-06")
    assert.strictEqual(second.requests[1]?.headers.authorization, "Bearer k")
  })

  scenario(
    "tells the client that its prompt was refused, and asks no other target",
    async ({ film, first, second }) => {
      first.always(
        Fake.json({
          id: "v",
          status: "failed",
          error: { code: "moderation_blocked", message: "Blocked by moderation." }
        })
      )
      const response = await film("one/m")
      assert.strictEqual(response.status, 400)
      const { error } = (await response.json()) as { error: { message: string } }
      assert.match(error.message, /Blocked by moderation/)
      assert.strictEqual(second.requests.length, 0)
    }
  )

  scenario("cancels the job at the provider when the client leaves", async ({ first, gateway }) => {
    const deleted = Fake.makeLatch()
    const polled = Fake.makeLatch()
    first.always((response, request) => {
      if (request.method === "DELETE") deleted.open()
      if (request.method === "GET") polled.open()
      return Fake.json({ id: "v", status: "in_progress" })(response, request)
    })
    const leaving = new AbortController()
    const asking = gateway
      .post("/v1/videos/generations", { model: "one/m", prompt: "A gate." }, {}, leaving.signal)
      .catch(() => null)
    await polled.opened
    leaving.abort()
    await asking
    await deleted.opened
    assert.strictEqual(first.requests.at(-1)?.url, "/v1/videos/v")
  })

  scenario("refuses what is no request for a film", async ({ film, first }) => {
    for (const wrong of [{ prompt: "" }, { prompt: 5 }, { seconds: "long" }, { seconds: -1 }, { async: "yes" }]) {
      const response = await film("one/m", wrong)
      assert.strictEqual(response.status, 400, JSON.stringify(wrong))
      assert.strictEqual(((await response.json()) as { error: { param: string } }).error.param, Object.keys(wrong)[0])
    }
    assert.strictEqual(first.requests.length, 0)
  })
})

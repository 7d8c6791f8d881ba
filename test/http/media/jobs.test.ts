/** Jobs that no client waits for: how they stand, their bytes, their end, and what a restart makes of them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import * as TestGateway from "../../support/TestGateway.ts"

interface Job {
  readonly id: string
  readonly status: string
  readonly progress: number
  readonly data?: ReadonlyArray<{ readonly url?: string }>
  readonly seconds?: string
  readonly error: { readonly message: string; readonly code: string | null } | null
}

/** A provider in OpenAI's form: jobs go on until they are let go. */
const makeProvider = (bytes: Buffer, last: object = { status: "completed", seconds: "4" }) => {
  const state = { isDone: false }
  const answer: Fake.Answer = (response, request) => {
    if (request.url.endsWith("/content")) {
      return void response.writeHead(200, { "content-type": "video/mp4", "content-length": bytes.length }).end(bytes)
    }
    const running = { status: request.method === "POST" ? "queued" : "in_progress", progress: 30 }
    return Fake.json({ id: "v1", object: "video", ...(state.isDone ? last : running) })(response, request)
  }
  return { state, answer }
}

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  yield* Effect.promise(() => gateway.connect("one", upstream, "chat"))
  const get = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Job> =>
    (await fetch(gateway.url + path, { headers })).json() as Promise<Job>
  const begin = async (kind = "videos", headers: Readonly<Record<string, string>> = {}): Promise<Job> => {
    const body = { model: "one/m", prompt: "A gate.", async: true }
    const response = await gateway.post(`/v1/${kind}/generations`, body, headers)
    assert.strictEqual(response.status, 202)
    return (await response.json()) as Job
  }
  const becomes = (status: string, path: string): Promise<Job> =>
    eventually(
      `the job is ${status}`,
      () => get(path),
      (job) => job.status === status
    )
  return { gateway, upstream, get, begin, becomes }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const isTrue = (value: boolean): boolean => value

const lines = ({ requests }: Fake.FakeUpstream) => requests.map(({ method, url }) => `${method} ${url}`)

describe("a job that no client waits for", () => {
  scenario("answers at once, and tells how the job stands until it is made", async (room) => {
    const { becomes, begin, gateway, upstream } = room
    const { answer, state } = makeProvider(Buffer.from("film"))
    upstream.always(answer)
    await gateway.manage("PATCH", "/api/pricing", { one: { m: { perSecond: 0.1 } } })
    const begun = await begin()
    assert.strictEqual(begun.status, "queued")
    const path = `/v1/videos/generations/${begun.id}`
    assert.strictEqual((await becomes("in_progress", path)).progress, 30)
    state.isDone = true
    const done = await becomes("completed", path)
    assert.deepStrictEqual(done.data, [{ url: `${gateway.url}${path}/content` }])
    assert.deepInclude(await room.get(`/v1/videos/${begun.id}`), { seconds: "4", error: null })
    assert.deepInclude(await gateway.usageRow(begun.id), { outcome: "completed", costUsd: 0.4 })
    assert.strictEqual(lines(upstream).filter((line) => line.startsWith("POST")).length, 1)
  })

  scenario("passes through bytes that only the provider's credential opens", async (room) => {
    const { gateway, upstream } = room
    const bytes = randomBytes(3_000_000)
    const { answer, state } = makeProvider(bytes)
    state.isDone = true
    upstream.always(answer)
    const response = await gateway.post("/v1/videos/generations", { model: "one/m", prompt: "A gate." })
    const { data } = (await response.json()) as Job
    const content = await fetch(data?.[0]?.url ?? "")
    assert.strictEqual(content.status, 200)
    assert.strictEqual(content.headers.get("content-type"), "video/mp4")
    assert.isTrue(Buffer.from(await content.arrayBuffer()).equals(bytes))
    assert.strictEqual(upstream.requests.at(-1)?.headers.authorization, "Bearer upstream-key-of-one")
  })

  scenario("refuses and cuts bytes beyond the limit", async ({ gateway, upstream }) => {
    const bytes = randomBytes(1_200_000)
    const { answer, state } = makeProvider(bytes)
    state.isDone = true
    let isTold = true
    upstream.always((response, request) => {
      if (!request.url.endsWith("/content") || isTold) return answer(response, request)
      response.writeHead(200, { "content-type": "video/mp4" })
      response.end(bytes)
    })
    await gateway.manage("PATCH", "/api/settings", { media: { maxAnswerMb: 1 } })
    const response = await gateway.post("/v1/videos/generations", { model: "one/m", prompt: "A gate." })
    const { data } = (await response.json()) as Job
    const url = data?.[0]?.url ?? ""
    const refused = await fetch(url)
    assert.strictEqual(refused.status, 502)
    assert.match(((await refused.json()) as { error: { message: string } }).error.message, /maxAnswerMb/)
    isTold = false
    const cut = await fetch(url)
      .then((answered) => answered.arrayBuffer())
      .catch(() => null)
    assert.isNull(cut)
  })

  scenario("leads to where the provider keeps it, and says so while there is nothing", async (room) => {
    const { becomes, begin, gateway, upstream } = room
    const { answer, state } = makeProvider(Buffer.alloc(0), {
      status: "completed",
      data: [{ url: "https://cdn.test/film.mp4" }]
    })
    upstream.always(answer)
    const { id } = await begin()
    const early = await fetch(`${gateway.url}/v1/videos/${id}/content`)
    assert.strictEqual(early.status, 409)
    state.isDone = true
    await becomes("completed", `/v1/videos/generations/${id}`)
    const moved = await fetch(`${gateway.url}/v1/videos/${id}/content`, { redirect: "manual" })
    assert.strictEqual(moved.status, 302)
    assert.strictEqual(moved.headers.get("location"), "https://cdn.test/film.mp4")
  })

  scenario("is cancelled at the provider, and forgotten when it is over", async (room) => {
    const { becomes, begin, gateway, upstream } = room
    upstream.always(makeProvider(Buffer.alloc(0)).answer)
    for (const [method, suffix] of [
      ["POST", "/cancel"],
      ["DELETE", ""]
    ] as const) {
      const { id } = await begin()
      const path = `/v1/videos/generations/${id}`
      await becomes("in_progress", path)
      const cancelled = await fetch(gateway.url + path + suffix, { method })
      assert.strictEqual(cancelled.status, 200)
      assert.strictEqual(((await cancelled.json()) as Job).status, "cancelled")
      await eventually(
        "the provider's job is cancelled",
        () => lines(upstream).at(-1) === "DELETE /v1/videos/v1",
        isTrue
      )
      assert.strictEqual((await fetch(`${gateway.url}${path}/cancel`, { method: "POST" })).status, 409)
      assert.strictEqual((await fetch(gateway.url + path, { method: "DELETE" })).status, 200)
      assert.strictEqual((await fetch(gateway.url + path)).status, 404)
    }
  })

  scenario("fails with the provider's words, and is given up when it takes too long", async (room) => {
    const { becomes, begin, gateway, upstream } = room
    const { answer, state } = makeProvider(Buffer.alloc(0), {
      status: "failed",
      error: { code: "moderation_blocked", message: "Blocked." }
    })
    upstream.always(answer)
    state.isDone = true
    const refused = await becomes("failed", `/v1/videos/generations/${(await begin()).id}`)
    assert.match(refused.error?.message ?? "", /Blocked/)
    state.isDone = false
    await gateway.manage("PATCH", "/api/settings", { media: { jobMaxMs: 1_500 } })
    const late = await becomes("failed", `/v1/videos/generations/${(await begin()).id}`)
    assert.match(late.error?.message ?? "", /not finished within .* It was cancelled at the provider/)
    await eventually("it is cancelled", () => lines(upstream).at(-1) === "DELETE /v1/videos/v1", isTrue)
  })

  scenario("is refused before it begins like any request, and bounded in number", async (room) => {
    const { begin, gateway, upstream } = room
    upstream.always(makeProvider(Buffer.alloc(0)).answer)
    const ask = (body: object) => gateway.post("/v1/videos/generations", { async: true, ...body })
    assert.strictEqual((await ask({ model: "one/m" })).status, 400)
    assert.strictEqual((await ask({ model: "none/such", prompt: "A gate." })).status, 404)
    assert.strictEqual(upstream.requests.length, 0)
    await gateway.manage("PATCH", "/api/settings", { media: { maxJobs: 1 } })
    await begin()
    const response = await ask({ model: "one/m", prompt: "A gate." })
    assert.strictEqual(response.status, 429)
    assert.isNotNull(response.headers.get("retry-after"))
  })

  scenario("is not there for another key", async ({ begin, gateway, upstream }) => {
    upstream.always(makeProvider(Buffer.alloc(0)).answer)
    const one = await gateway.manage("POST", "/api/keys", { name: "one" })
    const other = await gateway.manage("POST", "/api/keys", { name: "other" })
    const { id } = await begin("videos", { authorization: `Bearer ${one.secret}` })
    for (const [secret, status] of [
      [one.secret, 200],
      [other.secret, 404]
    ] as const) {
      const headers = { authorization: `Bearer ${secret}` }
      for (const path of [`/v1/videos/generations/${id}`, `/v1/videos/${id}`]) {
        assert.strictEqual((await fetch(gateway.url + path, { headers })).status, status)
      }
    }
    const headers = { authorization: `Bearer ${other.secret}` }
    assert.strictEqual((await fetch(`${gateway.url}/v1/videos/${id}`, { method: "DELETE", headers })).status, 404)
    assert.notInclude(lines(upstream), "DELETE /v1/videos/v1")
  })

  scenario("is the same for music", async ({ becomes, begin, gateway, upstream }) => {
    const { answer, state } = makeProvider(Buffer.from("song"))
    upstream.always(answer)
    const { id } = await begin("music")
    const path = `/v1/music/generations/${id}`
    await becomes("in_progress", path)
    assert.strictEqual((await fetch(`${gateway.url}/v1/videos/generations/${id}`)).status, 404)
    state.isDone = true
    assert.deepStrictEqual((await becomes("completed", path)).data, [{ url: `${gateway.url}${path}/content` }])
    assert.strictEqual(await (await fetch(`${gateway.url}${path}/content`)).text(), "song")
    assert.strictEqual((await fetch(`${gateway.url}${path}/cancel`, { method: "POST" })).status, 409)
    assert.strictEqual((await fetch(gateway.url + path, { method: "DELETE" })).status, 200)
  })
})

describe("a restart in the middle of a job", () => {
  it.scopedLive("goes on with what the provider has, submits nothing twice, and counts the money once", () =>
    Effect.gen(function* () {
      const dataDir = mkdtempSync(join(tmpdir(), "gateway-jobs-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dataDir, { recursive: true, force: true })))
      const upstream = yield* Fake.start
      const { answer, state } = makeProvider(Buffer.from("film"))
      upstream.always(answer)
      const first = yield* Scope.make()
      const before = yield* Scope.extend(TestGateway.start({ dataDir }), first)
      const begun = yield* Effect.promise(async () => {
        await before.connect("one", upstream, "chat")
        await before.manage("PATCH", "/api/pricing", { one: { m: { perSecond: 0.1 } } })
        const { key, secret } = await before.manage("POST", "/api/keys", { name: "one" })
        await before.manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 1 })
        const headers = { authorization: `Bearer ${secret}` }
        const body = { model: "one/m", prompt: "A gate.", seconds: "8", async: true }
        const { id } = (await (await before.post("/v1/videos/generations", body, headers)).json()) as Job
        const show = () => fetch(`${before.url}/v1/videos/generations/${id}`, { headers })
        const status = async () => ((await (await show()).json()) as Job).status
        await eventually("it is polled", status, (told) => told === "in_progress")
        return { id, headers, key }
      })
      yield* Scope.close(first, Exit.void)
      const after = yield* TestGateway.start({ dataDir })
      yield* Effect.promise(async () => {
        const path = `/v1/videos/generations/${begun.id}`
        const show = async () => (await (await fetch(after.url + path, { headers: begun.headers })).json()) as Job
        assert.strictEqual((await show()).status, "in_progress")
        state.isDone = true
        await eventually("it is completed", async () => (await show()).status === "completed", isTrue)
        assert.strictEqual(lines(upstream).filter((line) => line.startsWith("POST")).length, 1)
        assert.notInclude(lines(upstream), "DELETE /v1/videos/v1")
        await eventually(
          "it is booked once",
          async () => {
            const { spentUsd } = await after.manage("GET", `/api/usage/budget?apiKeyId=${begun.key.id}`)
            return spentUsd === 0.4
          },
          isTrue
        )
      })
    })
  )

  it.scopedLive("reserves and books at the price of its beginning, also in a second life", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const upstream = yield* Fake.start
      const { answer, state } = makeProvider(Buffer.from("film"))
      upstream.always(answer)
      const life = <A>(run: (gateway: TestGateway.TestGateway) => Promise<A>) =>
        Effect.scoped(Effect.flatMap(TestGateway.start({ dataDir }), (gateway) => Effect.promise(() => run(gateway))))
      const heldUsd = async (gateway: TestGateway.TestGateway, apiKeyId: string): Promise<unknown> =>
        (await gateway.manage("GET", `/api/usage/budget?apiKeyId=${apiKeyId}`)).reservedUsd
      const begun = yield* life(async (gateway) => {
        await gateway.connect("one", upstream, "chat")
        await gateway.manage("PATCH", "/api/pricing", { one: { m: { perSecond: 0.1 } } })
        const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "one" })
        await gateway.manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 100 })
        const headers = { authorization: `Bearer ${secret}` }
        const body = { model: "one/m", prompt: "A gate.", seconds: "4", async: true }
        const { id } = (await (await gateway.post("/v1/videos/generations", body, headers)).json()) as Job
        const path = `${gateway.url}/v1/videos/generations/${id}`
        const status = async () => ((await (await fetch(path, { headers })).json()) as Job).status
        await eventually("it is polled", status, (told) => told === "in_progress")
        const held = await heldUsd(gateway, key.id)
        await gateway.manage("PATCH", "/api/pricing", { one: { m: { perSecond: 2 } } })
        return { id, headers, key, held }
      })
      const polls = (): number => lines(upstream).filter((line) => line === "GET /v1/videos/v1").length
      for (let again = 0; again < 2; again += 1) {
        const before = polls()
        yield* life(async (gateway) => {
          await eventually("it is asked about", polls, (count) => count > before)
          assert.strictEqual(await heldUsd(gateway, begun.key.id), begun.held)
        })
      }
      state.isDone = true
      yield* life(async (gateway) => {
        const path = `${gateway.url}/v1/videos/generations/${begun.id}`
        const status = async () => ((await (await fetch(path, { headers: begun.headers })).json()) as Job).status
        await eventually("it is completed", status, (told) => told === "completed")
        await eventually(
          "it is booked",
          async () => (await gateway.manage("GET", `/api/usage/budget?apiKeyId=${begun.key.id}`)).spentUsd,
          (spent) => spent > 0
        )
        const { spentUsd } = await gateway.manage("GET", `/api/usage/budget?apiKeyId=${begun.key.id}`)
        assert.strictEqual(spentUsd, 0.4)
      })
    })
  )
})

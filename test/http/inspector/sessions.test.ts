/** Recorded sessions: one at a time, on file, there after a restart, exported and imported. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { type Answer, base, bearer, start } from "./support.ts"

const har = (entries: ReadonlyArray<unknown>) => ({
  log: { version: "1.2", creator: { name: "t", version: "1" }, entries }
})

const entry = {
  startedDateTime: "2026-11-24T10:00:00.000Z",
  time: 12,
  request: {
    method: "GET",
    url: "https://api.example.com/things?api_key=sk-proj-4f8Gh2kLm9Qw4Zx8Vb1NcPq7Rt5",
    httpVersion: "HTTP/1.1",
    cookies: [],
    headers: [{ name: "Authorization", value: "Bearer f7Gh2kLm9Qw4Zx8Vb1Nc" }],
    queryString: [],
    headersSize: -1,
    bodySize: 0
  },
  response: {
    status: 200,
    statusText: "OK",
    httpVersion: "HTTP/1.1",
    cookies: [],
    headers: [{ name: "Content-Type", value: "application/json" }],
    content: { size: 2, mimeType: "application/json", text: "{}" },
    redirectURL: "",
    headersSize: -1,
    bodySize: 2
  },
  cache: {},
  timings: { send: 1, wait: 10, receive: 1 }
}

describe("recorded sessions", () => {
  it.scopedLive("count the retries of a prompt together", () =>
    Effect.gen(function* () {
      const { captured, json } = yield* start()
      yield* Effect.promise(async () => {
        const { session } = await json("POST", "/sessions", {})
        for (const [second, status] of [529, 500, 200].entries()) {
          await captured({ id: `r${second}`, timestamp: `2026-11-24T10:00:0${second}.000Z`, status })
        }
        await json("PATCH", `/sessions/${session.id}`, { action: "stop" })
        const { requests } = await json("GET", `/sessions/${session.id}`)
        assert.deepStrictEqual(
          requests.map(({ attempt, id, retryOf }: Answer) => [id, attempt, retryOf]),
          [
            ["r0", 1, null],
            ["r1", 2, "r0"],
            ["r2", 3, "r0"]
          ]
        )
      })
    })
  )

  it.scopedLive("record one at a time, and are frozen when they are stopped", () =>
    Effect.gen(function* () {
      const { ask, captured, json, refused } = yield* start()
      yield* Effect.promise(async () => {
        await captured({ id: "before" })
        const started = await ask("POST", "/sessions", { name: "first" })
        assert.strictEqual(started.status, 201)
        const { session }: Answer = await started.json()
        assert.deepInclude(session, {
          name: "first",
          state: "recording",
          endedAt: null,
          truncated: false,
          profile: "all"
        })
        assert.deepStrictEqual(await refused("POST", "/sessions", {}), [409, "recording"])
        const shown = await captured({ id: "within" })
        assert.strictEqual(shown.sessionId, session.id)
        const stopped = await json("PATCH", `/sessions/${session.id}`, { action: "stop" })
        assert.deepInclude(stopped.session, { state: "saved", requestCount: 1 })
        assert.deepStrictEqual(await refused("PATCH", `/sessions/${session.id}`, { action: "stop" }), [
          409,
          "not_recording"
        ])
        assert.strictEqual((await refused("PATCH", `/sessions/${session.id}`, { action: "go" }))[0], 400)
        const renamed = await json("PATCH", `/sessions/${session.id}`, { action: "rename", name: "second" })
        assert.strictEqual(renamed.session.name, "second")
        await json("PUT", "/requests/within/annotation", { annotation: "later" })
        await captured({ id: "after" })
        const detail = await json("GET", `/sessions/${session.id}`)
        assert.deepStrictEqual(
          detail.requests.map(({ annotation, id }: Answer) => [id, annotation]),
          [["within", null]]
        )
        assert.strictEqual(detail.session.name, "second")
        const { log } = await json("GET", `/sessions/${session.id}/export.har`)
        assert.strictEqual(log.entries[0]._gatewayId, "within")
        const lines = await (await ask("GET", `/sessions/${session.id}/export.jsonl`)).text()
        assert.strictEqual(JSON.parse(lines).id, "within")
        assert.strictEqual((await json("GET", "/sessions")).sessions.length, 1)
        assert.isNull(await json("DELETE", `/sessions/${session.id}`))
        for (const [method, path] of [
          ["GET", ""],
          ["DELETE", ""],
          ["GET", "/export.har"],
          ["GET", "/export.jsonl"]
        ] as const) {
          assert.deepStrictEqual(await refused(method, `/sessions/${session.id}${path}`), [404, "not_found"])
        }
        assert.deepStrictEqual(await refused("PATCH", "/sessions/none", { action: "stop" }), [404, "not_found"])
      })
    })
  )

  it.live("are interrupted by the end of the gateway, and keep what they have", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const dataDir = yield* temporaryFolder
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { captured, json } = yield* start({ dataDir })
            yield* Effect.promise(async () => {
              await json("POST", "/sessions", { name: "cut" })
              await captured({ id: "kept" })
            })
          })
        )
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { json } = yield* start({ dataDir })
            yield* Effect.promise(async () => {
              const [session] = (await json("GET", "/sessions")).sessions
              assert.deepInclude(session, { name: "cut", state: "interrupted", requestCount: 1 })
              assert.isString(session.endedAt)
              assert.strictEqual((await json("GET", `/sessions/${session.id}`)).requests[0].id, "kept")
            })
          })
        )
      })
    )
  )

  it.scopedLive("are made of archives of other programs, whose secrets are masked", () =>
    Effect.gen(function* () {
      const { ask, gateway, json, refused } = yield* start()
      yield* Effect.promise(async () => {
        const imported = await ask("POST", "/sessions/import", har([entry]))
        assert.strictEqual(imported.status, 201)
        const { session }: Answer = await imported.json()
        assert.deepInclude(session, { state: "saved", requestCount: 1 })
        const detail = JSON.stringify(await json("GET", `/sessions/${session.id}`))
        assert.include(detail, "api.example.com")
        assert.notInclude(detail, "f7Gh2kLm9Qw4")
        assert.notInclude(detail, "4f8Gh2kLm9Qw4Zx8")
        assert.strictEqual((await json("GET", "/requests")).total, 0)
        const wrong = [
          "no JSON",
          "[]",
          "{}",
          har([{}]),
          har([{ ...entry, startedDateTime: 5 }]),
          har([{ ...entry, response: { ...entry.response, status: "200" } }]),
          { log: { version: "1.2", entries: {} } }
        ]
        for (const file of wrong) {
          assert.deepStrictEqual(
            await refused("POST", "/sessions/import", file),
            [400, "invalid_har"],
            JSON.stringify(file)
          )
        }
        const { hostname, port } = new URL(gateway.url)
        const { request } = await import("node:http")
        const status = await new Promise<number>((resolve, reject) => {
          const asking = request({
            hostname,
            port,
            method: "POST",
            path: `${base}/sessions/import`,
            headers: { ...bearer, "content-length": String(200 * 1_048_576) }
          })
          asking.on("response", (response) => {
            resolve(response.statusCode ?? 0)
            asking.destroy()
          })
          asking.on("error", reject)
          asking.flushHeaders()
        })
        assert.strictEqual(status, 413)
        assert.strictEqual((await json("GET", "/sessions")).sessions.length, 1)
      })
    })
  )
})

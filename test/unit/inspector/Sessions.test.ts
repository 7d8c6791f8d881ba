import { assert, describe, it } from "@effect/vitest"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { Ring } from "../../../src/observe/inspector/Ring.ts"
import { makeSessions, type SessionLimits, usualSessionLimits } from "../../../src/observe/inspector/Sessions.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import { Timers } from "../../../src/platform/Timers.ts"
import * as InspectorSessionRepo from "../../../src/subjects/inspector/repo.ts"
import { eventually } from "../../support/eventually.ts"
import { aHead, aRecord } from "../../support/TrafficRecords.ts"
import * as TestTimers from "../../support/TestTimers.ts"
import { reposInMemory } from "../store/fixtures.ts"

const services = Layer.mergeAll(
  TestTimers.layer,
  IdGen.layerCounting("s"),
  InspectorSessionRepo.layer.pipe(Layer.provideMerge(reposInMemory))
)

const recording = (isMasked = true, limits: SessionLimits = usualSessionLimits) =>
  Effect.gen(function* () {
    const ring = new Ring({ maxEntries: 20_000, maxBytes: 2_000_000_000 })
    const repo = yield* InspectorSessionRepo.InspectorSessionRepo
    const timers = yield* Timers
    const sessions = yield* makeSessions(
      {
        repo,
        timers,
        ids: yield* IdGen.IdGen,
        entry: (id) => ring.get(id),
        isMasked
      },
      limits
    )
    const put = (id: string, body = "body", over: Parameters<typeof aHead>[0] = {}): void => {
      const bodies = { requestBody: Buffer.from(body), responseBody: null }
      const entry = ring.set(aHead({ id, sessionId: sessions.recording(), ...over }), bodies)
      if (entry !== null) sessions.changed(entry)
    }
    return { put, repo, ring, sessions, timers }
  })

describe("recorded sessions", () => {
  it.scoped("are on file within a second, as a crash would find them", () =>
    Effect.gen(function* () {
      const { put, repo, sessions, timers } = yield* recording()
      put("before")
      assert.strictEqual(timers.live(), 0)
      const { id } = yield* sessions.start(null)
      put("a", "first", { status: "in-flight" })
      put("b")
      assert.strictEqual(timers.live(), 1)
      yield* TestClock.adjust("500 millis")
      const onFile = Effect.map(repo.records(id, 0, 10), ({ records }) => records.map(({ recordId }) => recordId))
      const written = yield* Effect.promise(() =>
        eventually(
          "both records",
          () => Effect.runPromise(onFile),
          (ids) => ids.length === 2
        )
      )
      assert.deepStrictEqual(written, ["a", "b"])
      put("a", "second", { status: 200 })
      yield* TestClock.adjust("500 millis")
      yield* sessions.flush
      // A second process finds it.
      yield* repo.interrupt
      const after = yield* recording()
      const { records } = yield* after.sessions.page(id, 0)
      assert.deepInclude(records[0], { id: "a", requestBody: "second", status: 200 })
      assert.deepInclude(yield* after.sessions.get(id), { state: "interrupted", requestCount: 2 })
      assert.isNull(after.sessions.recording())
    }).pipe(Effect.provide(services))
  )

  it.scoped("lose nothing of a write that failed", () =>
    Effect.gen(function* () {
      const { put, sessions } = yield* recording()
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* sessions.start(null)
      put("a", "first")
      put("b")
      yield* sql`CREATE TRIGGER refusal BEFORE UPDATE ON inspector_sessions BEGIN SELECT RAISE(ABORT, 'refused'); END`
      yield* Effect.flip(sessions.flush)
      put("a", "second")
      yield* sql`DROP TRIGGER refusal`
      const stopped = yield* sessions.stop(id)
      assert.deepInclude(stopped, { state: "saved", requestCount: 2, truncated: false })
      const { records } = yield* sessions.page(id, 0)
      assert.deepStrictEqual(
        records.map((record) => [record.id, record.requestBody]),
        [
          ["a", "second"],
          ["b", "body"]
        ]
      )
    }).pipe(Effect.provide(services))
  )

  it.scoped("hold so many requests, and say that there were more", () =>
    Effect.gen(function* () {
      const { put, sessions } = yield* recording(true, { ...usualSessionLimits, maxRequests: 300 })
      const { id } = yield* sessions.start(null)
      for (let at = 0; at <= 300; at += 1) put(`r${at}`, "x")
      const stopped = yield* sessions.stop(id)
      assert.deepInclude(stopped, { state: "saved", requestCount: 300, truncated: true })
    }).pipe(Effect.provide(services))
  )

  it.scoped("hold so many bytes, whatever is written again", () =>
    Effect.gen(function* () {
      const { put, repo, sessions } = yield* recording(true, { ...usualSessionLimits, maxBytes: 256_000 })
      const { id } = yield* sessions.start(null)
      const large = "x".repeat(45_000)
      for (let at = 0; at < 7; at += 1) put(`r${at}`, large)
      put("r0", large, { status: 500 })
      const stopped = yield* sessions.stop(id)
      assert.deepInclude(stopped, { requestCount: 5, truncated: true })
      assert.isAtMost((yield* repo.get(id))?.bytes ?? 0, 256_000)
    }).pipe(Effect.provide(services))
  )

  it.scoped("hold no secret, whatever is in the ring", () =>
    Effect.gen(function* () {
      const { put, sessions } = yield* recording(false)
      const { id } = yield* sessions.start(null)
      put("a", '{"password":"f7Gh2kLm9Qw4Zx8V"}', { requestHeaders: { authorization: "Bearer f7Gh2kLm9Qw4Zx8V" } })
      yield* sessions.stop(id)
      assert.notInclude(JSON.stringify(yield* sessions.page(id, 0)), "f7Gh2kLm9Qw4")
    }).pipe(Effect.provide(services))
  )

  it.scoped("are removed while they record, and another one can begin", () =>
    Effect.gen(function* () {
      const { put, sessions } = yield* recording()
      const { id } = yield* sessions.start("one")
      put("a")
      yield* sessions.remove(id)
      assert.isNull(sessions.recording())
      const next = yield* sessions.start("two")
      assert.deepStrictEqual(
        (yield* sessions.list).map(({ name }) => name),
        ["two"]
      )
      assert.strictEqual((yield* sessions.rename(next.id, "three")).name, "three")
      assert.deepInclude(yield* sessions.stop(next.id), { name: "three", state: "saved" })
    }).pipe(Effect.provide(services))
  )

  it.scoped("come in pages, each record once", () =>
    Effect.gen(function* () {
      const { sessions } = yield* recording()
      const records = Array.from({ length: 120 }, (_, at) => aRecord({ id: `r${at}` }))
      const { id, requestCount } = yield* sessions.add("imported", records)
      assert.strictEqual(requestCount, 120)
      const seen: Array<string> = []
      for (let after: number | null = 0; after !== null;) {
        const page: { readonly records: ReadonlyArray<{ readonly id: string }>; readonly next: number | null } =
          yield* sessions.page(id, after)
        seen.push(...page.records.map((record) => record.id))
        after = page.next
      }
      const streamed = yield* Stream.runCollect(Stream.map(sessions.records(id), (record) => record.id))
      assert.deepStrictEqual([...streamed], seen)
      assert.deepStrictEqual(
        seen,
        records.map((record) => record.id)
      )
    }).pipe(Effect.provide(services))
  )
})

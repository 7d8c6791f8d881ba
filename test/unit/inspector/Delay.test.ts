/** How long what is captured takes to those who watch, on a clock of the test. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import type { Head } from "../../../src/contract/domain/TrafficRecord.ts"
import { itemOf } from "../../../src/contract/domain/TrafficRecord.ts"
import { makeFeed } from "../../../src/observe/inspector/Feed.ts"
import { makeIntake } from "../../../src/observe/inspector/Intake.ts"
import { usualSettings } from "../../../src/observe/inspector/Settings.ts"
import type { WorkThread } from "../../../src/observe/inspector/work/WorkThread.ts"
import { Timers } from "../../../src/platform/Timers.ts"
import * as TestTimers from "../../support/TestTimers.ts"

const start = { source: "tproxy", method: "GET", scheme: "https", host: "h", path: "/", headers: [] } as const

/** An intake and a feed whose thread answers at once, or not at all. */
const watched = (answers: () => boolean) =>
  Effect.map(Timers, (timers) => {
    const heads = new Map<string, Head>()
    const toldAtMs = new Map<string, number>()
    const behind: Array<unknown> = []
    const waiting: Array<() => void> = []
    const run = () =>
      new Promise((done) => {
        if (answers()) done(null)
        else waiting.push(() => done(null))
      })
    const thread = { run, runExchange: () => {}, isRunning: () => true, close: () => {} } as unknown as WorkThread
    const feed = makeFeed(timers, {
      item: (id) => {
        const head = heads.get(id)
        return head === undefined ? null : itemOf(head)
      },
      items: () => [],
      beside: (id) => id,
      behind: () => intake.behind()
    })
    const intake = makeIntake({
      settings: usualSettings,
      timers,
      thread: () => thread,
      newId: () => "none",
      sessionId: () => null,
      priceOf: () => null,
      known: (id) => heads.get(id) ?? null,
      reserve: () => {},
      working: feed.working,
      put: (head) => {
        feed.changed(head.id, !heads.has(head.id))
        heads.set(head.id, head)
      },
      putLate: () => {}
    })
    feed.subscribe({
      write: (text) => {
        const frame: { readonly type: string; readonly data: { readonly id: string } } = JSON.parse(text)
        if (frame.type === "behind") behind.push(frame.data)
        else if (frame.type === "new") toldAtMs.set(frame.data.id, timers.nowMs())
      },
      bufferedBytes: () => 0
    })
    const answerAll = (): void => {
      for (const answer of waiting.splice(0)) answer()
    }
    return { answerAll, behind, intake, timers, toldAtMs }
  })

/** Time goes on by milliseconds, and what is due in each is done in it. */
const pass = (ms: number) =>
  Effect.repeatN(
    Effect.zipRight(
      TestClock.adjust("1 millis"),
      Effect.promise(() => new Promise<void>((done) => setImmediate(() => setImmediate(done))))
    ),
    ms - 1
  )

describe("what is captured", () => {
  it.effect("reaches the feed within 70 ms, whenever it comes between others", () =>
    Effect.gen(function* () {
      const { intake, timers, toldAtMs } = yield* watched(() => true)
      const begunAtMs = new Map<string, number>()
      // One each seven milliseconds: they fall anywhere into the time that is gathered.
      for (let at = 0; at < 60; at += 1) {
        const id = intake.begin(operatorsOwn, { ...start, id: `r${at}` })
        begunAtMs.set(id, timers.nowMs())
        yield* pass(7)
      }
      yield* pass(100)
      assert.strictEqual(toldAtMs.size, 60)
      const delays = [...begunAtMs].map(([id, atMs]) => (toldAtMs.get(id) ?? Number.POSITIVE_INFINITY) - atMs)
      assert.isAtMost(Math.max(...delays), 70)
      assert.deepStrictEqual(intake.behind(), { behindMs: 0, waiting: 0 })
    }).pipe(Effect.provide(TestTimers.layer))
  )

  it.effect("is told to be behind while the thread does not come to it", () =>
    Effect.gen(function* () {
      const { answerAll, behind, intake } = yield* watched(() => false)
      for (const id of ["a", "b"]) {
        intake.begin(operatorsOwn, { ...start, id })
        intake.finish(id, { status: 200, responseBody: Buffer.from("{}") })
      }
      yield* pass(500)
      assert.deepStrictEqual(intake.behind(), { behindMs: 500, waiting: 2 })
      assert.deepStrictEqual(behind, [{ behindMs: 500, waiting: 2 }])
      answerAll()
      yield* pass(501)
      assert.deepStrictEqual(intake.behind(), { behindMs: 0, waiting: 0 })
      assert.deepStrictEqual(behind.slice(1), [{ behindMs: 0, waiting: 0 }])
      intake.close()
    }).pipe(Effect.provide(TestTimers.layer))
  )
})

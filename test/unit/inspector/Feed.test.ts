import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { highWaterBytes, makeFeed, maxChanges } from "../../../src/observe/inspector/Feed.ts"
import { type Item, itemOf } from "../../../src/contract/domain/TrafficRecord.ts"
import { Timers } from "../../../src/platform/Timers.ts"
import { aHead } from "../../support/TrafficRecords.ts"
import * as TestTimers from "../../support/TestTimers.ts"

interface Frame {
  readonly type: string
  readonly data: unknown
  readonly seq: number
}

/** A reader that counts what it was sent, and reads only when it is told to. */
const reader = (reads = true) => {
  const frames: Array<Frame> = []
  let unread = 0
  return {
    frames,
    types: () => frames.map(({ type }) => type),
    catchUp: () => {
      unread = 0
    },
    subscriber: {
      write: (text: string) => {
        frames.push(JSON.parse(text))
        if (!reads) unread += text.length
      },
      bufferedBytes: () => unread
    }
  }
}

const withFeed = Effect.map(Timers, (timers) => {
  const items = new Map<string, Item>()
  const state = { behind: { behindMs: 0, waiting: 0 } }
  const feed = makeFeed(timers, {
    item: (id) => items.get(id) ?? null,
    items: () => [...items.values()].toReversed(),
    beside: (id) => id,
    behind: () => state.behind
  })
  const put = (id: string, over: Parameters<typeof aHead>[0] = {}): void => {
    const isNew = !items.has(id)
    items.set(id, itemOf(aHead({ id, ...over })))
    feed.changed(id, isNew)
  }
  return { feed, items, put, state, timers }
})

describe("the feed", () => {
  it.effect("begins with a snapshot, newest first, and tells what changes within 100 ms", () =>
    Effect.gen(function* () {
      const { feed, put } = yield* withFeed
      put("a")
      put("b")
      const one = reader()
      feed.subscribe(one.subscriber)
      assert.deepStrictEqual(
        one.frames.map(({ data, type }) => [type, (data as ReadonlyArray<Item>).map(({ id }) => id)]),
        [["snapshot", ["b", "a"]]]
      )
      put("c", { status: "in-flight" })
      put("a", { status: 500 })
      assert.lengthOf(one.frames, 1)
      yield* TestClock.adjust("99 millis")
      assert.deepStrictEqual(one.types(), ["snapshot", "new", "update"])
      assert.deepInclude(one.frames[2]?.data, { id: "a", status: 500 })
      assert.deepStrictEqual(
        one.frames.map(({ seq }) => seq),
        [1, 2, 3]
      )
      // Several changes of one record within that time are one, and it is new as it was.
      put("d", { status: "in-flight" })
      put("d", { status: 200 })
      yield* TestClock.adjust("99 millis")
      assert.deepStrictEqual(one.types().slice(3), ["new"])
      assert.deepInclude(one.frames[3]?.data, { status: 200 })
    }).pipe(Effect.provide(TestTimers.layer))
  )

  it.effect("tells changes that are listed together at once, a few milliseconds later", () =>
    Effect.gen(function* () {
      const { feed, put } = yield* withFeed
      const one = reader()
      feed.subscribe(one.subscriber)
      for (const id of ["a", "b", "c"]) put(id)
      yield* TestClock.adjust("5 millis")
      assert.deepStrictEqual(one.types(), ["snapshot", "new", "new", "new"])
    }).pipe(Effect.provide(TestTimers.layer))
  )

  it.effect("tells twice a second how far the recording is behind, and once that it has caught up", () =>
    Effect.gen(function* () {
      const { feed, state, timers } = yield* withFeed
      const one = reader()
      feed.subscribe(one.subscriber)
      const toldOf = () => one.frames.filter(({ type }) => type === "behind").map(({ data }) => data)
      // What is worked on in time is not being behind.
      state.behind = { behindMs: 60, waiting: 2 }
      feed.working()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(toldOf(), [])
      state.behind = { behindMs: 800, waiting: 7 }
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(toldOf(), [state.behind, state.behind])
      state.behind = { behindMs: 0, waiting: 0 }
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(toldOf().slice(2), [{ behindMs: 0, waiting: 0 }])
      assert.strictEqual(timers.live(), 0)
    }).pipe(Effect.provide(TestTimers.layer))
  )

  it.effect("tells that the list was cleared, and no change from before", () =>
    Effect.gen(function* () {
      const { feed, items, put } = yield* withFeed
      const one = reader()
      feed.subscribe(one.subscriber)
      put("a")
      items.clear()
      feed.cleared()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(one.types(), ["snapshot", "clear"])
      assert.isNull(one.frames[1]?.data)
    }).pipe(Effect.provide(TestTimers.layer))
  )

  it.effect("runs a timer only while somebody listens and something has changed", () =>
    Effect.gen(function* () {
      const { feed, put, timers } = yield* withFeed
      put("a")
      assert.strictEqual(timers.live(), 0)
      const stop = feed.subscribe(reader().subscriber)
      assert.strictEqual(timers.live(), 0)
      put("a")
      assert.strictEqual(timers.live(), 1)
      stop()
      assert.strictEqual(timers.live(), 0)
      assert.strictEqual(feed.subscribers(), 0)
    }).pipe(Effect.provide(TestTimers.layer))
  )

  it.effect("sends a new subscriber nothing twice", () =>
    Effect.gen(function* () {
      const { feed, put } = yield* withFeed
      const [one, other] = [reader(), reader()]
      feed.subscribe(one.subscriber)
      put("a")
      feed.subscribe(other.subscriber)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(one.types(), ["snapshot", "new"])
      assert.deepStrictEqual(other.types(), ["snapshot"])
    }).pipe(Effect.provide(TestTimers.layer))
  )

  it.effect("lets a slow reader miss changes, bounded, and gives it the whole list when it has caught up", () =>
    Effect.gen(function* () {
      const { feed, put } = yield* withFeed
      const [slow, fast] = [reader(false), reader()]
      feed.subscribe(slow.subscriber)
      feed.subscribe(fast.subscriber)
      for (let turn = 0; turn < 40; turn += 1) {
        for (let each = 0; each < 100; each += 1) put(`r${each}`, { note: "x".repeat(1_000) })
        yield* TestClock.adjust("100 millis")
      }
      assert.strictEqual(fast.frames.length, 1 + 40 * 100)
      const missed = slow.frames.length
      assert.isBelow(missed, 1_000)
      assert.isBelow(slow.subscriber.bufferedBytes(), highWaterBytes + 4_096)
      slow.catchUp()
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(slow.frames.length, missed + 1)
      assert.strictEqual(slow.frames.at(-1)?.type, "snapshot")
      assert.lengthOf(slow.frames.at(-1)?.data as ReadonlyArray<Item>, 100)
      slow.catchUp()
      put("r1", { status: 500 })
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(slow.frames.at(-1)?.type, "update")
    }).pipe(Effect.provide(TestTimers.layer))
  )

  it.effect("sends one snapshot in place of very many changes", () =>
    Effect.gen(function* () {
      const { feed, put } = yield* withFeed
      const one = reader()
      feed.subscribe(one.subscriber)
      for (let each = 0; each <= maxChanges; each += 1) put(`r${each}`)
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(one.types(), ["snapshot", "snapshot"])
    }).pipe(Effect.provide(TestTimers.layer))
  )
})

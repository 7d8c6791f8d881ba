/** Changes of what needs a person: to the feed as ids, to webhooks one by one, and not gathered without either. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/TestClock"
import type { GatewayEvent } from "../../../src/observe/Events.ts"
import type { AttentionItem } from "../../../src/subjects/attention/entity.ts"
import { lookEvery, watch } from "../../../src/subjects/attention/Watch.ts"

const item = (id: string): AttentionItem => ({
  id,
  severity: "error",
  kind: "connectionEnded",
  subject: { type: "connection", id, name: `account ${id}` },
  sinceMs: 0,
  changesAtMs: null,
  text: "The key was refused.",
  actions: []
})

/** A watch over what a test says there is; each turn is one look. */
const watching = Effect.gen(function* () {
  const state = { items: ["a"], isFeedHeard: false, isWebhookThere: false, fails: false, looks: 0 }
  const told: Array<GatewayEvent> = []
  const list = Effect.suspend(() => {
    state.looks += 1
    return state.fails ? Effect.fail("the disk is full") : Effect.succeed(state.items.map(item))
  })
  yield* Effect.forkScoped(
    watch({
      list,
      isFeedHeard: () => state.isFeedHeard,
      isWebhookThere: () => state.isWebhookThere,
      publish: (event) => void told.push(event)
    })
  )
  yield* TestClock.adjust(0)
  const turn = (change: Partial<typeof state>) => {
    Object.assign(state, change)
    told.length = 0
    return Effect.map(TestClock.adjust(Duration.decode(lookEvery)), () =>
      told.map((event) =>
        event.type === "attention.changed"
          ? [event.type, event.total, event.added, event.removed]
          : [event.type, "item" in event ? event.item.id : ""]
      )
    )
  }
  return { state, turn }
})

describe("what needs a person", () => {
  it.scoped("is not gathered without listeners", () =>
    Effect.gen(function* () {
      const { state, turn } = yield* watching
      assert.deepStrictEqual(yield* turn({ items: ["a", "b"] }), [])
      assert.strictEqual(state.looks, 0)
    })
  )

  it.scoped("is told as it comes and goes, and not what there was before", () =>
    Effect.gen(function* () {
      const { turn } = yield* watching
      assert.deepStrictEqual(yield* turn({ isWebhookThere: true }), [])
      assert.deepStrictEqual(yield* turn({ items: ["a", "b", "c"] }), [
        ["attention.changed", 3, ["b", "c"], []],
        ["attention.raised", "b"],
        ["attention.raised", "c"]
      ])
      assert.deepStrictEqual(yield* turn({}), [])
      assert.deepStrictEqual(yield* turn({ items: ["b", "d"] }), [
        ["attention.changed", 2, ["d"], ["a", "c"]],
        ["attention.raised", "d"],
        ["attention.cleared", "a"],
        ["attention.cleared", "c"]
      ])
    })
  )

  it.scoped("is told to the feed alone where no webhook wants it", () =>
    Effect.gen(function* () {
      const { turn } = yield* watching
      yield* turn({ isFeedHeard: true })
      assert.deepStrictEqual(yield* turn({ items: [] }), [["attention.changed", 0, [], ["a"]]])
    })
  )

  it.scoped("is looked at anew after a time without listeners", () =>
    Effect.gen(function* () {
      const { turn } = yield* watching
      yield* turn({ isWebhookThere: true })
      yield* turn({ isWebhookThere: false, items: ["a", "b"] })
      assert.deepStrictEqual(yield* turn({ isWebhookThere: true }), [])
      assert.deepStrictEqual(yield* turn({ items: ["a"] }), [
        ["attention.changed", 1, [], ["b"]],
        ["attention.cleared", "b"]
      ])
    })
  )

  it.scoped("goes on after looks that failed, with what was seen before them, and says once that they do", () => {
    const warnings: Array<unknown> = []
    const collecting = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void warnings.push(message))
    )
    return Effect.gen(function* () {
      const { turn } = yield* watching
      yield* turn({ isWebhookThere: true })
      assert.deepStrictEqual(yield* turn({ fails: true, items: ["a", "b"] }), [])
      assert.deepStrictEqual(yield* turn({}), [])
      assert.lengthOf(warnings, 1)
      assert.deepStrictEqual(yield* turn({ fails: false }), [
        ["attention.changed", 2, ["b"], []],
        ["attention.raised", "b"]
      ])
      yield* turn({ fails: true })
      assert.lengthOf(warnings, 2)
    }).pipe(Effect.provide(collecting))
  })
})

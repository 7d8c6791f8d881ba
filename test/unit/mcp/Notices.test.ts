import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import type { Caller } from "../../../src/agents/mcp/Caller.ts"
import { makeNotices, noticeMs, type Sees } from "../../../src/agents/mcp/Notices.ts"
import type { Listener } from "../../../src/agents/mcp/Sessions.ts"
import * as TestTimers from "../../support/TestTimers.ts"

const callerOf = (ip: string): Caller => ({ principal: { _tag: "AdminKey" }, scopes: null, ip })

const setUp = (...names: ReadonlyArray<string>) =>
  Effect.map(TestTimers.make, (timers) => {
    const told: Array<string> = []
    const listeners = names.map((ip): Listener => ({ caller: callerOf(ip), send: () => {}, end: () => {} }))
    const notices = makeNotices(
      timers,
      () => listeners,
      ({ caller }) => void told.push(caller.ip)
    )
    return { advance: (ms: number) => TestClock.adjust(ms), notices, told }
  })

const onlyFor =
  (name: string): Sees =>
  ({ ip }) =>
    ip === name

describe("notices of changed tools", () => {
  it.effect("come at once, and then once in a second whatever happens", () =>
    Effect.gen(function* () {
      const { advance, notices, told } = yield* setUp("a", "b")
      const sees: Sees = () => true
      for (let times = 0; times < 50_000; times += 1) notices.changed(sees)
      assert.deepStrictEqual(told, ["a", "b"])
      yield* advance(noticeMs - 1)
      assert.lengthOf(told, 2)
      yield* advance(1)
      assert.deepStrictEqual(told, ["a", "b", "a", "b"])
      yield* advance(10 * noticeMs)
      assert.lengthOf(told, 4)
    })
  )

  it.effect("come at once again after a quiet second", () =>
    Effect.gen(function* () {
      const { advance, notices, told } = yield* setUp("a")
      notices.changed(() => true)
      yield* advance(noticeMs)
      notices.changed(() => true)
      assert.lengthOf(told, 2)
    })
  )

  it.effect("come to those who see what has changed, once for several changes", () =>
    Effect.gen(function* () {
      const { advance, notices, told } = yield* setUp("a", "b", "c")
      notices.changed(onlyFor("a"))
      assert.deepStrictEqual(told, ["a"])
      notices.changed(onlyFor("b"))
      notices.changed(onlyFor("a"))
      notices.changed(onlyFor("b"))
      yield* advance(noticeMs)
      assert.deepStrictEqual(told, ["a", "a", "b"])
    })
  )

  it.effect("keep a bounded number of changes apart", () =>
    Effect.gen(function* () {
      const { advance, notices, told } = yield* setUp("a", "b")
      notices.changed(onlyFor("nobody"))
      for (let times = 0; times < 1_000; times += 1) notices.changed(onlyFor("nobody"))
      yield* advance(noticeMs)
      assert.deepStrictEqual(told, ["a", "b"])
    })
  )

  it.effect("end with the gateway", () =>
    Effect.gen(function* () {
      const { advance, notices, told } = yield* setUp("a")
      notices.changed(() => true)
      notices.changed(() => true)
      notices.close()
      yield* advance(noticeMs)
      assert.lengthOf(told, 1)
    })
  )
})

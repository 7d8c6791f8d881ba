import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { operatorsOwn } from "../../../../../src/contract/domain/ContentPermission.ts"
import { defaultVisionBridgeSettings } from "../../../../../src/subjects/settings/entity/VisionBridgeSettings.ts"
import { type Asking, makeDescriptions } from "../../../../../src/plane/features/vision/Descriptions.ts"
import type { InnerAnswer, InnerRequest } from "../../../../../src/plane/InnerRequests.ts"

const asking: Omit<Asking, "memory"> = {
  principal: { _tag: "Anonymous" } as unknown as Asking["principal"],
  owner: "key_1",
  settings: { ...defaultVisionBridgeSettings, model: "eye/m", timeoutMs: 2_000 }
}

const answer = (content: string): InnerAnswer => ({
  requestId: "r",
  status: 200,
  body: JSON.stringify({
    id: "c",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }]
  }),
  latencyMs: 1,
  retryAfterMs: null,
  tokens: null,
  error: null
})

const started = (ask: (request: InnerRequest) => Effect.Effect<InnerAnswer>) => {
  let nowMs = 0
  const descriptions = makeDescriptions({ ask }, () => nowMs)
  const memory = descriptions.memoryFor(operatorsOwn)
  const keyOf = (url: string) => descriptions.keyOf({ ...asking, memory }, url) ?? ""
  return {
    descriptions,
    keyOf,
    ask: (...urls: ReadonlyArray<string>) =>
      descriptions.ask({ ...asking, memory }, new Map(urls.map((url) => [keyOf(url), url]))),
    known: (url: string) => descriptions.known(memory, keyOf(url), nowMs),
    pass: (ms: number) => void (nowMs += ms)
  }
}

/** Lets fibers run until they wait. */
const others = Effect.repeatN(Effect.yieldNow(), 50)

describe("descriptions of pictures", () => {
  it.effect("are given up after their time, and their call is ended", () =>
    Effect.gen(function* () {
      let ended = 0
      const { ask, known } = started(() => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void (ended += 1))))
      const fiber = yield* Effect.fork(ask("https://a.example/1.png", "https://a.example/2.png"))
      yield* TestClock.adjust(1_999)
      assert.strictEqual(ended, 0)
      yield* TestClock.adjust(1)
      yield* Fiber.join(fiber)
      assert.strictEqual(ended, 2)
      assert.isNull(known("https://a.example/1.png"))
    })
  )

  it.effect("are asked for once by requests that come together, and again where the first one was given up", () =>
    Effect.gen(function* () {
      const answers: Array<(answered: Effect.Effect<InnerAnswer>) => void> = []
      const { ask, known } = started(() => Effect.async((resume) => void answers.push(resume)))
      const url = "https://a.example/1.png"
      const first = yield* Effect.fork(ask(url))
      yield* others
      const second = yield* Effect.fork(ask(url))
      yield* others
      assert.lengthOf(answers, 1)
      yield* Fiber.interrupt(first)
      yield* others
      assert.lengthOf(answers, 2)
      const third = yield* Effect.fork(ask(url))
      yield* others
      answers[1]?.(Effect.succeed(answer("A gate.")))
      yield* Fiber.join(second)
      yield* Fiber.join(third)
      assert.lengthOf(answers, 2)
      assert.strictEqual(known(url), "A gate.")
    })
  )

  it.effect("are asked for four at a time", () =>
    Effect.gen(function* () {
      let running = 0
      let most = 0
      const { ask } = started(() =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            running += 1
            most = Math.max(most, running)
          }),
          () => Effect.as(Effect.sleep(10), answer("A dog")),
          () => Effect.sync(() => void (running -= 1))
        )
      )
      const fiber = yield* Effect.fork(ask(...Array.from({ length: 12 }, (_, index) => `https://a.example/${index}`)))
      yield* TestClock.adjust(100)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual([running, most], [0, 4])
    })
  )

  it.effect(
    "are cut where they are long, are none where they are empty or the request died, and are forgotten after a day",
    () =>
      Effect.gen(function* () {
        const bodies = [answer(` ${"x".repeat(20_000)}`), answer("  "), { ...answer(""), body: "no JSON" }]
        const { ask, known, pass } = started(() =>
          Effect.suspend(() => {
            const next = bodies.shift()
            return next === undefined ? Effect.die(new Error("a fault")) : Effect.succeed(next)
          })
        )
        for (const url of ["a", "b", "c", "d"]) yield* ask(url)
        assert.lengthOf(known("a") ?? "", 8_000)
        assert.deepStrictEqual(["b", "c", "d"].map(known), [null, null, null])
        pass(24 * 60 * 60_000)
        assert.isNull(known("a"))
      })
  )

  it("are known by caller, model, prompt and picture; a picture that is too large or only named by an id has none", () => {
    const { descriptions } = started(() => Effect.never)
    const memory = descriptions.memoryFor(null)
    const key = (more: Partial<Asking>, url: string | null) => descriptions.keyOf({ ...asking, memory, ...more }, url)
    const keys = [
      key({}, "a"),
      key({}, "b"),
      key({ owner: "key_2" }, "a"),
      key({ settings: { ...asking.settings, model: "eye/n" } }, "a"),
      key({ settings: { ...asking.settings, prompt: "What?" } }, "a")
    ]
    assert.strictEqual(new Set(keys).size, keys.length)
    assert.strictEqual(key({}, "a"), keys[0])
    assert.deepStrictEqual([key({}, null), key({}, "x".repeat(30 * 1_048_576))], [null, null])
  })
})

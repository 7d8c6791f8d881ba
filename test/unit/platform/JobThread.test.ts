/** Questions to a thread of their own: what waits is bounded, and what breaks the thread breaks nothing else. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { makeQuestions, type QuestionOptions } from "../../../src/platform/JobThread.ts"
import * as Timers from "../../../src/platform/Timers.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

type Question = "echo" | "hang" | "exit" | "throw" | "exhaust"

interface Answer {
  readonly said: string
}

const code = `import { parentPort } from "node:worker_threads"
parentPort.on("message", ({ id, question }) => {
  if (question === "exit") process.exit(3)
  if (question === "throw") throw new Error("no such word")
  if (question === "exhaust") for (const kept = [];;) kept.push(new Array(100_000).fill(kept.length))
  if (question !== "hang") parentPort.postMessage({ id, said: question })
})
`

const asking = (over: Partial<QuestionOptions<Question, Answer>> = {}) =>
  Effect.gen(function* () {
    const file = join(yield* temporaryFolder, "thread.mjs")
    writeFileSync(file, code)
    return yield* makeQuestions<Question, Answer>({
      thread: { file: pathToFileURL(file), resourceLimits: { maxOldGenerationSizeMb: 16 } },
      timeoutMs: 20_000,
      idleMs: 60_000,
      maxWaiting: 8,
      message: (question) => ({ message: { question } }),
      ...over
    })
  })

const withTimers = <A, E>(test: Effect.Effect<A, E, Timers.Timers | Scope.Scope>) =>
  Effect.scoped(test).pipe(Effect.provide(Timers.layer))

describe("questions to a thread", () => {
  it.live("are answered one after the other", () =>
    withTimers(
      Effect.gen(function* () {
        const ask = yield* asking()
        const outcomes = yield* Effect.all([ask("echo"), ask("echo")], { concurrency: 2 })
        for (const outcome of outcomes) {
          assert.strictEqual(outcome._tag === "Answered" ? outcome.answer.said : outcome._tag, "echo")
        }
      })
    )
  )

  for (const [question, reason] of [
    ["exit", "ended."],
    ["throw", "died: no such word"]
  ] as const) {
    it.live(`that break the thread (${question}) say how, and the next has another thread`, () =>
      withTimers(
        Effect.gen(function* () {
          const ask = yield* asking()
          assert.deepStrictEqual(yield* ask(question), { _tag: "Died", reason })
          assert.strictEqual((yield* ask("echo"))._tag, "Answered")
        })
      )
    )
  }

  it.live("that take too long are given up together with the thread", () =>
    withTimers(
      Effect.gen(function* () {
        const ask = yield* asking({ timeoutMs: 300 })
        assert.deepStrictEqual(yield* ask("hang"), { _tag: "Late" })
      })
    )
  )

  it.live("that exhaust the thread's memory are not asked here instead", () =>
    withTimers(
      Effect.gen(function* () {
        let isAskedHere = false
        const ask = yield* asking({
          answerHere: async (question) => {
            isAskedHere = true
            return { said: question }
          }
        })
        assert.strictEqual((yield* ask("exhaust"))._tag, "Died")
        assert.isFalse(isAskedHere)
        assert.strictEqual((yield* ask("echo"))._tag, "Answered")
      })
    )
  )

  it.live("are answered here where no thread can start", () =>
    withTimers(
      Effect.gen(function* () {
        const ask = yield* asking({
          thread: { file: pathToFileURL("/nonexistent/thread.mjs"), resourceLimits: {} },
          answerHere: async (question) => ({ said: `${question} here` })
        })
        for (const outcome of [yield* ask("echo"), yield* ask("hang")]) {
          assert.match(outcome._tag === "Answered" ? outcome.answer.said : outcome._tag, / here$/)
        }
      })
    )
  )

  it.live("wait up to a number and a weight, and those that go leave their place to others", () =>
    withTimers(
      Effect.gen(function* () {
        const ask = yield* asking({ maxWaiting: 2, maxWeight: 6, weightOf: ({ length }) => length })
        const fork = (question: Question) => Effect.tap(Effect.fork(ask(question)), () => Effect.yieldNow())
        yield* fork("hang")
        // It may weigh any amount alone.
        const heavy = yield* fork("exhaust")
        assert.deepStrictEqual(yield* ask("echo"), { _tag: "Full" })
        yield* Fiber.interrupt(heavy)
        yield* fork("hang")
        yield* Effect.forEach(["echo"] as const, (question) =>
          Effect.map(ask(question), (outcome) => assert.strictEqual(outcome._tag, "Full"))
        )
      })
    )
  )

  it.live("end with the scope: those that wait, the one that is asked, and those that come", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const ask = yield* Scope.extend(asking(), scope)
      const asked = yield* Effect.forkAll([ask("hang"), ask("echo")])
      yield* Effect.yieldNow()
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* Fiber.join(asked), [{ _tag: "Closed" }, { _tag: "Closed" }])
      assert.deepStrictEqual(yield* ask("echo"), { _tag: "Closed" })
    }).pipe(Effect.provide(Timers.layer))
  )
})

/**
 * Two writers of one object, in every order in which their steps can follow each other. A writer reads the object for its version, and its change reads
 * it again before it writes: whatever the order, of two that name one version one is told, and no change of the others is lost.
 */
import { assert, describe, it } from "@effect/vitest"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { PreconditionFailed } from "../../../src/contract/Errors.ts"
import { match } from "../../../src/contract/Routes.ts"
import { type FoundChange, makeChanges } from "../../../src/entry/management/Changes.ts"
import * as Slices from "../../../src/plane/resilience/Slices.ts"
import * as Timers from "../../../src/platform/Timers.ts"
import { ObjectTurns } from "../../../src/subjects/ObjectTurns.ts"

const id = "0199aa6e-5c00-7000-8f3e-1f0c9d2b7a64"

/** Takes the steps that wait one at a time, in the order of `choices`, then always the first; notes how many there were to choose from. */
class Order {
  readonly #waiting: Array<() => void> = []
  readonly counts: Array<number> = []
  readonly #choices: ReadonlyArray<number>

  constructor(choices: ReadonlyArray<number>) {
    this.#choices = choices
  }

  readonly step: Effect.Effect<void> = Effect.async((resume) => void this.#waiting.push(() => resume(Effect.void)))

  /** Runs until nobody waits any more. */
  readonly run: Effect.Effect<void> = Effect.gen(this, function* () {
    for (;;) {
      for (let turns = 0; turns < 40; turns += 1) yield* Effect.yieldNow()
      if (this.#waiting.length === 0) return
      const choice = this.#choices[this.counts.length] ?? 0
      this.counts.push(this.#waiting.length)
      for (const resume of this.#waiting.splice(choice, 1)) resume()
    }
  })
}

/** The next order after this one; null: there is none. */
const following = (choices: ReadonlyArray<number>, counts: ReadonlyArray<number>): ReadonlyArray<number> | null => {
  for (let place = counts.length - 1; place >= 0; place -= 1) {
    const choice = choices[place] ?? 0
    if (choice + 1 < (counts[place] ?? 0)) {
      return [...Array.from({ length: place }, (_, each) => choices[each] ?? 0), choice + 1]
    }
  }
  return null
}

interface Writer {
  readonly method: string
  readonly path: string
  /** Names the version that was there at first. */
  readonly isConditional: boolean
  /** Changes the object from a route of another one, in this one's turn. */
  readonly isBeside?: boolean
}

interface Outcome {
  readonly names: ReadonlyArray<string>
  readonly refused: ReadonlyArray<boolean>
  /** What a writer that was refused has been shown. */
  readonly current: ReadonlyArray<unknown>
}

/** Works at once: a turn of the event loop between two entries would be a step that no order knows. */
const each: typeof Slices.Slices.Service.each = (entries, work) =>
  Effect.sync(() => {
    for (const entry of entries) work(entry)
  })

/** The object is a list of names; each change adds its own to what it has read. */
const playedIn = (order: Order, writers: ReadonlyArray<Writer>) =>
  Effect.gen(function* () {
    let names: ReadonlyArray<string> = []
    const shown = () => HttpServerResponse.unsafeJson({ connection: { id, models: names } })
    const show = () => Effect.map(order.step, shown)
    const inChanges = makeChanges({ ...(yield* Slices.make), each })
    const run = (
      { isBeside = false, method, path }: Writer,
      name: string,
      headers: Readonly<Record<string, string>>,
      isCounted = true
    ) => {
      const write = Effect.gen(function* () {
        if (isCounted) yield* order.step
        const read = names
        if (isCounted) yield* order.step
        names = [...read, name]
        return HttpServerResponse.empty({ status: 200 })
      })
      const made = isBeside ? Effect.flatMap(ObjectTurns, ({ inTurn }) => inTurn("providers", id)(write)) : write
      const found = match(method, path) as FoundChange
      return inChanges(found, made, isCounted ? show : () => Effect.sync(shown)).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, { headers } as HttpServerRequest.HttpServerRequest)
      )
    }
    const first: Writer = { method: "PUT", path: `/api/providers/${id}`, isConditional: false }
    const tag = (yield* run(first, "first", {}, false)).headers["etag"] ?? ""
    assert.match(tag, /^".+"$/)
    const fibers = yield* Effect.forEach(writers, (writer, place) =>
      Effect.fork(
        Effect.zipRight(
          // When it comes is a step, too.
          order.step,
          Effect.either(run(writer, `writer ${place}`, writer.isConditional ? { "if-match": tag } : {}))
        )
      )
    )
    yield* order.run
    const ends = yield* Fiber.join(Fiber.all(fibers))
    const current = ends.flatMap((end) => (end._tag === "Left" ? [(end.left as PreconditionFailed).current] : []))
    return { names, refused: ends.map(({ _tag }) => _tag === "Left"), current } satisfies Outcome
  }).pipe(Effect.provide(Timers.layer))

/** Plays every order. */
const inEveryOrder = (writers: ReadonlyArray<Writer>, check: (outcome: Outcome) => void) =>
  Effect.gen(function* () {
    let choices: ReadonlyArray<number> | null = []
    while (choices !== null) {
      const order: Order = new Order(choices)
      check(yield* playedIn(order, writers))
      choices = following(choices, order.counts)
    }
  })

const put = (isConditional: boolean): Writer => ({ method: "PUT", path: `/api/providers/${id}`, isConditional })
const remove: Writer = { method: "DELETE", path: `/api/providers/${id}`, isConditional: true }
const beside: Writer = {
  method: "PUT",
  path: "/api/cloud/credentials/update",
  isConditional: false,
  isBeside: true
}

describe("writers of one object", () => {
  it.effect("of two that name one version, one writes and the other is shown what it has written", () =>
    Effect.gen(function* () {
      for (const writers of [
        [put(true), put(true)],
        [put(true), remove]
      ]) {
        const winners = new Set<number>()
        yield* inEveryOrder(writers, ({ current, names, refused }) => {
          const winner = refused.indexOf(false)
          winners.add(winner)
          assert.deepStrictEqual(refused.toSorted(), [false, true])
          assert.deepStrictEqual(names, ["first", `writer ${winner}`])
          assert.deepStrictEqual(current, [{ connection: { id, models: names } }])
        })
        assert.sameMembers([...winners], [0, 1])
      }
    })
  )

  it.effect("that name none are made one after the other, and none is lost; also from a route of another object", () =>
    Effect.gen(function* () {
      for (const writers of [
        [put(false), put(false)],
        [put(false), beside],
        [put(false), put(false), beside]
      ]) {
        yield* inEveryOrder(writers, ({ names, refused }) => {
          assert.isFalse(refused.includes(true))
          assert.sameMembers([...names], ["first", ...writers.map((_, place) => `writer ${place}`)])
        })
      }
    })
  )

  it.effect("one that names a version is told of one beside it, or comes before it; never is it written over", () =>
    Effect.gen(function* () {
      let [told, before] = [0, 0]
      yield* inEveryOrder([put(true), beside], ({ names, refused: [isTold] }) => {
        if (isTold === true) told += 1
        else before += 1
        assert.deepStrictEqual(names, isTold === true ? ["first", "writer 1"] : ["first", "writer 0", "writer 1"])
      })
      assert.isTrue(told > 0 && before > 0)
    })
  )

  it.effect("of two objects do not wait for each other", () =>
    Effect.gen(function* () {
      const other = id.replace("0199", "0200")
      const order = new Order([])
      yield* playedIn(order, [put(false), { ...put(false), path: `/api/providers/${other}` }])
      assert.isTrue(order.counts.some((count) => count === 2))
    })
  )
})

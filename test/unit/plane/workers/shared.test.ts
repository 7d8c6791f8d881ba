/** What owner and workers share: rounds, places, health, changes of the configuration. The messages between them come when the test says so. */
import { assert, describe, it } from "@effect/vitest"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import * as fc from "fast-check"
import { Timers } from "../../../../src/platform/Timers.ts"
import * as ConcurrencyGate from "../../../../src/plane/resilience/ConcurrencyGate.ts"
import { OwnerLink } from "../../../../src/plane/state/link/OwnerLink.ts"
import { nameOf, type WorkerId, WorkerLinks } from "../../../../src/plane/state/link/WorkerLinks.ts"
import { Permits, type PermitsShape, type Release } from "../../../../src/plane/state/Permits.ts"
import { Replica, type ReplicaShape } from "../../../../src/plane/state/Replica.ts"
import { makeRounds, mostRoundMs, takePart } from "../../../../src/plane/state/link/Rounds.ts"
import * as SharedHealth from "../../../../src/plane/workers/SharedHealth.ts"
import * as SharedPlaces from "../../../../src/plane/workers/SharedPlaces.ts"
import { gathered } from "../../../../src/store/ConfigChangesRepo.ts"
import { RunningWorkers } from "../../../../src/store/DataFolder.ts"
import * as RememberedRows from "../../../../src/store/engine/RememberedRows.ts"
import { type ChangedRows, SnapshotHolders, Snapshots } from "../../../../src/store/Snapshots.ts"
import { counted } from "../../../support/slowRun.ts"
import { type Links, makeLinks } from "../../../support/Links.ts"

/** Time in ms that no test lets pass: the end of leases. */
const longMs = 10_000

/** Timers that run when the test says so, but for long ones. */
const makeTimers = () => {
  let due: Array<() => void> = []
  const timers = Timers.of({
    nowMs: () => 0,
    monotonicMs: () => 0,
    after: (delayMs, run) => {
      if (delayMs < longMs) due.push(run)
      return { restart: () => {}, cancel: () => {} }
    },
    soon: (run) => run(),
    live: () => due.length
  })
  const pass = (): void => {
    const all = due
    due = []
    for (const run of all) run()
  }
  return { timers, pass }
}

const build = <Out, E>(layer: Layer.Layer<Out, E>): Context.Context<Out> =>
  Effect.runSync(Effect.orDie(Effect.flatMap(Scope.make(), (scope) => Layer.buildWithScope(layer, scope))))

describe("a round", () => {
  it.effect("is over when every worker has answered, or has ended", () =>
    Effect.gen(function* () {
      const links = makeLinks()
      const rounds = makeRounds(links.owner, "check")
      yield* rounds.round()
      const [one, two, three] = [links.join(1), links.join(2), links.join(3)]
      const done: Array<(answer: unknown) => void> = []
      for (const { link } of [one, two, three]) {
        takePart(link, "check", (then, question) => {
          assert.strictEqual(question, "why")
          done.push(then)
        })
      }
      const round = yield* Effect.fork(rounds.round("why"))
      yield* Effect.repeatN(Effect.yieldNow(), 20)
      links.settle()
      assert.lengthOf(done, 3)
      done[0]?.("because")
      done[1]?.(null)
      links.settle()
      assert.isNull(yield* Fiber.poll(round).pipe(Effect.map((exit) => (exit._tag === "None" ? null : exit))))
      links.kill(three.id)
      assert.deepStrictEqual(yield* Fiber.join(round), ["because"])
    })
  )

  it.effect("does not wait for one that is stopped", () =>
    Effect.gen(function* () {
      const links = makeLinks()
      const rounds = makeRounds(links.owner, "check")
      links.join(1)
      const round = yield* Effect.fork(rounds.round())
      yield* TestClock.adjust(mostRoundMs)
      yield* Fiber.join(round)
    })
  )
})

/** An owner with a gate, and workers whose places are the owner's. */
const makePlaces = () => {
  const links = makeLinks()
  const { pass, timers } = makeTimers()
  const begin = (running: ReadonlyArray<string>) => {
    const gate = Effect.runSync(ConcurrencyGate.make)
    build(
      SharedPlaces.ownerLayer.pipe(
        Layer.provide(Layer.succeed(ConcurrencyGate.ConcurrencyGate, gate)),
        Layer.provide(Layer.succeed(WorkerLinks, links.owner)),
        Layer.provide(Layer.succeed(Timers, timers)),
        Layer.provide(Layer.succeed(RunningWorkers, running))
      )
    )
    return gate
  }
  let gate = begin([])
  const join = (place: number): { readonly id: WorkerId; readonly permits: PermitsShape } => {
    const { id, link } = links.join(place)
    const context = build(
      SharedPlaces.workerLayer.pipe(
        Layer.provide(Layer.merge(Layer.succeed(OwnerLink, link), Layer.succeed(Timers, timers)))
      )
    )
    const permits = Effect.runSync(Effect.provide(Permits, context))
    if (permits === null) throw new Error("A worker has places of the owner.")
    return { id, permits }
  }
  /** The owner ends, and another one begins. */
  const restart = (): void => {
    const running = links.owner.workers().map(nameOf)
    links.restart(() => (gate = begin(running)))
  }
  return { inUse: () => gate.inUse(key), join, links, pass, restart }
}

const key = "connection"

/** Lets fibers run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe("places over several processes", () => {
  it("are never more than there may be, all come back, and whoever waits gets one", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.nat({ max: 9_999 }), { minLength: 20, maxLength: 200 }),
        async (limit, choices) => {
          const { inUse, join, links, pass, restart } = makePlaces()
          let workers = [join(1), join(2), join(3)]
          /** Calls in progress, by worker. */
          const running = new Map<string, Array<Release>>()
          const waiting = new Map<Fiber.RuntimeFiber<unknown>, string>()
          /** Most calls in progress at once; told at the end, since a fiber of the test would fail in silence. */
          let most = 0
          const begin = ({ id, permits }: (typeof workers)[number]): void => {
            const took = (release: Release): void => {
              const name = nameOf(id)
              // What a dead process would have done.
              if (!workers.some((one) => nameOf(one.id) === name)) return
              const others = running.get(name) ?? []
              running.set(name, [...others, release])
              const inAll = [...running.values()].reduce((sum, { length }) => sum + length, 0)
              most = Math.max(most, inAll)
            }
            const place = permits.enter(key, limit, 100)
            if (place._tag === "Free") took(place.release)
            else if (place._tag === "Queued") {
              const fiber = Effect.runFork(Effect.map(place.wait, took))
              waiting.set(fiber, nameOf(id))
              fiber.addObserver(() => waiting.delete(fiber))
            }
          }
          for (const choice of choices) {
            const worker = workers[choice % workers.length]
            if (worker === undefined) continue
            const ways = links.waiting()
            switch (choice % 13) {
              case 0:
              case 1:
              case 2:
                begin(worker)
                break
              case 3:
              case 4:
                running.get(nameOf(worker.id))?.pop()?.()
                break
              case 5: {
                const [first] = waiting.keys()
                if (first !== undefined) Effect.runFork(Fiber.interrupt(first))
                break
              }
              case 6:
                pass()
                break
              case 11:
                if (choice % 4 === 0) restart()
                break
              case 7:
                if (choice % 5 === 0) {
                  // Its calls are over with it, and what they wait for.
                  const name = nameOf(worker.id)
                  running.delete(name)
                  for (const [fiber, of] of waiting) if (of === name) waiting.delete(fiber)
                  links.kill(worker.id, choice % 2 === 0)
                  workers = workers.map((one) => (one === worker ? join(worker.id.place) : one))
                }
                break
              default: {
                const way = ways[choice % Math.max(1, ways.length)]
                if (way !== undefined) links.deliver(way)
              }
            }
            if (choice % 3 === 0) await turn()
          }
          for (let left = 0; left < 50 && (waiting.size > 0 || inUse() > 0 || left < 3); left++) {
            await turn()
            for (const releases of running.values()) for (const release of releases.splice(0)) release()
            links.settle()
            pass()
          }
          assert.isAtMost(most, limit, "more calls than places")
          assert.strictEqual(waiting.size, 0, "whoever waits gets a place")
          assert.strictEqual(inUse(), 0, "every place has come back")
        }
      ),
      { numRuns: counted(60, 1_500) }
    )
  })
})

describe("health over several processes", () => {
  /** Processes that each count what happens. */
  const makeCounters = (links: Links) => {
    const { pass, timers } = makeTimers()
    const counterOf = (context: Context.Context<never>) => {
      const replica: ReplicaShape = Effect.runSync(Effect.provide(Replica, context))
      let count = 0
      let changes = 0
      const add = replica.shared(
        "count.add",
        (by: number) => {
          if (by === 0) return
          count += by
          changes += 1
        },
        () => changes
      )
      return { add, count: () => count, isShared: replica.isShared }
    }
    const owner = counterOf(
      build(
        SharedHealth.ownerLayer.pipe(
          Layer.provide(Layer.merge(Layer.succeed(WorkerLinks, links.owner), Layer.succeed(Timers, timers)))
        )
      )
    )
    const worker = (place: number) => {
      const { id, link } = links.join(place)
      const made = counterOf(
        build(
          SharedHealth.workerLayer.pipe(
            Layer.provide(Layer.merge(Layer.succeed(OwnerLink, link), Layer.succeed(Timers, timers)))
          )
        )
      )
      return { ...made, id }
    }
    return { owner, worker, pass }
  }

  it("adds up to the same everywhere, however the messages come; what changes nothing is not told", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 3 }), fc.nat({ max: 9 })), { maxLength: 60 }),
        (steps) => {
          const links = makeLinks()
          const { owner, pass, worker } = makeCounters(links)
          const all = [owner, worker(1), worker(2)]
          let sum = 0
          for (const [who, by, choice] of steps) {
            all[who]?.add(by)
            sum += by
            if (choice === 0) pass()
            const ways = links.waiting()
            const way = ways[choice % Math.max(1, ways.length)]
            if (choice > 4 && way !== undefined) links.deliver(way)
          }
          pass()
          links.settle()
          pass()
          links.settle()
          assert.deepStrictEqual(
            all.map(({ count }) => count()),
            [sum, sum, sum]
          )
        }
      )
    )
    const links = makeLinks()
    const { pass, worker } = makeCounters(links)
    const one = worker(1)
    one.add(0)
    pass()
    assert.deepStrictEqual(links.waiting(), [])
  })

  it("is no wrapper in one process", () => {
    const replica = Effect.runSync(Replica)
    const apply = (): number => 1
    assert.strictEqual(replica.shared("x", apply), apply)
    assert.strictEqual(
      replica.kept("x", apply, () => 1),
      apply
    )
    assert.isFalse(replica.isShared)
  })
})

describe("changes of the configuration", () => {
  it("are gathered by table and row; beyond what is kept everything counts as changed", () => {
    const row = (seq: number, name: string, id: string | null = "a") => ({ seq, name, id })
    assert.deepStrictEqual(gathered([], 7), { seq: 7, changes: new Map() })
    assert.deepStrictEqual(gathered([row(8, "combos"), row(9, "combos", "b"), row(10, "settings/gateway", null)], 7), {
      seq: 10,
      changes: new Map<string, ReadonlySet<string> | "all">([
        ["combos", new Set(["a", "b"])],
        ["settings/gateway", "all"]
      ])
    })
    assert.deepStrictEqual(gathered([row(12, "combos")], 7), { seq: 12, changes: null })
    const many = Array.from({ length: 500 }, (_, at) => row(at + 1, "api_keys", `k${at}`))
    assert.strictEqual(gathered(many, 0).changes?.get("api_keys"), "all")
  })

  it.effect("are read again by whoever holds the table, in order, and a failure keeps nobody else from it", () =>
    Effect.gen(function* () {
      const holders = new SnapshotHolders(0)
      const read: Array<string> = []
      yield* holders.register(["combos", "model_aliases"], (rows) =>
        Effect.sync(() => void read.push(`first ${rows === "all" ? rows : [...rows].join(",")}`))
      )
      yield* holders.register(["combos"], () => Effect.sync(() => void read.push("second")))
      yield* holders.reload(
        new Map<string, ChangedRows>([
          ["combos", new Set(["a"])],
          ["unknown", "all"]
        ])
      )
      yield* holders.reload(new Map([["model_aliases", new Set(["x", "y"])]]))
      assert.deepStrictEqual(read, ["first a", "second", "first x,y"])
      yield* holders.reloadAll()
      assert.deepStrictEqual(read.slice(3), ["first all", "second"])
    })
  )

  it.effect("reach rows that are remembered: only those that were changed are read", () =>
    Effect.gen(function* () {
      const holders = new SnapshotHolders(0)
      const stored = new Map([
        ["a", 1],
        ["b", 1]
      ])
      let wholeReads = 0
      const single: Array<string> = []
      const rows = RememberedRows.make<{ readonly id: string; readonly value: number }>({
        keyOf: ({ id }) => id,
        all: Effect.sync(() => {
          wholeReads += 1
          return [...stored].map(([id, value]) => ({ id, value }))
        }),
        one: (id) =>
          Effect.sync(() => {
            single.push(id)
            const value = stored.get(id)
            return value === undefined ? null : { id, value }
          }),
        order: (one, other) => (one.id < other.id ? -1 : 1),
        watched: { table: "combos", isKeyed: true }
      })
      const list = Effect.provideService(rows.list, Snapshots, holders)
      const values = Effect.map(list, (all) => all.map(({ value }) => value))
      assert.deepStrictEqual(yield* values, [1, 1])
      stored.set("b", 2)
      assert.deepStrictEqual(yield* values, [1, 1], "not told yet")
      yield* holders.reload(new Map([["combos", new Set(["b"])]]))
      assert.deepStrictEqual(yield* values, [1, 2])
      stored.delete("a")
      yield* holders.reload(new Map([["combos", new Set(["a"])]]))
      assert.deepStrictEqual(yield* values, [2])
      assert.deepStrictEqual([wholeReads, single], [1, ["b", "a"]])
      stored.set("c", 3)
      yield* holders.reload(new Map([["combos", "all" as const]]))
      assert.deepStrictEqual(yield* values, [2, 3])
    })
  )
})

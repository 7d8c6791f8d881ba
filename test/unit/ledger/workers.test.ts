/** Limits of keys over an owner and workers, by their real Layers: an in-memory database in the owner, none in the workers. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { LimitReached, LimitsUnknown } from "../../../src/contract/domain/Errors.ts"
import { Later } from "../../../src/kernel/Later.ts"
import * as Events from "../../../src/observe/Events.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import type { Commitment } from "../../../src/plane/ledger/Commitment.ts"
import { Reservation } from "../../../src/plane/ledger/KeyAccount.ts"
import { type Admitted, KeyLimits } from "../../../src/plane/ledger/KeyLimits.ts"
import * as LeasedKeyLimits from "../../../src/plane/ledger/leased/LeasedKeyLimits.ts"
import * as WorkerLeases from "../../../src/plane/ledger/leased/WorkerLeases.ts"
import { MovedRows } from "../../../src/plane/state/ledger/MovedRows.ts"
import { OwnerLink } from "../../../src/plane/state/link/OwnerLink.ts"
import { WorkerLinks } from "../../../src/plane/state/link/WorkerLinks.ts"
import * as Reservations from "../../../src/store/usage/Reservations.ts"
import * as UsageJournal from "../../../src/store/usage/UsageJournal.ts"
import * as ApiKeys from "../../../src/subjects/auth/ApiKeys.ts"
import { type ApiKey, unrestricted } from "../../../src/subjects/keys/entity.ts"
import type { Budget } from "../../../src/subjects/limits/entity.ts"
import { People } from "../../../src/subjects/people/People.ts"
import type { Team } from "../../../src/subjects/teams/entity.ts"
import { SpendRepo } from "../../../src/subjects/usage/SpendRepo.ts"
import { makeLinks } from "../../support/Links.ts"
import * as TestTimers from "../../support/TestTimers.ts"
import { reposInMemory } from "../store/fixtures.ts"

const store = Layer.mergeAll(
  UsageJournal.layerMemory,
  ApiKeys.layer.pipe(Layer.provide(IdGen.layer)),
  Events.layer,
  Reservations.layerMemory.pipe(Layer.provideMerge(TestTimers.layer))
).pipe(Layer.provideMerge(reposInMemory), Layer.provide(AppConfig.layerOf({ dataDir: "/nonexistent" })))

const setUp = (count: number) =>
  Effect.gen(function* () {
    const links = makeLinks()
    const scope = yield* Effect.scope
    const owner = yield* Layer.buildWithScope(
      WorkerLeases.layer.pipe(
        Layer.provideMerge(Layer.succeed(WorkerLinks, links.owner)),
        Layer.provideMerge(store),
        Layer.orDie
      ),
      scope
    )
    const join = (place: number) =>
      Effect.gen(function* () {
        const { id, link } = links.join(place)
        const ended = yield* Scope.fork(scope, { _tag: "Sequential" })
        const layer = LeasedKeyLimits.layer.pipe(
          Layer.provide(
            Layer.mergeAll(
              Layer.succeed(OwnerLink, link),
              Layer.succeed(MovedRows, { listen: () => () => {} }),
              TestTimers.layer
            )
          )
        )
        const limits = Context.get(yield* Layer.buildWithScope(layer, ended), KeyLimits)
        return { id, limits }
      })
    const workers = yield* Effect.forEach(
      Array.from({ length: count }, (_, index) => index + 1),
      join
    )
    links.settle()
    const keys = Context.get(owner, ApiKeys.ApiKeys)
    const people = Context.get(owner, People)
    const { key } = yield* Effect.orDie(keys.create({ ...unrestricted, name: "limited" }))
    return { links, owner, workers, key, keys, people, limits: Context.get(owner, KeyLimits), join }
  })

const budgetOf = (apiKeyId: string, dailyLimitNanoUsd: number): Budget => ({
  apiKeyId,
  dailyLimitNanoUsd,
  weeklyLimitNanoUsd: 0,
  monthlyLimitNanoUsd: 0,
  warningThreshold: 0.8,
  resetInterval: "daily",
  resetTime: "00:00",
  timeZone: "UTC",
  createdAtMs: 0,
  updatedAtMs: 0
})

const target = { provider: "p", connectionId: "c", model: "m" }
const estimateOf = (amount: number) => ({
  nanoUsd: amount,
  tokens: amount,
  tokensIn: amount,
  tokensOut: 0,
  price: null
})
const chargesOf = (amount: number) => [{ provider: "p", model: "m", nanoUsd: amount, tokens: amount }]

const teamOf = (id: string, parent: string | null, dailyLimitNanoUsd: number | null): Team => ({
  id,
  name: id,
  source: "local",
  externalId: null,
  parent,
  budget:
    dailyLimitNanoUsd === null
      ? null
      : {
          dailyLimitNanoUsd,
          weeklyLimitNanoUsd: 0,
          monthlyLimitNanoUsd: 0,
          warningThreshold: 0.8,
          resetTime: "00:00",
          timeZone: "UTC"
        },
  models: null,
  rate: 1,
  content: "none",
  contentNotice: null,
  limits: null,
  members: [],
  createdAtMs: 0,
  updatedAtMs: 0
})

let requests = 0
const request = (receivedMs = 0) => {
  requests += 1
  return { requestId: `r${requests}`, receivedMs, sessionId: null, isCountedBefore: false }
}

/** The answer of a hot function once all messages have come. */
const now = <A>({ settle }: ReturnType<typeof makeLinks>, value: A | Later<A>): A => {
  if (!(value instanceof Later)) return value
  let known: { readonly value: A } | null = null
  value.whenKnown((given) => (known = { value: given }))
  settle()
  if (known === null) throw new Error("no answer has come")
  return (known as { readonly value: A }).value
}

const commitmentOf = (admitted: Admitted): Commitment => {
  if (admitted === null || admitted instanceof Error) throw new Error(`not admitted: ${admitted?.message ?? "null"}`)
  return admitted
}

type World = Effect.Effect.Success<ReturnType<typeof setUp>>

const admit = ({ links }: World, limits: typeof KeyLimits.Service, key: ApiKey): Admitted =>
  now(links, limits.admit(key, request()))

const reserve = ({ links }: World, commitment: Commitment, amount: number) =>
  now(links, commitment.reserve(target, estimateOf(amount), 0))

const usd = ({ key, limits }: World) => {
  const window = limits.standings(key.id, 0)[0]?.window
  if (window === undefined) throw new Error("no budget")
  return { used: window.used, reserved: window.reserved }
}

/** Changes teams of a world, and the limits with them. */
const putTeams = ({ limits, links, people }: World, ...teams: ReadonlyArray<Team>) =>
  Effect.gen(function* () {
    for (const team of teams) yield* Effect.orDie(people.putTeam(team))
    yield* Effect.orDie(limits.ownersChanged)
    links.settle()
  })

const usdOf = ({ limits }: World, teamId: string) => {
  const window = limits.ownerStandings(teamId, 0)[0]?.window
  return window === undefined ? null : { used: window.used, reserved: window.reserved }
}

const workerAt = ({ workers }: World, index: number) => {
  const worker = workers[index]
  if (worker === undefined) throw new Error(`no worker ${index}`)
  return worker
}

const second = (world: World) =>
  Effect.gen(function* () {
    yield* TestClock.adjust(1_000)
    yield* Effect.yieldNow()
    world.links.settle()
  })

describe("workers", () => {
  it.scoped("let ten of forty requests through on a budget for ten, and say of the others what one process says", () =>
    Effect.gen(function* () {
      const world = yield* setUp(4)
      const { key, limits, links } = world
      const free = admit(world, workerAt(world, 0).limits, key)
      assert.isNull(free)
      yield* limits.putBudget(budgetOf(key.id, 1_000))
      links.settle()
      const held: Array<Commitment> = []
      const refused: Array<LimitReached> = []
      for (let each = 0; each < 40; each += 1) {
        const { limits: own } = workerAt(world, each % 4)
        const admitted = admit(world, own, key)
        const commitment = commitmentOf(admitted)
        const reserved = reserve(world, commitment, 100)
        if (reserved instanceof Reservation) held.push(commitment)
        else {
          assert.isFalse(reserved instanceof LimitsUnknown)
          if (!(reserved instanceof LimitsUnknown)) refused.push(own.refuse(commitment, reserved))
          commitment.leave()
        }
      }
      assert.lengthOf(held, 10)
      assert.deepStrictEqual(usd(world), { used: 0, reserved: 1_000 })
      const alone = commitmentOf(now(links, limits.admit(key, request())))
      const obstacle = alone.obstacle(target, estimateOf(100))
      if (obstacle === null) return assert.fail("the owner has nothing left")
      const same = limits.refuse(alone, obstacle)
      for (const each of refused) {
        assert.deepStrictEqual(
          { message: each.message, retryAfterMs: each.retryAfterMs, limit: each.limit },
          { message: same.message, retryAfterMs: same.retryAfterMs, limit: same.limit }
        )
      }
      alone.leave()
      for (const [index, commitment] of held.entries()) {
        workerAt(world, index % 4).limits.settle(commitment, chargesOf(100))
        commitment.leave()
      }
      links.settle()
      assert.deepStrictEqual(usd(world), { used: 1_000, reserved: 0 })
      const over = admit(world, workerAt(world, 3).limits, key)
      const inOne = now(links, limits.admit(key, request()))
      if (!(over instanceof LimitReached) || !(inOne instanceof LimitReached)) return assert.fail("it is used up")
      assert.strictEqual(over.message, inOne.message)
      assert.strictEqual(over.retryAfterMs, inOne.retryAfterMs)
      assert.deepStrictEqual(over.limit, inOne.limit)
    })
  )

  it.scoped("let ten of forty requests of three keys through on a budget for ten of their company", () =>
    Effect.gen(function* () {
      const world = yield* setUp(4)
      const { keys, limits, links } = world
      yield* putTeams(
        world,
        teamOf("company", null, 1_000),
        teamOf("near", "company", 700),
        teamOf("far", "near", null)
      )
      const made: Array<ApiKey> = []
      for (const teamId of ["company", "near", "far"]) {
        const { key } = yield* Effect.orDie(keys.create({ ...unrestricted, name: teamId, teamId }))
        yield* limits.keyChanged(key.id)
        made.push(key)
      }
      links.settle()
      const held: Array<Commitment> = []
      const refused = new Set<string>()
      for (let each = 0; each < 40; each += 1) {
        const { limits: own } = workerAt(world, each % 4)
        // The two below the middle of the tree first, which have 700 together.
        const key = made[each < 20 ? 1 + (each % 2) : 0]
        if (key === undefined) continue
        const commitment = commitmentOf(admit(world, own, key))
        const reserved = reserve(world, commitment, 100)
        if (reserved instanceof Reservation) {
          held.push(commitment)
          continue
        }
        if (!(reserved instanceof LimitsUnknown)) refused.add(own.refuse(commitment, reserved).message.slice(0, 34))
        commitment.leave()
      }
      assert.lengthOf(held, 10)
      assert.deepStrictEqual([...refused], ["The team 'near' of this API key ha", "The team 'company' of this API key"])
      assert.deepStrictEqual(usdOf(world, "near"), { used: 0, reserved: 700 })
      assert.deepStrictEqual(usdOf(world, "company"), { used: 0, reserved: 1_000 })
      for (const [index, commitment] of held.entries()) {
        workerAt(world, index % 4).limits.settle(commitment, chargesOf(90))
        commitment.leave()
      }
      links.settle()
      yield* second(world)
      yield* second(world)
      assert.deepStrictEqual(usdOf(world, "near"), { used: 630, reserved: 0 })
      assert.deepStrictEqual(usdOf(world, "company"), { used: 900, reserved: 0 })
    })
  )

  it.scoped("hold to a budget that a team gets while its keys are used, and let go of one that it loses", () =>
    Effect.gen(function* () {
      const world = yield* setUp(2)
      const { keys, limits, links } = world
      yield* putTeams(world, teamOf("team", null, null))
      const { key } = yield* Effect.orDie(keys.create({ ...unrestricted, name: "k", teamId: "team" }))
      yield* limits.putBudget(budgetOf(key.id, 10_000))
      links.settle()
      const own = workerAt(world, 0).limits
      const running = commitmentOf(admit(world, own, key))
      assert.instanceOf(reserve(world, running, 300), Reservation)
      yield* putTeams(world, teamOf("team", null, 1_000))
      const next = commitmentOf(admit(world, own, key))
      assert.instanceOf(reserve(world, next, 600), Reservation)
      links.settle()
      // What ran before the budget was there counts for it.
      assert.deepStrictEqual(usdOf(world, "team"), { used: 0, reserved: 900 })
      const over = commitmentOf(admit(world, workerAt(world, 1).limits, key))
      assert.notInstanceOf(reserve(world, over, 101), Reservation)
      over.leave()
      for (const [commitment, cost] of [
        [running, 200],
        [next, 500]
      ] as const) {
        own.settle(commitment, chargesOf(cost))
        commitment.leave()
      }
      links.settle()
      assert.deepStrictEqual(usdOf(world, "team"), { used: 700, reserved: 0 })
      yield* putTeams(world, teamOf("team", null, null))
      assert.isNull(usdOf(world, "team"))
      const free = commitmentOf(admit(world, own, key))
      assert.instanceOf(reserve(world, free, 5_000), Reservation)
      assert.deepStrictEqual(usd({ ...world, key }), { used: 700, reserved: 5_000 })
    })
  )

  it.scoped("count for a new budget nothing that another key is booked meanwhile", () =>
    Effect.gen(function* () {
      const world = yield* setUp(0)
      const { key, keys, limits } = world
      const { key: other } = yield* Effect.orDie(keys.create({ ...unrestricted, name: "other" }))
      yield* limits.putBudget(budgetOf(other.id, 1_000))
      const running = commitmentOf(admit(world, limits, other))
      assert.instanceOf(reserve(world, running, 300), Reservation)
      const putting = yield* Effect.fork(limits.putBudget(budgetOf(key.id, 1_000)))
      // It waits for the end of this turn.
      yield* Effect.yieldNow()
      limits.settle(running, chargesOf(300))
      running.leave()
      yield* putting
      assert.deepStrictEqual(usd(world), { used: 0, reserved: 0 })
      assert.deepStrictEqual(usd({ ...world, key: other }), { used: 300, reserved: 0 })
    })
  )

  it.scoped("count for a new budget what a worker let in while there was none", () =>
    Effect.gen(function* () {
      const world = yield* setUp(1)
      const { key, limits, links } = world
      const own = workerAt(world, 0).limits
      assert.isNull(admit(world, own, key))
      assert.isFalse(own.mayCount(key.id))
      yield* limits.putBudget(budgetOf(key.id, 1_000))
      links.settle()
      assert.isTrue(own.mayCount(key.id))
      own.book({ requestId: "r", apiKeyId: key.id, receivedMs: 0, charges: chargesOf(300), isCounted: true })
      links.settle()
      assert.deepStrictEqual(usd(world), { used: 300, reserved: 0 })
    })
  )

  it.scoped("report each threshold once, by the owner", () =>
    Effect.gen(function* () {
      const world = yield* setUp(3)
      const { key, limits, links, owner } = world
      yield* limits.putBudget(budgetOf(key.id, 1_000))
      links.settle()
      const events = yield* Context.get(owner, Events.Events).subscribe
      for (let each = 0; each < 14; each += 1) {
        const { limits: own } = workerAt(world, each % 3)
        const admitted = admit(world, own, key)
        if (admitted instanceof Error) continue
        const commitment = commitmentOf(admitted)
        if (reserve(world, commitment, 100) instanceof Reservation) own.settle(commitment, chargesOf(100))
        commitment.leave()
        links.settle()
      }
      const told = [...(yield* Queue.takeAll(events))].flatMap((event) =>
        event.type === "quota.exceeded" ? [event.threshold] : []
      )
      assert.deepStrictEqual(told, ["warning", "limit"])
    })
  )

  it.scoped("give back at once what another one needs", () =>
    Effect.gen(function* () {
      const world = yield* setUp(2)
      const { key, limits, links } = world
      yield* limits.putBudget(budgetOf(key.id, 1_000))
      links.settle()
      const first = commitmentOf(admit(world, workerAt(world, 0).limits, key))
      assert.instanceOf(reserve(world, first, 10), Reservation)
      const ahead = usd(world).reserved - 10
      assert.isAbove(ahead, 0)
      const other = commitmentOf(admit(world, workerAt(world, 1).limits, key))
      // All but what the first call has reserved.
      assert.instanceOf(reserve(world, other, 990), Reservation)
      assert.deepStrictEqual(usd(world), { used: 0, reserved: 1_000 })
    })
  )

  it.scoped("settle as estimated what a dead one had open, with a row for each request", () =>
    Effect.gen(function* () {
      const world = yield* setUp(2)
      const { key, limits, links, owner } = world
      yield* limits.putBudget(budgetOf(key.id, 10_000))
      links.settle()
      const { id, limits: own } = workerAt(world, 0)
      const done = commitmentOf(admit(world, own, key))
      reserve(world, done, 100)
      const open = commitmentOf(admit(world, own, key))
      reserve(world, open, 200)
      own.settle(done, chargesOf(40))
      done.leave()
      // The report of the first is lost with the process; its row is not.
      links.kill(id, true)
      const leases = Context.get(owner, WorkerLeases.WorkerLeases)
      const requestOf = (of: Commitment, nanoUsd: number) => ({
        requestId: of.requestId,
        apiKeyId: key.id,
        receivedMs: 0,
        requestedModel: "p/m",
        sourceWire: "chat" as const,
        streamed: false,
        batchId: null,
        calls: [{ ...target, nanoUsd, tokensIn: nanoUsd, tokensOut: 0, createdAtMs: 0, price: null }]
      })
      const { recoveredRow } = yield* Effect.promise(() => import("../../../src/plane/ledger/Recovered.ts"))
      const row = recoveredRow(requestOf(done, 40), 0)
      Context.get(owner, UsageJournal.UsageJournal).append(row)
      leases.hasRow(id, row)
      yield* leases.settleLeft(id, [requestOf(open, 200), requestOf(done, 100)], new Set([done.requestId]))
      assert.deepStrictEqual(usd(world), { used: 240, reserved: 0 })
      const query = { apiKeyId: key.id, sinceMs: 0, untilMs: 86_400_000 }
      const sum = yield* Context.get(owner, SpendRepo).sum(query)
      assert.strictEqual(sum.costNanoUsd, 240)
    })
  )

  it.scoped("go on for 30 s without an owner on what they hold, and refuse keys without a lease", () =>
    Effect.gen(function* () {
      const world = yield* setUp(1)
      const { key, keys, limits, links } = world
      const { key: rated } = yield* Effect.orDie(
        keys.create({ ...unrestricted, name: "rated", rateLimits: [{ limit: 10, window: 60 }] })
      )
      const { key: unlimited } = yield* Effect.orDie(keys.create({ ...unrestricted, name: "unlimited" }))
      yield* limits.putBudget(budgetOf(key.id, 1_000_000))
      links.settle()
      const { limits: own } = workerAt(world, 0)
      const first = commitmentOf(admit(world, own, key))
      assert.instanceOf(reserve(world, first, 100), Reservation)
      yield* second(world)
      let isChecked = false
      links.restart(() => {
        const held = own.admit(key, request())
        assert.isFalse(held instanceof Later)
        const commitment = commitmentOf(now<Admitted>(links, held))
        assert.instanceOf(commitment.reserve(target, estimateOf(100), 0), Reservation)
        assert.instanceOf(commitment.reserve(target, estimateOf(100_000), 0), Later)
        assert.instanceOf(now(links, commitment.reserve(target, estimateOf(100_000), 0)), LimitsUnknown)
        assert.instanceOf(now(links, own.admit(rated, request())), LimitsUnknown)
        assert.isNull(own.admit(unlimited, request()))
        isChecked = true
      })
      assert.isTrue(isChecked)
    })
  )

  it.scoped("ask anew after they were stopped for 10 s", () =>
    Effect.gen(function* () {
      const world = yield* setUp(1)
      const { key, limits, links } = world
      yield* limits.putBudget(budgetOf(key.id, 1_000_000))
      links.settle()
      const { limits: own } = workerAt(world, 0)
      const first = commitmentOf(admit(world, own, key))
      assert.instanceOf(reserve(world, first, 100), Reservation)
      assert.isFalse(own.admit(key, request()) instanceof Later)
      // Timers do not fire in a process that is stopped, and no message comes.
      yield* TestClock.adjust(10_000)
      const admitted = own.admit(key, request())
      assert.instanceOf(admitted, Later)
      const commitment = commitmentOf(now<Admitted>(links, admitted))
      assert.instanceOf(reserve(world, commitment, 100), Reservation)
    })
  )

  it.scoped("have no limits of their own to change", () =>
    Effect.gen(function* () {
      const world = yield* setUp(1)
      const { limits: own } = workerAt(world, 0)
      const error = yield* Effect.flip(own.putBudget(budgetOf(world.key.id, 1)))
      assert.strictEqual(error._tag, "StoreError")
      assert.deepStrictEqual(own.budgets(), [])
    })
  )
})

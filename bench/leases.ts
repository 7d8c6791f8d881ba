/**
 * What the limits of a key cost a request on the CPU of its process: admission, a reservation, its cost and its end, in one process and in a worker
 * with leases, whose owner is beside it. Of the worker's own CPU are its messages, written and read as JSON; the owner's work is taken off.
 * Start: node node_modules/vite-node/vite-node.mjs bench/leases.ts
 */
import type { ApiKey } from "../src/subjects/keys/entity.ts"
import { AccountCommitment, type Commitment } from "../src/plane/ledger/Commitment.ts"
import { KeyAccount, Reservation } from "../src/plane/ledger/KeyAccount.ts"
import type { LedgerTruth } from "../src/plane/ledger/LedgerTruth.ts"
import { OwnerLedger } from "../src/plane/ledger/leased/OwnerLedger.ts"
import { WorkerLedger } from "../src/plane/ledger/leased/WorkerLedger.ts"
import { Meter, type MeterSpec } from "../src/plane/ledger/Meter.ts"
import { Later } from "../src/kernel/Later.ts"
import type { OwnerLink } from "../src/plane/state/link/OwnerLink.ts"
import type { WorkerId, WorkerLinks } from "../src/plane/state/link/WorkerLinks.ts"

const perSecond = 2_000
const seconds = 20
const rounds = 5
/** Time in ms that a call takes. */
const callMs = 100
const stepMs = 1
const amount = 2_000_000

const specOf = (apiKeyId: string): MeterSpec => ({
  id: `budget/${apiKeyId}/daily`,
  unit: "usd",
  rule: { interval: "daily", resetTime: "00:00", timeZone: "UTC" },
  limit: 1e15,
  warningThreshold: 0.8,
  scope: null
})

/** Keys of one team. */
const perTeam = 10

/** Limits of a key: its own, or with it those of its person and its team. */
type Limits = "own" | "three"

const makeKeys = (count: number, limits: Limits) => {
  const accounts = new Map<string, KeyAccount>()
  const shared = new Map<string, Meter>()
  const sharedOf = (kind: "user" | "team", id: string): Meter => {
    const spec = { ...specOf(id), id: `${kind}/${id}/usd/daily`, owner: { kind, id, name: id } }
    const meter = shared.get(spec.id) ?? new Meter(spec)
    shared.set(spec.id, meter)
    return meter
  }
  const keys = Array.from({ length: count }, (_, index) => {
    const id = `01a21943-d7${String(index).padStart(4, "0")}-7000-b6ac-053ff813a027`
    const account = new KeyAccount()
    account.meters = [new Meter(specOf(id))]
    if (limits === "three") {
      const team = `01a21943-d8${String(Math.floor(index / perTeam)).padStart(4, "0")}-7000-b6ac-053ff813a027`
      account.share([sharedOf("user", id), sharedOf("team", team)], null)
    }
    accounts.set(id, account)
    const rates = { rateLimits: [], maxRequestsPerMinute: null, maxRequestsPerDay: null, maxSessions: null }
    return { id, ...rates } as unknown as ApiKey
  })
  return { accounts, keys, shared }
}

const estimate = { nanoUsd: amount, tokens: 1_000, tokensIn: 1_000, tokensOut: 0, price: null }
const target = { provider: "openai", connectionId: "01a21943-d777-7000-b6ac-053ff813a028", model: "gpt-4o-mini" }
const charges = [{ provider: "openai", model: "gpt-4o-mini", nanoUsd: amount / 2, tokens: 700 }]

type Admit = (key: ApiKey, requestId: string, then: (commitment: Commitment) => void) => void

interface Run {
  readonly admit: Admit
  /** Virtual time goes on. */
  readonly tick: () => void
  /** Nanoseconds that were the owner's. */
  readonly ofOwner: () => number
  /** Turns in which the owner's part was timed, by a look at the clock before and after it. */
  readonly timed: () => number
  readonly asked: () => number
}

let nowMs = 0

/** CPU of this process in nanoseconds: other programs of the machine do not count. */
const cpuNs = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) * 1_000
}

/** Nanoseconds that a look at the clock takes itself: as much as a request's limits in one process. */
const lookNs = (): number => {
  const looks = 20_000
  const begun = cpuNs()
  for (let look = 0; look < looks; look += 1) cpuNs()
  return (cpuNs() - begun) / looks
}

const alone = (count: number, limits: Limits): Run & { readonly keys: ReadonlyArray<ApiKey> } => {
  const { accounts, keys } = makeKeys(count, limits)
  return {
    keys,
    admit: (key, requestId, then) => {
      const account = accounts.get(key.id)
      if (account === undefined) return
      account.follow(key)
      if (account.usedUp(nowMs) !== null) return
      account.admitted(nowMs, nowMs)
      then(new AccountCommitment({ account, apiKeyId: key.id, requestId, receivedMs: nowMs, session: null }))
    },
    tick: () => {},
    ofOwner: () => 0,
    timed: () => 0,
    asked: () => 0
  }
}

/** One way between the two: a batch of messages each step of time, as text. */
const leased = (count: number, limits: Limits): Run & { readonly keys: ReadonlyArray<ApiKey> } => {
  const { accounts, keys, shared } = makeKeys(count, limits)
  const id: WorkerId = { place: 1, life: 1 }
  const takers = new Map<string, (worker: WorkerId, body: unknown, answer: (answer: unknown) => void) => void>()
  const waiting = new Map<number, (answer: unknown) => void>()
  let toOwner: Array<readonly [topic: string, body: unknown, number: number]> = []
  let toWorker: Array<readonly [answer: unknown, number: number]> = []
  let due: Array<{ readonly atMs: number; readonly run: () => void }> = []
  let number = 0
  let owner = 0
  let timed = 0
  const timers = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after: (delayMs: number, run: () => void) => {
      due.push({ atMs: nowMs + delayMs, run })
      return { restart: () => {}, cancel: () => {} }
    }
  }
  const none = () => () => {}
  const links: typeof WorkerLinks.Service = {
    serve: (topic, take) => {
      takers.set(topic, take)
      return () => {}
    },
    tell: () => {},
    tellAll: () => {},
    begin: () => {},
    workers: () => [id],
    onJoined: none,
    onLeft: none
  }
  const truth: typeof LedgerTruth.Service = {
    account: (key) => accounts.get(key),
    shared: (limitId) => shared.get(limitId),
    limited: () => [...accounts.keys()],
    tellOnce: () => {},
    tellReached: () => {},
    book: ({ apiKeyId, charges: all, receivedMs }) => {
      const account = accounts.get(apiKeyId)
      for (const charge of all) account?.book(receivedMs, charge.provider, charge.model, charge)
    },
    note: () => {},
    unbook: () => {},
    onChanged: none,
    attach: () => {}
  }
  const ownerTimers = { ...timers, after: () => ({ restart: () => {}, cancel: () => {} }) }
  // It serves the topics from here on.
  new OwnerLedger({ links, truth, ...ownerTimers, withRows: (_, then) => then(new Set()) }).opening()
  const link: typeof OwnerLink.Service = {
    send: (topic, body) => void toOwner.push([topic, body, 0]),
    ask: (topic, body, then) => {
      number += 1
      waiting.set(number, then)
      toOwner.push([topic, body, number])
    },
    listen: none,
    isUp: () => true,
    watch: none
  }
  const worker = new WorkerLedger({ link, moved: { listen: none }, ...timers })
  const deliver = (): void => {
    if (toOwner.length === 0) return
    const text = JSON.stringify(toOwner)
    toOwner = []
    const begun = cpuNs()
    for (const [topic, body, asked] of JSON.parse(text) as typeof toOwner) {
      takers.get(topic)?.(id, body, (answer) => {
        if (asked > 0) toWorker.push([answer, asked])
      })
    }
    const back = JSON.stringify(toWorker)
    toWorker = []
    owner += cpuNs() - begun
    timed += 1
    for (const [answer, asked] of JSON.parse(back) as typeof toWorker) {
      waiting.get(asked)?.(answer)
      waiting.delete(asked)
    }
  }
  deliver()
  return {
    keys,
    admit: (key, requestId, then) => {
      const asking = { requestId, receivedMs: nowMs, sessionId: null, isCountedBefore: false }
      const go = (known: unknown): void => {
        if (known === null || known instanceof Error) throw new Error("not admitted")
        then(known as Commitment)
      }
      const admitted = worker.admit(key, asking)
      if (admitted instanceof Later) admitted.whenKnown(go)
      else go(admitted)
    },
    tick: () => {
      const ready = due.filter(({ atMs }) => atMs <= nowMs)
      if (ready.length > 0) due = due.filter(({ atMs }) => atMs > nowMs)
      for (const { run } of ready) run()
      deliver()
    },
    ofOwner: () => owner,
    timed: () => timed,
    asked: () => number
  }
}

/** CPU in µs of a request, and how many of 100 requests asked. */
const measure = (made: Run & { readonly keys: ReadonlyArray<ApiKey> }) => {
  const { admit, keys, tick } = made
  const ends: Array<{ readonly atMs: number; readonly end: () => void }> = []
  let first = 0
  let requests = 0
  let serial = 0
  const startMs = nowMs
  const ofOwner = made.ofOwner()
  const asked = made.asked()
  const timed = made.timed()
  const ofLook = lookNs()
  const begun = cpuNs()
  for (; nowMs < startMs + seconds * 1_000; nowMs += stepMs) {
    for (let each = 0; each < (perSecond * stepMs) / 1_000; each += 1) {
      const key = keys[(serial * 7_919) % keys.length]
      serial += 1
      if (key === undefined) continue
      admit(key, `01a21943-dd02-7000-b941-${serial}`, (commitment) => {
        const run = (reserved: unknown): void => {
          if (!(reserved instanceof Reservation)) throw new Error("not reserved")
          requests += 1
          ends.push({
            atMs: nowMs + callMs,
            end: () => {
              commitment.settle(charges)
              commitment.leave()
            }
          })
        }
        const reserved = commitment.reserve(target, estimate, nowMs)
        if (reserved instanceof Later) reserved.whenKnown(run)
        else run(reserved)
      })
    }
    for (let next = ends[first]; next !== undefined && next.atMs <= nowMs; next = ends[first]) {
      next.end()
      first += 1
    }
    tick()
  }
  const all = cpuNs() - begun
  // Of two looks one is within what was timed, and one beside it.
  const looks = (made.timed() - timed) * ofLook
  const owners = made.ofOwner() - ofOwner
  return {
    us: (all - owners - looks) / 1_000 / requests,
    ownerUs: (owners - looks) / 1_000 / requests,
    asked: (100 * (made.asked() - asked)) / requests
  }
}

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const cost = (one: ReturnType<typeof alone>, worker: ReturnType<typeof leased>) => {
  const pairs = Array.from({ length: rounds }, () => ({ one: measure(one), worker: measure(worker) }))
  return {
    oneUs: median(pairs.map((pair) => pair.one.us)),
    workerUs: median(pairs.map((pair) => pair.worker.us)),
    ownerUs: median(pairs.map((pair) => pair.worker.ownerUs)),
    asked: median(pairs.map((pair) => pair.worker.asked))
  }
}

for (const count of [1, 50, 1_000]) {
  for (const limits of ["own", "three"] as const) {
    const one = alone(count, limits)
    const worker = leased(count, limits)
    measure(one)
    measure(worker)
    const { asked, oneUs, ownerUs, workerUs } = cost(one, worker)
    process.stdout.write(
      `${String(count).padStart(5)} keys, ${limits === "own" ? "one meter   " : "three meters"}   one process ${oneUs.toFixed(2)} µs   ` +
        `worker ${workerUs.toFixed(2)} µs   +${(workerUs - oneUs).toFixed(2)} µs   owner ${ownerUs.toFixed(2)} µs   ` +
        `${asked.toFixed(1)} of 100 asked\n`
    )
  }
}

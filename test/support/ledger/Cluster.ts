/**
 * An owner and workers whose limits of keys are the real ones, on clocks and messages of the test, or one process alone; beside them the books of
 * the provider: what calls have cost and may still cost, whatever any process knows of it.
 */
import type { ApiKey } from "../../../src/subjects/keys/entity.ts"
import { AccountCommitment, type Commitment } from "../../../src/plane/ledger/Commitment.ts"
import { KeyAccount, Reservation } from "../../../src/plane/ledger/KeyAccount.ts"
import type { Admitted } from "../../../src/plane/ledger/KeyLimits.ts"
import type { Booked, LedgerTruth } from "../../../src/plane/ledger/LedgerTruth.ts"
import { OwnerLedger } from "../../../src/plane/ledger/leased/OwnerLedger.ts"
import { WorkerLedger } from "../../../src/plane/ledger/leased/WorkerLedger.ts"
import { meterReached, rateReached, sessionsReached } from "../../../src/plane/ledger/LimitErrors.ts"
import { Meter, type MeterSpec } from "../../../src/plane/ledger/Meter.ts"
import { recoveredRow } from "../../../src/plane/ledger/Recovered.ts"
import { leaseMs } from "../../../src/plane/state/ledger/Fence.ts"
import { makeSignal, type Signal } from "../../../src/kernel/collections/Signal.ts"
import { Later } from "../../../src/kernel/Later.ts"
import type { Timer } from "../../../src/platform/Timers.ts"
import type { UsageRow } from "../../../src/contract/domain/Usage.ts"
import type { OwnerLink } from "../../../src/plane/state/link/OwnerLink.ts"
import type { WorkerId } from "../../../src/plane/state/link/WorkerLinks.ts"
import { makeLinks } from "../Links.ts"

export const startMs = Date.UTC(2026, 0, 15, 12)
/** Keys of a team, each with limits of its own. */
export const keyIds = ["key", "second key", "third key"] as const
export type KeyId = (typeof keyIds)[number]

const rule = (interval: "daily" | "monthly") => ({ interval, resetTime: "00:00", timeZone: "UTC" })

export interface ClusterLimits {
  readonly nanoUsd: number
  readonly tokensOfA: number
  readonly requests: number
  readonly rate: { readonly limit: number; readonly window: number }
  readonly sessions: number
  /** Budget that the keys share; absent: none. */
  readonly teamNanoUsd?: number
}

const teamId = "team/usd"

const teamSpec = (limit: number): MeterSpec => ({
  id: teamId,
  unit: "usd",
  rule: rule("daily"),
  limit,
  warningThreshold: 0.8,
  scope: null,
  owner: { kind: "team", id: "team", name: "Team" }
})

/** The meters of a key; the ids are its own. */
const specsOf = ({ nanoUsd, requests, tokensOfA }: ClusterLimits, key: KeyId): ReadonlyArray<MeterSpec> => [
  { id: `${key}/usd`, unit: "usd", rule: rule("daily"), limit: nanoUsd, warningThreshold: 0.8, scope: null },
  {
    id: `${key}/tokens of a`,
    unit: "tokens",
    rule: rule("monthly"),
    limit: tokensOfA,
    warningThreshold: 0.8,
    scope: { provider: "p", model: "a" }
  },
  { id: `${key}/requests`, unit: "requests", rule: rule("daily"), limit: requests, warningThreshold: 0.8, scope: null }
]

/** Only what the ledger reads of a key. */
const keyOf = ({ rate, requests, sessions }: ClusterLimits, id: KeyId) =>
  ({
    id,
    rateLimits: [rate],
    maxRequestsPerDay: requests,
    maxRequestsPerMinute: null,
    maxSessions: sessions
  }) as unknown as ApiKey

interface Due {
  readonly atMs: number
  readonly run: () => void
  readonly place: number
  isCancelled: boolean
}

export interface Request {
  readonly id: string
  readonly key: KeyId
  readonly place: number
  readonly life: number
  readonly model: string
  readonly amount: number
  readonly session: string
  readonly receivedMs: number
  state: "entering" | "reserving" | "open" | "over" | "lost"
  refused: string | null
  commitment: Commitment | null
  reservation: Reservation | null
  enteredMs: number | null
}

interface Worker {
  readonly place: number
  readonly id: WorkerId
  readonly link: typeof OwnerLink.Service
  readonly ledger: WorkerLedger
  readonly moved: Signal<ReadonlyArray<string>>
  /** Rows in its file. */
  readonly rows: Map<string, UsageRow>
}

/** Rows of a worker's file; the answer comes when they are in the table. */
const rowsTopic = "rows"

/** Amounts are the same in nano-USD and tokens. */
const rowOf = ({ id, key, model, receivedMs }: Request, cost: number, isCalled = true): UsageRow => ({
  ...recoveredRow(
    {
      requestId: id,
      apiKeyId: key,
      receivedMs,
      requestedModel: `p/${model}`,
      sourceWire: "chat",
      streamed: false,
      batchId: null,
      calls: isCalled ? [callOf(model, cost, receivedMs)] : []
    },
    receivedMs
  ),
  ...(isCalled ? {} : { status: 429 })
})

const callOf = (model: string, amount: number, createdAtMs: number) => ({
  provider: "p",
  connectionId: "c",
  model,
  nanoUsd: amount,
  tokensIn: amount,
  tokensOut: 0,
  createdAtMs,
  price: null
})

const chargesOf = (model: string, amount: number) => [{ provider: "p", model, nanoUsd: amount, tokens: amount }]

/** The place of the owner's ledger where all workers share rows instead, each by a link of its own. */
export interface RowsSide {
  /** The rows can be reached, at the start and again. */
  readonly serve: () => void
  readonly join: (id: WorkerId, link: typeof OwnerLink.Service) => typeof OwnerLink.Service
  /** A worker has died. `left`: what is in the files of its folder. */
  readonly kill: (id: WorkerId, left: ReadonlyArray<Booked>) => void
  /** The worker of a place settles what those before it have left. */
  readonly settle: (place: number) => void
  readonly standing: (key: KeyId, meter: Meter, atMs: number) => { readonly used: number; readonly reserved: number }
  readonly sessions: (key: KeyId) => number
  /** Requests that workers may let in by what they hold of rates. */
  readonly rates: (key: KeyId) => number
}

const bookedOf = ({ id, key, model, receivedMs }: Request, amount: number): Booked => ({
  requestId: id,
  apiKeyId: key,
  receivedMs,
  isCounted: true,
  charges: chargesOf(model, amount)
})

export class Cluster {
  limits: ClusterLimits
  readonly #side: RowsSide | null
  readonly #soons = new Map<number, Array<() => void>>()
  readonly links = makeLinks()
  readonly requests: Array<Request> = []
  readonly workers = new Map<number, Worker>()
  readonly stopped = new Set<number>()
  /** Monotonic times at which workers last heard of the owner, as far as the test lets them. */
  readonly #heard = new Map<number, number>()
  /** Rows that are on disk, wherever. */
  readonly rows = new Map<string, UsageRow>()
  /** Rows that are in the table. */
  readonly #table = new Map<string, UsageRow>()
  readonly #entered = new Map<KeyId, number>()
  /** The budget that the keys share; null: they share none. */
  team: Meter | null = null
  #accounts: ReadonlyMap<KeyId, KeyAccount> = new Map()
  owner: OwnerLedger | null = null
  nowMs = 0
  /** The wall clock stands so much beside the monotonic one. */
  wallMs = startMs
  told = 0
  restarts = 0
  kills = 0
  #due: Array<Due> = []
  #listeners = new Set<(apiKeyId: string) => void>()
  #ids = 0
  readonly #size: number

  constructor(limits: ClusterLimits, size: number, rows: ((cluster: Cluster) => RowsSide) | null = null) {
    this.limits = limits
    this.#size = size
    this.#makeAccounts()
    this.#side = rows?.(this) ?? null
    if (size === 0) return
    if (this.#side === null) this.#startOwner()
    else this.#side.serve()
    for (let place = 1; place <= size; place += 1) this.join(place)
  }

  /** Account of the first key. */
  get account(): KeyAccount {
    return this.accountOf("key")
  }

  /** Requests of the first key that came in. */
  get entered(): number {
    return this.enteredOf("key")
  }

  accountOf(key: KeyId): KeyAccount {
    return this.#accounts.get(key) ?? new KeyAccount()
  }

  enteredOf(key: KeyId): number {
    return this.#entered.get(key) ?? 0
  }

  #makeAccounts(): void {
    this.team = this.newTeam()
    this.#accounts = this.newAccounts(this.team)
  }

  newTeam(): Meter | null {
    const { teamNanoUsd } = this.limits
    return teamNanoUsd === undefined ? null : new Meter(teamSpec(teamNanoUsd))
  }

  newAccounts(team: Meter | null): ReadonlyMap<KeyId, KeyAccount> {
    return new Map(
      keyIds.map((id) => {
        const account = new KeyAccount()
        account.meters = specsOf(this.limits, id).map((spec) => new Meter(spec))
        if (team !== null) account.share([team], null)
        account.follow(keyOf(this.limits, id))
        return [id, account]
      })
    )
  }

  /** A limit of a key as it is: what all have used of it and hold. */
  standing(key: KeyId, id: string): { readonly used: number; readonly reserved: number; readonly limit: number } {
    const meter = this.accountOf(key).meters.find(({ spec }) => spec.id === `${key}/${id}` || spec.id === id)
    if (meter === undefined) throw new Error(`no meter ${id}`)
    const atMs = this.wallMs + this.nowMs
    const { used, reserved } = this.#side?.standing(key, meter, atMs) ?? meter.at(atMs)
    return { used, reserved, limit: meter.spec.limit }
  }

  /** Sessions of a key that count as running. */
  heldSessions(key: KeyId): number {
    return this.#side?.sessions(key) ?? this.accountOf(key).sessions.size
  }

  /** Requests that workers may let in by what they hold of rates. */
  heldRates(key: KeyId): number {
    return this.#side?.rates(key) ?? this.accountOf(key).rates.reduce((sum, { reserved }) => sum + reserved, 0)
  }

  /** Runs at the end of a turn of the event loop, which the test ends with a delivery. */
  soon(place: number, run: () => void): void {
    this.#soons.set(place, [...(this.#soons.get(place) ?? []), run])
  }

  #runSoons(): void {
    for (const [place, runs] of this.#soons) {
      if (this.stopped.has(place)) continue
      this.#soons.delete(place)
      for (const run of runs) run()
    }
  }

  #accountNamed(id: string): KeyAccount | undefined {
    const key = keyIds.find((each) => each === id)
    return key === undefined ? undefined : this.#accounts.get(key)
  }

  get isAlone(): boolean {
    return this.#size === 0
  }

  readonly timers = (place: number) => ({
    nowMs: () => this.wallMs + this.nowMs,
    monotonicMs: () => this.nowMs,
    after: (delayMs: number, run: () => void): Timer => {
      const due: Due = { atMs: this.nowMs + delayMs, run, place, isCancelled: false }
      this.#due.push(due)
      return { restart: () => {}, cancel: () => void (due.isCancelled = true) }
    }
  })

  #startOwner(): void {
    this.#listeners = new Set()
    this.owner = new OwnerLedger({
      links: this.links.owner,
      truth: this.#truth(),
      ...this.timers(0),
      withRows: (ids, then) => then(new Set(ids.filter((id) => this.#table.has(id))))
    })
    this.links.owner.serve(rowsTopic, (id, body, answer) => {
      this.#adopt(id, body as ReadonlyArray<UsageRow>)
      answer("done")
    })
  }

  /** Rows of a worker come into the table, each once. */
  #adopt(id: WorkerId, rows: Iterable<UsageRow>): void {
    for (const row of rows) {
      if (this.#table.has(row.requestId)) continue
      this.owner?.hasRow(id, row)
      this.#table.set(row.requestId, row)
    }
  }

  #truth(): typeof LedgerTruth.Service {
    return this.truthOf(this.#accounts, this.team)
  }

  truthOf(accounts: ReadonlyMap<KeyId, KeyAccount>, team: Meter | null): typeof LedgerTruth.Service {
    const book = ({ apiKeyId, charges, isCounted, receivedMs }: Booked, sign: 1 | -1): void => {
      const account = accounts.get(keyIds.find((each) => each === apiKeyId) ?? "key")
      if (account === undefined) return
      for (const { model, nanoUsd, provider, tokens } of charges) {
        account.book(receivedMs, provider, model, { nanoUsd: sign * nanoUsd, tokens: sign * tokens })
      }
      if (isCounted) account.count(receivedMs, sign)
      if (sign === 1) this.told += account.tellReached(receivedMs).length
    }
    return {
      account: (id) => {
        const key = keyIds.find((each) => each === id)
        const account = key === undefined ? undefined : accounts.get(key)
        if (key !== undefined) account?.follow(keyOf(this.limits, key))
        return account
      },
      shared: (id) => (id === teamId ? ((this.#side === null ? this.team : null) ?? team ?? undefined) : undefined),
      limited: () => keyIds,
      tellOnce: () => {},
      tellReached: () => void (this.told += 1),
      book: (booked) => book(booked, 1),
      note: () => {},
      unbook: (booked) => book(booked, -1),
      onChanged: (listener) => {
        this.#listeners.add(listener)
        return () => void this.#listeners.delete(listener)
      },
      attach: () => {}
    }
  }

  join(place: number): void {
    const { id, link } = this.links.join(place)
    const moved = makeSignal<ReadonlyArray<string>>()
    const ledger = new WorkerLedger({ link: this.#side?.join(id, link) ?? link, moved, ...this.timers(place) })
    this.workers.set(place, { place, id, link, ledger, moved, rows: new Map() })
  }

  /** Time goes on: timers of processes that are not stopped fire. */
  advance(ms: number): void {
    const untilMs = this.nowMs + ms
    for (;;) {
      this.#due = this.#due.filter(({ isCancelled }) => !isCancelled)
      const ready = this.#due
        .filter(({ atMs, place }) => atMs <= untilMs && !this.stopped.has(place))
        .toSorted((a, b) => a.atMs - b.atMs)[0]
      if (ready === undefined) break
      this.#due = this.#due.filter((each) => each !== ready)
      this.nowMs = Math.max(this.nowMs, ready.atMs)
      ready.run()
    }
    this.nowMs = untilMs
  }

  #canRun(way: string): boolean {
    const place = way.startsWith(">") ? Number(way.slice(1).split(".")[0]) : 0
    return !this.stopped.has(place)
  }

  deliver(pick: number): void {
    this.#runSoons()
    const ways = this.links.waiting().filter((way) => this.#canRun(way))
    const way = ways[pick % Math.max(1, ways.length)]
    if (way !== undefined) this.#deliverOn(way)
  }

  #deliverOn(way: string): void {
    if (way.startsWith(">")) this.#heard.set(Number(way.slice(1).split(".")[0]), this.nowMs)
    this.links.deliver(way)
  }

  /** Delivers what a worker has sent, and no answer. */
  deliverFrom(place: number): void {
    if (this.stopped.has(place)) return
    this.#runSoons()
    for (;;) {
      const way = this.links.waiting().find((each) => each.endsWith(">") && Number(each.split(".")[0]) === place)
      if (way === undefined) return
      this.links.deliver(way)
    }
  }

  deliverAll(): void {
    for (;;) {
      this.#runSoons()
      const way = this.links.waiting().find((each) => this.#canRun(each))
      if (way === undefined) return
      this.#deliverOn(way)
    }
  }

  #admit(request: Request): Admitted | Later<Admitted> {
    const { id, key, place, receivedMs, session } = request
    const asking = { requestId: id, receivedMs, sessionId: session, isCountedBefore: false }
    if (!this.isAlone) return this.workers.get(place)?.ledger.admit(keyOf(this.limits, key), asking) ?? null
    const account = this.accountOf(key)
    account.follow(keyOf(this.limits, key))
    const usedUp = account.usedUp(receivedMs)
    if (usedUp !== null) return meterReached(usedUp.meter.spec, usedUp.window, usedUp.isReserved, startMs)
    for (const rate of account.rates) {
      const waitMs = rate.waitMs(this.nowMs)
      if (waitMs > 0) return rateReached(rate.limit, rate.windowMs, waitMs)
    }
    const { maxSessions, sessions } = account
    if (maxSessions > 0 && !sessions.has(session) && sessions.size >= maxSessions) return sessionsReached(maxSessions)
    account.admitted(this.nowMs, receivedMs)
    return new AccountCommitment({ account, apiKeyId: key, requestId: id, receivedMs, session })
  }

  /** A request comes to a worker; it goes on as its limits let it. */
  ask(place: number, model: string, amount: number, session: string, key: KeyId = "key"): Request | null {
    if (!this.isAlone && (this.stopped.has(place) || !this.workers.has(place))) return null
    this.#ids += 1
    const request: Request = {
      id: `r${this.#ids}`,
      key,
      place,
      life: this.workers.get(place)?.id.life ?? 0,
      model,
      amount,
      session,
      receivedMs: this.wallMs + this.nowMs,
      state: "entering",
      refused: null,
      commitment: null,
      reservation: null,
      enteredMs: null
    }
    this.requests.push(request)
    const admitted = this.#admit(request)
    const go = (known: Admitted): void => this.#admitted(request, known)
    if (!(admitted instanceof Later) && !(admitted instanceof Error)) this.#checkFence(place)
    if (admitted instanceof Later) admitted.whenKnown(go)
    else go(admitted)
    return request
  }

  /** A worker that has not heard of its owner for the time of a lease serves on none. */
  #checkFence(place: number): void {
    if (this.isAlone) return
    const heardMs = this.#heard.get(place) ?? Number.NEGATIVE_INFINITY
    if (this.nowMs - heardMs >= leaseMs) throw new Error(`served on a lease of ${this.nowMs - heardMs} ms ago`)
  }

  #isDead({ life, place }: Request): boolean {
    return !this.isAlone && this.workers.get(place)?.id.life !== life
  }

  #admitted(request: Request, admitted: Admitted): void {
    if (this.#isDead(request)) return
    if (admitted === null) throw new Error("a key with limits was let in without them")
    if (admitted instanceof Error) {
      request.state = "over"
      request.refused = admitted._tag === "LimitReached" ? admitted.message : "unknown"
      return
    }
    request.commitment = admitted
    request.state = "reserving"
    request.enteredMs = this.nowMs
    const { amount, key, model } = request
    this.#entered.set(key, this.enteredOf(key) + 1)
    const estimate = { nanoUsd: amount, tokens: amount, tokensIn: amount, tokensOut: 0, price: null }
    const reserved = admitted.reserve({ provider: "p", connectionId: "c", model }, estimate, request.receivedMs)
    const go = (known: Awaited<Reservation> | unknown): void => {
      if (this.#isDead(request)) return
      if (known instanceof Reservation) {
        request.state = "open"
        request.reservation = known
        return
      }
      request.refused = "reserved"
      this.#end(request, null)
    }
    if (reserved instanceof Later) reserved.whenKnown(go)
    else go(reserved)
  }

  /** Ends a request: with its cost, or null: no call of it was made. */
  #end(request: Request, cost: number | null): void {
    const { commitment, model, place } = request
    if (commitment === null) return
    request.state = "over"
    const row = rowOf(request, cost ?? 0, cost !== null)
    commitment.settle(cost === null ? [] : chargesOf(model, cost))
    commitment.leave()
    this.rows.set(request.id, row)
    const worker = this.workers.get(place)
    if (worker === undefined) this.#table.set(request.id, row)
    else worker.rows.set(request.id, row)
  }

  #running(pick: number): Request | undefined {
    const open = this.requests.filter((each) => each.state === "open" && !this.stopped.has(each.place))
    return open[pick % Math.max(1, open.length)]
  }

  /** A call ends and costs a part of its estimate, or more than it where `part` is above 1. */
  settle(pick: number, part: number): void {
    const request = this.#running(pick)
    if (request !== undefined) this.#end(request, Math.floor(request.amount * part))
  }

  /** A call fails and costs nothing. */
  fail(pick: number): void {
    const request = this.#running(pick)
    if (request === undefined) return
    if (request.reservation !== null) request.commitment?.release(request.reservation)
    this.#end(request, null)
  }

  /** A worker sends the rows of its file to the owner. */
  moveRows(place: number): void {
    const worker = this.workers.get(place)
    if (worker === undefined || this.stopped.has(place)) return
    if (this.#side !== null) return this.#side.settle(place)
    if (worker.rows.size === 0) return
    const rows = [...worker.rows.values()]
    worker.link.ask(rowsTopic, rows, (answer) => {
      if (answer === null || this.workers.get(place) !== worker) return
      for (const { requestId } of rows) worker.rows.delete(requestId)
      worker.moved.tell(rows.map(({ requestId }) => requestId))
    })
  }

  kill(place: number, loses: boolean): void {
    const worker = this.workers.get(place)
    if (worker === undefined) return
    this.kills += 1
    this.stopped.delete(place)
    this.#due = this.#due.filter((due) => due.place !== place)
    this.#soons.delete(place)
    this.links.kill(worker.id, loses)
    this.#adopt(worker.id, worker.rows.values())
    this.workers.delete(place)
    const own = this.requests.filter((each) => each.place === place && each.life === worker.id.life)
    const open = own.filter(({ state }) => state === "open")
    for (const each of own) if (each.state !== "over") each.state = "lost"
    for (const each of open) {
      const row = rowOf(each, each.amount)
      this.rows.set(each.id, row)
      this.#table.set(each.id, row)
    }
    this.owner?.settleLeft(
      worker.id,
      open.map((request) => bookedOf(request, request.amount))
    )
    const known = own.flatMap((request) => {
      const row = this.rows.get(request.id)
      return row === undefined || request.enteredMs === null ? [] : [bookedOf(request, row.costNanoUsd ?? 0)]
    })
    this.#side?.kill(worker.id, known)
    this.join(place)
  }

  /** The owner dies, and another one begins with what is on disk. */
  restart(): void {
    this.restarts += 1
    const side = this.#side
    if (side !== null) return this.links.restart(() => side.serve())
    this.#due = this.#due.filter(({ place }) => place !== 0)
    this.links.restart(() => {
      this.#makeAccounts()
      for (const row of this.#table.values()) {
        const { apiKeyId, costNanoUsd, model, timestampMs, tokens } = row
        const account = this.#accountNamed(apiKeyId ?? "")
        if (model !== null) {
          account?.book(timestampMs, "p", model, { nanoUsd: costNanoUsd ?? 0, tokens: tokens.in + tokens.out })
        }
        if (!(row.attempts === 0 && row.status === 429)) account?.count(timestampMs, 1)
      }
      // As in one process: what an ended process let in, and what has no row, is not known to the next.
      for (const each of this.requests) if (each.state === "lost" && !this.rows.has(each.id)) each.enteredMs = null
      const ended = this.requests.filter(({ enteredMs, id }) => enteredMs !== null && this.#table.has(id))
      for (const [id, account] of this.#accounts) {
        const times = ended.flatMap(({ enteredMs, key }) => (key === id ? [enteredMs ?? 0] : []))
        account.remember(times.toSorted((a, b) => b - a))
      }
      this.#startOwner()
      this.owner?.expect([...this.workers.values()].map(({ id }) => id))
    })
  }

  resize(nanoUsd: number): void {
    this.limits = { ...this.limits, nanoUsd }
    const specs = specsOf(this.limits, "key")
    this.account.meters = this.account.meters.flatMap((meter) => {
      const spec = specs.find(({ id }) => id === meter.spec.id)
      return spec === undefined ? [] : [meter.resized(spec)]
    })
    for (const listener of this.#listeners) listener("key")
  }

  /** The budget of the team is another one. */
  resizeTeam(nanoUsd: number): void {
    if (this.team === null) return
    this.limits = { ...this.limits, teamNanoUsd: nanoUsd }
    this.team = this.team.resized(teamSpec(nanoUsd))
    for (const [id, account] of this.#accounts) {
      account.share([this.team], null)
      for (const listener of this.#listeners) listener(id)
    }
  }

  /** All requests end, and everything that is on its way comes. */
  quiet(): void {
    this.stopped.clear()
    for (let round = 0; round < 8; round += 1) {
      this.deliverAll()
      for (const each of this.requests) if (each.state === "open") this.#end(each, each.amount)
      for (const place of this.workers.keys()) this.moveRows(place)
      this.advance(1_100)
    }
    this.deliverAll()
  }

  /** Cost of calls that are over or were lost, and of those that run at their estimate: by model, or of all; by key, or of all. */
  committed(model?: string, key?: KeyId): number {
    const counts = (each: Request | undefined): boolean =>
      (model === undefined || each?.model === model) && (key === undefined || each?.key === key)
    let sum = 0
    for (const [id, { costNanoUsd }] of this.rows) {
      if (counts(this.requests.find((each) => each.id === id))) sum += costNanoUsd ?? 0
    }
    for (const each of this.requests) if (each.state === "open" && counts(each)) sum += each.amount
    return sum
  }

  /** Sessions of a key with a request in progress. */
  runningSessions(key: KeyId = "key"): number {
    const running = this.requests.filter(
      (each) => each.key === key && (each.state === "open" || each.state === "reserving")
    )
    return new Set(running.map(({ session }) => session)).size
  }

  /** Most requests of a key that came in within the window of the rate that ends now. */
  inWindow(key: KeyId = "key"): number {
    const { window } = this.limits.rate
    const sinceMs = this.nowMs - window * 1_000
    return this.requests.filter((each) => each.key === key && each.enteredMs !== null && each.enteredMs > sinceMs)
      .length
  }
}

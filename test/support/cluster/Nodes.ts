/** Nodes over a real database: the ledger of each has a client and timers of its own. What calls have cost is counted beside them. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "@effect/sql/SqlError"
import { make as rowsOver } from "../../../src/plane/ledger/rows/PostgresRows.ts"
import { RowsLink } from "../../../src/plane/ledger/rows/RowsLink.ts"
import type { Commitment } from "../../../src/plane/ledger/Commitment.ts"
import { KeyAccount, Reservation } from "../../../src/plane/ledger/KeyAccount.ts"
import type { Admitted } from "../../../src/plane/ledger/KeyLimits.ts"
import { WorkerLedger } from "../../../src/plane/ledger/leased/WorkerLedger.ts"
import type { Booked, LedgerTruth } from "../../../src/plane/ledger/LedgerTruth.ts"
import { Meter } from "../../../src/plane/ledger/Meter.ts"
import { type Later, settled } from "../../../src/kernel/Later.ts"
import { Timers } from "../../../src/platform/Timers.ts"
import { connect, type PostgresOptions } from "../../../src/store/engine/postgres/Client.ts"
import type { ApiKey } from "../../../src/subjects/keys/entity.ts"

export const keyOf = (id: string): ApiKey =>
  ({ id, rateLimits: [], maxRequestsPerMinute: null, maxRequestsPerDay: null, maxSessions: null }) as unknown as ApiKey

export const specOf = (id: string, limit: number) => ({
  id: `budget/${id}/monthly`,
  unit: "usd" as const,
  rule: { interval: "monthly" as const, resetTime: "00:00", timeZone: "UTC" },
  limit,
  warningThreshold: 0.8,
  scope: null
})

/** Keys with a budget each. */
export const budgets = (limits: Readonly<Record<string, number>>): typeof LedgerTruth.Service => {
  const accounts = new Map(
    Object.entries(limits).map(([id, limit]) => {
      const account = new KeyAccount()
      account.meters = [new Meter(specOf(id, limit))]
      account.follow(keyOf(id))
      return [id, account]
    })
  )
  return {
    account: (id) => accounts.get(id),
    shared: () => undefined,
    limited: () => [...accounts.keys()],
    tellOnce: () => {},
    tellReached: () => {},
    book: () => {},
    note: () => {},
    unbook: () => {},
    onChanged: () => () => {},
    attach: () => {}
  }
}

/** The files of a node's folder, as far as the ledger needs them: requests that the rows may not know of, at their cost or estimate. */
export type Journal = Map<string, Booked>

export interface Node {
  readonly name: string
  readonly journal: Journal
  readonly ledger: WorkerLedger
  readonly link: RowsLink
  /** Comes when the process is gone. */
  readonly gone: Deferred.Deferred<null>
  /** Ends the process: nothing more of it reaches the rows. */
  readonly die: () => void
  isDead: boolean
}

let holders = 0

export const makeNode = (
  options: PostgresOptions,
  name: string,
  truth: typeof LedgerTruth.Service,
  journal: Journal = new Map()
): Effect.Effect<Node, SqlError, Scope.Scope | Timers> =>
  Effect.gen(function* () {
    const sql = yield* connect({ ...options, maxConnections: 2 })
    const rows = yield* rowsOver(sql)
    const { after, monotonicMs, nowMs, soon } = yield* Timers
    const before = [...journal.values()]
    const link = new RowsLink({
      node: name,
      rows,
      truth,
      newHolder: () => `${process.pid} ${name} ${(holders += 1)}`,
      nowMs,
      monotonicMs,
      after,
      soon,
      acknowledged: (ids) => {
        for (const id of ids) journal.delete(id)
      }
    })
    const ledger = new WorkerLedger({
      link: link.service,
      moved: null,
      nowMs,
      monotonicMs,
      after
    })
    const gone = yield* Deferred.make<null>()
    const node: Node = {
      name,
      gone,
      journal,
      ledger,
      link,
      isDead: false,
      die: () => {
        node.isDead = true
        link.close()
        ledger.close()
        Deferred.unsafeDone(gone, Effect.succeed(null))
      }
    }
    yield* Effect.addFinalizer(() => Effect.sync(node.die))
    if (before.length > 0) link.settleLeft(before)
    return node
  })

const reserve = (commitment: Commitment, amount: number) =>
  commitment.reserve(
    { provider: "p", connectionId: "c", model: "m" },
    { nanoUsd: amount, tokens: amount, tokensIn: amount, tokensOut: 0, price: null },
    commitment.receivedMs
  )

/** A process that is gone answers nothing any more. */
const answered = <A>({ gone }: Node, value: A | Later<A>): Effect.Effect<{ readonly value: A } | null> =>
  Effect.raceFirst(
    Effect.map(settled(value), (known) => ({ value: known })),
    Deferred.await(gone)
  )

export type Fate = "answered" | "refused" | "unknown" | "lost"

export interface Call {
  readonly key: string
  readonly requestId: string
  readonly receivedMs: number
  readonly estimate: number
  readonly cost: number
}

const bookedOf = ({ key, receivedMs, requestId }: Call, nanoUsd: number): Booked => ({
  requestId,
  apiKeyId: key,
  receivedMs,
  isCounted: true,
  charges: [{ provider: "p", model: "m", nanoUsd, tokens: nanoUsd }]
})

/** A call of a client. `during` is the time that the provider takes; `spent` is called with what the provider wants for it, whatever becomes of the node. */
export const call = (
  node: Node,
  of: Call,
  during: Effect.Effect<void>,
  spent: (nanoUsd: number) => void
): Effect.Effect<Fate> =>
  Effect.gen(function* () {
    const { cost, estimate, key, receivedMs, requestId } = of
    if (node.isDead) return "lost"
    const asking = { requestId, receivedMs, sessionId: null, isCountedBefore: false }
    const entered = yield* answered<Admitted>(node, node.ledger.admit(keyOf(key), asking))
    if (entered === null) return "lost"
    const admitted = entered.value
    if (admitted === null) throw new Error("a key with limits was let in without them")
    if (admitted instanceof Error) return admitted._tag === "LimitReached" ? "refused" : "unknown"
    const held = yield* answered(node, reserve(admitted, estimate))
    if (held === null || node.isDead) return "lost"
    const reserved = held.value
    if (!(reserved instanceof Reservation)) {
      admitted.leave()
      return reserved instanceof Error ? "unknown" : "refused"
    }
    node.journal.set(requestId, bookedOf(of, estimate))
    yield* during
    // A node that is gone books the estimate when it is back.
    if (node.isDead) {
      spent(estimate)
      return "lost"
    }
    spent(cost)
    node.journal.set(requestId, bookedOf(of, cost))
    admitted.settle([{ provider: "p", model: "m", nanoUsd: cost, tokens: cost }])
    admitted.leave()
    return "answered"
  })

/** A row of the fault tests: what the faulty provider does, and the expected result. */
import type { Timeouts } from "../../../src/subjects/resilience/entity.ts"
import type { Answer } from "../../support/FakeUpstream.ts"
import type { WallWire } from "./Wires.ts"

/** What the faulty provider was asked. */
export interface Ask {
  /** Wire that the gateway speaks to it. */
  readonly wire: WallWire
  readonly streamed: boolean
  /** Epoch milliseconds. */
  readonly nowMs: number
  /** The credential it was sent. */
  readonly credential: string
}

/** What is told of the faulty connection afterwards. */
export interface Health {
  readonly testStatus: "active" | "unavailable" | "credits_exhausted" | "expired" | "banned"
  readonly backoffLevel: number
  /** The next request asks it all the same when it is alone. */
  readonly doubted?: true
  /** Waiting does not mend it: the next request is told no time to come back. */
  readonly outOfMoney?: true
  /** From and to, in ms from the failure; null: it cools not at all; absent: any length. */
  readonly coolsMs?: readonly [from: number, to: number] | null
}

interface Blame {
  readonly health: Health
  /** How many failures the breaker of the provider counts: exactly the statuses 408, 500, 502, 503 and 504. */
  readonly trips: 0 | 1
}

export type Expected =
  /** The faulty provider's own answer, complete and exact: it was no fault at all. */
  | {
      readonly ends: "answered"
      /** Calls at the faulty node; 1 where it is absent. */
      readonly calls?: number
      readonly usage?: "upstream" | "estimated"
    }
  /** It fails before content: another target answers; without one the client is told so. */
  | ({
      readonly ends: "failed"
      /** Of the error that the client sees when there is no other target. */
      readonly status: number
      /** The upstream's own words. */
      readonly says?: string
      /** Seconds in `Retry-After`, from and to. */
      readonly retryAfterS?: readonly [from: number, to: number]
      /** Calls at the faulty node; 1 where it is absent. */
      readonly calls?: number
      /** An account that works but answers nothing: the empty answer of the last target may be relayed. */
      readonly emptyIsAnAnswer?: true
    } & Blame)
  /** It fails after content: the client gets the beginning and an error. No other target is called. */
  | ({ readonly ends: "broken"; readonly says?: string } & Blame)

/** Where the connection leads to, when it is not the fake provider. */
export type Place = "closed port" | "no such name" | "no TLS"

export interface Fault {
  /** Also the model that is asked for. */
  readonly name: string
  readonly does: (ask: Ask) => Answer
  readonly at?: Place
  readonly whole: Expected | null
  readonly stream: Expected | null
  /** Upstream wires on which it can happen; all where it is absent. */
  readonly wires?: ReadonlyArray<WallWire>
  readonly asksForTool?: true
  /** The account is an OAuth account with a refresh token. */
  readonly oauth?: true
  /** The answer instead of the story. */
  readonly text?: string
  readonly timeouts?: Partial<Timeouts>
  /** Also from clients of another wire. */
  readonly translated?: true
  /** Too heavy to be run in every cell at once. */
  readonly oneByOne?: true
}

/** Base of the backoff on the wall: long, so that a cooldown never ends while a row runs. */
export const baseCooldownMs = 60_000

/** Where the provider says nothing more: the wall does not wait long for it. */
export const soon = { firstByteMs: 1_200, idleMs: 1_200 }

/** Two seconds of room on either side for the run itself. */
export const aboutMs = (ms: number): readonly [number, number] => [ms - 2_000, ms + 2_000]

export const well: Health = { testStatus: "active", backoffLevel: 0, coolsMs: null }
export const cooling: Health = { testStatus: "unavailable", backoffLevel: 1, coolsMs: aboutMs(baseCooldownMs) }
export const coolingFor = (ms: number): Health => ({ ...cooling, coolsMs: aboutMs(ms) })
export const ended = (testStatus: Health["testStatus"]): Health => ({ testStatus, backoffLevel: 0, coolsMs: null })

/** Words alone told it: others go first, and who is alone is asked again. `backoffLevel` as for a cooldown. */
export const doubted = (ms: number): Health => ({ ...coolingFor(ms), doubted: true })

/** A passing failure without a time of its own: others go first, and who is alone is asked again. */
export const resting: Health = { ...cooling, doubted: true }

/** The provider failed: it cools, its breaker counts. */
export const provider = (status: number, more: Partial<Extract<Expected, { ends: "failed" }>> = {}): Expected => ({
  ends: "failed",
  status,
  health: resting,
  trips: 1,
  ...more
})

/** The account failed: its own matter. */
export const account = (
  status: number,
  health: Health,
  more: Partial<Extract<Expected, { ends: "failed" }>> = {}
): Expected => ({ ends: "failed", status, health, trips: 0, ...more })

/** The request or the model is at fault: no target is penalised. */
export const request = (status: number, says: string): Expected => ({
  ends: "failed",
  status,
  says,
  health: well,
  trips: 0
})

export const answered: Extract<Expected, { ends: "answered" }> = { ends: "answered" }

export const broken = (more: Partial<Extract<Expected, { ends: "broken" }>> = {}): Expected => ({
  ends: "broken",
  health: resting,
  trips: 1,
  ...more
})

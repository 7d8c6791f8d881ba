/** Renewals of access tokens that another process makes: a refresh token may be used once, so that one process alone uses it. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StoreError } from "../../store/Errors.ts"

/** Outcome of a renewal in another process; null: that process is not there. */
export type ToldRenewal =
  | { readonly outcome: "refreshed" | "unchanged" }
  | { readonly failed: "dead"; readonly code: string; readonly message: string }
  | {
      readonly failed: "transient"
      readonly status: number | null
      readonly message: string
      readonly retryAfterMs: number
    }
  | { readonly failed: "impossible"; readonly reason: string; readonly message: string }
  | null

/** Asks for a renewal; `usedAccessToken` is the token that is no good any more. Null in the process that renews. */
export type AskRenewal = (connectionId: string, usedAccessToken: string) => Effect.Effect<ToldRenewal>

/** Turns of several gateways at the tokens of an account, whose refresh token may be used once. */
export interface RenewalTurns {
  /** Runs work while no other gateway renews this account's tokens; fails where the gateways cannot agree on it. */
  readonly inTurn: <A, E, R>(connectionId: string, work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StoreError, R>
}

/** Null: no other gateway has these accounts. */
export class SharedTurns extends Context.Reference<SharedTurns>()("gateway/plane/state/SharedTurns", {
  defaultValue: (): RenewalTurns | null => null
}) {}

export class Renewals extends Context.Reference<Renewals>()("gateway/plane/state/Renewals", {
  defaultValue: (): AskRenewal | null => null
}) {}

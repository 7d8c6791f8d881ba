/** Limits for the keys that programs may register for a provider and for an account, and the check for another one. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import {
  dayMs,
  exceededOf,
  hourMs,
  type IssueCounts,
  type IssueLimits as Limits,
  type IssueScope
} from "../registeredKeys/entity.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import type { StoreError } from "../../store/Errors.ts"
import { RegisteredKeyRepo } from "../registeredKeys/repo.ts"
import * as Errors from "../Errors.ts"

/** The limits of a provider or account, and what counts against them now. */
export interface IssueStanding extends Limits, IssueCounts, IssueScope {}

type Missing = Errors.EntityNotFound | StoreError

export class IssueLimits extends Context.Tag("gateway/subjects/issueLimits/IssueLimits")<
  IssueLimits,
  {
    readonly get: (scope: IssueScope) => Effect.Effect<IssueStanding, Missing>
    /** Sets limits; an absent one stays as it is. */
    readonly set: (scope: IssueScope, change: Partial<Limits>) => Effect.Effect<IssueStanding, Missing>
    readonly remove: (scope: IssueScope) => Effect.Effect<void, Missing>
    /**
     * Returns the reason for which no key can be issued now; null when one can. Of several scopes the first that is
     * exhausted.
     */
    readonly exhausted: (scopes: ReadonlyArray<IssueScope>) => Effect.Effect<Errors.QuotaReached | null, StoreError>
  }
>() {}

export const scopesOf = (provider: string, accountId: string | null): ReadonlyArray<IssueScope> => [
  { scope: "provider", subject: provider },
  ...(accountId === null ? [] : [{ scope: "account", subject: accountId } as const])
]

const codeOf = (limit: keyof Limits, { scope }: IssueScope) => {
  if (limit === "maxActiveKeys") return "MAX_ACTIVE_KEYS_EXCEEDED"
  return scope === "provider" ? "PROVIDER_QUOTA_EXCEEDED" : "ACCOUNT_QUOTA_EXCEEDED"
}

const sentenceOf = (limit: keyof Limits, most: number, { scope, subject }: IssueScope): string => {
  const whose = `the ${scope} '${subject}'`
  if (most === 0) return `No key is issued for ${whose}: its ${limit} is 0.`
  return limit === "maxActiveKeys"
    ? `${most} keys of ${whose} are active, the most there may be (maxActiveKeys). Revoke one first.`
    : `${most} keys were issued for ${whose} within ${limit === "dailyIssueLimit" ? "24 hours" : "an hour"}, the most there may be (${limit}).`
}

const windows = { dailyIssueLimit: dayMs, hourlyIssueLimit: hourMs }

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const repo = yield* RegisteredKeyRepo

  /** Limits of a connection that is gone can still be removed. */
  const known = ({ scope, subject }: IssueScope): Effect.Effect<IssueScope, Errors.EntityNotFound> => {
    const { connections, provider } = catalog.current()
    if (scope === "account") {
      return connections.some(({ id }) => id === subject)
        ? Effect.succeed({ scope, subject })
        : new Errors.EntityNotFound({ entity: "connection", id: subject })
    }
    const spec = provider(subject)
    return spec === null
      ? new Errors.EntityNotFound({ entity: "provider", id: subject, field: "provider" })
      : Effect.succeed({ scope, subject: spec.id })
  }

  const standing = Effect.fnUntraced(function* (scope: IssueScope) {
    const counts = yield* repo.countsOf(scope, yield* Clock.currentTimeMillis)
    return { ...scope, ...(yield* repo.limitsOf(scope)), ...counts }
  })

  const exhaustedBy = Effect.fnUntraced(function* (scope: IssueScope) {
    const limits = yield* repo.limitsOf(scope)
    const nowMs = yield* Clock.currentTimeMillis
    const exceeded = exceededOf(limits, yield* repo.countsOf(scope, nowMs))
    if (exceeded === null) return null
    const { limit, most } = exceeded
    // One more may be issued when the oldest of the last `most` is no longer in the window.
    const decisiveMs = limit === "maxActiveKeys" || most === 0 ? null : yield* repo.nthNewestMs(scope, most)
    const windowMs = limit === "maxActiveKeys" ? 0 : windows[limit]
    const retryAfterMs = decisiveMs === null ? null : Math.max(0, decisiveMs + windowMs - nowMs)
    return new Errors.QuotaReached({
      code: codeOf(limit, scope),
      message: sentenceOf(limit, most, scope),
      retryAfterMs
    })
  })

  return IssueLimits.of({
    get: Effect.fn("IssueLimits.get")((scope: IssueScope) => Effect.flatMap(known(scope), standing)),
    set: Effect.fn("IssueLimits.set")(function* (given: IssueScope, change: Partial<Limits>) {
      const scope = yield* known(given)
      yield* repo.atomically(
        Effect.flatMap(repo.limitsOf(scope), (before) =>
          repo.setLimits(scope, {
            maxActiveKeys: change.maxActiveKeys === undefined ? before.maxActiveKeys : change.maxActiveKeys,
            dailyIssueLimit: change.dailyIssueLimit === undefined ? before.dailyIssueLimit : change.dailyIssueLimit,
            hourlyIssueLimit: change.hourlyIssueLimit === undefined ? before.hourlyIssueLimit : change.hourlyIssueLimit
          })
        )
      )
      return yield* standing(scope)
    }),
    remove: Effect.fn("IssueLimits.remove")(function* (given: IssueScope) {
      const scope = yield* Effect.orElseSucceed(known(given), () => given)
      if (!(yield* repo.removeLimits(scope))) yield* known(given)
    }),
    exhausted: (scopes) =>
      Effect.gen(function* () {
        for (const scope of scopes) {
          const reached = yield* exhaustedBy(scope)
          if (reached !== null) return reached
        }
        return null
      })
  })
})

export const layer: Layer.Layer<IssueLimits, never, Catalog | RegisteredKeyRepo> = Layer.effect(IssueLimits, make)

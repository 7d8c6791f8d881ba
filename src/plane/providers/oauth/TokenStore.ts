/**
 * Puts new tokens where they belong: into the store first, then into the catalogue. The old ones are dead by then, so a store that
 * cannot be written does not keep the new ones from being used; they are written as soon as it can.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { ConnectionRepo } from "../../../subjects/connections/repo.ts"
import type { Catalog } from "../Catalog.ts"
import { withoutWaiting } from "../../../store/engine/WriteQueue.ts"
import { refreshTokensOf, type Replacement } from "../TokenReplacement.ts"

export interface TokenStore {
  /** False when an operator's change came before: then those credentials are in force. Uninterruptible. */
  readonly put: (connectionId: string, replacement: Replacement) => Effect.Effect<boolean>
}

const retrySchedule = Schedule.exponential("1 second").pipe(Schedule.union(Schedule.spaced("1 minute")))

export const makeTokenStore = (
  repo: Context.Tag.Service<ConnectionRepo>,
  catalog: Pick<Context.Tag.Service<Catalog>, "refresh" | "replaceTokens">
): Effect.Effect<TokenStore, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    /** Tokens in use that the store does not have. */
    const unstored = new Map<string, Replacement>()

    const write = (id: string, replacement: Replacement) =>
      repo.updateTokens(id, refreshTokensOf(replacement), replacement.tokens)

    const reread = catalog.refresh.pipe(
      Effect.catchAll((error) => Effect.logError("The catalogue could not be read again", error))
    )

    /** Writes what is missing; done when nothing is. */
    const writeLater = (id: string) =>
      Effect.suspend(() => {
        const replacement = unstored.get(id)
        if (replacement === undefined) return Effect.void
        return Effect.flatMap(write(id, replacement), (isStored) => {
          if (unstored.get(id) === replacement) unstored.delete(id)
          return isStored ? Effect.logInfo(`The renewed tokens of connection ${id} are stored now`) : reread
        })
      }).pipe(Effect.repeat({ until: () => !unstored.has(id) }), Effect.uninterruptible)

    const keepInMemory = (id: string, replacement: Replacement) =>
      Effect.suspend(() => {
        const isAtWork = unstored.has(id)
        unstored.set(id, replacement)
        catalog.replaceTokens(id, replacement)
        return isAtWork
          ? Effect.void
          : writeLater(id).pipe(
              Effect.retry(retrySchedule),
              Effect.delay("1 second"),
              Effect.interruptible,
              Effect.forkIn(scope),
              Effect.asVoid
            )
      })

    const put = (id: string, replacement: Replacement): Effect.Effect<boolean> =>
      Effect.matchEffect(withoutWaiting(write(id, replacement)), {
        onSuccess: (isStored) => {
          unstored.delete(id)
          if (!isStored) return Effect.as(reread, false)
          catalog.replaceTokens(id, replacement)
          return Effect.succeed(true)
        },
        onFailure: (error) =>
          Effect.logError(`The renewed tokens of connection ${id} are in use but not stored`, error).pipe(
            Effect.zipRight(keepInMemory(id, replacement)),
            Effect.as(true)
          )
      }).pipe(Effect.uninterruptible)

    yield* Effect.addFinalizer(() =>
      Effect.forEach([...unstored.keys()], (id) => Effect.ignoreLogged(writeLater(id)), { discard: true })
    )
    return { put }
  })

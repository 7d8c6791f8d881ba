/** What the management handlers share: one way to change the configuration, and one way to say what is wrong with a field. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import { BadRequest, NotFound, Unavailable } from "../../api/Errors.ts"
import type { Flags } from "../../flags/Flags.ts"
import * as Catalog from "../../providers/Catalog.ts"
import { addressProblem } from "../../providers/ConnectionRules.ts"
import type { StoreError } from "../../store/Errors.ts"

/** A 400 that names one field. */
export const badField = (field: string, message: string): BadRequest =>
  new BadRequest({ message: `Invalid request: ${field}: ${message}`, param: field, details: [{ field, message }] })

export const notFound = (what: string, id: string): NotFound =>
  new NotFound({ message: `There is no ${what} '${id}'.`, param: "id" })

const refusedByStore = (error: StoreError): Effect.Effect<never, Unavailable> =>
  Effect.zipRight(
    Effect.logError(error.message, error),
    new Unavailable({ message: "The gateway could not use its database; its log has the details." })
  )

const isStoreError = (error: unknown): error is StoreError => Predicate.isTagged(error, "StoreError")

/** A failing database is nobody's bad request: 503, with the details in the log. */
export const stored = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, StoreError> | Unavailable, R> =>
  Effect.catchAll(effect, (error): Effect.Effect<never, Exclude<E, StoreError> | Unavailable> =>
    isStoreError(error) ? refusedByStore(error) : Effect.fail(error as Exclude<E, StoreError>)
  )

/**
 * Changes of connections, nodes, models and combos, one after the other, so that a rule checked against the stored state still holds
 * when the change is written. The request path sees the change before the caller is answered.
 */
export class ConfigChanges extends Context.Tag("gateway/http/ConfigChanges")<
  ConfigChanges,
  { readonly apply: <A, E, R>(change: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StoreError, R> }
>() {}

const makeConfigChanges = Effect.gen(function* () {
  const catalog = yield* Catalog.Catalog
  const one = yield* Effect.makeSemaphore(1)
  return ConfigChanges.of({
    apply: (change) => one.withPermits(1)(Effect.uninterruptible(Effect.zipLeft(change, catalog.refresh)))
  })
})

export const configChangesLayer: Layer.Layer<ConfigChanges, never, Catalog.Catalog> = Layer.effect(
  ConfigChanges,
  makeConfigChanges
)

/** Checks an address an operator gives against the outbound policy in force. */
export const checkUrl = (
  flags: Context.Tag.Service<Flags>,
  field: string,
  url: string | null | undefined
): Effect.Effect<void, BadRequest> => {
  const problem = addressProblem(field, url, flags.isOn)
  return problem === null ? Effect.void : badField(problem.field, problem.message)
}

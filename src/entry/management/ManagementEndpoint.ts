/**
 * Loads the management plane. Its contract, schemas, handlers and use cases are loaded after the server listens, or by the first
 * request that needs them, so that start-up and the request path do not pay for them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Match } from "../../contract/Routes.ts"
import type { Plane } from "./Management.ts"
import type { PlaneServices, UseCases } from "./Services.ts"

export class ManagementEndpoint extends Context.Tag("gateway/entry/management/ManagementEndpoint")<
  ManagementEndpoint,
  {
    readonly handle: (found: Match, request: IncomingMessage, response: ServerResponse) => void
    /** Asks an endpoint from inside the gateway, as `Plane.ask`. */
    readonly ask: Plane["ask"]
    /** Loads the plane now; done when it can answer. */
    readonly open: Effect.Effect<void>
  }
>() {}

const unavailable = (response: ServerResponse): void => {
  const body = `{"error":{"message":"The management plane could not be loaded; the gateway's log says why.","type":"server_error","code":"internal_server_error"}}`
  response.writeHead(500, { "content-type": "application/json", "x-content-type-options": "nosniff" }).end(body)
}

/** Loads the layer of the use cases; `R` is what they work on. */
export type LoadUseCases<R> = () => Promise<Layer.Layer<UseCases, never, R>>

const opened = Effect.fnUntraced(function* <R>(loadUseCases: LoadUseCases<R>, scope: Scope.Scope) {
  const [{ makePlane }, useCases] = yield* Effect.promise(() =>
    Promise.all([import("./Management.ts"), loadUseCases()])
  )
  const context = yield* Layer.buildWithScope(useCases, scope)
  return yield* Effect.provide(makePlane, context)
})

const make = Effect.fnUntraced(function* <R>(loadUseCases: LoadUseCases<R>) {
  const runtime = yield* Effect.runtime<PlaneServices | R>()
  const runPromise = Runtime.runPromise(runtime)
  // What the use cases do beside requests ends with the server.
  const scope = yield* Effect.scope
  let loading: Promise<Plane> | null = null

  const load = (): Promise<Plane> => {
    loading ??= runPromise(
      Effect.tapErrorCause(opened(loadUseCases, scope), (cause) =>
        Effect.logError("The management plane could not be loaded", cause)
      )
    )
    return loading
  }
  return ManagementEndpoint.of({
    handle: (found, request, response) => {
      load().then(
        (plane) => plane.handle(found, request, response),
        () => unavailable(response)
      )
    },
    ask: (call) => Effect.flatMap(Effect.promise(load), ({ ask }) => ask(call)),
    open: Effect.promise(load).pipe(
      Effect.asVoid,
      Effect.catchAllCause(() => Effect.void)
    )
  })
})

export const layer = <R>(loadUseCases: LoadUseCases<R>): Layer.Layer<ManagementEndpoint, never, PlaneServices | R> =>
  Layer.scoped(ManagementEndpoint, make(loadUseCases))

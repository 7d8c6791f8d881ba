/**
 * The way to the management plane. Its contract, schemas and handlers are loaded after the server listens, or by the first request
 * that needs them, so that start-up and the request path do not pay for them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { ManagementServices } from "./Management.ts"

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

export class ManagementDoor extends Context.Tag("gateway/http/ManagementDoor")<
  ManagementDoor,
  {
    readonly handle: NodeHandler
    /** Loads the plane now; done when it can answer. */
    readonly open: Effect.Effect<void>
  }
>() {}

const unavailable = (response: ServerResponse): void => {
  const body = `{"error":{"message":"The management plane could not be loaded; the gateway's log says why.","type":"server_error","code":"internal_server_error"}}`
  response.writeHead(500, { "content-type": "application/json", "x-content-type-options": "nosniff" }).end(body)
}

export const make = Effect.gen(function* () {
  const runtime = yield* Effect.runtime<ManagementServices>()
  const runPromise = Runtime.runPromise(runtime)
  let loading: Promise<NodeHandler> | null = null

  const load = (): Promise<NodeHandler> => {
    loading ??= runPromise(
      Effect.promise(() => import("./Management.ts")).pipe(
        Effect.flatMap((management) => management.handler),
        Effect.tapErrorCause((cause) => Effect.logError("The management plane could not be loaded", cause))
      )
    )
    return loading
  }
  return ManagementDoor.of({
    handle: (request, response) => {
      load().then(
        (handler) => handler(request, response),
        () => unavailable(response)
      )
    },
    open: Effect.promise(load).pipe(
      Effect.asVoid,
      Effect.catchAllCause(() => Effect.void)
    )
  })
})

export const layer: Layer.Layer<ManagementDoor, never, ManagementServices> = Layer.effect(ManagementDoor, make)

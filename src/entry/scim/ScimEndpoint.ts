/**
 * People and teams that a directory pushes, at `/scim/v2` (docs/scim.md): SCIM 2.0, https://www.rfc-editor.org/rfc/rfc7644. What serves them is
 * loaded by the first request, so that a start does not pay for it.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { ScimHandler, ScimServices } from "./ScimHandler.ts"

export class ScimEndpoint extends Context.Tag("gateway/entry/scim/ScimEndpoint")<
  ScimEndpoint,
  { readonly handle: ScimHandler }
>() {}

const unavailable = `{"schemas":["urn:ietf:params:scim:api:messages:2.0:Error"],"status":"500","detail":"The gateway could not load what serves directories; its log says why."}`

export const make = Effect.map(Effect.runtime<ScimServices>(), (runtime) => {
  const runPromise = Runtime.runPromise(runtime)
  const opened = Effect.flatMap(
    Effect.promise(() => import("./ScimHandler.ts")),
    ({ makeHandler }) => makeHandler
  ).pipe(Effect.tapErrorCause((cause) => Effect.logError("What serves directories could not be loaded", cause)))
  let loading: Promise<ScimHandler> | null = null
  const load = (): Promise<ScimHandler> => {
    loading ??= runPromise(opened)
    return loading
  }
  const handle: ScimHandler = (route, parameters, request, response) =>
    void load().then(
      (serve) => serve(route, parameters, request, response),
      () => {
        response.writeHead(500, { "content-type": "application/scim+json", "x-content-type-options": "nosniff" })
        response.end(unavailable)
      }
    )
  return ScimEndpoint.of({ handle })
})

export const layer: Layer.Layer<ScimEndpoint, never, ScimServices> = Layer.effect(ScimEndpoint, make)

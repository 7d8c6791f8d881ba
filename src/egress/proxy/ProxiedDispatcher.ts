/** A dispatcher for one server of the operator's that is reached by a proxy of the environment. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Dispatcher } from "undici"
import UndiciClient from "undici/lib/dispatcher/client.js"
import { openThrough } from "./ProxiedSocket.ts"
import type { ProxyHop } from "./ProxyRoute.ts"

/** Connections to the server of the URL, each through the proxy. They end with the scope. */
export const makeProxiedDispatcher = (proxy: ProxyHop, url: string): Effect.Effect<Dispatcher, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(
      () =>
        new UndiciClient(new URL(url).origin, {
          connect: (_options, done) =>
            openThrough(proxy, new URL(url), (error, socket) =>
              socket === null ? done(error ?? new Error("no socket"), null) : done(null, socket)
            )
        })
    ),
    (dispatcher) => Effect.promise(() => dispatcher.destroy())
  )

/**
 * The way to plugins, which are loaded and built by their first use, or at the start where one is installed: a gateway without plugins has neither
 * their code nor threads. What is built lives as long as the door's scope.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as ScopeOf from "effect/Scope"
import type { StoreError } from "../store/Errors.ts"
import { PluginRepo } from "../store/repo/PluginRepo.ts"
import type { Plugins } from "./Plugins.ts"
import type { Marketplace } from "./Marketplace.ts"

export interface PluginServices {
  readonly plugins: typeof Plugins.Service
  readonly marketplace: typeof Marketplace.Service
}

export class PluginsDoor extends Context.Tag("gateway/plugins/PluginsDoor")<
  PluginsDoor,
  {
    /** Loads and builds them by the first use. */
    readonly get: Effect.Effect<PluginServices, StoreError>
    /** Hot: null until they are built. */
    readonly current: () => PluginServices | null
  }
>() {}

/** Loads what builds the plugins; `R` is what they work on. */
export type LoadPlugins<R> = () => Promise<Effect.Effect<PluginServices, StoreError, R | Scope.Scope>>

const make = Effect.fnUntraced(function* <R>(load: LoadPlugins<R>) {
  const context = yield* Effect.context<R>()
  const scope = yield* Effect.scope
  const repo = yield* PluginRepo
  const lock = yield* Effect.makeSemaphore(1)
  let services: PluginServices | null = null

  const build = Effect.suspend(() => {
    if (services !== null) return Effect.succeed(services)
    return Effect.flatMap(Effect.promise(load), (built) =>
      ScopeOf.extend(built, scope).pipe(
        Effect.provide(context),
        Effect.tap((made) =>
          Effect.sync(() => {
            services = made
          })
        )
      )
    ).pipe(Effect.uninterruptible)
  })
  const get = Effect.suspend(() => (services === null ? lock.withPermits(1)(build) : Effect.succeed(services)))

  // Guards are there before the first request: this is built before the server listens.
  if (!(yield* repo.isEmpty)) yield* get
  return PluginsDoor.of({ get, current: () => services })
})

export const layer = <R>(
  load: LoadPlugins<R>
): Layer.Layer<PluginsDoor, StoreError, Exclude<R, Scope.Scope> | PluginRepo> =>
  Layer.scoped(PluginsDoor, make(load)) as Layer.Layer<PluginsDoor, StoreError, Exclude<R, Scope.Scope> | PluginRepo>

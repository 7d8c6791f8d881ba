/**
 * Loads and builds the plugins by their first use, or at the start where one is installed: a gateway without plugins has neither their code nor
 * threads. They live as long as this service's scope.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as BuiltOnce from "../../platform/BuiltOnce.ts"
import { Snapshots } from "../../store/Snapshots.ts"
import type { StoreError } from "../../store/Errors.ts"
import { PluginRepo } from "../../subjects/plugins/repo.ts"
import type { Plugins } from "./Plugins.ts"
import type { Marketplace } from "./Marketplace.ts"

export interface PluginServices {
  readonly plugins: typeof Plugins.Service
  readonly marketplace: typeof Marketplace.Service
}

export class LazyPlugins extends Context.Tag("gateway/agents/plugins/LazyPlugins")<
  LazyPlugins,
  BuiltOnce.BuiltOnce<PluginServices, StoreError>
>() {}

/** Loads what builds the plugins; `R` is what they work on. */
export type LoadPlugins<R> = BuiltOnce.Load<PluginServices, R, StoreError>

const make = Effect.fnUntraced(function* <R>(load: LoadPlugins<R>) {
  const repo = yield* PluginRepo
  const once = yield* BuiltOnce.make(load)
  // Guards are there before the first request: this is built before the server listens.
  if (!(yield* repo.isEmpty)) yield* once.get
  // In a worker: the owner has installed, changed or removed some.
  yield* (yield* Snapshots).register(["plugins"], (rows) =>
    Effect.gen(function* () {
      const built = once.current()
      if (built !== null) return yield* built.plugins.follow(rows)
      if (!(yield* repo.isEmpty)) yield* once.get
    })
  )
  return LazyPlugins.of(once)
})

export const layer = <R>(
  load: LoadPlugins<R>
): Layer.Layer<LazyPlugins, StoreError, Exclude<R, Scope.Scope> | PluginRepo> =>
  Layer.scoped(LazyPlugins, make(load)) as Layer.Layer<LazyPlugins, StoreError, Exclude<R, Scope.Scope> | PluginRepo>

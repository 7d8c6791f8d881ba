/** Router strategies that plugins bring: opened beside a plugin's sandbox, and in the registry as long as the plugin runs. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ContentPermission } from "../../../contract/domain/ContentPermission.ts"
import { Timers } from "../../../platform/Timers.ts"
import type { Refusal, Registry, RouterStrategy } from "../../../plane/routing/auto/RouterStrategies.ts"
import { type LogLine, PluginNotLoaded, type SandboxedCode } from "../sandbox/Sandbox.ts"

/** Most strategies of one plugin. Each has an engine of its own on the main thread. */
export const maxStrategies = 8

export interface Strategies {
  /** Loads those of `names`. None of them is asked before `register`. */
  readonly open: (
    code: SandboxedCode,
    names: ReadonlyArray<string>,
    log: (permission: ContentPermission, line: LogLine) => void
  ) => Effect.Effect<ReadonlyArray<RouterStrategy>, PluginNotLoaded, Scope.Scope>
  /** Registers strategies in place of those that the plugin had before. */
  readonly register: (plugin: string, strategies: ReadonlyArray<RouterStrategy>) => void
  readonly unregister: (plugin: string) => void
  /** The names that `config.routerStrategy` of a combo may have because of this plugin. */
  readonly of: (plugin: string) => ReadonlyArray<string>
}

const reasons: Readonly<Record<Refusal, string>> = {
  "name-taken": "exists already, in the gateway or from another plugin that is active; it needs another name",
  invalid: "needs a name of small letters, digits, dots, dashes and underscores, with 64 characters at most",
  full: "is one too many: there are as many of plugins as there may be"
}

export const makeStrategies = (registry: Registry, timers: typeof Timers.Service): Strategies => {
  /** The names that each plugin has registered. */
  const registered = new Map<string, ReadonlyArray<string>>()

  const problemOf = (plugin: string, name: string): string | null => {
    if (registered.get(plugin)?.includes(name) === true) return null
    const refusal = registry.refusalOf(name)
    return refusal === null ? null : `The router strategy '${name.slice(0, 64)}' ${reasons[refusal]}`
  }

  const unregister: Strategies["unregister"] = (plugin) => {
    for (const name of registered.get(plugin) ?? []) registry.unregister(name)
    registered.delete(plugin)
  }

  return {
    open: Effect.fnUntraced(function* (code, names, log) {
      if (names.length > maxStrategies) {
        return yield* new PluginNotLoaded({
          message: `It brings ${names.length} router strategies, at most ${maxStrategies} are allowed`
        })
      }
      const problem = names.map((name) => problemOf(code.name, name)).find((each) => each !== null)
      if (typeof problem === "string") return yield* new PluginNotLoaded({ message: problem })
      if (names.length === 0) return []
      // The engine on the main thread is not loaded for plugins that bring none.
      const { openSelector } = yield* Effect.promise(() => import("../sandbox/Selector.ts"))
      return yield* Effect.forEach(names, (name) =>
        openSelector(code, name, log).pipe(
          Effect.provideService(Timers, timers),
          Effect.mapError(
            ({ message }) =>
              new PluginNotLoaded({ message: `The router strategy '${name}' could not be loaded: ${message}` })
          )
        )
      )
    }),
    register: (plugin, strategies) => {
      unregister(plugin)
      const names = strategies.filter((strategy) => registry.register(strategy) === "registered")
      if (names.length > 0)
        registered.set(
          plugin,
          names.map(({ name }) => name)
        )
    },
    unregister,
    of: (plugin) => registered.get(plugin) ?? []
  }
}

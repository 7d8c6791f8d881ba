/** The plugins that run, as the hooks of requests have them: active ones, and guards that stopped and refuse every request. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { ContentPermission } from "../../../contract/domain/ContentPermission.ts"
import type { ConfigValues, LifecycleHook, PluginManifest, PluginPermission } from "../../../subjects/plugins/entity.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import type { Files } from "../files/PluginFiles.ts"
import type { Hooks } from "../hooks/Hooks.ts"
import { type HookStats, noStats } from "../hooks/HookStats.ts"
import type { HookListener } from "../hooks/Listener.ts"
import { lifecycleMs } from "../sandbox/Limits.ts"
import type { DefinedPlugin, LogLine, OpenSandbox, PluginNotLoaded, Sandbox } from "../sandbox/Sandbox.ts"
import type { RouterStrategy } from "../../../plane/routing/auto/RouterStrategies.ts"
import { codeOf, usesOf } from "./Code.ts"
import { makeRunningCalls, type RunningCalls } from "./RunningCalls.ts"
import type { Strategies } from "./Strategies.ts"

export interface ToOpen {
  readonly manifest: PluginManifest
  /** Manifest as it was written, for the payload of lifecycle events. */
  readonly written: JsonObject
  readonly files: Files
  readonly granted: ReadonlyArray<PluginPermission>
  readonly config: ConfigValues
  /** True when its router strategies are loaded, too: not where it is only called once. */
  readonly withStrategies: boolean
}

export interface Opened {
  readonly sandbox: OpenSandbox
  readonly defined: DefinedPlugin
  readonly strategies: ReadonlyArray<RouterStrategy>
  /** Null: done, or not asked for. Else what failed. */
  readonly lifecycle: (hook: LifecycleHook) => Effect.Effect<string | null>
  readonly close: Effect.Effect<void>
}

export interface Running {
  /** A sandbox that is not called yet. */
  readonly open: (
    plugin: ToOpen,
    log: (permission: ContentPermission, line: LogLine) => void
  ) => Effect.Effect<Opened, PluginNotLoaded>
  /** Requests and decisions see it from now on, in the place of one of the same name, which is closed as the one of `stop` is. */
  readonly start: (manifest: PluginManifest, opened: Opened) => Effect.Effect<void>
  readonly get: (name: string) => Opened | null
  /** Names of the router strategies that it has registered; empty: it brings none, or does not run. */
  readonly strategiesOf: (name: string) => ReadonlyArray<string>
  /** Returns the counts of its run, or of the last one since the gateway was started. */
  readonly statsOf: (name: string) => HookStats
  /** Drops the state of a plugin that was removed. */
  readonly forget: (name: string) => void
  /**
   * Stops a plugin: it is not called any more. `refuses`: requests are refused until it is started or stopped again. Its running calls still
   * end: its sandbox is closed in the background, as soon as there are none or after the time that one may take.
   */
  readonly stop: (
    name: string,
    refuses: { readonly reason: string; readonly manifest: PluginManifest } | null
  ) => Effect.Effect<void>
  /**
   * Waits until no sandbox of a plugin that was stopped or replaced is open any longer. Interrupted, it closes it with
   * its calls.
   */
  readonly closed: (name: string) => Effect.Effect<void>
  /** Closes all at once, with the calls that are in progress. */
  readonly closeAll: Effect.Effect<void>
}

/**
 * Makes the listener that refuses requests in place of a guard. Without a function for it nothing listens, and a guard
 * that guards nothing refuses nothing.
 */
const refusing = (manifest: PluginManifest, reason: string): HookListener => ({
  plugin: manifest.name,
  failClosed: true,
  hooks: usesOf(manifest, { priority: null, enabled: true }),
  call: () => Effect.succeed({ _tag: "Failed", reason, metadata: null, ms: 0 }),
  notify: ({ length }) => Effect.succeed(length)
})

interface Listening {
  readonly opened: Opened
  readonly listener: HookListener
  readonly underWay: RunningCalls
  readonly timeoutMs: number
}

/** Closes sandboxes that are not called any more: one per plugin at a time, so that their threads do not pile up. */
const makeClosing = (lifetime: Scope.Scope) => {
  const closing = new Map<string, Fiber.RuntimeFiber<void>>()

  const closed: Running["closed"] = (name) =>
    Effect.suspend(() => {
      const fiber = closing.get(name)
      return fiber === undefined
        ? Effect.void
        : Effect.asVoid(Effect.onInterrupt(Fiber.await(fiber), () => Fiber.interrupt(fiber)))
    })

  /**
   * Closes a sandbox that is not in `running` any more, so that no further call begins. A gateway that stops does not
   * wait for its calls.
   */
  const retire = (name: string, { opened, timeoutMs, underWay }: Listening): Effect.Effect<void> =>
    Effect.gen(function* () {
      yield* closed(name)
      const fiber = yield* Effect.interruptible(underWay.none(timeoutMs)).pipe(
        Effect.ensuring(opened.close),
        Effect.forkIn(lifetime)
      )
      closing.set(name, fiber)
      fiber.addObserver(() => {
        if (closing.get(name) === fiber) closing.delete(name)
      })
    }).pipe(Effect.uninterruptible)

  return { closed, retire }
}

/** Plugins that run, and guards that do not and refuse requests. */
interface Listeners {
  readonly running: Map<string, Listening>
  readonly refusals: Map<string, HookListener>
}

/** Requests whose hooks have begun with a plugin may come to it when another one is in its place, or none. */
const listenerOf = (
  { refusals, running }: Listeners,
  manifest: PluginManifest,
  opened: Opened,
  underWay: RunningCalls
): HookListener => {
  const { name } = manifest
  const isRunning = (): boolean => running.get(name)?.opened === opened
  return {
    plugin: name,
    failClosed: manifest.failClosed,
    hooks: usesOf(manifest, opened.defined),
    call: (call) =>
      Effect.suspend(() => {
        if (isRunning()) return underWay.counted(opened.sandbox.call(call))
        const other = running.get(name)?.listener ?? refusals.get(name)
        return other?.hooks[call.context.hook] === undefined ? Effect.succeed(null) : other.call(call)
      }),
    notify: (calls) =>
      Effect.suspend(() => {
        if (isRunning()) return underWay.counted(opened.sandbox.notify(calls))
        return running.get(name)?.listener.notify(calls) ?? Effect.succeed(0)
      })
  }
}

export interface RunningParts {
  readonly hooks: typeof Hooks.Service
  readonly sandboxes: typeof Sandbox.Service
  readonly strategies: Strategies
  readonly dataFolder: (name: string) => string
}

const makeOpen =
  ({ dataFolder, sandboxes, strategies }: RunningParts): Running["open"] =>
  (plugin, log) =>
    Effect.gen(function* () {
      const { manifest, written } = plugin
      const scope = yield* Scope.make()
      const code = codeOf(manifest, plugin.files, plugin.granted, plugin.config, dataFolder(manifest.name))
      const { brought, sandbox } = yield* Effect.gen(function* () {
        const opened = yield* sandboxes.open(code, log)
        const { enabled, strategies: names } = opened.defined
        const loaded = plugin.withStrategies && enabled ? yield* strategies.open(code, names, log) : []
        return { sandbox: opened, brought: loaded }
      }).pipe(
        Scope.extend(scope),
        Effect.onExit((exit) => (Exit.isFailure(exit) ? Scope.close(scope, exit) : Effect.void))
      )
      const { name, version } = manifest
      return {
        sandbox,
        defined: sandbox.defined,
        strategies: brought,
        lifecycle: (hook) =>
          manifest.hooks[hook]?.enabled === true && sandbox.defined.enabled && sandbox.defined.hooks.includes(hook)
            ? Effect.interruptible(sandbox.lifecycle(hook, { name, version, manifest: written })).pipe(
                Effect.timeoutTo({
                  duration: lifecycleMs,
                  onSuccess: (problem) => problem,
                  onTimeout: () => `${hook} took longer than ${lifecycleMs} ms`
                })
              )
            : Effect.succeed(null),
        close: Scope.close(scope, Exit.void)
      } satisfies Opened
    }).pipe(Effect.uninterruptible)

export const makeRunning = Effect.fnUntraced(function* (
  parts: RunningParts
): Effect.fn.Return<Running, never, Scope.Scope> {
  const { hooks, strategies } = parts
  const running = new Map<string, Listening>()
  const refusals = new Map<string, HookListener>()
  const { closed, retire } = makeClosing(yield* Effect.scope)

  /** Counts of plugins that do not run any more. */
  const lastStats = new Map<string, HookStats>()

  const publish = Effect.sync(() =>
    hooks.set([...Array.from(running.values(), ({ listener }) => listener), ...refusals.values()])
  )

  return {
    open: makeOpen(parts),
    start: (manifest, opened) =>
      Effect.gen(function* () {
        const before = running.get(manifest.name)
        const { name, timeoutMs } = manifest
        const underWay = makeRunningCalls()
        const listener = listenerOf({ refusals, running }, manifest, opened, underWay)
        running.set(name, { opened, listener, underWay, timeoutMs })
        lastStats.delete(name)
        refusals.delete(name)
        strategies.register(name, opened.strategies)
        yield* publish
        if (before !== undefined) yield* retire(name, before)
      }),
    get: (name) => running.get(name)?.opened ?? null,
    strategiesOf: strategies.of,
    statsOf: (name) =>
      running.has(name) || refusals.has(name) ? hooks.statsOf(name) : (lastStats.get(name) ?? noStats),
    forget: (name) => void lastStats.delete(name),
    stop: (name, refuses) =>
      Effect.gen(function* () {
        const before = running.get(name)
        if (before !== undefined || refusals.has(name)) lastStats.set(name, hooks.statsOf(name))
        running.delete(name)
        refusals.delete(name)
        strategies.unregister(name)
        if (refuses !== null) refusals.set(name, refusing(refuses.manifest, refuses.reason))
        yield* publish
        if (before !== undefined) yield* retire(name, before)
      }),
    closed,
    closeAll: Effect.suspend(() => {
      for (const name of running.keys()) strategies.unregister(name)
      hooks.set([])
      // They stay in `running`: a request that has begun is not let past one of them.
      return Effect.forEach([...running.values()], ({ opened }) => opened.close, {
        discard: true,
        concurrency: "unbounded"
      })
    })
  }
})

/** Opens sandboxes: see `Sandbox.ts`. Loaded by the first plugin that is activated. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { ContentPermission } from "../../../contract/domain/ContentPermission.ts"
import { maxHookTimeoutMs, type PluginPermission } from "../../../subjects/plugins/entity.ts"
import { GuardedFetch } from "../../../net/egress/GuardedFetch.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { Timers } from "../../../platform/Timers.ts"
import { allowsExec } from "../AllowExec.ts"
import type { HookOutcome } from "../hooks/Listener.ts"
import { visibleEnvironment } from "./host/Environment.ts"
import { makeExec } from "./host/Exec.ts"
import { makeFiles } from "./host/Files.ts"
import { type HostOperations, makeHostCalls } from "./host/HostCalls.ts"
import { makeFetch } from "./host/Network.ts"
import { crossing } from "./Limits.ts"
import { makeOpenPlugin, type OpenPlugin } from "./OpenPlugin.ts"
import {
  type DefinedPlugin,
  type LogLine,
  type OpenSandbox,
  PluginNotLoaded,
  Sandbox,
  type SandboxedCode
} from "./Sandbox.ts"
import { sandboxTexts } from "./Texts.ts"

const permitted = (code: SandboxedCode, environment: ReadonlyMap<string, string>): ReadonlySet<PluginPermission> =>
  new Set([...code.permissions].filter((permission) => permission !== "exec" || allowsExec(environment)))

/** `opened` is called with each plugin: for tests. */
export const makeWith = (opened: (plugin: OpenPlugin) => void, threadFile?: URL) =>
  Effect.gen(function* () {
    const { environment, maxBodyBytes } = yield* AppConfig
    const guarded = yield* GuardedFetch
    const timers = yield* Timers
    const fork = Runtime.runFork(yield* Effect.runtime<never>())

    const operationsOf = (code: SandboxedCode): HostOperations => ({
      fetch: makeFetch(guarded, code.hosts),
      ...makeFiles(code.dataFolder),
      exec: makeExec(timers, environment, code.dataFolder)
    })

    const plugin = (
      code: SandboxedCode,
      log: (permission: ContentPermission, line: LogLine) => void
    ): Effect.Effect<OpenPlugin> =>
      Effect.map(Effect.promise(sandboxTexts), (texts) => {
        const permissions = permitted(code, environment)
        const hostCall = makeHostCalls(permissions, operationsOf(code))
        const ask: Parameters<typeof makeOpenPlugin>[0]["ask"] = (operation, args, done) => {
          const fiber = fork(Effect.tap(hostCall(operation, args), (answer) => Effect.sync(() => done(answer))))
          return () => fiber.unsafeInterruptAsFork(fiber.id())
        }
        const made = makeOpenPlugin({
          start: {
            ...texts,
            files: code.files,
            main: code.main,
            permissions: [...permissions],
            config: JSON.stringify(code.config),
            isBackground: code.isBackground,
            environment: permissions.has("env") ? JSON.stringify(visibleEnvironment(environment)) : "{}",
            limits: { ...code.limits, timeoutMs: Math.min(code.limits.timeoutMs, maxHookTimeoutMs) },
            maxBodyBytes: Math.min(maxBodyBytes, crossing.bodyBytes)
          },
          timers,
          log,
          ask,
          ...(threadFile === undefined ? {} : { threadFile })
        })
        opened(made)
        return made
      })

    const open = Effect.fn("Sandbox.open")(function* (
      code: SandboxedCode,
      log: (permission: ContentPermission, line: LogLine) => void
    ): Effect.fn.Return<OpenSandbox, PluginNotLoaded, Scope.Scope> {
      const running = yield* Effect.acquireRelease(plugin(code, log), ({ close }) => Effect.promise(close))
      const defined = yield* Effect.async<DefinedPlugin, PluginNotLoaded>((resume) =>
        running.ready((found) =>
          resume(typeof found === "string" ? new PluginNotLoaded({ message: found }) : Effect.succeed(found))
        )
      )
      return {
        defined,
        call: (call) =>
          Effect.async<HookOutcome>((resume) => {
            const stop = running.call(call, (outcome) => resume(Effect.succeed(outcome)))
            return Effect.sync(stop)
          }),
        notify: (events) =>
          events.length === 0
            ? Effect.succeed(0)
            : Effect.async<number>((resume) => {
                const stop = running.notify(events, (failed) => resume(Effect.succeed(failed)))
                return Effect.sync(stop)
              }),
        lifecycle: (hook, payload) =>
          Effect.async<string | null>((resume) => {
            const stop = running.lifecycle(hook, payload, (outcome) =>
              resume(Effect.succeed(outcome._tag === "Failed" ? outcome.reason : null))
            )
            return Effect.sync(stop)
          }),
        configure: (config) => Effect.sync(() => running.configure(config))
      }
    })
    return Sandbox.of({ open })
  })

export const make = makeWith(() => {})

export const layer: Layer.Layer<Sandbox, never, AppConfig | GuardedFetch | Timers> = Layer.effect(Sandbox, make)

/** Runs the code of plugins, each in a thread and a WebAssembly module of its own. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ContentPermission } from "../../../contract/domain/ContentPermission.ts"
import type { LifecycleHook, PluginHook, PluginPermission } from "../../../subjects/plugins/entity.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import type { HookCall, HookEvent, HookOutcome } from "../hooks/Listener.ts"

export interface SandboxLimits {
  /** Most bytes of the module's memory. */
  readonly memoryBytes: number
  readonly stackBytes: number
  /** Most processor time in ms, per call. */
  readonly cpuMs: number
  /** Time limit in ms of a call in all, waits included. */
  readonly timeoutMs: number
  /** Calls that wait for their turn; more fail at once. */
  readonly waiting: number
}

export interface SandboxedCode {
  readonly name: string
  readonly version: string
  /** Files by relative path with `/`. */
  readonly files: ReadonlyMap<string, string>
  readonly main: string
  /** Granted permissions. */
  readonly permissions: ReadonlySet<PluginPermission>
  /** Hosts that `fetch` may ask; null: all that the network policy allows. */
  readonly hosts: ReadonlyArray<string> | null
  /** Configuration that handlers see: `context.config`. */
  readonly config: JsonObject
  /** No request waits for it: it only listens. */
  readonly isBackground: boolean
  /** The only folder that its files may be in. */
  readonly dataFolder: string
  readonly limits: SandboxLimits
}

export interface LogLine {
  readonly atMs: number
  readonly level: "debug" | "info" | "warn" | "error"
  readonly hook: PluginHook | null
  readonly message: string
}

/** Arguments of `definePlugin`, as far as they are data. */
export interface DefinedPlugin {
  readonly name: string | null
  readonly priority: number | null
  readonly enabled: boolean
  /** Events with a function. */
  readonly hooks: ReadonlyArray<PluginHook>
  /** Names of router strategies it brings. */
  readonly strategies: ReadonlyArray<string>
}

/** The code could not be loaded: it does not parse, threw, looped, has no default export. `message` is for the plugin's author. */
export class PluginNotLoaded extends Data.TaggedError("PluginNotLoaded")<{ readonly message: string }> {}

export interface OpenSandbox {
  readonly defined: DefinedPlugin
  readonly call: (call: HookCall) => Effect.Effect<HookOutcome>
  readonly notify: (events: ReadonlyArray<HookEvent>) => Effect.Effect<number>
  /** Null: done. Else what failed. */
  readonly lifecycle: (hook: LifecycleHook, payload: JsonObject) => Effect.Effect<string | null>
  /** Changes the configuration; in force from the next call. */
  readonly configure: (config: JsonObject) => Effect.Effect<void>
}

export class Sandbox extends Context.Tag("gateway/agents/plugins/sandbox/Sandbox")<
  Sandbox,
  {
    /**
     * Loads and evaluates the code. Its thread ends with the scope. A thread that was killed is started anew by the next call.
     * `log` is called for each line that the plugin writes.
     */
    readonly open: (
      code: SandboxedCode,
      log: (permission: ContentPermission, line: LogLine) => void
    ) => Effect.Effect<OpenSandbox, PluginNotLoaded, Scope.Scope>
  }
>() {}

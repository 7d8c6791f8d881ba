/** Shared terms of plugins: events, permissions. See docs/plugins.md. */
import * as Schema from "effect/Schema"

/** Events of one request. Their functions are called as `(context, payload)`. */
export const RequestHook = Schema.Literal(
  "onRequest",
  "onModelSelect",
  "onComboResolve",
  "onRateLimit",
  "onQuotaExhaust",
  "onProviderError",
  "onStreamStart",
  "onStreamEnd",
  "onResponse",
  "onError"
)
export type RequestHook = typeof RequestHook.Type

/** Events of a plugin's own life. Their functions are called as `(payload)`. */
export const LifecycleHook = Schema.Literal("onInstall", "onActivate", "onDeactivate", "onUninstall")
export type LifecycleHook = typeof LifecycleHook.Type

export const PluginHook = Schema.Union(RequestHook, LifecycleHook)
export type PluginHook = typeof PluginHook.Type
export const pluginHooks: ReadonlyArray<PluginHook> = [...RequestHook.literals, ...LifecycleHook.literals]

/** Permission of a plugin for something outside of its own memory. Without one, its globals do not exist. */
export const PluginPermission = Schema.Literal("network", "file-read", "file-write", "env", "exec")
export type PluginPermission = typeof PluginPermission.Type

/** Lower runs first. */
export const defaultHookPriority = 100

/** Pattern of a plugin's name: kebab-case. */
export const pluginNamePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
export const maxPluginNameChars = 64
/** Names that are routes of `/api/plugins` in the place of a plugin's name. */
const reservedPluginNames: ReadonlySet<string> = new Set(["marketplace", "scan"])

/** Describes what is wrong with a plugin's name; null: nothing. */
export const pluginNameProblem = (name: string): string | null => {
  if (name.length > maxPluginNameChars) return `must have at most ${maxPluginNameChars} characters`
  if (!pluginNamePattern.test(name)) {
    return "must be small letters, digits and single dashes between them, such as request-logger"
  }
  return reservedPluginNames.has(name) ? "is a name that the gateway keeps for itself" : null
}

/** `installed`: never activated. `inactive`: deactivated by hand. `error`: it was active and stopped; it is not called any more. */
export const PluginStatus = Schema.Literal("installed", "active", "inactive", "error")
export type PluginStatus = typeof PluginStatus.Type

export const PluginSource = Schema.Literal("local", "marketplace")
export type PluginSource = typeof PluginSource.Type

export const ConfigFieldType = Schema.Literal("string", "number", "boolean", "select")
export type ConfigFieldType = typeof ConfigFieldType.Type

export const ConfigValue = Schema.Union(Schema.String, Schema.Number, Schema.Boolean)
export type ConfigValue = typeof ConfigValue.Type
export type ConfigValues = Readonly<Record<string, ConfigValue>>

/** A value that the owner may set. `min` and `max` bound a number, or the characters of a string. */
export interface ConfigField {
  readonly type: ConfigFieldType
  readonly default: ConfigValue | null
  readonly min: number | null
  readonly max: number | null
  readonly enum: ReadonlyArray<string | number> | null
  readonly description: string | null
  /** Stored encrypted and shown masked. Strings only. */
  readonly secret: boolean
}

/** A hook as the manifest asks for it. */
export interface ManifestHook {
  readonly enabled: boolean
  /** Null: that of `definePlugin`, else `defaultHookPriority`. */
  readonly priority: number | null
  readonly stream: "observe" | "buffer"
  readonly body: boolean
}

/** `plugin.json`, read: what was left out has its default. */
export interface PluginManifest {
  readonly name: string
  readonly version: string
  readonly description: string | null
  readonly author: string | null
  readonly license: string | null
  readonly tags: ReadonlyArray<string>
  /** Path of a file of the plugin. */
  readonly main: string
  readonly hooks: { readonly [Hook in PluginHook]?: ManifestHook }
  readonly permissions: ReadonlyArray<PluginPermission>
  /** Hosts that `fetch` may ask; null: all that the network policy allows. */
  readonly hosts: ReadonlyArray<string> | null
  /** A range of gateway versions; null: any. */
  readonly gateway: string | null
  readonly enabledByDefault: boolean
  readonly configSchema: Readonly<Record<string, ConfigField>>
  readonly failClosed: boolean
  readonly timeoutMs: number
}

export const defaultHookTimeoutMs = 1_000
export const maxHookTimeoutMs = 10_000
export const maxPlugins = 32

/** The words of plugins that several rooms share: events, permissions. See docs/plugins.md. */
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

/** What a plugin may use beside its own memory. Without a permission, its globals do not exist. */
export const PluginPermission = Schema.Literal("network", "file-read", "file-write", "env", "exec")
export type PluginPermission = typeof PluginPermission.Type

/** Lower runs first. */
export const defaultHookPriority = 100

/** Of a plugin's name: kebab-case. */
export const pluginNamePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
export const maxPluginNameChars = 64

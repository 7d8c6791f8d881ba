/** Prepares the code of an installed plugin for a sandbox, and its functions as listeners to requests. Pure. */
import {
  type ConfigValues,
  defaultHookPriority,
  type PluginHook,
  type PluginManifest,
  type PluginPermission,
  RequestHook
} from "../../../subjects/plugins/entity.ts"
import type { FieldProblem } from "../../../contract/domain/Errors.ts"
import type { HookListener, HookUse } from "../hooks/Listener.ts"
import { type Files, manifestPath } from "../files/PluginFiles.ts"
import { usualSandboxLimits } from "../sandbox/Limits.ts"
import type { DefinedPlugin, SandboxedCode, SandboxLimits } from "../sandbox/Sandbox.ts"

/** Returns the limits of one call. */
export const limitsOf = ({ timeoutMs }: Pick<PluginManifest, "timeoutMs">): SandboxLimits => ({
  ...usualSandboxLimits,
  timeoutMs
})

export const codeOf = (
  manifest: PluginManifest,
  files: Files,
  granted: ReadonlyArray<PluginPermission>,
  config: ConfigValues,
  dataFolder: string
): SandboxedCode => ({
  name: manifest.name,
  version: manifest.version,
  files: new Map([...files].filter(([path]) => path !== manifestPath)),
  main: manifest.main,
  permissions: new Set(manifest.permissions.filter((permission) => granted.includes(permission))),
  hosts: manifest.hosts,
  config: { ...config },
  dataFolder,
  isBackground: manifest.hooks.onRequest?.enabled !== true && manifest.hooks.onResponse?.enabled !== true,
  limits: limitsOf(manifest)
})

/** Definition by the code, as it is stored. */
export type Defined = Pick<DefinedPlugin, "priority" | "enabled" | "hooks" | "strategies">

const entries = (manifest: PluginManifest) =>
  Object.entries(manifest.hooks) as ReadonlyArray<[PluginHook, NonNullable<PluginManifest["hooks"][PluginHook]>]>

/** Hooks in the manifest that the code has no function for. */
export const missingHooks = (manifest: PluginManifest, defined: Defined): ReadonlyArray<FieldProblem> =>
  entries(manifest).flatMap(([hook, { enabled }]) =>
    enabled && !defined.hooks.includes(hook)
      ? [{ field: `hooks.${hook}`, message: `has no function: ${manifest.main} does not define ${hook}` }]
      : []
  )

/** Functions that are never called, and names that differ. */
export const warningsOf = (manifest: PluginManifest, defined: DefinedPlugin): ReadonlyArray<string> => [
  ...defined.hooks.flatMap((hook) =>
    manifest.hooks[hook] === undefined ? [`${hook} is never called: the manifest does not have it.`] : []
  ),
  ...(defined.name !== null && defined.name !== manifest.name
    ? [`definePlugin names it '${defined.name.slice(0, 64)}', the manifest '${manifest.name}'; the manifest counts.`]
    : []),
  ...(defined.enabled ? [] : ["definePlugin has enabled: false, so that no hook is called."])
]

export interface EffectiveHook extends HookUse {
  readonly enabled: boolean
}

/** All hooks of the manifest with what is in force. */
export const effectiveHooks = (
  manifest: PluginManifest,
  defined: Pick<Defined, "priority" | "enabled">
): { readonly [Hook in PluginHook]?: EffectiveHook } =>
  Object.fromEntries(
    entries(manifest).map(([hook, { body, enabled, priority, stream }]) => [
      hook,
      {
        enabled: enabled && defined.enabled,
        priority: priority ?? defined.priority ?? defaultHookPriority,
        stream,
        body
      }
    ])
  )

/** The events of requests that it listens to. */
export const usesOf = (
  manifest: PluginManifest,
  defined: Pick<Defined, "priority" | "enabled">
): HookListener["hooks"] => {
  const hooks = effectiveHooks(manifest, defined)
  return Object.fromEntries(
    RequestHook.literals.flatMap((hook) => {
      const use = hooks[hook]
      return use === undefined || !use.enabled
        ? []
        : [[hook, { priority: use.priority, stream: use.stream, body: use.body }]]
    })
  )
}

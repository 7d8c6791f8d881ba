/** `/api/plugins`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { announced, Events } from "../../observe/Events.ts"
import { objectOr } from "../../wire/json/Json.ts"
import { contractOf } from "../../contract/GroupContract.ts"
import { type BadRequest, Conflict, NotFound, Unavailable, UpstreamFailed } from "../../contract/Errors.ts"
import { type LogView, type PluginView, Plugins as PluginsGroup } from "./routes.ts"
import type { FolderFailed } from "../../agents/plugins/files/PluginFolder.ts"
import type * as Errors from "../../agents/plugins/PluginErrors.ts"
import type { Plugin } from "../../agents/plugins/Plugins.ts"
import { LazyPlugins } from "../../agents/plugins/LazyPlugins.ts"
import { effectiveHooks } from "../../agents/plugins/registry/Code.ts"
import { permissionWords } from "../../agents/plugins/registry/PermissionTexts.ts"
import type { LogLine } from "../../agents/plugins/sandbox/Sandbox.ts"
import { answered, badFields } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { iso } from "../../entry/handling/Views.ts"

const viewOf = ({ manifest, stats, stored, strategies }: Plugin): PluginView => ({
  name: stored.name,
  version: stored.version,
  description: manifest.description,
  author: manifest.author,
  license: manifest.license,
  tags: manifest.tags,
  source: stored.source,
  status: stored.status,
  hooks: effectiveHooks(manifest, stored.defined),
  strategies,
  permissions: { requested: manifest.permissions, granted: stored.granted },
  hosts: manifest.hosts,
  failClosed: manifest.failClosed,
  configSchema: manifest.configSchema,
  integrity: stored.integrity,
  installedAt: iso(stored.installedAtMs),
  updatedAt: iso(stored.updatedAtMs),
  lastError: stored.lastError,
  stats
})

const lineOf = ({ atMs, hook, level, message }: LogLine): LogView => ({ at: iso(atMs), level, hook, message })

const detail = (plugin: Plugin) => ({ plugin: viewOf(plugin) })

/** HTTP answers to each refusal. */
const answers = {
  PluginNotFound: ({ message }: Errors.PluginNotFound) => new NotFound({ message, param: "name" }),
  PluginInvalid: ({ problems }: Errors.PluginInvalid): BadRequest => badFields(problems),
  PluginExists: ({ by, message }: Errors.PluginExists) =>
    new Conflict({ message, param: "name", code: by === "folder" ? "plugin_files_exist" : "plugin_exists" }),
  TooManyPlugins: ({ message }: Errors.TooManyPlugins) => new Conflict({ message, code: "too_many_plugins" }),
  PermissionsNotGranted: ({ message, missing }: Errors.PermissionsNotGranted) =>
    new Conflict({
      message,
      code: "permissions_not_granted",
      param: "grant",
      details: missing.map((permission) => ({ field: permission, message: permissionWords(permission, null) }))
    }),
  ExecNotAllowed: ({ message }: Errors.ExecNotAllowed) => new Conflict({ message, code: "exec_not_allowed" }),
  PluginNotStarted: ({ changed, message }: Errors.PluginNotStarted) =>
    new Conflict({ message, code: changed ? "plugin_changed" : "plugin_not_started" }),
  MarketplaceFailed: ({ message }: Errors.MarketplaceFailed) =>
    new UpstreamFailed({ message, code: "marketplace_failed" }),
  PluginFolderFailed: ({ message }: FolderFailed) => new Unavailable({ message, code: "plugin_folder_failed" })
} as const

type Answers = typeof answers
type Answered<E> = E extends { readonly _tag: infer Tag extends keyof Answers } ? ReturnType<Answers[Tag]> : E

const isRefusal = (error: unknown): error is { readonly _tag: keyof Answers } =>
  typeof error === "object" && error !== null && "_tag" in error && Object.hasOwn(answers, String(error._tag))

const explained = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Answered<E>, R> =>
  Effect.mapError(effect, (error) => {
    if (!isRefusal(error)) return error as Answered<E>
    // The tag chooses the entry of its own error, which the type of the table alone does not say.
    return (answers[error._tag] as (error: { readonly _tag: keyof Answers }) => unknown)(error) as Answered<E>
  })

/** Name of a plugin that is being installed, as far as its manifest says one. */
const nameIn = (manifest: unknown): string => {
  const name = objectOr(manifest)["name"]
  return typeof name === "string" ? name.slice(0, 100) : ""
}

export const layer = HttpApiBuilder.group(contractOf(PluginsGroup), "plugins", (handlers) =>
  Effect.map(Effect.all([LazyPlugins, Events]), ([lazyPlugins, events]) => {
    const plugins = Effect.map(lazyPlugins.get, (services) => services.plugins)
    const marketplace = Effect.map(lazyPlugins.get, (services) => services.marketplace)
    const installed = ({
      plugin,
      warnings
    }: {
      readonly plugin: Plugin
      readonly warnings: ReadonlyArray<string>
    }) => ({
      plugin: viewOf(plugin),
      warnings
    })
    return handlers
      .handle("list", ({ urlParams }) =>
        Effect.map(
          Effect.flatMap(answered(Effect.flatMap(plugins, ({ list }) => list(urlParams.status ?? null))), (all) =>
            paged(all, ({ stored }) => stored.name)
          ),
          ({ items, nextCursor, total }) => ({ plugins: items.map(viewOf), nextCursor, total })
        )
      )
      .handle("install", ({ payload: { files, manifest, replace } }) =>
        answered(
          explained(
            Effect.flatMap(plugins, ({ install }) =>
              Effect.map(
                announced(
                  events,
                  { kind: "install", id: nameIn(manifest) },
                  install({ manifest, files }, replace ?? false, "local")
                ),
                installed
              )
            )
          )
        )
      )
      .handle("scan", () =>
        answered(explained(Effect.flatMap(plugins, ({ scan }) => Effect.map(scan, (found) => ({ found })))))
      )
      .handle("marketplace", () => answered(Effect.flatMap(marketplace, ({ list }) => list)))
      .handle("installOffer", ({ path }) =>
        answered(
          explained(
            Effect.flatMap(marketplace, ({ install }) =>
              Effect.map(announced(events, { kind: "install", id: path.name }, install(path.name)), installed)
            )
          )
        )
      )
      .handle("get", ({ path }) =>
        answered(explained(Effect.flatMap(plugins, ({ get }) => Effect.map(get(path.name), detail))))
      )
      .handle("remove", ({ path }) => answered(explained(Effect.flatMap(plugins, ({ remove }) => remove(path.name)))))
      .handle("activate", ({ path, payload: { grant } }) =>
        answered(
          explained(Effect.flatMap(plugins, ({ activate }) => Effect.map(activate(path.name, grant ?? []), detail)))
        )
      )
      .handle("deactivate", ({ path }) =>
        answered(explained(Effect.flatMap(plugins, ({ deactivate }) => Effect.map(deactivate(path.name), detail))))
      )
      .handle("config", ({ path }) => answered(explained(Effect.flatMap(plugins, ({ config }) => config(path.name)))))
      .handle("setConfig", ({ path, payload }) =>
        answered(explained(Effect.flatMap(plugins, ({ setConfig }) => setConfig(path.name, payload.values))))
      )
      .handle("logs", ({ path, urlParams }) =>
        answered(
          explained(
            Effect.flatMap(plugins, ({ logs }) =>
              Effect.map(logs(path.name, urlParams.limit ?? 200), (lines) => ({ logs: lines.map(lineOf) }))
            )
          )
        )
      )
      .handle("test", ({ path, payload }) =>
        answered(
          explained(
            Effect.flatMap(plugins, ({ test }) =>
              Effect.map(test(path.name, payload), ({ logs, ...tested }) => ({ ...tested, logs: logs.map(lineOf) }))
            )
          )
        )
      )
  })
)

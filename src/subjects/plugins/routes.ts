/** Plugins (docs/plugins.md). Changes are taken from this machine only: a plugin is code. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { ConfigFieldType, ConfigValue, PluginHook, PluginPermission, PluginSource, PluginStatus } from "./entity.ts"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import {
  BadRequestAnswer,
  ConflictAnswer,
  NotFoundAnswer,
  UnavailableAnswer,
  UpstreamFailedAnswer
} from "../../contract/Errors.ts"
import { exampleTime } from "../../contract/Examples.ts"
import { body, Created, NoContent, nextCursor, total, optional } from "../../contract/Inputs.ts"
import { observed } from "../../kernel/Observed.ts"

/**
 * Object that is taken as it came, not built anew: a copy has no member `__proto__`, and wrong members must not get
 * lost.
 */
const Members = Schema.declare(
  (value): value is { readonly [name: string]: unknown } =>
    typeof value === "object" && value !== null && !Array.isArray(value),
  { jsonSchema: { type: "object", additionalProperties: true }, message: () => "must be an object" }
)

const HookView = Schema.Struct({
  enabled: field(Schema.Boolean, "Whether it is called.", true),
  priority: field(Schema.Number, "Lower runs first.", 100),
  stream: field(
    Schema.Literal("observe", "buffer"),
    "Of `onResponse`: whether streams are held back until they are whole.",
    "observe"
  ),
  body: field(Schema.Boolean, "Whether it gets the request's body where that is not usual.", false)
}).annotations({ identifier: "PluginHookView" })

const hooksExample = { onRequest: { enabled: true, priority: 20, stream: "observe", body: false } }

const StatsView = Schema.Struct({
  calls: field(Schema.Number, "Calls since the start of the gateway.", 1_204),
  blocked: field(Schema.Number, "Requests it refused.", 3),
  modified: field(Schema.Number, "Requests and answers it changed.", 12),
  failed: field(Schema.Number, "Calls that threw, or were late.", 0),
  dropped: field(Schema.Number, "Events that it was too slow for.", 0),
  p50Ms: field(Schema.NullOr(Schema.Number), "Median of the latest calls that requests waited for; null: none.", 0.4),
  p99Ms: field(Schema.NullOr(Schema.Number), "99 of 100 of them were faster; null: none.", 2.1)
}).annotations({ identifier: "PluginStats" })

const ConfigFieldView = Schema.Struct({
  type: field(ConfigFieldType, "What it takes.", "number"),
  default: field(Schema.NullOr(ConfigValue), "Its value where none is set; null: none.", 60),
  min: field(Schema.NullOr(Schema.Number), "Least value, or characters of a string; null: none.", 1),
  max: field(Schema.NullOr(Schema.Number), "Largest value, or characters of a string; null: none.", 100_000),
  enum: field(
    Schema.NullOr(Schema.Array(Schema.Union(Schema.String, Schema.Number))),
    "What can be chosen; null: anything.",
    null
  ),
  description: field(Schema.NullOr(Schema.String), "What it is.", "Requests per minute and value."),
  secret: field(Schema.Boolean, "Whether it is stored encrypted and shown masked.", false)
}).annotations({ identifier: "PluginConfigField" })

const configSchemaExample = {
  perMinute: {
    type: "number",
    default: 60,
    min: 1,
    max: 100_000,
    enum: null,
    description: "Requests per minute and value.",
    secret: false
  }
}
const ConfigSchema = field(
  Schema.Record({ key: Schema.String, value: ConfigFieldView }),
  "What can be set, by name.",
  configSchemaExample
)

export const PluginView = Schema.Struct({
  name: field(Schema.String, "Its name.", "rate-limiter"),
  version: field(Schema.String, "Its version.", "1.0.0"),
  description: field(Schema.NullOr(Schema.String), "What it does.", "Limits the requests per minute of each team."),
  author: field(Schema.NullOr(Schema.String), "Who wrote it.", "gateway"),
  license: field(Schema.NullOr(Schema.String), "Under which licence.", "MIT"),
  tags: field(Schema.Array(Schema.String), "Words to find it by.", ["limit"]),
  source: field(PluginSource, "Where it came from.", "marketplace"),
  status: observed(
    PluginStatus,
    "`installed`: never activated; `inactive`: deactivated; `error`: it was active and stopped, see `lastError`.",
    "active"
  ),
  hooks: field(
    Schema.Record({ key: Schema.String, value: HookView }),
    "The events it listens to, by name.",
    hooksExample
  ),
  strategies: field(
    Schema.Array(Schema.String),
    "Router strategies that `config.routerStrategy` of an `auto` combo may name because this plugin is active; empty while it is not, or brings none.",
    ["cheap-and-fast"]
  ),
  permissions: field(
    Schema.Struct({
      requested: field(Schema.Array(PluginPermission), "What it asks for.", ["network"]),
      granted: field(Schema.Array(PluginPermission), "What its owner has granted.", ["network"])
    }),
    "What it may use."
  ),
  hosts: field(Schema.NullOr(Schema.Array(Schema.String)), "Hosts it may call; null: any public one.", null),
  failClosed: field(Schema.Boolean, "Whether requests are refused where it fails.", false),
  configSchema: ConfigSchema,
  integrity: field(Schema.String, "Hash of its files.", "sha256-n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="),
  installedAt: field(Schema.String, "When it was installed, ISO 8601.", exampleTime),
  updatedAt: field(Schema.String, "When it was last changed, ISO 8601.", exampleTime),
  lastError: observed(Schema.NullOr(Schema.String), "Why it was stopped, or was not started; null: nothing.", null),
  stats: observed(StatsView, "What became of its calls.")
}).annotations({ identifier: "Plugin" })
export type PluginView = typeof PluginView.Type

const One = Schema.Struct({ plugin: field(PluginView, "The plugin.") }).annotations({ identifier: "PluginAnswer" })
const InstalledView = Schema.Struct({
  plugin: field(PluginView, "The plugin."),
  warnings: field(
    Schema.Array(Schema.String),
    "What does not count, such as a function for an event that the manifest has not.",
    []
  )
}).annotations({ identifier: "PluginInstalled" })

const exampleManifest = {
  name: "hello",
  version: "1.0.0",
  main: "index.js",
  hooks: { onRequest: true }
}
const exampleFiles = {
  "index.js":
    'import { addMetadata, definePlugin } from "gateway/plugin"\n\nexport default definePlugin({ name: "hello", onRequest: () => addMetadata({ hello: true }) })\n'
}

export const InstallPlugin = Schema.Struct({
  manifest: field(Members, "What is in `plugin.json`.", exampleManifest),
  files: field(Members, "Its files as text, by relative path.", exampleFiles),
  replace: field(
    optional(Schema.Boolean),
    "Put it in the place of the one of this name; absent: that is refused.",
    true
  )
}).annotations(body("InstallPlugin"))

export const ScanView = Schema.Struct({
  found: field(
    Schema.Array(
      Schema.Struct({
        name: field(Schema.String, "The folder.", "hello"),
        status: field(
          Schema.Literal("installed", "changed", "invalid"),
          "`changed`: its files are not those that were installed, and it is not called any more.",
          "installed"
        ),
        errors: field(
          Schema.Array(
            Schema.Struct({
              field: field(Schema.String, "Where.", "main"),
              message: field(Schema.String, "What is wrong.", "is missing")
            })
          ),
          "What is wrong with it."
        )
      })
    ),
    "The folders under `DATA_DIR/plugins`."
  )
}).annotations({ identifier: "PluginScan" })

export const ActivatePlugin = Schema.Struct({
  grant: field(
    optional(Schema.Array(PluginPermission).pipe(Schema.maxItems(5))),
    "Permissions to grant, besides those granted before.",
    []
  )
}).annotations(body("ActivatePlugin"))

export const SetPluginConfig = Schema.Struct({
  values: field(
    Members,
    "Values by name. What is left out stays; null is the default again; a secret may be sent back as it was shown.",
    {}
  )
}).annotations(body("SetPluginConfig"))

export const ConfigView = Schema.Struct({
  schema: ConfigSchema,
  values: field(
    Schema.Record({ key: Schema.String, value: Schema.NullOr(ConfigValue) }),
    "What is in force, defaults included; secrets are masked; null: neither set nor a default.",
    { perMinute: 60 }
  )
}).annotations({ identifier: "PluginConfig" })

export const LogView = Schema.Struct({
  at: field(Schema.String, "When, ISO 8601.", exampleTime),
  level: field(Schema.Literal("debug", "info", "warn", "error"), "How it was written.", "info"),
  hook: field(Schema.NullOr(PluginHook), "The event it was called for; null: none.", "onRequest"),
  message: field(Schema.String, "The line.", "hello")
}).annotations({ identifier: "PluginLogLine" })
export type LogView = typeof LogView.Type

export const TestPlugin = Schema.Struct({
  hook: field(PluginHook, "The event.", "onRequest"),
  context: field(optional(Members), "Members of the context; the others are made up.", {
    model: "openai/gpt-4o-mini",
    body: { model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "Hello" }] }
  }),
  payload: field(optional(Members), "The payload of the event.", {})
}).annotations(body("TestPlugin"))

export const TestedView = Schema.Struct({
  action: field(Schema.Literal("none", "modified", "blocked", "failed"), "What came of it.", "modified"),
  result: field(
    Schema.Unknown,
    "The body it made, the answer it blocked with, or why it failed; null: none of these.",
    null
  ),
  metadata: field(Schema.NullOr(Members), "What it added to the request; null: nothing.", { hello: true }),
  ms: field(Schema.Number, "Milliseconds.", 0.6),
  logs: field(Schema.Array(LogView), "What it wrote.")
}).annotations({ identifier: "PluginTested" })

const OfferView = Schema.Struct({
  name: field(Schema.String, "Its name.", "rate-limiter"),
  version: field(Schema.String, "Its version.", "1.0.0"),
  description: field(Schema.String, "What it does.", "Limits the requests per minute of each team."),
  permissions: field(Schema.Array(PluginPermission), "What it asks for.", []),
  integrity: field(Schema.String, "Hash of its files.", "sha256-n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="),
  url: field(Schema.NullOr(Schema.String), "Where it is; null: it comes with the gateway.", null),
  installed: field(Schema.Boolean, "Whether it is installed with these files.", false)
}).annotations({ identifier: "PluginOffer" })
export type OfferView = typeof OfferView.Type

export const OffersView = Schema.Struct({
  plugins: field(Schema.Array(OfferView), "Plugins that can be installed by name."),
  remoteError: field(
    Schema.NullOr(Schema.String),
    "Why the list of the setting `pluginMarketplaceUrl` is not among them; null: it is, or none is set.",
    null
  )
}).annotations({ identifier: "PluginOffers" })

export const PluginsAnswer = Schema.Struct({
  plugins: field(Schema.Array(PluginView), "The plugins, by name."),
  nextCursor,
  total
}).annotations({ identifier: "PluginList" })

const at = endpointsOf("plugins", { name: ["Name of the plugin.", "rate-limiter"] })

export class Plugins extends HttpApiGroup.make("plugins")
  .annotate(OpenApi.Title, "Plugins")
  .annotate(
    OpenApi.Description,
    "Code of yours at fourteen events of requests, in a sandbox. Whatever changes plugins is taken from this machine only."
  )
  .add(
    at("list", { summary: "List plugins", description: "By name, with what became of their calls.", paged: true })
      .setUrlParams(
        Schema.Struct({
          status: field(
            Schema.optionalWith(PluginStatus, { exact: true }),
            "Only those of this status; absent: all.",
            "active"
          )
        })
      )
      .addSuccess(PluginsAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("install", {
      summary: "Install a plugin",
      description:
        "Its code is loaded once without permissions. It is not called before it is activated, unless it has `enabledByDefault` and asks for no permission.",
      example: { manifest: exampleManifest, files: exampleFiles, replace: true }
    })
      .setPayload(InstallPlugin)
      .addSuccess(Created(InstalledView))
      .addError(BadRequestAnswer)
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("scan", {
      summary: "Look through the folder of plugins",
      description: "Folders that were put there are taken over; plugins whose files were changed are stopped."
    })
      .addSuccess(ScanView)
      .addError(UnavailableAnswer)
  )
  .add(
    at("marketplace", {
      summary: "List plugins to install by name",
      description: "Those that come with the gateway, and those of the setting `pluginMarketplaceUrl`."
    })
      .addSuccess(OffersView)
      .addError(UnavailableAnswer)
  )
  .add(
    at("installOffer", {
      summary: "Install a plugin of the marketplace",
      description: "Its files have the hash that the list names, or nothing is installed."
    })
      .addSuccess(Created(InstalledView))
      .addError(BadRequestAnswer)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(UpstreamFailedAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("get", { summary: "Show a plugin", description: "With what became of its calls." })
      .addSuccess(One)
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("remove", {
      summary: "Remove a plugin",
      description: "With its files, its data and its configuration."
    })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("activate", {
      summary: "Activate a plugin",
      description: "Permissions that it asks for and that were not granted are refused with 409 and their list.",
      example: {}
    })
      .setPayload(ActivatePlugin)
      .addSuccess(One)
      .addError(BadRequestAnswer)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("deactivate", {
      summary: "Deactivate a plugin",
      description: "It is not called any more, and keeps its grants."
    })
      .addSuccess(One)
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("config", { summary: "Show a plugin's settings", description: "With all that a form of them needs." })
      .addSuccess(ConfigView)
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("setConfig", {
      summary: "Change a plugin's settings",
      description: "In force from its next call.",
      example: { values: {} }
    })
      .setPayload(SetPluginConfig)
      .addSuccess(ConfigView)
      .addError(BadRequestAnswer)
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("logs", { summary: "Show what a plugin wrote", description: "The last 200 lines, the newest last." })
      .setUrlParams(
        Schema.Struct({
          limit: field(
            Schema.optionalWith(
              Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, 200)).annotations({
                jsonSchema: { type: "integer", minimum: 1, maximum: 200 }
              }),
              { exact: true }
            ),
            "How many lines at most; absent: 200.",
            50
          )
        })
      )
      .addSuccess(
        Schema.Struct({ logs: field(Schema.Array(LogView), "The lines.") }).annotations({ identifier: "PluginLogs" })
      )
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("test", {
      summary: "Call a plugin with made-up values",
      description: "In a sandbox of its own, with what was granted.",
      example: { hook: "onRequest", context: { body: { messages: [] } } }
    })
      .setPayload(TestPlugin)
      .addSuccess(TestedView)
      .addError(BadRequestAnswer)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  ) {}

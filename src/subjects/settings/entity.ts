/** Settings of the gateway as a whole (`/api/settings`): shape, defaults, and how a patch is merged. */
import { tagSources } from "../../contract/domain/Tags.ts"
import * as Schema from "effect/Schema"
import { CacheSettings, CacheSettingsPatch, defaultCacheSettings, mergeCacheSettings } from "./entity/CacheSettings.ts"
import { field } from "../../kernel/Documented.ts"
import { hostProblem, isHostText } from "../../kernel/text/HostText.ts"
import { readOrigin } from "../../kernel/text/Origins.ts"
import {
  defaultVisionBridgeSettings,
  VisionBridgeSettings,
  VisionBridgeSettingsPatch
} from "./entity/VisionBridgeSettings.ts"
import { defaultFaceSettings, faceSettings, faceSettingsPatch } from "./entity/FaceSettings.ts"
import { defaultMemorySettings, MemorySettings, MemorySettingsPatch } from "./entity/MemorySettings.ts"
import { defaultProxySettings, ProxySettings, ProxySettingsPatch } from "./entity/ProxySettings.ts"

const words = {
  allowedHosts: [
    "Host names, besides its own addresses, under which the gateway may be called while no key is required; without port.",
    ["gateway.example.com"]
  ],
  corsOrigins: [
    "Origins of web pages that may call the gateway and read its answers, besides those of the variable `CORS_ORIGINS`.",
    ["https://chat.example.com"]
  ],
  metricsPublic: ["`/metrics` needs no key, also when the gateway is reached from other machines.", false],
  modelFallbacks: [
    "A model id, or a pattern with `*`, that resolves to nothing → the model id or combo used instead.",
    { "gpt-3.5-turbo": "openai/gpt-4o-mini" }
  ],
  backgroundModel: [
    "The model or combo that answers what coding agents ask by themselves (titles, summaries, topic checks) while the flag `GATEWAY_ENABLE_RUNTIME_BACKGROUND_TASKS` is on (`docs/routing.md`); null: the one they ask for.",
    null
  ],
  tagsFrom: [
    "Members of requests that are taken for tags too (`docs/teams.md`): `user` as `user=<value>`, and the members of `metadata` by their names. None: tags are those of `X-Gateway-Tags`.",
    ["user"]
  ],
  decisions: "Routing decisions that are kept in the store.",
  retentionDays: ["Days; older ones are removed.", 7],
  sampleRate: ["The part of the requests whose decision is kept, from 0 to 1.", 1],
  maxRows: ["Beyond it the oldest are removed; 0 keeps none.", 100_000],
  usage: "Requests that are kept in the log. What they used stays in the sums of usage by hour and day.",
  pricingUrl: [
    "Where prices are fetched from once a day while the flag `PRICING_SYNC_ENABLED` and the variable of that name are on; null: nowhere.",
    null
  ],
  pluginMarketplaceUrl: [
    "A list of plugins besides those that come with the gateway (`docs/plugins.md`); null: none is asked.",
    null
  ],
  usageDays: ["Days; older rows are removed.", 90],
  usageRows: ["Rows; beyond it the oldest are removed.", 1_000_000],
  backup: "Copies of the database that the gateway makes by itself (`docs/backups.md`).",
  autoBackupEnabled: ["Whether it makes them.", true],
  frequency: ["How often; when nothing has changed since the last one, none is made.", "daily"],
  media: "Answers that are sound, pictures or films, and jobs that make them (`docs/media.md`).",
  maxAnswerMb: ["The largest one in MiB; a larger one is refused, or cut where its length was not told.", 1024],
  files: "Files that clients upload (`docs/files.md`).",
  quotaBytesPerKey: [
    "Bytes that the files of an API key may have together; callers without a key share one quota.",
    10_737_418_240
  ],
  batches: "Batches of requests (`docs/batches.md`).",
  maxConcurrency: ["Lines of batches that are asked at once, of all batches together.", 8],
  useProviderBatch: [
    "A batch whose lines all go to one provider with batches of its own is handed over to it, at the provider's price for batches.",
    false
  ],
  batchDays: ["Days after which a batch that is over is forgotten; its files stay as long as they are kept.", 30],
  batchRows: ["Batches that are over; beyond it the oldest are forgotten.", 10_000],
  jobMaxMs: [
    "Milliseconds after which a job that no client waits for is given up: cancelled at the provider where that is possible, and failed.",
    7_200_000
  ],
  keepJobsMs: ["Milliseconds for which a job that is over, and its result, can be asked for.", 86_400_000],
  maxJobs: ["Jobs that no client waits for, at the same time.", 200],
  cache: "Answers that are given again to the same request (`docs/cache.md`).",
  webSearch: "Searches of the web that clients ask their provider for (`docs/web-search.md`).",
  webSearchBridge: [
    "Whether they reach providers of other wires, and are made by the gateway for models that cannot search.",
    true
  ],
  visionBridge: "Descriptions of pictures for models that take none (`docs/guardrails.md`).",
  memory: "What is remembered of callers and told to models (`docs/memory.md`).",
  proxies: "By which address calls leave (`docs/proxies.md`).",
  mcpEnabled: ["Whether the MCP server answers at `/mcp` (`docs/mcp.md`).", true],
  a2aEnabled: ["Whether the A2A agent answers at `/a2a` (`docs/a2a.md`).", false],
  promptCache: [
    "`auto`: marks for the provider's prompt cache are set where it needs them and the client set none (`docs/prompt-caching.md`).",
    "off"
  ],
  idempotencyWindowMs: [
    "Milliseconds for which an answer is given again to a request with the same `Idempotency-Key` (`docs/idempotency.md`); 0: never.",
    5_000
  ],
  streams: "Answers that come as a stream.",
  heartbeatMs: [
    "A stream that has sent nothing for so many milliseconds sends its head and a sign of life that clients pass over, again and again until it goes on; 0: never.",
    15_000
  ],
  coalescing: "Equal requests at the same time (`docs/idempotency.md`).",
  coalesces: ["Whether those whose answer is always the same share one call.", true],
  keepLast: ["Of these copies so many are kept; those that were asked for are not counted and not removed.", 7]
} as const

const Frequency = Schema.Literal("hourly", "daily", "weekly")
const PromptCache = Schema.Literal("off", "auto")

export const GatewaySettings = Schema.Struct({
  ...faceSettings,
  pricingUrl: field(Schema.NullOr(Schema.String), ...words.pricingUrl),
  pluginMarketplaceUrl: field(Schema.NullOr(Schema.String), ...words.pluginMarketplaceUrl),
  allowedHosts: field(Schema.Array(Schema.String), ...words.allowedHosts),
  corsOrigins: field(Schema.Array(Schema.String), ...words.corsOrigins),
  metricsPublic: field(Schema.Boolean, ...words.metricsPublic),
  modelFallbacks: field(Schema.Record({ key: Schema.String, value: Schema.String }), ...words.modelFallbacks),
  backgroundModel: field(Schema.NullOr(Schema.String), ...words.backgroundModel),
  tagsFrom: field(Schema.Array(Schema.Literal(...tagSources)), ...words.tagsFrom),
  decisions: field(
    Schema.Struct({
      retentionDays: field(Schema.Number, ...words.retentionDays),
      sampleRate: field(Schema.Number, ...words.sampleRate),
      maxRows: field(Schema.Number, ...words.maxRows)
    }),
    words.decisions
  ),
  usage: field(
    Schema.Struct({
      retentionDays: field(Schema.Number, ...words.usageDays),
      maxRows: field(Schema.Number, ...words.usageRows)
    }),
    words.usage
  ),
  backup: field(
    Schema.Struct({
      autoBackupEnabled: field(Schema.Boolean, ...words.autoBackupEnabled),
      frequency: field(Frequency, ...words.frequency),
      keepLast: field(Schema.Number, ...words.keepLast)
    }),
    words.backup
  ),
  media: field(
    Schema.Struct({
      maxAnswerMb: field(Schema.Number, ...words.maxAnswerMb),
      jobMaxMs: field(Schema.Number, ...words.jobMaxMs),
      keepJobsMs: field(Schema.Number, ...words.keepJobsMs),
      maxJobs: field(Schema.Number, ...words.maxJobs)
    }),
    words.media
  ),
  files: field(Schema.Struct({ quotaBytesPerKey: field(Schema.Number, ...words.quotaBytesPerKey) }), words.files),
  batches: field(
    Schema.Struct({
      maxConcurrency: field(Schema.Number, ...words.maxConcurrency),
      useProviderBatch: field(Schema.Boolean, ...words.useProviderBatch),
      retentionDays: field(Schema.Number, ...words.batchDays),
      maxRows: field(Schema.Number, ...words.batchRows)
    }),
    words.batches
  ),
  idempotencyWindowMs: field(Schema.Number, ...words.idempotencyWindowMs),
  coalescing: field(Schema.Struct({ enabled: field(Schema.Boolean, ...words.coalesces) }), words.coalescing),
  streams: field(Schema.Struct({ heartbeatMs: field(Schema.Number, ...words.heartbeatMs) }), words.streams),
  memory: field(MemorySettings, words.memory),
  visionBridge: field(VisionBridgeSettings, words.visionBridge),
  webSearch: field(Schema.Struct({ bridge: field(Schema.Boolean, ...words.webSearchBridge) }), words.webSearch),
  cache: field(CacheSettings, words.cache),
  proxies: field(ProxySettings, words.proxies),
  mcpEnabled: field(Schema.Boolean, ...words.mcpEnabled),
  a2aEnabled: field(Schema.Boolean, ...words.a2aEnabled),
  promptCache: field(PromptCache, ...words.promptCache)
}).annotations({ identifier: "GatewaySettings" })
export type GatewaySettings = typeof GatewaySettings.Type

const leave = { exact: true, nullable: true } as const

/** A DNS name, an IPv4 address, or an IPv6 address with or without brackets. */
const HostName = Schema.Trim.pipe(
  Schema.lowercased({ message: () => "must be in lower case" }),
  Schema.maxLength(253),
  Schema.filter((text) => (isHostText(text) && !text.endsWith(".") ? true : hostProblem))
)

const Origin = Schema.String.pipe(
  Schema.filter((text) =>
    readOrigin(text) === null ? "must be an origin such as https://chat.example; '*' is not one" : true
  )
)

const HttpsUrl = Schema.Trim.pipe(
  Schema.maxLength(2048),
  Schema.filter((text) => (URL.canParse(text) && new URL(text).protocol === "https:" ? true : "must be an https URL"))
)

const maxFallbacks = 100
const maxModelIdLength = 512

const modelIdProblem = (id: string): string | null => {
  if (id === "" || id.trim() !== id) return "must be a model id, without spaces around it"
  return id.length > maxModelIdLength ? `must not be longer than ${maxModelIdLength} characters` : null
}

const ModelId = Schema.String.pipe(Schema.filter((id) => modelIdProblem(id) ?? true))

const ModelFallbacks = Schema.Record({ key: Schema.String, value: Schema.String }).pipe(
  Schema.filter((fallbacks) => {
    const entries = Object.entries(fallbacks)
    if (entries.length > maxFallbacks) return `must not have more than ${maxFallbacks} entries`
    return entries.flatMap(([id, model]) => {
      const problem = modelIdProblem(id) ?? modelIdProblem(model)
      return problem === null ? [] : [{ path: [id.slice(0, maxModelIdLength)], message: problem }]
    })
  })
)

/** Shorter ones would be most of what a client gets. */
const HeartbeatMs = Schema.Int.pipe(
  Schema.between(0, 600_000),
  Schema.filter((ms) => ms === 0 || ms >= 50 || "must be 0 (never) or at least 50")
)

/** Any part of the settings; null leaves a member as it is. A member that does not exist is an error. */
export const GatewaySettingsPatch = Schema.Struct({
  ...faceSettingsPatch,
  /** Null clears it. */
  pricingUrl: field(Schema.optionalWith(Schema.NullOr(HttpsUrl), { exact: true }), ...words.pricingUrl),
  /** Null clears it. */
  pluginMarketplaceUrl: field(
    Schema.optionalWith(Schema.NullOr(HttpsUrl), { exact: true }),
    ...words.pluginMarketplaceUrl
  ),
  allowedHosts: field(
    Schema.optionalWith(Schema.Array(HostName).pipe(Schema.maxItems(100)), leave),
    ...words.allowedHosts
  ),
  corsOrigins: field(Schema.optionalWith(Schema.Array(Origin).pipe(Schema.maxItems(100)), leave), ...words.corsOrigins),
  metricsPublic: field(Schema.optionalWith(Schema.Boolean, leave), ...words.metricsPublic),
  /** Replaces all of them. */
  modelFallbacks: field(Schema.optionalWith(ModelFallbacks, leave), ...words.modelFallbacks),
  /** Null clears it. */
  backgroundModel: field(Schema.optionalWith(Schema.NullOr(ModelId), { exact: true }), ...words.backgroundModel),
  tagsFrom: field(
    Schema.optionalWith(Schema.Array(Schema.Literal(...tagSources)).pipe(Schema.maxItems(tagSources.length)), leave),
    ...words.tagsFrom
  ),
  decisions: field(
    Schema.optionalWith(
      Schema.Struct({
        retentionDays: field(
          Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 365)), leave),
          ...words.retentionDays
        ),
        sampleRate: field(Schema.optionalWith(Schema.Number.pipe(Schema.between(0, 1)), leave), ...words.sampleRate),
        maxRows: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(0, 1_000_000)), leave), ...words.maxRows)
      }),
      leave
    ),
    words.decisions
  ),
  usage: field(
    Schema.optionalWith(
      Schema.Struct({
        retentionDays: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 3650)), leave), ...words.usageDays),
        maxRows: field(
          Schema.optionalWith(Schema.Int.pipe(Schema.between(1_000, 50_000_000)), leave),
          ...words.usageRows
        )
      }),
      leave
    ),
    words.usage
  ),
  backup: field(
    Schema.optionalWith(
      Schema.Struct({
        autoBackupEnabled: field(Schema.optionalWith(Schema.Boolean, leave), ...words.autoBackupEnabled),
        frequency: field(Schema.optionalWith(Frequency, leave), ...words.frequency),
        keepLast: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 100)), leave), ...words.keepLast)
      }),
      leave
    ),
    words.backup
  ),
  media: field(
    Schema.optionalWith(
      Schema.Struct({
        maxAnswerMb: field(
          Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 1_048_576)), leave),
          ...words.maxAnswerMb
        ),
        jobMaxMs: field(
          Schema.optionalWith(Schema.Int.pipe(Schema.between(1_000, 604_800_000)), leave),
          ...words.jobMaxMs
        ),
        keepJobsMs: field(
          Schema.optionalWith(Schema.Int.pipe(Schema.between(60_000, 2_592_000_000)), leave),
          ...words.keepJobsMs
        ),
        maxJobs: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 10_000)), leave), ...words.maxJobs)
      }),
      leave
    ),
    words.media
  ),
  files: field(
    Schema.optionalWith(
      Schema.Struct({
        quotaBytesPerKey: field(Schema.optionalWith(Schema.NonNegativeInt, leave), ...words.quotaBytesPerKey)
      }),
      leave
    ),
    words.files
  ),
  batches: field(
    Schema.optionalWith(
      Schema.Struct({
        maxConcurrency: field(
          Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 256)), leave),
          ...words.maxConcurrency
        ),
        useProviderBatch: field(Schema.optionalWith(Schema.Boolean, leave), ...words.useProviderBatch),
        retentionDays: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 3650)), leave), ...words.batchDays),
        maxRows: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 1_000_000)), leave), ...words.batchRows)
      }),
      leave
    ),
    words.batches
  ),
  idempotencyWindowMs: field(
    Schema.optionalWith(Schema.Int.pipe(Schema.between(0, 86_400_000)), leave),
    ...words.idempotencyWindowMs
  ),
  coalescing: field(
    Schema.optionalWith(
      Schema.Struct({ enabled: field(Schema.optionalWith(Schema.Boolean, leave), ...words.coalesces) }),
      leave
    ),
    words.coalescing
  ),
  streams: field(
    Schema.optionalWith(
      Schema.Struct({ heartbeatMs: field(Schema.optionalWith(HeartbeatMs, leave), ...words.heartbeatMs) }),
      leave
    ),
    words.streams
  ),
  memory: field(Schema.optionalWith(MemorySettingsPatch, leave), words.memory),
  visionBridge: field(Schema.optionalWith(VisionBridgeSettingsPatch, leave), words.visionBridge),
  webSearch: field(
    Schema.optionalWith(
      Schema.Struct({ bridge: field(Schema.optionalWith(Schema.Boolean, leave), ...words.webSearchBridge) }),
      leave
    ),
    words.webSearch
  ),
  cache: field(Schema.optionalWith(CacheSettingsPatch, leave), words.cache),
  proxies: field(Schema.optionalWith(ProxySettingsPatch, leave), words.proxies),
  mcpEnabled: field(Schema.optionalWith(Schema.Boolean, leave), ...words.mcpEnabled),
  a2aEnabled: field(Schema.optionalWith(Schema.Boolean, leave), ...words.a2aEnabled),
  promptCache: field(Schema.optionalWith(PromptCache, leave), ...words.promptCache)
})
export type GatewaySettingsPatch = typeof GatewaySettingsPatch.Type

export const defaultGatewaySettings: GatewaySettings = {
  ...defaultFaceSettings,
  pricingUrl: null,
  pluginMarketplaceUrl: null,
  allowedHosts: [],
  corsOrigins: [],
  metricsPublic: false,
  modelFallbacks: {},
  backgroundModel: null,
  tagsFrom: [],
  decisions: { retentionDays: 7, sampleRate: 1, maxRows: 100_000 },
  usage: { retentionDays: 90, maxRows: 1_000_000 },
  backup: { autoBackupEnabled: true, frequency: "daily", keepLast: 7 },
  media: { maxAnswerMb: 1024, jobMaxMs: 7_200_000, keepJobsMs: 86_400_000, maxJobs: 200 },
  files: { quotaBytesPerKey: 10_737_418_240 },
  batches: { maxConcurrency: 8, useProviderBatch: false, retentionDays: 30, maxRows: 10_000 },
  idempotencyWindowMs: 5_000,
  coalescing: { enabled: true },
  streams: { heartbeatMs: 15_000 },
  memory: defaultMemorySettings,
  visionBridge: defaultVisionBridgeSettings,
  webSearch: { bridge: true },
  cache: defaultCacheSettings,
  proxies: defaultProxySettings,
  mcpEnabled: true,
  a2aEnabled: false,
  promptCache: "off"
}

export const mergeGatewaySettings = (settings: GatewaySettings, patch: GatewaySettingsPatch): GatewaySettings => ({
  ...settings,
  ...patch,
  dashboard: { ...settings.dashboard, ...patch.dashboard },
  decisions: { ...settings.decisions, ...patch.decisions },
  usage: { ...settings.usage, ...patch.usage },
  backup: { ...settings.backup, ...patch.backup },
  media: { ...settings.media, ...patch.media },
  files: { ...settings.files, ...patch.files },
  batches: { ...settings.batches, ...patch.batches },
  coalescing: { ...settings.coalescing, ...patch.coalescing },
  streams: { ...settings.streams, ...patch.streams },
  memory: { ...settings.memory, ...patch.memory },
  visionBridge: { ...settings.visionBridge, ...patch.visionBridge },
  webSearch: { ...settings.webSearch, ...patch.webSearch },
  cache: mergeCacheSettings(settings.cache, patch.cache),
  proxies: { ...settings.proxies, ...patch.proxies }
})

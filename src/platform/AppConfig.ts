/**
 * Everything the process reads from its environment, read once at start.
 * Feature flags and provider keys come from `environment`, which is a snapshot; nothing reads `process.env` later.
 */
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { homedir, totalmem } from "node:os"
import { join, resolve } from "node:path"
import { bareHost } from "../kernel/BindAddress.ts"
import { booleanOf, booleanTexts } from "../kernel/text/BooleanText.ts"
import { isIpRange } from "../kernel/IpRanges.ts"
import { readOrigin } from "../kernel/text/Origins.ts"
import { readPublicUrl } from "../kernel/text/PublicUrl.ts"
import { keyProblem, passwordProblem } from "../kernel/secrets/SecretRules.ts"
import { type ValkeyAddress, valkeyAddressOf } from "./ValkeyAddress.ts"
import { setOnly, withoutBlank } from "./EnvValue.ts"
import { type Pairs, parsePairs } from "./Pairs.ts"
import { mostWorkers, readWorkers } from "./Workers.ts"
import { openFiles, requestsWithin } from "./files/OpenFiles.ts"

export interface AppConfigShape {
  /** Absolute folder that holds the database, keys and everything else the gateway writes. */
  readonly dataDir: string
  readonly host: string
  readonly port: number
  /** The live feed's own port; null: the usual one where `port` is the usual one, else none. */
  readonly livePort: number | null
  /** Allows an address other machines can reach although no API key is required. */
  readonly allowKeyless: boolean
  /** Accepted as an admin API key, never stored. */
  readonly adminKey: Redacted.Redacted | null
  /** Sets the admin password on first start. */
  readonly adminPassword: Redacted.Redacted | null
  /** Master key for encrypted columns; null means the key file under `dataDir`. */
  readonly encryptionKey: Redacted.Redacted | null
  /** Address of a database of Postgres, with its password; null: the file of SQLite under `dataDir` (docs/cluster.md). */
  readonly databaseUrl: Redacted.Redacted | null
  /** Server of Valkey or Redis over which gateways on one database tell each other what they learn; null: over the database. */
  readonly valkey: ValkeyAddress | null
  /** True when well-known provider variables become read-only connections. */
  readonly envConnections: boolean
  /** The dashboard is served. */
  readonly dashboard: boolean
  /** Folder of the built dashboard; null: the one beside the program. */
  readonly dashboardFolder: string | null
  readonly drainMs: number
  /** Processes that serve requests; 1: this one alone (docs/workers.md). */
  readonly workers: number
  readonly maxBodyBytes: number
  /** Largest uploaded file. */
  readonly maxUploadBytes: number
  /** Time in ms for which the answer to a search is kept; 0: not at all. */
  readonly searchCacheTtlMs: number
  /** Most bytes of all request bodies in progress together; at least `maxBodyBytes`. */
  readonly maxBufferedBytes: number
  /** Most requests at once where the settings say nothing else (`loadShedding.maxInFlight`); from the machine's memory. */
  readonly maxInFlight: number
  /** Origins of pages that may call the gateway without a key (`CORS_ORIGINS`), in lower case. */
  readonly corsOrigins: ReadonlyArray<string>
  /** The gateway's address for its callers, where a reverse proxy serves it below a path; without a slash at its end. */
  readonly publicUrl: string | null
  /**
   * Address at which browsers find the gateway after a sign-in at a provider: `NEXT_PUBLIC_BASE_URL`, else `publicUrl`;
   * null: sign-ins do not come back to it.
   */
  readonly signInUrl: string | null
  /** Addresses and CIDR blocks of reverse proxies whose `X-Forwarded-Prefix` is believed, besides those of this machine. */
  readonly trustedProxies: ReadonlyArray<string>
  readonly otlpEndpoint: string | null
  /** Headers for the collector, such as its key. */
  readonly otlpHeaders: Redacted.Redacted<Pairs>
  /** Attributes of the resource that telemetry is about; `service.name` is always among them. */
  readonly otlpResource: Pairs
  /** The least level of log lines that are written. */
  readonly logLevel: LogLevel
  /** Format of log lines; null: text where standard error is a terminal, else JSON. */
  readonly logFormat: LogFormat | null
  /** Snapshot of the variables that are set to something, for flags and provider keys only. */
  readonly environment: ReadonlyMap<string, string>
}

export class AppConfig extends Context.Tag("gateway/platform/AppConfig")<AppConfig, AppConfigShape>() {}

const optional = <A>(config: Config.Config<A>): Config.Config<A | null> =>
  Config.option(config).pipe(Config.map(Option.getOrNull))

/** Levels from the most to the least verbose; `none` silences the log. */
export const logLevels = ["debug", "info", "warn", "error", "none"] as const
export type LogLevel = (typeof logLevels)[number]

/** `text` for people, `json` for programs: one object a line. */
export const logFormats = ["text", "json"] as const
export type LogFormat = (typeof logFormats)[number]

const trimmed = (name: string): Config.Config<string> =>
  Config.map(Config.withDefault(Config.string(name), ""), (text) => text.trim().toLowerCase())

/** One of some words in any letter case; null for no text. */
const wordIn = <Word extends string>(
  name: string,
  words: ReadonlyArray<Word>,
  text: string
): Either.Either<Word | null, ConfigError.ConfigError> => {
  const known = text === "" ? null : words.find((word) => word === text)
  return known === undefined
    ? Either.left(ConfigError.InvalidData([], `${name} must be one of: ${words.join(", ")}`))
    : Either.right(known)
}

/** The gateway's own variable wins, and then the other one is not read: it may be meant for another program. */
const logLevel = Config.all([trimmed("GATEWAY_LOG_LEVEL"), trimmed("LOG_LEVEL")]).pipe(
  Config.mapOrFail(([own, common]) =>
    own === "" ? wordIn("LOG_LEVEL", logLevels, common) : wordIn("GATEWAY_LOG_LEVEL", logLevels, own)
  ),
  Config.map((level): LogLevel => level ?? "info")
)

const logFormat = trimmed("LOG_FORMAT").pipe(Config.mapOrFail((text) => wordIn("LOG_FORMAT", logFormats, text)))

const pairs = (name: string): Config.Config<Pairs> =>
  Config.string(name).pipe(
    Config.withDefault(""),
    Config.mapOrFail((text) => {
      const parsed = parsePairs(text)
      return parsed === null
        ? Either.left(ConfigError.InvalidData([name], `${name} must be key=value pairs with commas between them`))
        : Either.right(parsed)
    })
  )

/** A valid HTTP header. The value is not part of the error, because it may be a key. */
const isHeader = ([name, value]: Pairs[number]): boolean =>
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)

const otlpHeaders = pairs("OTEL_EXPORTER_OTLP_HEADERS").pipe(
  Config.validate({
    message: "OTEL_EXPORTER_OTLP_HEADERS must hold valid header names and values",
    validation: (headers) => headers.every(isHeader)
  }),
  Config.map((headers) => Redacted.make(headers))
)

/** `OTEL_SERVICE_NAME` wins over `service.name` among the attributes. */
const otlpResource = Config.all([
  optional(Config.nonEmptyString("OTEL_SERVICE_NAME")),
  pairs("OTEL_RESOURCE_ATTRIBUTES")
]).pipe(
  Config.map(([serviceName, attributes]): Pairs => {
    const named = new Map([["service.name", "gateway"], ...attributes])
    return [...(serviceName === null ? named : named.set("service.name", serviceName))]
  })
)

const expandHome = (path: string): string =>
  resolve(path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path)

const within = (name: string, least: number, most: number): Config.Config<number> =>
  Config.integer(name).pipe(
    Config.validate({
      message: `${name} must be a whole number from ${least} to ${most}`,
      validation: (value) => value >= least && value <= most
    })
  )

const bounded = (name: string, fallback: number, least: number, most: number): Config.Config<number> =>
  Config.withDefault(within(name, least, most), fallback)

const origins = (name: string): Config.Config<ReadonlyArray<string>> =>
  Config.string(name).pipe(
    Config.withDefault(""),
    Config.mapOrFail((text) => {
      const parts = text.split(",").filter((part) => part.trim() !== "")
      const read = parts.flatMap((part) => readOrigin(part) ?? [])
      return read.length === parts.length
        ? Either.right(read)
        : Either.left(
            ConfigError.InvalidData(
              [],
              `${name} must be origins such as https://chat.example, separated by commas; '*' is not one`
            )
          )
    })
  )

/** An absolute URL without credentials, query and fragment; its slash at the end is taken away. */
const addressFromOutside = (name: string) =>
  Config.string(name).pipe(
    Config.withDefault(""),
    Config.map((text) => text.trim()),
    Config.mapOrFail((text) => {
      if (text === "") return Either.right(null)
      const url = readPublicUrl(text)
      return url !== null
        ? Either.right(url)
        : Either.left(
            ConfigError.InvalidData(
              [],
              `${name} must be the gateway's address for its callers, such as https://ai.example/llm, without user name, query and fragment`
            )
          )
    })
  )

const trustedProxies = Config.string("GATEWAY_TRUSTED_PROXIES").pipe(
  Config.withDefault(""),
  Config.mapOrFail((text) => {
    const ranges = text.split(/[\s,]+/).filter((range) => range !== "")
    return ranges.every(isIpRange)
      ? Either.right(ranges)
      : Either.left(
          ConfigError.InvalidData(
            [],
            "GATEWAY_TRUSTED_PROXIES must be addresses or CIDR blocks, such as 10.0.0.0/8, separated by commas"
          )
        )
  })
)

const boolean = (name: string, fallback: boolean): Config.Config<boolean> =>
  Config.string(name).pipe(
    Config.withDefault(""),
    Config.map((text) => (text.trim() === "" ? fallback : booleanOf(text))),
    Config.validate({
      message: `${name} must be one of: ${booleanTexts.join(", ")}`,
      validation: (value): value is boolean => value !== null
    })
  )

/** A secret chosen by a person, or null; `problemOf` returns what is wrong with it. */
const secret = (
  name: string,
  problemOf: (secret: string) => string | null,
  advice = ""
): Config.Config<Redacted.Redacted | null> =>
  optional(
    Config.redacted(Config.nonEmptyString(name)).pipe(
      Config.mapOrFail((value) => {
        const problem = problemOf(Redacted.value(value))
        return problem === null
          ? Either.right(value)
          : Either.left(ConfigError.InvalidData([], `${name} ${problem}${advice}`))
      })
    )
  )

const weakEncryptionKey =
  ". For a database that was encrypted with a shorter one, set a new key and run 'gateway reset-encrypted-columns'"

const isPostgresAddress = (text: string): boolean => {
  try {
    const { hostname, protocol } = new URL(text)
    return /^postgres(?:ql)?:$/.test(protocol) && hostname !== ""
  } catch {
    return false
  }
}

/** The value is not part of the error, because it holds a password. */
const databaseUrl = optional(
  Config.redacted(Config.nonEmptyString("GATEWAY_DATABASE_URL")).pipe(
    Config.mapOrFail((url) =>
      isPostgresAddress(Redacted.value(url))
        ? Either.right(url)
        : Either.left(
            ConfigError.InvalidData(
              [],
              "GATEWAY_DATABASE_URL must be the address of a database of Postgres, such as postgres://user:password@host:5432/gateway"
            )
          )
    )
  )
)

/** Neither is this value, for the same reason. */
const valkey = optional(
  Config.redacted(Config.nonEmptyString("GATEWAY_VALKEY_URL")).pipe(
    Config.mapOrFail((url) => {
      const address = valkeyAddressOf(url)
      return address === null
        ? Either.left(
            ConfigError.InvalidData(
              [],
              "GATEWAY_VALKEY_URL must be the address of a server of Valkey or Redis, such as redis://user:password@host:6379/0, or rediss:// for TLS"
            )
          )
        : Either.right(address)
    })
  )
)

const workers = trimmed("GATEWAY_WORKERS").pipe(
  Config.map((text) => (text === "" ? 1 : readWorkers(text))),
  Config.validate({
    message: `GATEWAY_WORKERS must be 'auto' or a whole number from 1 to ${mostWorkers}`,
    validation: (value): value is number => value !== null
  })
)

const bytesPerMebibyte = 1_048_576
const maxDefaultBufferedBytes = 2048 * bytesPerMebibyte

/** Memory available to this process: the machine's, or its container's limit. */
const memoryBytes = (): number => {
  const constrained = process.constrainedMemory()
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}

/**
 * Computes the default of the bytes in memory: a quarter of the memory, 2 GiB at most, and four of the largest bodies
 * at least.
 */
export const defaultBufferedBytes = (maxBodyBytes: number, memory: number): number =>
  Math.max(4 * maxBodyBytes, Math.min(Math.floor(memory / 4), maxDefaultBufferedBytes))

/** Bytes of a started process before the first request, with its caches and garbage. */
const baseBytes = 256 * bytesPerMebibyte
/** Most bytes of an open stream, both of its sockets and their buffers included; an idle one takes a third of it. */
const bytesPerStream = 96 * 1024
const fewestInFlight = 500
const mostInFlight = 50_000

/**
 * Most requests at once by default: half of what the memory has beyond the process itself and the request bodies, by 96 KiB each; from 500
 * to 50,000. No more than the limit of open files is enough for, null: unknown.
 */
export const defaultMaxInFlight = (maxBufferedBytes: number, memory: number, files: number | null): number => {
  const bytes = Math.max(0, memory - baseBytes - maxBufferedBytes) / 2
  const fitting = Math.min(Math.max(Math.floor(bytes / bytesPerStream), fewestInFlight), mostInFlight)
  return files === null ? fitting : Math.min(fitting, requestsWithin(files))
}

const mebibytes = (config: Config.Config<number>): Config.Config<number> =>
  Config.map(config, (value) => value * bytesPerMebibyte)

/** The limits of request bodies: of each, and of all together. */
const bodyLimits = Config.all({
  maxBodyBytes: mebibytes(bounded("GATEWAY_MAX_BODY_MB", 50, 1, 2048)),
  maxBufferedBytes: optional(mebibytes(within("GATEWAY_MAX_BUFFERED_MB", 1, 1_048_576)))
}).pipe(
  Config.map(({ maxBodyBytes, maxBufferedBytes }) => ({
    maxBodyBytes,
    maxBufferedBytes: maxBufferedBytes ?? defaultBufferedBytes(maxBodyBytes, memoryBytes())
  })),
  Config.validate({
    message:
      "GATEWAY_MAX_BUFFERED_MB must be at least GATEWAY_MAX_BODY_MB: else the largest bodies could never be taken",
    validation: ({ maxBodyBytes, maxBufferedBytes }) => maxBufferedBytes >= maxBodyBytes
  })
)

/** Port that the gateway listens on by default. */
export const defaultPort = 20128

const config = Config.all({
  dataDir: Config.nonEmptyString("DATA_DIR").pipe(Config.withDefault("~/.gateway"), Config.map(expandHome)),
  host: Config.nonEmptyString("HOST").pipe(Config.withDefault("127.0.0.1"), Config.map(bareHost)),
  port: bounded("PORT", defaultPort, 0, 65_535),
  livePort: optional(within("GATEWAY_LIVE_PORT", 0, 65_535)),
  adminKey: secret("GATEWAY_ADMIN_KEY", keyProblem),
  adminPassword: secret("GATEWAY_ADMIN_PASSWORD", passwordProblem),
  encryptionKey: secret("GATEWAY_ENCRYPTION_KEY", keyProblem, weakEncryptionKey),
  databaseUrl,
  valkey,
  envConnections: boolean("GATEWAY_ENV_CONNECTIONS", true),
  dashboard: boolean("GATEWAY_DASHBOARD", true),
  dashboardFolder: Config.succeed(null),
  drainMs: bounded("GATEWAY_DRAIN_SECONDS", 10, 0, 3600).pipe(Config.map((seconds) => seconds * 1000)),
  workers,
  bodyLimits,
  maxUploadBytes: mebibytes(bounded("GATEWAY_MAX_UPLOAD_MB", 512, 1, 1_048_576)),
  searchCacheTtlMs: bounded("SEARCH_CACHE_TTL_MS", 60_000, 0, 86_400_000),
  corsOrigins: origins("CORS_ORIGINS"),
  publicUrl: addressFromOutside("GATEWAY_PUBLIC_URL"),
  signInUrl: addressFromOutside("NEXT_PUBLIC_BASE_URL"),
  trustedProxies,
  otlpEndpoint: optional(Config.nonEmptyString("OTEL_EXPORTER_OTLP_ENDPOINT")),
  otlpHeaders,
  otlpResource,
  logLevel,
  logFormat
})

/** The configuration without variables that are set to nothing. */
const ofSet = Effect.configProviderWith((provider) => Effect.withConfigProvider(config, withoutBlank(provider)))

/** Returns the environment for code without a configuration: the client of commands. */
export const processEnvironment = (): ReadonlyMap<string, string> => setOnly(process.env)

/** Reads and checks the whole configuration; fails with every wrong variable named. */
export const make: Effect.Effect<AppConfigShape, ConfigError.ConfigError> = Effect.map(
  ofSet,
  ({ bodyLimits: limits, ...values }) => ({
    ...values,
    ...limits,
    signInUrl: values.signInUrl ?? values.publicUrl,
    maxInFlight: defaultMaxInFlight(limits.maxBufferedBytes, memoryBytes(), openFiles()),
    allowKeyless: false,
    environment: setOnly(process.env)
  })
)

export const layer: Layer.Layer<AppConfig, ConfigError.ConfigError> = Layer.effect(AppConfig, make)

/** Every wrong variable of a configuration on one line. */
export const configProblem = (error: ConfigError.ConfigError): string => {
  if (error._op === "And" || error._op === "Or") return `${configProblem(error.left)}; ${configProblem(error.right)}`
  return error.path.length === 0 ? error.message : `${error.path.join("_")}: ${error.message}`
}

/** A configuration for tests and embedding: defaults, an empty environment, and what is given. */
export const layerOf = (values: Partial<AppConfigShape> & { readonly dataDir: string }): Layer.Layer<AppConfig> =>
  Layer.succeed(AppConfig, {
    host: "127.0.0.1",
    port: 0,
    livePort: null,
    allowKeyless: false,
    adminKey: null,
    adminPassword: null,
    encryptionKey: null,
    databaseUrl: null,
    valkey: null,
    envConnections: false,
    dashboard: true,
    dashboardFolder: null,
    drainMs: 1_000,
    workers: 1,
    maxBodyBytes: 50 * bytesPerMebibyte,
    maxUploadBytes: 512 * bytesPerMebibyte,
    maxBufferedBytes: 4 * 50 * bytesPerMebibyte,
    maxInFlight: 5_000,
    searchCacheTtlMs: 60_000,
    corsOrigins: [],
    publicUrl: null,
    signInUrl: null,
    trustedProxies: [],
    otlpEndpoint: null,
    otlpHeaders: Redacted.make([]),
    otlpResource: [["service.name", "gateway"]],
    logLevel: "info",
    logFormat: null,
    environment: new Map(),
    ...values
  })

/**
 * Variables of the environment that the program itself reads at its start, for people: what is in force of them, and what would be without them.
 * Values of secrets are not part of it. Feature flags and keys of providers have lists of their own. Pure.
 */
import type { AppConfigShape } from "../../platform/AppConfig.ts"

export interface Variable {
  readonly name: string
  readonly description: string
  /** Words for people that say what holds where the variable is not set. */
  readonly usual: string
  /** Text of the value in force; null: nothing. Absent for a secret, and where another program's address may hold one. */
  readonly inForce?: (config: AppConfigShape) => string | null
}

const mebibytes = (bytes: number): string => String(bytes / 1_048_576)
const listed = (values: ReadonlyArray<string>): string | null => (values.length === 0 ? null : values.join(", "))

export const variables: ReadonlyArray<Variable> = [
  {
    name: "DATA_DIR",
    description: "Folder of the database, the key file and the backups.",
    usual: "~/.gateway",
    inForce: ({ dataDir }) => dataDir
  },
  {
    name: "HOST",
    description: "Address that the gateway listens on.",
    usual: "127.0.0.1",
    inForce: ({ host }) => host
  },
  {
    name: "PORT",
    description: "Port that the gateway listens on.",
    usual: "20128",
    inForce: ({ port }) => String(port)
  },
  {
    name: "GATEWAY_LIVE_PORT",
    description: "Own port of the live feed.",
    usual: "20129 where PORT is 20128, else none",
    inForce: ({ livePort }) => (livePort === null ? null : String(livePort))
  },
  {
    name: "GATEWAY_PUBLIC_URL",
    description: "Address that callers use where a reverse proxy serves the gateway.",
    usual: "none",
    inForce: ({ publicUrl }) => publicUrl
  },
  {
    name: "NEXT_PUBLIC_BASE_URL",
    description: "Address to which providers send browsers back after a sign-in.",
    usual: "GATEWAY_PUBLIC_URL",
    inForce: ({ signInUrl }) => signInUrl
  },
  {
    name: "GATEWAY_TRUSTED_PROXIES",
    description: "Reverse proxies whose `X-Forwarded-Prefix` is believed.",
    usual: "this machine",
    inForce: ({ trustedProxies }) => listed(trustedProxies)
  },
  {
    name: "CORS_ORIGINS",
    description: "Origins of web pages that may call the gateway, besides the setting `corsOrigins`.",
    usual: "none",
    inForce: ({ corsOrigins }) => listed(corsOrigins)
  },
  { name: "GATEWAY_ADMIN_KEY", description: "An admin key that is never stored.", usual: "none" },
  { name: "GATEWAY_ADMIN_PASSWORD", description: "Sets the admin password at the first start.", usual: "none" },
  { name: "GATEWAY_ENCRYPTION_KEY", description: "Encrypts stored credentials.", usual: "a key file in DATA_DIR" },
  { name: "GATEWAY_DATABASE_URL", description: "Database of Postgres in place of the file.", usual: "none" },
  {
    name: "GATEWAY_VALKEY_URL",
    description: "Server of Valkey or Redis over which gateways on one database tell each other what they learn.",
    usual: "none"
  },
  {
    name: "GATEWAY_ENV_CONNECTIONS",
    description: "Provider keys of the environment become read-only connections.",
    usual: "true",
    inForce: ({ envConnections }) => String(envConnections)
  },
  {
    name: "GATEWAY_DASHBOARD",
    description: "The dashboard is served.",
    usual: "true",
    inForce: ({ dashboard }) => String(dashboard)
  },
  {
    name: "GATEWAY_MAX_BODY_MB",
    description: "Largest request body in MiB.",
    usual: "50",
    inForce: ({ maxBodyBytes }) => mebibytes(maxBodyBytes)
  },
  {
    name: "GATEWAY_MAX_BUFFERED_MB",
    description: "Bodies of all requests under way together, in MiB.",
    usual: "a quarter of the memory",
    inForce: ({ maxBufferedBytes }) => mebibytes(maxBufferedBytes)
  },
  {
    name: "GATEWAY_MAX_UPLOAD_MB",
    description: "Largest uploaded file in MiB.",
    usual: "512",
    inForce: ({ maxUploadBytes }) => mebibytes(maxUploadBytes)
  },
  {
    name: "GATEWAY_DRAIN_SECONDS",
    description: "How long a stop waits for requests that run.",
    usual: "10",
    inForce: ({ drainMs }) => String(drainMs / 1_000)
  },
  {
    name: "GATEWAY_WORKERS",
    description: "Processes that serve requests; auto: as many as there are cores, one less from four up.",
    usual: "1",
    inForce: ({ workers }) => String(workers)
  },
  {
    name: "SEARCH_CACHE_TTL_MS",
    description: "Milliseconds for which the answer to a search of the web is kept.",
    usual: "60000",
    inForce: ({ searchCacheTtlMs }) => String(searchCacheTtlMs)
  },
  { name: "OTEL_EXPORTER_OTLP_ENDPOINT", description: "Where traces and metrics are sent.", usual: "nowhere" },
  { name: "OTEL_EXPORTER_OTLP_HEADERS", description: "Headers for that collector.", usual: "none" },
  {
    name: "LOG_LEVEL",
    description: "The least level of log lines that are written.",
    usual: "info",
    inForce: ({ logLevel }) => logLevel
  },
  {
    name: "LOG_FORMAT",
    description: "Format of log lines.",
    usual: "text at a terminal, else json",
    inForce: ({ logFormat }) => logFormat
  },
  {
    name: "GATEWAY_PLUGINS_ALLOW_EXEC",
    description: "Plugins with the permission `exec` may start programs.",
    usual: "not set",
    inForce: ({ environment }) => environment.get("GATEWAY_PLUGINS_ALLOW_EXEC") ?? null
  },
  { name: "HTTP_PROXY", description: "Proxy for the gateway's own calls by http.", usual: "none" },
  { name: "HTTPS_PROXY", description: "Proxy for the gateway's own calls by https.", usual: "none" },
  { name: "ALL_PROXY", description: "Proxy for all of the gateway's own calls.", usual: "none" },
  {
    name: "NO_PROXY",
    description: "Hosts that are called without these proxies.",
    usual: "none",
    inForce: ({ environment }) => environment.get("NO_PROXY") ?? null
  }
]

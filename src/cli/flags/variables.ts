/** The variables that the gateway reads, and those of the environment that look as if they were meant for it. */
import * as Effect from "effect/Effect"
import { closest } from "../../kernel/text/Closest.ts"
import type { CommandFailed } from "../Failure.ts"
import { loadModule } from "../lazy.ts"

/** Names of the variables that `AppConfig` and the command line read. */
export const ownNames = [
  "DATA_DIR",
  "HOST",
  "PORT",
  "GATEWAY_LIVE_PORT",
  "CORS_ORIGINS",
  "GATEWAY_ADMIN_KEY",
  "GATEWAY_ADMIN_PASSWORD",
  "GATEWAY_ENCRYPTION_KEY",
  "GATEWAY_DATABASE_URL",
  "GATEWAY_VALKEY_URL",
  "GATEWAY_ENV_CONNECTIONS",
  "GATEWAY_DASHBOARD",
  "GATEWAY_DRAIN_SECONDS",
  "GATEWAY_WORKERS",
  "GATEWAY_MAX_BODY_MB",
  "GATEWAY_MAX_UPLOAD_MB",
  "GATEWAY_PLUGINS_ALLOW_EXEC",
  "GATEWAY_MAX_BUFFERED_MB",
  "GATEWAY_URL",
  "GATEWAY_UPDATE_URL",
  "GATEWAY_API_KEY",
  "GATEWAY_MODEL",
  "SEARCH_CACHE_TTL_MS",
  "GATEWAY_PUBLIC_URL",
  "NEXT_PUBLIC_BASE_URL",
  "GATEWAY_TRUSTED_PROXIES",
  "GATEWAY_IGNORE_PROXY_ENV",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_SERVICE_NAME",
  "OTEL_RESOURCE_ATTRIBUTES",
  "GATEWAY_LOG_LEVEL",
  "LOG_LEVEL",
  "LOG_FORMAT",
  "GATEWAY_HOSTS_FILE",
  "INSPECTOR_INTERNAL_INGEST_TOKEN"
]

export const flagNames: Effect.Effect<ReadonlySet<string>, CommandFailed> = Effect.map(
  loadModule(() => import("../../subjects/flags/FlagCatalog.ts")),
  ({ flagCatalog }): ReadonlySet<string> => new Set(flagCatalog.map(({ key }) => key))
)

/** Every variable the gateway reads: its own, the feature flags, the providers' keys. */
export const knownNames: Effect.Effect<ReadonlySet<string>, CommandFailed> = Effect.gen(function* () {
  const { registry } = yield* loadModule(() => import("../../plane/providers/Registry.ts"))
  return new Set([...ownNames, ...(yield* flagNames), ...[...registry.values()].flatMap(({ env }) => env)])
})

/** Names of variables for programs that the gateway starts, and for examples in a shell. */
const ofOthers: ReadonlySet<string> = new Set([
  "GATEWAY_PROGRAM_MARK",
  "GATEWAY_TOOL_KEY",
  "GATEWAY_CSRF_TOKEN",
  "GATEWAY_PASSWORD"
])

/** Names made for each provider, and what the program sets for programs that it starts. */
const isOfFamily = (name: string): boolean =>
  /^GATEWAY_OAUTH_[A-Z0-9_]+_CLIENT_(?:ID|SECRET)$/.test(name) || ofOthers.has(name)

const ownPrefix = "GATEWAY_"
/** Shorter names are near too many others. */
const leastLetters = 8
const mostStrange = 20
const mostLooked = 2_000

const letters = (name: string): string => name.replaceAll(/[^A-Za-z0-9]/g, "").toUpperCase()

/** Two names of which one was meant, with one or two wrong letters. */
const isNear = (name: string, known: string): boolean => {
  if (Math.abs(name.length - known.length) > 2) return false
  let same = 0
  while (same < name.length && name[same] === known[same]) same += 1
  let tail = 0
  const room = Math.min(name.length, known.length) - same
  while (tail < room && name[name.length - 1 - tail] === known[known.length - 1 - tail]) tail += 1
  // What is left between the common beginning and the common end.
  return Math.max(name.length, known.length) - same - tail <= 2
}

/** Finds the known name that was meant by one with the same letters, or with one or two of them wrong. */
const makeNearest = (known: ReadonlySet<string>): ((name: string) => string | undefined) => {
  const byLetters = new Map([...known].map((name) => [letters(name), name]))
  return (name) => {
    const same = byLetters.get(letters(name))
    // A second key, such as OPENAI_API_KEY_2, is another variable on purpose.
    if (same !== undefined || /\d$/.test(name)) return same
    for (const other of known) if (isNear(name, other)) return other
    return undefined
  }
}

/**
 * A sentence for each variable that is not read but looks as if it should be: one that begins with `GATEWAY_`, and one that is nearly a
 * known name. Sorted by name, at most twenty. Values are not part of them.
 */
export const strangeNames = (names: Iterable<string>, known: ReadonlySet<string>): ReadonlyArray<string> => {
  const all = [...known]
  const nearest = makeNearest(known)
  const strange: Array<string> = []
  for (const name of [...names].slice(0, mostLooked).toSorted()) {
    if (known.has(name) || isOfFamily(name) || strange.length >= mostStrange) continue
    const isOwn = name.toUpperCase().startsWith(ownPrefix)
    if (!isOwn && name.length < leastLetters) continue
    const near = isOwn ? closest(name, all, 1)[0] : nearest(name)
    if (near === undefined && !isOwn) continue
    const meant = near === undefined ? "" : ` Did you mean ${near}?`
    strange.push(`The variable ${name} is set, but the gateway reads none of this name.${meant}`)
  }
  return strange
}

/** The same of an environment. */
export const strangeOf = (
  environment: ReadonlyMap<string, string>
): Effect.Effect<ReadonlyArray<string>, CommandFailed> =>
  Effect.map(knownNames, (known) => strangeNames(environment.keys(), known))

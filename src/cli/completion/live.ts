/** Names of the gateway's objects, as far as it gives them at once. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { loadModule } from "../lazy.ts"
import type { Candidate, LiveKind } from "./candidates.ts"

const noFlags = { url: Option.none(), gatewayKey: Option.none(), context: Option.none(), local: false }

/** A list of the gateway: its path, the member that has the rows, and the members of a row that are its name and its summary. */
type Listing = readonly [path: string, field: string, name: string, summary: string]

type ListedKind = Exclude<LiveKind, "context" | "flag" | "provider">

const listings: Readonly<Record<ListedKind, Listing>> = {
  alias: ["/api/models/alias", "aliases", "alias", "model"],
  backup: ["/api/db-backups", "backups", "id", "reason"],
  batch: ["/v1/batches", "data", "id", "status"],
  combo: ["/api/combos", "combos", "name", "strategy"],
  connection: ["/api/providers", "connections", "name", "provider"],
  file: ["/v1/files", "data", "filename", "id"],
  key: ["/api/keys", "keys", "name", "prefix"],
  memory: ["/api/memory", "memories", "id", "key"],
  model: ["/v1/models", "data", "id", "owned_by"],
  node: ["/api/provider-nodes", "nodes", "prefix", "name"],
  plugin: ["/api/plugins", "plugins", "name", "status"],
  preset: ["/api/playground/presets", "presets", "name", "id"],
  proxy: ["/api/v1/management/proxies", "proxies", "name", "id"],
  "quota group": ["/api/quota/groups", "groups", "name", "id"],
  run: ["/api/evals", "runs", "id", "suiteId"],
  server: ["/api/mcp/servers", "servers", "name", "transport"],
  suite: ["/api/evals", "suites", "id", "name"],
  webhook: ["/api/webhooks", "webhooks", "url", "id"]
}

const Body = Schema.Record({ key: Schema.String, value: Schema.Unknown })

/**
 * Asks the gateway for a list. Not by the client of the contract, which takes longer to make than the gateway takes to answer: of
 * every row only the name is read.
 */
const asked = ([path, field, name, summary]: Listing): Effect.Effect<ReadonlyArray<Candidate>, unknown> =>
  Effect.gen(function* () {
    const [{ place }, { client }] = yield* Effect.all([
      loadModule(() => import("../gateway/Target.ts")),
      loadModule(() => import("../gateway/NodeHttp.ts"))
    ])
    const where = yield* place(noFlags)
    if (where._tag === "DataFolder") return []
    const { apiKey, url } = where.to
    const headers = apiKey === null ? {} : { authorization: `Bearer ${Redacted.value(apiKey)}` }
    const response = yield* HttpClient.withTracerPropagation(client, false).get(`${url}${path}`, { headers })
    const body = yield* Schema.decodeUnknown(Body)(yield* response.json)
    const rows = yield* Schema.decodeUnknown(Schema.Array(Body))(body[field])
    return rows.flatMap((row): ReadonlyArray<Candidate> => {
      const [value, about] = [row[name], row[summary]]
      return typeof value === "string" ? [{ value, summary: typeof about === "string" ? about : "" }] : []
    })
  })

/** Lookups on this machine that need no gateway. */
const here: Readonly<Record<Exclude<LiveKind, ListedKind>, Effect.Effect<ReadonlyArray<Candidate>, unknown>>> = {
  context: Effect.gen(function* () {
    const [Contexts, { loadConfig }] = yield* Effect.all([
      loadModule(() => import("../gateway/Contexts.ts")),
      loadModule(() => import("../flags/EnvFile.ts"))
    ])
    const { environment } = yield* loadConfig
    const { contexts } = yield* Contexts.read(Contexts.contextFile(environment))
    return Object.entries(contexts).map(([value, { url }]) => ({ value, summary: url }))
  }),
  flag: Effect.map(
    loadModule(() => import("../../subjects/flags/FlagCatalog.ts")),
    ({ flagCatalog }) => flagCatalog.map(({ key }) => ({ value: key, summary: "" }))
  ),
  provider: Effect.map(
    loadModule(() => import("../../plane/providers/Registry.ts")),
    ({ registry }) => [...registry.values()].map(({ id, name }) => ({ value: id, summary: name }))
  )
}

const isHere = (kind: LiveKind): kind is keyof typeof here => Object.hasOwn(here, kind)

/** The names of these kinds of objects; nothing when no gateway gives them in time. */
export const liveNames = (kinds: ReadonlyArray<LiveKind>, withinMs: number): Effect.Effect<ReadonlyArray<Candidate>> =>
  Effect.forEach(kinds, (kind) => (isHere(kind) ? here[kind] : asked(listings[kind])), {
    concurrency: "unbounded"
  }).pipe(
    Effect.map((names) => names.flat()),
    Effect.timeoutTo({ duration: withinMs, onSuccess: (names) => names, onTimeout: () => [] }),
    Effect.orElseSucceed(() => [])
  )

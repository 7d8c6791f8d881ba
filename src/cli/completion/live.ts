/** Names of the gateway's objects, as far as it gives them at once. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { loadRoom } from "../lazy.ts"
import type { Candidate, LiveKind } from "./candidates.ts"

const noFlags = { url: Option.none(), gatewayKey: Option.none(), context: Option.none(), local: false }

/**
 * Asks the gateway for a list. Not by the client of the contract, which takes longer to make than the gateway takes to answer: of
 * every row only the names are read.
 */
const asked = <Row, I>(
  path: string,
  field: string,
  row: Schema.Schema<Row, I>,
  candidate: (row: Row) => Candidate
): Effect.Effect<ReadonlyArray<Candidate>, unknown> =>
  Effect.gen(function* () {
    const [{ place }, { client }] = yield* Effect.all([
      loadRoom(() => import("../gateway/Target.ts")),
      loadRoom(() => import("../gateway/NodeHttp.ts"))
    ])
    const where = yield* place(noFlags)
    if (where._tag === "DataFolder") return []
    const { apiKey, url } = where.to
    const headers = apiKey === null ? {} : { authorization: `Bearer ${Redacted.value(apiKey)}` }
    const response = yield* HttpClient.withTracerPropagation(client, false).get(`${url}${path}`, { headers })
    const body = yield* Schema.decodeUnknown(Schema.Record({ key: Schema.String, value: Schema.Unknown }))(
      yield* response.json
    )
    return (yield* Schema.decodeUnknown(Schema.Array(row))(body[field])).map(candidate)
  })

const text = Schema.String

const namesOf: Readonly<Record<LiveKind, Effect.Effect<ReadonlyArray<Candidate>, unknown>>> = {
  combo: asked("/api/combos", "combos", Schema.Struct({ name: text, strategy: text }), ({ name, strategy }) => ({
    value: name,
    summary: strategy
  })),
  key: asked("/api/keys", "keys", Schema.Struct({ name: text, prefix: text }), ({ name, prefix }) => ({
    value: name,
    summary: prefix
  })),
  connection: asked(
    "/api/providers",
    "connections",
    Schema.Struct({ name: text, provider: text }),
    ({ name, provider }) => ({ value: name, summary: provider })
  ),
  model: asked("/v1/models", "data", Schema.Struct({ id: text }), ({ id }) => ({ value: id, summary: "" })),
  provider: Effect.map(
    loadRoom(() => import("../../providers/Registry.ts")),
    ({ registry }) => [...registry.values()].map(({ id, name }) => ({ value: id, summary: name }))
  )
}

/** The names of these kinds of objects; nothing when no gateway gives them in time. */
export const liveNames = (kinds: ReadonlyArray<LiveKind>, withinMs: number): Effect.Effect<ReadonlyArray<Candidate>> =>
  Effect.forEach(kinds, (kind) => namesOf[kind], { concurrency: "unbounded" }).pipe(
    Effect.map((names) => names.flat()),
    Effect.timeoutTo({ duration: withinMs, onSuccess: (names) => names, onTimeout: () => [] }),
    Effect.orElseSucceed(() => [])
  )

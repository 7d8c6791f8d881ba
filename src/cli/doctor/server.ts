/** Checks of a database on a server of Postgres: what it is, what the role may, what stands between, how far it is. Nothing is changed. */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { loadModule } from "../lazy.ts"
import type { DatabaseState } from "./data.ts"
import * as Finding from "./Finding.ts"

const loadTools = loadModule(async () => ({
  ...(await import("../../store/Errors.ts")),
  ...(await import("../../store/migrations/index.ts")),
  ...(await import("../../plane/state/OwnOfEach.ts")),
  ...(await import("../../store/postgres/ServerInspection.ts"))
}))

/** Of a request nothing waits for the database; changes of the configuration and lists in the dashboard do. */
const farMs = 20

/** Judges the time of a round trip. Pure. */
export const distance = (roundTripMs: number): Finding.Finding => {
  const time = `A round trip to the database takes ${roundTripMs < 10 ? roundTripMs.toFixed(1) : Math.round(roundTripMs)} ms`
  return roundTripMs <= farMs
    ? Finding.ok(time)
    : Finding.warn(`${time}.`, "Put the database nearer: changes and lists take several round trips each.")
}

export interface ServerChecks extends DatabaseState {
  /** Null where the server was not reached. */
  readonly latency: Finding.Finding | null
  /** Null where no more than one gateway runs on it. */
  readonly cluster: Finding.Finding | null
}

/** Tells of several gateways what each of them has for itself. Pure. */
export const several = (running: number, own: ReadonlyArray<string>): Finding.Finding | null =>
  running < 2
    ? null
    : Finding.ok(`${running} gateways run on the database; each has its own: ${own.join(", ")} (docs/cluster.md)`)

const unusable = (message: string, hint: string): ServerChecks => ({
  finding: Finding.fail(message, hint),
  isCurrent: false,
  latency: null,
  cluster: null
})

export const server = (url: Redacted.Redacted): Effect.Effect<ServerChecks> =>
  Effect.gen(function* () {
    const store = yield* loadTools
    const supported = store.versionOf(store.migrations)
    return yield* store.inspectServer(url).pipe(
      Effect.map(({ address, facts, problem, roundTripMs, running, schemaVersion }): ServerChecks => {
        const latency = distance(roundTripMs)
        if (problem !== null) {
          return { ...unusable(`${address}: ${asSentence(problem)}`, "Nothing was changed."), latency }
        }
        if (schemaVersion > supported) {
          const newer = store.describeStoreFailure(
            new store.SchemaNewer({ file: address, found: schemaVersion, supported })
          )
          return { ...unusable(newer, "Nothing was changed."), latency }
        }
        const schema =
          schemaVersion === supported
            ? `schema version ${schemaVersion}`
            : `the next start brings it to schema version ${supported}`
        return {
          finding: Finding.ok(
            `Postgres ${facts.version} at ${address}, whose role may make tables in '${facts.schema ?? ""}', without a pooler by transaction; ${schema}`
          ),
          isCurrent: schemaVersion === supported,
          latency,
          cluster: several(running, store.ownOfEach)
        }
      }),
      Effect.catchAll((failure) =>
        Effect.succeed(unusable(store.describeStoreFailure(failure), "Nothing was changed."))
      )
    )
  }).pipe(
    Effect.catchAll(({ message }) =>
      Effect.succeed<ServerChecks>({ finding: Finding.skip(message), isCurrent: false, latency: null, cluster: null })
    )
  )

/** `gateway status` and `gateway health`: is it there, and how does it do. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Health, Ping } from "../../subjects/system/routes.ts"
import * as Client from "../gateway/Client.ts"
import { AlreadyReported } from "../Failure.ts"
import * as Output from "../output/Output.ts"
import { accountWords, breakerWords } from "../output/resilience.ts"
import { fields } from "../output/Table.ts"

/** `gateway` is null when no key was given: counts need one. */
const Status = Schema.Struct({
  url: Schema.String,
  ...Ping.fields,
  gateway: Schema.NullOr(Health),
  attention: Schema.NullOr(Schema.Number)
})

const uptime = (ms: number): string => {
  const minutes = Math.floor(ms / 60_000)
  const parts = [
    [Math.floor(minutes / 1440), "d"],
    [Math.floor(minutes / 60) % 24, "h"],
    [minutes % 60, "min"]
  ] as const
  const shown = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`)
  return shown.length === 0 ? `${Math.floor(ms / 1000)} s` : shown.join(" ")
}

/** The database refuses rows, or the data folder does: the words of the problem say which. */
const isOfDatabase = (problem: string | null): boolean => problem?.includes("into the database") === true

const usageLogWords = ({ database, usageLog }: Pick<typeof Health.Type, "database" | "usageLog">): string => {
  const { problem, rowsDropped, waitingRows } = usageLog
  const where =
    database !== null && isOfDatabase(problem) ? "on the disk of the database's server" : "in the data folder"
  return `${problem ?? ""} (${waitingRows} rows wait, ${rowsDropped} were given up). Make room ${where}.`
}

const workerWords = ({ processes, running, wanted }: NonNullable<typeof Health.Type.workers>): string => {
  const ids = processes.map(({ pid }) => pid).join(", ")
  return `${running} of ${wanted}${ids === "" ? "" : ` (process ids ${ids})`}`
}

const databaseWords = ({ node, problem }: NonNullable<typeof Health.Type.database>): string =>
  problem === null ? `reached; this is ${node}` : `cannot be reached from ${node}: ${problem}`

const valkeyWords = ({ address, problem }: NonNullable<typeof Health.Type.valkey>): string =>
  problem === null ? `reached at ${address}` : `cannot be used at ${address}: ${problem}`

const counts = (health: typeof Health.Type): ReadonlyArray<readonly [string, string]> => [
  ["Health", health.status],
  ["Providers known", String(health.catalogCount)],
  ["Connections", `${health.configuredCount}, of which ${health.activeCount} active`],
  ["Health known of", String(health.monitoredCount)],
  ["Usable now", accountWords(health.connections)],
  ["Breakers", breakerWords(health.breakers)],
  ...(health.workers === null ? [] : [["Workers", workerWords(health.workers)] as const]),
  ...(health.database === null ? [] : [["Database", databaseWords(health.database)] as const]),
  ...(health.valkey === null ? [] : [["Valkey", valkeyWords(health.valkey)] as const]),
  ...(health.usageLog.problem === null ? [] : [["Usage log", usageLogWords(health)] as const])
]

/** Number of things that need a person; null: an older gateway does not say it. */
const attentionCount = (to: Client.Target) =>
  Client.group(to, "attention").pipe(
    Effect.flatMap((client) => client.list()),
    Effect.map(({ total }) => total),
    Effect.catchAll(() => Effect.succeed(null))
  )

export const statusCommand = Command.make("status", Client.connection, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const system = yield* Client.group(to, "system")
    const ping = yield* system.ping().pipe(Client.orExplain(to))
    const gateway = to.apiKey === null ? null : yield* system.health().pipe(Client.orExplain(to))
    const attention = to.apiKey === null ? null : yield* attentionCount(to)
    const text = Effect.gen(function* () {
      yield* Output.print(
        fields([
          ["Address", to.url],
          ["Version", ping.version],
          ["Running for", uptime(ping.uptimeMs)],
          ...(gateway === null ? [] : counts(gateway)),
          ...(attention === null || attention === 0
            ? []
            : [["Needs attention", `${attention}; 'gateway attention' lists it`] as const])
        ])
      )
      if (gateway === null)
        yield* Output.note("Give a key (--gateway-key or GATEWAY_ADMIN_KEY) to see its connections.")
    })
    yield* Output.result({ schema: Status, value: { url: to.url, ...ping, gateway, attention }, text, name: to.url })
  })
)

export const healthCommand = Command.make("health", Client.connection, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const system = yield* Client.group(to, "system")
    const health = yield* system.health().pipe(Client.orExplain(to))
    const text = Output.print(
      fields([["Version", health.version], ["Running for", uptime(health.uptimeMs)], ...counts(health)])
    )
    yield* Output.result({ schema: Health, value: health, text, name: health.status })
    if (health.status !== "ok") return yield* new AlreadyReported()
  })
)

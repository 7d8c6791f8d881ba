/** `gateway doctor`: everything a start depends on, checked one by one; exit 1 when a check fails. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { availableParallelism } from "node:os"
import type { AppConfigShape } from "../../platform/AppConfig.ts"
import { openFiles } from "../../platform/files/OpenFiles.ts"
import { addressOf, bareHost } from "../../kernel/BindAddress.ts"
import { database, storage, unwritable } from "../doctor/data.ts"
import * as Finding from "../doctor/Finding.ts"
import * as machine from "../doctor/machine.ts"
import { proxies } from "../doctor/proxies.ts"
import { server } from "../doctor/server.ts"
import { valkey } from "../doctor/valkey.ts"
import { dataDir, flagProblems, loadConfig } from "../flags/EnvFile.ts"
import { strangeOf } from "../flags/variables.ts"
import { AlreadyReported, CommandFailed } from "../Failure.ts"
import * as Output from "../output/Output.ts"
import * as Column from "../output/Column.ts"
import { runningGateway } from "../gateway/Target.ts"
import { plugins } from "../doctor/plugins.ts"
import { tunnels } from "../doctor/tunnels.ts"
import { capture } from "../doctor/capture.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

const Check = Schema.Struct({
  name: Schema.Literal(
    "config",
    "runtime",
    "native",
    "memory",
    "open-files",
    "workers",
    "disk",
    "database",
    "latency",
    "cluster",
    "valkey",
    "storage",
    "port",
    "liveness",
    "proxies",
    "tunnels",
    "plugins",
    "capture"
  ),
  ...Finding.Finding.fields
})
type Check = typeof Check.Type
const Report = Schema.Struct({ ok: Schema.Boolean, checks: Schema.Array(Check) })

const flags = {
  host: Options.text("host").pipe(
    Options.withDescription("Address the gateway listens on (HOST, else 127.0.0.1)."),
    Options.optional
  ),
  livenessUrl: Options.text("liveness-url").pipe(
    Options.withDescription("Address that must answer with success when the gateway lives."),
    Options.optional
  ),
  noLiveness: Options.boolean("no-liveness").pipe(Options.withDescription("Do not ask whether a gateway is running."))
}

interface DoctorFlags {
  readonly host: Option.Option<string>
  readonly livenessUrl: Option.Option<string>
  readonly noLiveness: boolean
}

/** The checks that need a configuration, in the order a start meets them. */
const checksOf = (config: AppConfigShape, wanted: DoctorFlags) =>
  Effect.gen(function* () {
    const host = bareHost(Option.getOrElse(wanted.host, () => config.host))
    // The gateway of this folder may listen on another port than the next one would.
    const running = yield* Effect.orElseSucceed(runningGateway(config.dataDir), () => null)
    const pingUrl = `${running?.url ?? addressOf(host, config.port)}/api/health/ping`
    const state =
      config.databaseUrl === null
        ? { ...(yield* database(config.dataDir)), latency: null, cluster: null }
        : yield* server(config.databaseUrl)
    const beside = yield* valkey(config)
    return [
      ...(config.workers === 1
        ? []
        : [{ name: "workers" as const, ...machine.workersOf(config.workers, availableParallelism()) }]),
      { name: "disk", ...(yield* machine.freeDisk(config.dataDir)) },
      { name: "capture", ...(yield* capture(config.dataDir)) },
      { name: "database", ...state.finding },
      ...(state.latency === null ? [] : [{ name: "latency" as const, ...state.latency }]),
      ...(state.cluster === null ? [] : [{ name: "cluster" as const, ...state.cluster }]),
      ...(beside === null ? [] : [{ name: "valkey" as const, ...beside }]),
      { name: "storage", ...(yield* storage(config, state)) },
      { name: "port", ...(yield* machine.port(host, config.port, pingUrl)) },
      {
        name: "liveness",
        ...(wanted.noLiveness
          ? Finding.skip("Not asked (--no-liveness)")
          : yield* machine.liveness(Option.getOrElse(wanted.livenessUrl, () => pingUrl)))
      },
      ...(running === null || wanted.noLiveness
        ? []
        : [
            { name: "proxies" as const, ...(yield* proxies(running)) },
            { name: "tunnels" as const, ...(yield* tunnels(running)) },
            { name: "plugins" as const, ...(yield* plugins(running)) }
          ])
    ] satisfies ReadonlyArray<Check>
  })

/** Lists the checks that run although the configuration cannot be read: the folder may be the reason. */
const checksWithout = dataDir.pipe(
  Effect.map((folder): ReadonlyArray<Check> => {
    const problem = unwritable(folder)
    return problem === null ? [] : [{ name: "storage", ...problem }]
  }),
  Effect.orElseSucceed((): ReadonlyArray<Check> => [])
)

const diagnose = (wanted: DoctorFlags) =>
  Effect.gen(function* () {
    const config = yield* Effect.either(
      Effect.tap(loadConfig, ({ environment }) =>
        Effect.flatMap(flagProblems(environment), (problem) =>
          problem === null
            ? Effect.void
            : Effect.fail(
                new CommandFailed({
                  message: `The configuration is wrong: ${asSentence(problem)}`,
                  hint: "Correct the environment."
                })
              )
        )
      )
    )
    const strange = Either.isRight(config)
      ? yield* Effect.orElseSucceed(strangeOf(config.right.environment), (): ReadonlyArray<string> => [])
      : []
    const checks: ReadonlyArray<Check> = [
      {
        name: "config",
        ...Either.match(config, {
          onLeft: ({ hint, message }) => Finding.fail(message, hint ?? ""),
          onRight: ({ dataDir }) =>
            strange.length === 0
              ? Finding.ok(`The configuration can be read; the data folder is ${dataDir}`)
              : Finding.warn(strange.join(" "), "Correct the names in the environment or in the settings file.")
        })
      },
      { name: "runtime", ...machine.runtime(process.versions.node) },
      { name: "native", ...(yield* machine.native) },
      { name: "memory", ...(yield* machine.freeMemory) },
      { name: "open-files", ...machine.openFilesOf(openFiles()) },
      ...(Either.isRight(config) ? yield* checksOf(config.right, wanted) : yield* checksWithout)
    ]
    return { ok: checks.every(({ status }) => status !== "fail"), checks }
  })

const columns: ReadonlyArray<Column.Column<Check>> = [
  Column.name("CHECK", (check) => check.name),
  Column.text("RESULT", (check) => check.status, { fit: "keep" }),
  Column.text("FINDING", (check) => check.message, { fit: "keep" })
]

export const doctorCommand = Command.make("doctor", flags, (given) =>
  Effect.gen(function* () {
    const report = yield* diagnose(given)
    yield* Output.list({ schema: Report, value: report, rows: report.checks, columns, empty: "" })
    for (const { hint, name } of report.checks) if (hint !== null) yield* Output.remark(`${name}: ${hint}`)
    if (!report.ok) return yield* new AlreadyReported()
  })
)

/** `gateway service …`: keeps the gateway running as a systemd service of the user. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, isAbsolute, join } from "node:path"
import type { AppConfigShape } from "../../platform/AppConfig.ts"
import * as OwnerFile from "../../platform/files/OwnerFile.ts"
import { loadConfig } from "../flags/EnvFile.ts"
import { CommandFailed, ServerOffline } from "../Failure.ts"
import * as Output from "../output/Output.ts"
import { type ServeFlags, toServeFlags } from "../flags/serveOptions.ts"
import { systemctl, unitName } from "../service/Systemctl.ts"
import { servesFolder, type UnitFacts, unitMark, unitProblem, unitText } from "../service/Unit.ts"
import { withSpinner } from "../output/spinner.ts"
import { serveConfig } from "./serve.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

/** Finds the file in which systemd looks for units of the user. */
const unitFile = ({ environment }: AppConfigShape): string => {
  const base = environment.get("XDG_CONFIG_HOME") ?? ""
  return join(isAbsolute(base) ? base : join(homedir(), ".config"), "systemd", "user", unitName)
}

const onFile = <A>(file: string, run: () => A): Effect.Effect<A, CommandFailed> =>
  Effect.try({
    try: run,
    catch: (error) =>
      new CommandFailed({
        message: `${file} cannot be used: ${asSentence(error instanceof Error ? error.message : String(error))}`,
        hint: "Check the permissions of the folder."
      })
  })

/** The unit as it is; null when there is none. A file that is not ours is left alone. */
const installed = Effect.fnUntraced(function* (file: string) {
  const text = yield* onFile(file, () => {
    try {
      return readFileSync(file, "utf8")
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return null
      throw error
    }
  })
  if (text === null || text.startsWith(unitMark)) return text
  return yield* new CommandFailed({
    message: `${file} was not written by 'gateway service install'.`,
    hint: "Move it away, then try again."
  })
})

/** Checks whether the service is installed for the data folder of this configuration. */
export const installedFor = (config: AppConfigShape): Effect.Effect<boolean, CommandFailed> =>
  Effect.map(installed(unitFile(config)), (text) => text !== null && servesFolder(text, config.dataDir))

/** Flags of Node that the launcher sets for speed. */
const launcherFlags = /^--(?:no-allocation-site-pretenuring|min-semi-space-size=\d+)$/

const flagWords = ({ allowKeyless, host, port, workers }: ServeFlags): ReadonlyArray<string> => [
  ...(host === undefined ? [] : ["--host", host]),
  ...(port === undefined ? [] : ["--port", String(port)]),
  ...(workers === undefined ? [] : ["--workers", String(workers)]),
  ...(allowKeyless ? ["--allow-keyless"] : [])
]

const factsOf = (config: AppConfigShape, flags: ServeFlags): UnitFacts => ({
  node: process.execPath,
  nodeFlags: process.execArgv.filter((flag) => launcherFlags.test(flag)),
  program: process.argv[1] ?? "",
  dataDir: config.dataDir,
  flags: flagWords(flags),
  drainMs: config.drainMs
})

const toType = `systemctl --user daemon-reload && systemctl --user enable --now ${unitName}`

/** Starts what was written; a manager that cannot be asked is no failure, because the file is in place. */
const startUnit = Effect.fnUntraced(function* (isChanged: boolean, drainMs: number) {
  const reloaded = yield* systemctl("reload")
  if (!reloaded.ok) {
    yield* Output.note(`systemctl --user cannot be used here: ${reloaded.text}`)
    return yield* Output.note(`Log in as this user, then type: ${toType}`)
  }
  for (const action of ["enable", isChanged ? "restart" : "start"] as const) {
    // A restart waits for the requests of the old process.
    const { ok, text } = yield* systemctl(action, drainMs + 60_000)
    if (!ok) {
      return yield* new CommandFailed({
        message: `systemctl --user ${action} ${unitName} failed: ${text}`,
        hint: `See what it says: journalctl --user --unit ${unitName} --lines 20`
      })
    }
  }
  yield* Output.note(
    `The gateway runs and starts with your next login. Logs: journalctl --user --unit ${unitName} --follow`
  )
  yield* Output.note("'loginctl enable-linger' keeps it running while you are logged out.")
})

const flags = {
  host: serveConfig.host,
  port: serveConfig.port,
  workers: serveConfig.workers,
  allowKeyless: serveConfig.allowKeyless,
  print: Options.boolean("print").pipe(Options.withDescription("Print the unit and change nothing."))
}

/** A second gateway on the data folder would end at once, again and again. */
const refuseWhileRunning = Effect.fnUntraced(function* (dataDir: string) {
  const running = yield* Effect.orElseSucceed(OwnerFile.read(dataDir), () => null)
  if (running === null) return
  return yield* new CommandFailed({
    message: `A gateway is running on ${dataDir} (process ${running.pid}, ${running.url}).`,
    hint: "Stop it, then install the service, which starts its own."
  })
})

export const serviceInstall = Command.make("install", flags, (given) =>
  Effect.gen(function* () {
    const config = yield* loadConfig
    const facts = factsOf(config, toServeFlags({ ...given, noOpen: true }))
    const problem = unitProblem(facts)
    if (problem !== null) return yield* new CommandFailed({ message: problem, hint: "Move it to another folder." })
    const text = unitText(facts)
    if (given.print) return yield* Output.print(text.trimEnd())
    if (process.platform !== "linux") {
      return yield* new CommandFailed({
        message: "Only Linux has systemd.",
        hint: "Keep 'gateway serve' running with what this system has, such as launchd on macOS."
      })
    }
    const file = unitFile(config)
    const before = yield* installed(file)
    if (before === null) yield* refuseWhileRunning(config.dataDir)
    const isChanged = before !== text
    if (isChanged) {
      yield* onFile(file, () => {
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(`${file}.new`, text)
        renameSync(`${file}.new`, file)
      })
    }
    yield* Output.print(text.trimEnd())
    yield* Output.note(isChanged ? `Written to ${file}.` : `${file} is as it should be.`)
    yield* Output.note(
      "Variables of this shell are not part of it: keep those the gateway needs with 'gateway env set'."
    )
    yield* startUnit(isChanged, config.drainMs).pipe(withSpinner("systemd starts the gateway"))
  })
)

const Status = Schema.Struct({
  unit: Schema.String,
  installed: Schema.Boolean,
  enabled: Schema.Boolean,
  active: Schema.Boolean,
  /** State as systemd calls it, such as `active (running)`. */
  state: Schema.String,
  pid: Schema.NullOr(Schema.Number)
})

export const propertiesOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split("\n").flatMap((line) => {
      const at = line.indexOf("=")
      return at === -1 ? [] : [[line.slice(0, at), line.slice(at + 1).trim()] as const]
    })
  )

export const serviceStatus = Command.make("status", {}, () =>
  Effect.gen(function* () {
    const config = yield* loadConfig
    const file = unitFile(config)
    if ((yield* installed(file)) === null) {
      return yield* new CommandFailed({
        message: "The gateway is not installed as a service.",
        hint: "Install it with 'gateway service install'."
      })
    }
    const asked = yield* systemctl("show")
    if (!asked.ok) {
      return yield* new CommandFailed({
        message: `systemctl --user cannot be used here: ${asked.text}`,
        hint: `The unit is in place: ${file}. Log in as this user and ask again.`
      })
    }
    const properties = propertiesOf(asked.text)
    const pid = Number(properties.get("MainPID") ?? "0")
    const active = properties.get("ActiveState") ?? "unknown"
    const value = {
      unit: file,
      installed: true,
      enabled: properties.get("UnitFileState") === "enabled",
      active: active === "active",
      state: `${active} (${properties.get("SubState") ?? "unknown"})`,
      pid: pid > 0 ? pid : null
    }
    yield* Output.result({
      schema: Status,
      value,
      text: Output.print(
        `${value.state}${value.pid === null ? "" : `, process ${value.pid}`}, ${value.enabled ? "starts with your login" : "does not start with your login"}`
      ),
      name: unitName
    })
    if (!value.active) {
      return yield* new ServerOffline({
        message: "The service does not run.",
        hint: `Start it with 'gateway start' (systemctl --user start ${unitName}); journalctl --user --unit ${unitName} says why it ended.`
      })
    }
  })
)

export const serviceUninstall = Command.make("uninstall", {}, () =>
  Effect.gen(function* () {
    const config = yield* loadConfig
    const file = unitFile(config)
    if ((yield* installed(file)) === null) return yield* Output.note("The gateway is not installed as a service.")
    const stopped = yield* systemctl("disable", config.drainMs + 60_000).pipe(withSpinner("systemd stops the gateway"))
    yield* onFile(file, () => rmSync(file, { force: true }))
    const reloaded = yield* systemctl("reload")
    if (!stopped.ok || !reloaded.ok) {
      yield* Output.note(`systemctl --user cannot be used here: ${stopped.ok ? reloaded.text : stopped.text}`)
      yield* Output.note(`A gateway that it has started still runs: systemctl --user stop ${unitName}`)
    }
    yield* Output.note(`${file} is removed. The data stays in ${config.dataDir}.`)
  })
)

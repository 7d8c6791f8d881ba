/** Parts of a start of the service, whichever process it is: its configuration, refusals, messages, its log. */
import { type ConfigError, isConfigError } from "effect/ConfigError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { defaultResilience } from "../subjects/resilience/entity.ts"
import { environmentProblems, Flags } from "../subjects/flags/service.ts"
import { readEnvironmentProxies } from "../net/egress/proxy/EnvironmentProxy.ts"
import type { ListenFailed } from "../entry/listening/Listener.ts"
import { HttpServer } from "../entry/server/Server.ts"
import { OwnerToken } from "../subjects/auth/OwnerToken.ts"
import { addressOf, bareHost, isLoopbackHost } from "../kernel/BindAddress.ts"
import { asSentence } from "../kernel/text/Sentence.ts"
import { nodeLabelOf } from "../platform/NodeLabel.ts"
import * as AppConfig from "../platform/AppConfig.ts"
import * as Invocation from "../platform/Invocation.ts"
import { filesFor, openFiles, requestsWithin } from "../platform/files/OpenFiles.ts"
import * as OwnerFile from "../platform/files/OwnerFile.ts"
import { firstPid, type ProcessRole } from "../platform/programs/Siblings.ts"
import { Catalog } from "../plane/providers/Catalog.ts"
import { Settings } from "../plane/resilience/Settings.ts"
import type { CommandText } from "../platform/CommandIndex.ts"
import { describeStoreFailure, type StoreFailure } from "../store/Errors.ts"
import * as HouseLogger from "../observe/usage/telemetry/GatewayLogger.ts"
import { StandardError } from "../observe/usage/telemetry/LogOutput.ts"
import { jsonStyle, styleOf } from "../observe/usage/telemetry/LogStyle.ts"
import { buildInOrder } from "./LayerBuilder.ts"

export interface ServeOptions {
  readonly host?: string
  readonly port?: number
  readonly workers?: number
  /** Listen beyond this machine although no API key is required. */
  readonly allowKeyless: boolean
  /** The commands of the program, for the skills. */
  readonly commands: Effect.Effect<ReadonlyArray<CommandText>>
  /** Warnings for the log at the start, each a sentence. */
  readonly warnings?: ReadonlyArray<string>
  /** Done once, beside the service, as soon as it listens. */
  readonly whenListening?: Effect.Effect<unknown>
  /** Reads the settings file of the data folder again, before a restart. Absent: the environment stays as it was. */
  readonly readEnvironment?: Effect.Effect<void, { readonly message: string }>
}

/** The service cannot start. `message` is one sentence for a person. */
export class StartFailed extends Data.TaggedError("StartFailed")<{ readonly message: string }> {}

export const configured = (options: ServeOptions): Layer.Layer<AppConfig.AppConfig, ConfigError | StartFailed> =>
  Layer.effect(
    AppConfig.AppConfig,
    Effect.gen(function* () {
      const config = yield* AppConfig.make
      // Said before anything starts: a protection that was meant to be on must not silently be off.
      const problems = environmentProblems(config.environment)
      if (problems.length > 0) return yield* new StartFailed({ message: `${problems.join("; ")}.` })
      return {
        ...config,
        host: bareHost(options.host ?? config.host),
        port: options.port ?? config.port,
        workers: options.workers ?? config.workers,
        allowKeyless: options.allowKeyless
      }
    })
  )

/**
 * Refuses to listen without keys beyond this machine: every machine that reaches the port would spend the owner's
 * money.
 */
export const refuseUnprotected = Effect.gen(function* () {
  const { allowKeyless, host } = yield* AppConfig.AppConfig
  const flags = yield* Flags
  if (isLoopbackHost(host) || allowKeyless || flags.isOn("REQUIRE_API_KEY")) return
  return yield* new StartFailed({
    message: `Refusing to listen on ${host}: requests need no API key, so anyone who reaches the port could use your accounts. Set REQUIRE_API_KEY=true, or give --allow-keyless if that is what you want.`
  })
})

export const stdout = (line: string): Effect.Effect<void> => Effect.sync(() => void process.stdout.write(`${line}\n`))
/** Help for a person who has just started it: plain words in a log of text; in a log of JSON lines it is some of them. */
const stderr = (line: string): Effect.Effect<void, never, AppConfig.AppConfig> =>
  Effect.gen(function* () {
    const { environment, logFormat, logLevel } = yield* AppConfig.AppConfig
    const output = yield* StandardError
    const { format } = styleOf(logFormat, output.stream.isTTY === true, environment)
    if (format === "json") yield* Effect.logInfo(line)
    else if (logLevel === "debug" || logLevel === "info") output.writeNow(line)
  })

const mostNamed = 12

/**
 * Prints at the first start where the data is, and what to type next. Later only its providers, because the rest is
 * known by then.
 */
export const greet = Effect.gen(function* () {
  const { dataDir, environment } = yield* AppConfig.AppConfig
  const { accounts } = (yield* Catalog).current()
  if (accounts.length > 0) {
    const names = [...new Set(accounts.map((account) => account.spec.id))]
    const more = names.length > mostNamed ? ", …" : ""
    return yield* stderr(`Providers: ${names.slice(0, mostNamed).join(", ")}${more}. Ctrl-C stops.`)
  }
  const gatewayCommand = `${Invocation.dataDirPrefix(dataDir)}${Invocation.commandName(environment)}`
  yield* stderr(`Data folder: ${dataDir}`)
  yield* stderr("No provider is connected yet. Connect one from another terminal:")
  yield* stderr(`  ${gatewayCommand} provider add`)
  yield* stderr("Ctrl-C stops the gateway.")
})

/** Names the proxies of the environment: one that was set for the whole machine is easily forgotten. */
export const namedProxies = Effect.gen(function* () {
  const { environment } = yield* AppConfig.AppConfig
  const { description, problems } = readEnvironmentProxies(environment)
  for (const problem of problems) yield* Effect.logWarning(`${asSentence(problem)}`)
  if (description !== null) yield* stderr(description)
})

/** Lets commands of the same user find this gateway for as long as it runs. Without the file they ask for a key, so that a failure only warns. */
export const ownerFile = Effect.gen(function* () {
  const { dataDir } = yield* AppConfig.AppConfig
  const { port, url } = yield* HttpServer
  const token = yield* (yield* OwnerToken).issue
  yield* OwnerFile.write(dataDir, { url: addressOf(new URL(url).hostname, port), pid: firstPid(), token })
  yield* Effect.addFinalizer(() => Effect.ignore(OwnerFile.remove(dataDir)))
}).pipe(
  Effect.catchTag("OwnerFileFailed", ({ cause, file }) =>
    Effect.logWarning(`${file} could not be written, so that commands on this machine need a key: ${String(cause)}`)
  )
)

/** Sockets are files: a low limit holds back fewer requests than the memory would take. */
export const warnOfFewFiles = Effect.gen(function* () {
  const files = openFiles()
  if (files === null) return
  const { maxInFlight } = (yield* Settings).current().loadShedding
  const wanted = Math.max(maxInFlight, defaultResilience.loadShedding.maxInFlight)
  if (files >= filesFor(wanted)) return
  yield* Effect.logWarning(
    `Only ${files} open files are allowed, which is enough for ${requestsWithin(files)} requests at once: raise the limit to ${filesFor(wanted)} (ulimit -n, or LimitNOFILE of the service).`
  )
})

export type Failure =
  | StoreFailure
  | ListenFailed
  | ConfigError
  | StartFailed
  | { readonly _tag: string; readonly message?: string }

const storeTags: ReadonlySet<string> = new Set([
  "GatewayRunning",
  "DatabaseLocked",
  "SchemaNewer",
  "DatabaseCorrupt",
  "DataUnwritable",
  "MigrationFailed",
  "DriverMissing",
  "WrongKey",
  "DatabaseUnreachable",
  "BackedUpElsewhere",
  "StoreError"
])

const isStoreFailure = (failure: Failure): failure is StoreFailure => storeTags.has(failure._tag)

export const sentence = (failure: Failure): string =>
  isStoreFailure(failure)
    ? describeStoreFailure(failure)
    : isConfigError(failure)
      ? AppConfig.configProblem(failure)
      : "message" in failure && failure.message
        ? failure.message
        : String(failure)

/** Every line on standard error is of one kind: JSON, or text where a person reads along. */
export const logging = (role: ProcessRole | null) =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const config = Option.getOrNull(yield* Effect.option(AppConfig.make))
      const output = yield* StandardError
      const style =
        config === null ? jsonStyle : styleOf(config.logFormat, output.stream.isTTY === true, config.environment)
      const node = config === null ? null : nodeLabelOf(config)
      const facts: Readonly<Record<string, unknown>> = {
        ...(node === null ? {} : { node }),
        ...(role?.role === "worker" ? { worker: role.place } : {})
      }
      return HouseLogger.layer(HouseLogger.make(style, output.writeNow, facts), config?.logLevel ?? "info")
    })
  )

/** Provides services as `Effect.provide`, but builds the layers one after the other. */
export const withServices =
  <Out, E2>(layer: Layer.Layer<Out, E2>) =>
  <A, E>(effect: Effect.Effect<A, E, Out>): Effect.Effect<A, E | E2> =>
    Effect.scopedWith((scope) =>
      Effect.flatMap(buildInOrder(layer, scope), (services) => Effect.provide(effect, services))
    )

export const failed = (failure: Failure): StartFailed => new StartFailed({ message: sentence(failure) })

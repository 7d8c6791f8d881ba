/**
 * Which gateway a command asks, and with which key: `--context`, `--url` or `GATEWAY_URL`, else the current context of `gateway login`, else the gateway
 * that serves this machine's data folder, else the data folder itself for commands that can work on it.
 *
 * A key goes only where it belongs: the key of a context to its address, the owner's token to the gateway that wrote it. Keys of the
 * environment do not say where they belong; they go where `--url`, `GATEWAY_URL` or the configured port points.
 */
import * as Options from "@effect/cli/Options"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { addressOf } from "../../kernel/BindAddress.ts"
import type { AppConfigShape } from "../../platform/AppConfig.ts"
import * as OwnerFile from "../../platform/OwnerFile.ts"
import * as Contexts from "./Contexts.ts"
import { loadConfig } from "../EnvFile.ts"
import { BadArgument, type CliFailure, CommandFailed } from "../Failure.ts"
import type { FolderInUse } from "../local/room.ts"
import * as NodeHttp from "./NodeHttp.ts"

/** Flags that say which gateway and with which key; on every command that asks one. */
export const connection = {
  url: Options.text("url").pipe(
    Options.withDescription("Address of the gateway (GATEWAY_URL; else your login, else this machine's gateway)."),
    Options.optional
  ),
  gatewayKey: Options.redacted("gateway-key").pipe(
    Options.withDescription("Key of the gateway (GATEWAY_ADMIN_KEY or GATEWAY_API_KEY)."),
    Options.optional
  ),
  context: Options.text("context").pipe(
    Options.withDescription("The gateway of this login; see 'gateway context list'."),
    Options.optional
  ),
  local: Options.boolean("local").pipe(
    Options.withDescription("This machine's data folder, whatever gateway you are logged in to.")
  )
}

export interface GatewayFlags {
  readonly url: Option.Option<string>
  readonly gatewayKey: Option.Option<Redacted.Redacted>
  /** Name of a login; `local` is this machine's gateway. */
  readonly context: Option.Option<string>
  readonly local: boolean
}

/** This machine's gateway, whatever one is logged in to. */
export const here: GatewayFlags = {
  url: Option.none(),
  gatewayKey: Option.none(),
  context: Option.none(),
  local: true
}

/** A gateway to talk to. */
export interface Target {
  /** Without a slash at the end. */
  readonly url: string
  readonly apiKey: Redacted.Redacted | null
  /** Who named it: a flag or variable, a context, the owner's file; `default`: nothing did. */
  readonly namedBy: "url" | "context" | "owner" | "default"
}

/** Where a command works. `atDefault` is a gateway that may listen at the configured port all the same. */
export type Place =
  | { readonly _tag: "Gateway"; readonly to: Target }
  | { readonly _tag: "DataFolder"; readonly atDefault: Target }

/** An http or https address without a slash at the end; null when it is none. */
export const gatewayUrl = (text: string): string | null =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text.replace(/\/+$/, "") : null

const contextsOf = (config: AppConfigShape) => Contexts.read(Contexts.contextFile(config.environment))

const refusedFile = ({ file, problem }: OwnerFile.OwnerFileRefused): CommandFailed =>
  new CommandFailed({
    message: `${file} ${problem}, so it is not used.`,
    hint: "Restart the gateway, which writes it anew; or name the gateway with --url and --gateway-key."
  })

/** Whether something listens there. A process id may belong to another program by now. */
const isListening = (url: string): Effect.Effect<boolean> =>
  HttpClient.withTracerPropagation(NodeHttp.client, false)
    .get(`${url}/api/health/ping`)
    .pipe(
      Effect.flatMap((response) => response.text),
      Effect.as(true),
      Effect.catchAll(() => Effect.succeed(false)),
      Effect.timeoutTo({ duration: "2 seconds", onSuccess: (listens) => listens, onTimeout: () => true })
    )

/** The gateway that serves a data folder; null when none does. */
export const runningGateway = (dataDir: string): Effect.Effect<Target | null, CommandFailed> =>
  Effect.gen(function* () {
    const running = yield* Effect.mapError(OwnerFile.read(dataDir), refusedFile)
    if (running === null || !(yield* isListening(running.url))) return null
    return { url: running.url, apiKey: running.token, namedBy: "owner" }
  })

const keyOfEnvironment = ({ environment }: AppConfigShape): Redacted.Redacted | null => {
  const key = environment.get("GATEWAY_ADMIN_KEY") || environment.get("GATEWAY_API_KEY")
  return key ? Redacted.make(key) : null
}

/** The key for an address that was named: of the environment, else one that is kept for just this address. */
const keyAt = Effect.fnUntraced(function* (config: AppConfigShape, url: string) {
  const fromEnvironment = keyOfEnvironment(config)
  if (fromEnvironment !== null) return fromEnvironment
  const kept = Contexts.keyFor(yield* contextsOf(config), url)
  if (kept !== null) return kept
  const running = yield* Effect.option(OwnerFile.read(config.dataDir))
  return Option.isSome(running) && running.value?.url === url ? running.value.token : null
})

/** Where a command works. */
export const place = Effect.fn("cli.place")(function* (flags: GatewayFlags) {
  const config = yield* loadConfig
  const givenKey = Option.getOrNull(flags.gatewayKey)
  const naming = [
    ...(flags.local ? ["--local"] : []),
    ...(Option.isSome(flags.context) ? ["--context"] : []),
    ...(Option.isSome(flags.url) ? ["--url"] : [])
  ]
  if (naming.length > 1) {
    return yield* new BadArgument({
      message: `${naming.join(" and ")} name ${naming.length} gateways.`,
      hint: "Give one of them."
    })
  }
  const at = (to: Target): Place => ({ _tag: "Gateway", to })
  const login = Option.getOrElse(flags.context, () => Contexts.localName)
  if (login !== Contexts.localName) {
    const context = yield* Contexts.find(yield* contextsOf(config), login)
    return at({ url: context.url, apiKey: givenKey ?? context.key, namedBy: "context" })
  }
  const local = flags.local || Option.isSome(flags.context)

  const named = Option.getOrUndefined(flags.url) ?? (local ? "" : config.environment.get("GATEWAY_URL"))
  if (named) {
    const url = gatewayUrl(named)
    if (url === null) {
      return yield* new BadArgument({
        message: `'${named}' is not an http or https address.`,
        hint: "Correct --url or GATEWAY_URL."
      })
    }
    return at({ url, apiKey: givenKey ?? (yield* keyAt(config, url)), namedBy: "url" })
  }
  if (!local) {
    const current = yield* Contexts.current(yield* contextsOf(config))
    if (current !== null) return at({ url: current.url, apiKey: givenKey ?? current.key, namedBy: "context" })
  }
  const running = yield* runningGateway(config.dataDir)
  if (running !== null) return at({ ...running, apiKey: givenKey ?? running.apiKey })
  const url = addressOf(config.host, config.port || 20_128)
  const atDefault: Target = { url, apiKey: givenKey ?? keyOfEnvironment(config), namedBy: "default" }
  return { _tag: "DataFolder", atDefault } satisfies Place
})

/** Which gateway to ask, for commands that need one. */
export const target = (flags: GatewayFlags): Effect.Effect<Target, CliFailure> =>
  Effect.map(place(flags), (where) => (where._tag === "Gateway" ? where.to : where.atDefault))

/** How long a gateway that holds the data folder may take until it listens. */
const startingWithin = "15 seconds"

/** The gateway of a data folder, once it listens. */
const listening = (dataDir: string): Effect.Effect<Target, CommandFailed> =>
  Effect.flatMap(runningGateway(dataDir), (running) =>
    running === null ? Effect.delay(listening(dataDir), "100 millis") : Effect.succeed(running)
  )

const cannotAsk = new CommandFailed({
  message: "A gateway holds this data folder, but commands cannot find it.",
  hint: "Name it with --url and --gateway-key, or stop it and run the command again."
})

/**
 * Does a command's work where it belongs: by asking a gateway, or on the data folder. `folder` holds the data folder for itself while it
 * writes, as a gateway does from the beginning of its start: what a starting gateway would not read any more is never written beside it,
 * but asked of it as soon as it listens.
 */
export const atPlace = <A, R, R2>(
  flags: GatewayFlags,
  work: {
    readonly gateway: (to: Target) => Effect.Effect<A, CliFailure, R>
    readonly folder: Effect.Effect<A, CliFailure | FolderInUse, R2>
  }
): Effect.Effect<A, CliFailure, R | R2> =>
  Effect.flatMap(place(flags), (where): Effect.Effect<A, CliFailure, R | R2> => {
    if (where._tag === "Gateway") return work.gateway(where.to)
    return Effect.catchTag(work.folder, "FolderInUse", () =>
      loadConfig.pipe(
        Effect.flatMap(({ dataDir }) => listening(dataDir)),
        Effect.timeoutFail({ duration: startingWithin, onTimeout: () => cannotAsk }),
        Effect.flatMap(work.gateway)
      )
    )
  })

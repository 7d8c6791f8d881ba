/**
 * Chooses the gateway that a command asks, and the key: `--context`, `--url` or `GATEWAY_URL`, else the current context of `gateway login`, else the
 * gateway that serves this machine's data folder, else the data folder itself for commands that can work on it.
 *
 * Values by the caller take precedence over those of this machine: `--gateway-key`, then `GATEWAY_ADMIN_KEY` and `GATEWAY_API_KEY` of the
 * environment, then the key of a login and the owner's token, then a key of the settings file. A flag that names a gateway takes precedence over the
 * environment: `--context` asks with the key of that login, `--local` with the owner's token.
 *
 * A key goes only where it belongs: the key of a context to its address, the owner's token to the gateway that wrote it, and `GATEWAY_ADMIN_KEY`,
 * which is the setting of a gateway, not to the gateway of a login.
 */
import * as Options from "@effect/cli/Options"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { hasLoginMarker } from "../../kernel/secrets/GatewayKey.ts"
import { addressOf, isLoopbackHost } from "../../kernel/BindAddress.ts"
import type { AppConfigShape } from "../../platform/AppConfig.ts"
import { isEntered } from "../../platform/EnvText.ts"
import { isOwnAddress } from "../../platform/OwnAddress.ts"
import * as OwnerFile from "../../platform/files/OwnerFile.ts"
import { type Circumstances, type Credential, placeOf } from "./Advice.ts"
import * as Contexts from "./Contexts.ts"
import { CommonFlags } from "../flags/CommonFlags.ts"
import { loadConfig } from "../flags/EnvFile.ts"
import { BadArgument, type CliFailure, CommandFailed } from "../Failure.ts"
import type { FolderInUse } from "../local/localServices.ts"
import * as NodeHttp from "./NodeHttp.ts"
import { ifMatch } from "./Versions.ts"

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

/** Flags of commands that change one object. */
export const editing = { ...connection, ifMatch }

export interface GatewayFlags {
  /** The version that a change is of. */
  readonly ifMatch?: Option.Option<string>
  readonly url: Option.Option<string>
  readonly gatewayKey: Option.Option<Redacted.Redacted>
  /** Name of a login; `local` is this machine's gateway. */
  readonly context: Option.Option<string>
  readonly local: boolean
}

/** Flags for this machine's gateway, whatever one is logged in to. */
export const here: GatewayFlags = {
  url: Option.none(),
  gatewayKey: Option.none(),
  context: Option.none(),
  local: true
}

/** A gateway to talk to. */
export interface Target {
  /** Address without a slash at the end. */
  readonly url: string
  readonly apiKey: Redacted.Redacted | null
  /** Source of the address: a flag or variable, a context, the owner's file; `default`: none of these. */
  readonly namedBy: "url" | "context" | "owner" | "default"
  /** Source of the key, where it does not follow from `namedBy`. */
  readonly keyFrom?: "flag" | "environment" | "login" | "owner"
  /** The variable that holds the key; absent: it is of no variable. */
  readonly keyVariable?: KeyVariable
  /** The owner's token, where the key of a variable is used in its place; absent: it is not. */
  readonly ownerToken?: Redacted.Redacted
  /** The version that a change has to be of; absent: the one that the command has read. */
  readonly ifMatch?: string
}

/** Returns the source of a target's key. */
export const credentialOf = ({ apiKey, keyFrom, namedBy, ownerToken }: Target): Credential => {
  if (apiKey === null) return "none"
  if (ownerToken !== undefined) return "inPlaceOfOwner"
  if (keyFrom !== undefined) return keyFrom
  return namedBy === "owner" ? "owner" : namedBy === "context" ? "login" : "flag"
}

const isOwnHost = (host: string): boolean => isLoopbackHost(host) || isOwnAddress(host)

/** Collects the facts that advice about a target depends on. */
export const circumstancesOf = (to: Target): Circumstances => ({
  credential: credentialOf(to),
  variable: to.keyVariable ?? null,
  isLogin: to.namedBy === "context",
  isPerson: to.apiKey !== null && hasLoginMarker(Redacted.value(to.apiKey)),
  place: placeOf(to.url, isOwnHost)
})

/** Place in which a command works. `atDefault` is a gateway that may listen at the configured port all the same. */
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

/** Checks whether something listens there. A process id may belong to another program by now. */
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
    const { port } = yield* CommonFlags
    if (running === null || (port !== null && new URL(running.url).port !== String(port))) return null
    if (!(yield* isListening(running.url))) return null
    return { url: running.url, apiKey: running.token, namedBy: "owner" }
  })

/** The variables that may hold the gateway's key, in the order they count for those who operate it, and for a client that is relayed. */
export const operatorKeys = ["GATEWAY_ADMIN_KEY", "GATEWAY_API_KEY"] as const
export const clientKeys = ["GATEWAY_API_KEY", "GATEWAY_ADMIN_KEY"] as const
type KeyVariable = (typeof operatorKeys)[number]

type KeyOfTarget = Pick<Target, "apiKey" | "keyFrom" | "keyVariable">
const noKey: KeyOfTarget = { apiKey: null }

/** The first of the variables that holds a key: one of the caller's environment, or of the settings file of the data folder. */
const keyIn = (
  { environment }: AppConfigShape,
  variables: ReadonlyArray<KeyVariable>,
  source: "caller" | "file"
): KeyOfTarget | null => {
  for (const variable of variables) {
    const key = environment.get(variable)
    if (key && isEntered(variable) === (source === "file")) {
      return { apiKey: Redacted.make(key), keyFrom: "environment", keyVariable: variable }
    }
  }
  return null
}

/** The key for an address that was named: of the caller's environment, else one that is kept for just this address. */
const keyAt = Effect.fnUntraced(function* (config: AppConfigShape, url: string, variables: ReadonlyArray<KeyVariable>) {
  const fromCaller = keyIn(config, variables, "caller")
  if (fromCaller !== null) return fromCaller
  const kept = Contexts.keyFor(yield* contextsOf(config), url)
  if (kept !== null) return { apiKey: kept, keyFrom: "login" } as const
  const running = yield* Effect.option(OwnerFile.read(config.dataDir))
  if (Option.isSome(running) && running.value?.url === url)
    return { apiKey: running.value.token, keyFrom: "owner" } as const
  return keyIn(config, variables, "file") ?? noKey
})

/** The gateway of the data folder, with the key of the caller's environment in place of the owner's token where there is one. */
const withCallersKey = (running: Target, found: KeyOfTarget | null): Target =>
  found === null || running.apiKey === null
    ? running
    : { ...running, ...found, namedBy: "url", ownerToken: running.apiKey }

/** The same gateway with the owner's token, where the key of a variable is in its place. */
export const asOwner = (to: Target): Target =>
  to.ownerToken === undefined ? to : { url: to.url, apiKey: to.ownerToken, namedBy: "owner" }

/** Finds the place in which a command works. */
export const place = Effect.fn("cli.place")(function* (
  flags: GatewayFlags,
  variables: ReadonlyArray<KeyVariable> = operatorKeys
) {
  const config = yield* loadConfig
  const givenKey = Option.getOrNull(flags.gatewayKey)
  const { port } = yield* CommonFlags
  const naming = [
    ...(flags.local ? ["--local"] : port === null ? [] : ["--port"]),
    ...(Option.isSome(flags.context) ? ["--context"] : []),
    ...(Option.isSome(flags.url) ? ["--url"] : [])
  ]
  if (naming.length > 1) {
    return yield* new BadArgument({
      message: `${naming.join(" and ")} name ${naming.length} gateways.`,
      hint: "Give one of them."
    })
  }
  /** Puts the given key in place of the one that belongs there. */
  const withGiven = (to: Target): Target => {
    if (givenKey === null) return to
    const { url, namedBy } = to
    return { url, namedBy, apiKey: givenKey, keyFrom: "flag" }
  }
  const at = (to: Target): Place => ({ _tag: "Gateway", to: withGiven(to) })
  const login = Option.getOrElse(flags.context, () => Contexts.localName)
  if (login !== Contexts.localName) {
    const context = yield* Contexts.find(yield* contextsOf(config), login)
    return at({ url: context.url, apiKey: context.key, namedBy: "context" })
  }
  const local = flags.local || port !== null || Option.isSome(flags.context)

  const named = Option.getOrUndefined(flags.url) ?? (local ? "" : config.environment.get("GATEWAY_URL"))
  if (named) {
    const url = gatewayUrl(named)
    if (url === null) {
      return yield* new BadArgument({
        message: `'${named}' is not an http or https address.`,
        hint: "Correct --url or GATEWAY_URL."
      })
    }
    if (givenKey !== null) return at({ url, apiKey: givenKey, namedBy: "url" })
    return at({ url, namedBy: "url", ...(yield* keyAt(config, url, variables)) })
  }
  if (!local) {
    const current = yield* Contexts.current(yield* contextsOf(config))
    if (current !== null) {
      const fromCaller = keyIn(config, ["GATEWAY_API_KEY"], "caller")
      return at({ url: current.url, apiKey: current.key, namedBy: "context", ...fromCaller })
    }
  }
  const running = yield* runningGateway(config.dataDir)
  if (running !== null) {
    if (givenKey !== null) return at({ ...running, namedBy: "url" })
    return at(local ? running : withCallersKey(running, keyIn(config, variables, "caller")))
  }
  const url = addressOf(config.host, config.port || 20_128)
  if (port !== null) return at({ url, namedBy: "url", ...(yield* keyAt(config, url, variables)) })
  const fromEnvironment = keyIn(config, variables, "caller") ?? keyIn(config, variables, "file") ?? noKey
  const atDefault: Target = { url, namedBy: "default", ...fromEnvironment }
  return { _tag: "DataFolder", atDefault: withGiven(atDefault) } satisfies Place
})

/** Finds the gateway to ask, for commands that need one. */
export const target = (
  flags: GatewayFlags,
  variables: ReadonlyArray<KeyVariable> = operatorKeys
): Effect.Effect<Target, CliFailure> =>
  Effect.map(place(flags, variables), (where) => {
    const to = where._tag === "Gateway" ? where.to : where.atDefault
    const wanted = flags.ifMatch === undefined ? undefined : Option.getOrUndefined(flags.ifMatch)
    return wanted === undefined ? to : { ...to, ifMatch: wanted }
  })

/** Time that a gateway that holds the data folder may take until it listens. */
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

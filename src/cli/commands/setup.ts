/** `gateway setup`: admin password and first provider, on this machine's data folder, whether a gateway runs there or not. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { CreateConnection } from "../../subjects/connections/routes.ts"
import { loadModule } from "../lazy.ts"
import { isGatewayKey } from "../../kernel/secrets/GatewayKey.ts"
import * as Client from "../gateway/Client.ts"
import * as connecting from "../asking/connecting.ts"
import * as connections from "../gateway/connections.ts"
import { loadConfig } from "../flags/EnvFile.ts"
import { BadArgument, CommandFailed } from "../Failure.ts"
import { about, body } from "../flags/Flags.ts"
import * as Output from "../output/Output.ts"
import { checkedPassword, passwordOfStdin, putPassword } from "../asking/password.ts"
import { canAsk } from "../asking/terminal.ts"
import { checkedKey } from "../asking/providerKey.ts"
import { withSpinner } from "../output/spinner.ts"
import { askPlan, type Chosen } from "../asking/wizard.ts"
import { addCustom, type CustomProvider } from "../gateway/customProvider.ts"
import { allowSameName } from "../sameName.ts"
import { WireName } from "../../contract/domain/Wire.ts"

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)
const secret = (name: string, description: string) =>
  Options.redacted(name).pipe(Options.withDescription(description), Options.optional)
const onOff = (name: string, description: string) => Options.boolean(name).pipe(Options.withDescription(description))

const flags = {
  what: Args.choice([["tools", "tools"] as const], { name: "tools" }).pipe(
    Args.withDescription("'tools': set up the coding tools that are on this machine instead."),
    Args.optional
  ),
  yes: Options.boolean("yes").pipe(
    Options.withAlias("y"),
    Options.withDescription("With 'tools': all of them, unasked.")
  ),
  nonInteractive: onOff("non-interactive", "Ask nothing; do what the flags say."),
  password: secret("password", "Admin password to set."),
  passwordStdin: onOff("password-stdin", "Read the admin password from standard input."),
  addProvider: onOff("add-provider", "Connect a provider; --provider alone means it too."),
  provider: text("provider", "Id of the provider; see 'gateway providers available'."),
  providerName: text("provider-name", "Name of the connection."),
  providerBaseUrl: text("provider-base-url", "Address of the provider, where it is not the usual one."),
  apiKey: secret("api-key", "The provider's key (GATEWAY_API_KEY)."),
  defaultModel: text("default-model", "Model to use when none is named."),
  wires: Options.choice("wire", WireName.literals).pipe(
    Options.withDescription("Of '--provider custom': a wire format it speaks; without it the server is asked."),
    Options.repeated
  ),
  allowSameName,
  testProvider: onOff("test-provider", "Ask the provider a tiny question afterwards.")
}

/** Plan of the setup. */
export interface Plan {
  readonly password: Redacted.Redacted | null
  readonly connection: CreateConnection | null
  /** A server of the person's own, with its connection; null: none. */
  readonly own: CustomProvider | null
  readonly isSameNameAllowed: boolean
  readonly test: boolean
}

type SetupFlags = Command.Command.ParseConfig<typeof flags>

const flagNames = {
  provider: "--provider",
  name: "--provider-name",
  apiKey: "--api-key",
  baseUrl: "--provider-base-url",
  defaultModel: "--default-model"
}

/** A blank flag means none. */
const keyOf = ({ apiKey }: SetupFlags, fromEnvironment: Option.Option<string>) => {
  const flag = Option.map(apiKey, Redacted.value)
  const [text, from] = Option.isSome(flag)
    ? [flag.value, "--api-key"]
    : [Option.getOrElse(fromEnvironment, () => ""), "GATEWAY_API_KEY"]
  return text === "" ? Effect.succeed(undefined) : Effect.map(checkedKey(text, from), Redacted.value)
}

const ownOf = (given: SetupFlags, apiKey: string | undefined): Effect.Effect<CustomProvider, BadArgument> =>
  Option.match(given.providerBaseUrl, {
    onNone: () =>
      new BadArgument({
        message: "A server of your own needs its address.",
        hint: "Give it with --provider-base-url."
      }),
    onSome: (baseUrl) =>
      Effect.succeed({
        baseUrl,
        wires: given.wires,
        name: Option.getOrUndefined(given.providerName),
        prefix: undefined,
        headers: [],
        apiKey: apiKey === undefined ? null : Redacted.make(apiKey),
        isSameNameAllowed: given.allowSameName,
        verify: true,
        more: { defaultModel: Option.getOrUndefined(given.defaultModel) }
      })
  })

const planOf = Effect.fnUntraced(function* (given: SetupFlags) {
  const { environment } = yield* loadConfig
  const wantsProvider = given.addProvider || Option.isSome(given.provider)
  if (wantsProvider && Option.isNone(given.provider)) {
    return yield* new BadArgument({ message: "--add-provider needs --provider <id>." })
  }
  if (given.testProvider && !wantsProvider) {
    return yield* new BadArgument({ message: "--test-provider needs --provider <id>." })
  }
  const keyVariable = environment.get("GATEWAY_API_KEY") || null
  // The same variable is where commands find the gateway's own key.
  const isOurs =
    keyVariable !== null && (isGatewayKey(keyVariable) || keyVariable === environment.get("GATEWAY_ADMIN_KEY"))
  const fromEnvironment = Option.fromNullable(isOurs ? null : keyVariable)
  if (isOurs && wantsProvider && Option.isNone(given.apiKey)) {
    yield* Output.note(
      "GATEWAY_API_KEY holds a key of a gateway and is not used as the provider's; --api-key gives one."
    )
  }
  const isOwn = connecting.isOwnServer(Option.getOrElse(given.provider, () => ""))
  if (!isOwn && given.wires.length > 0) {
    return yield* new BadArgument({ message: "--wire is for a server of your own: --provider custom." })
  }
  const own = isOwn ? yield* ownOf(given, yield* keyOf(given, fromEnvironment)) : null
  const connection =
    wantsProvider && !isOwn
      ? yield* body(
          CreateConnection,
          {
            provider: Option.getOrUndefined(given.provider),
            name: Option.getOrUndefined(given.providerName),
            apiKey: yield* keyOf(given, fromEnvironment),
            baseUrl: Option.getOrUndefined(given.providerBaseUrl),
            defaultModel: Option.getOrUndefined(given.defaultModel)
          },
          flagNames
        )
      : null
  const password = given.passwordStdin
    ? yield* passwordOfStdin
    : Option.isSome(given.password)
      ? yield* checkedPassword(given.password.value)
      : null
  return { password, connection, own, isSameNameAllowed: given.allowSameName, test: given.testProvider } satisfies Plan
})

const addOwn = (own: CustomProvider) => addCustom(Client.here, own).pipe(withSpinner("Reading its models …"))

const setPassword = (password: Redacted.Redacted) =>
  Effect.zipRight(putPassword(password), Output.note("The admin password is set."))

/** The connection of a plan, made; null: the plan has none. */
const added = Effect.fnUntraced(function* ({ connection, isSameNameAllowed, own }: Plan) {
  if (own !== null) return (yield* addOwn(own)).connection
  if (connection === null) return null
  const provider = { id: connection.provider, name: connection.provider }
  const name = yield* connections.nameFor(
    Client.here,
    provider,
    connection.name,
    isSameNameAllowed || connection.name === undefined
  )
  return yield* connections.create(Client.here, name === undefined ? connection : { ...connection, name })
})

const carryOut = Effect.fnUntraced(function* (plan: Plan) {
  const { connection, own, password, test } = plan
  if (password === null && connection === null && own === null) return yield* Output.note("There was nothing to do.")
  if (password !== null) yield* setPassword(password)
  const made = yield* added(plan)
  if (made === null) return
  yield* Output.note(`Saved '${made.name}' (${made.provider}) as ${made.id}.`)
  if (!test) return
  const result = yield* connections.test(Client.here, made.id)
  if (result.ok) return yield* Output.note(`It answers (${result.model ?? "-"}, ${Math.round(result.latencyMs)} ms).`)
  return yield* new CommandFailed({
    message: `It does not answer: ${result.error ?? "no result"}`,
    hint: `The connection was kept. Correct it, then try 'gateway provider test ${made.id}'.`
  })
})

const stopped = Output.note("Stopped. Nothing was changed.")

/** Stores the chosen connection, and returns it with its models and its provider. */
const stored = Effect.fnUntraced(function* (chosen: Chosen) {
  if (chosen._tag === "Own") {
    const { connection, models } = yield* addOwn(chosen.own)
    const provider = { ...connecting.ownServer, id: connection.provider }
    return { made: connection, models: { ids: models, error: null }, provider }
  }
  const made = yield* connections.create(Client.here, chosen.connection)
  const models = yield* connections.models(Client.here, made.id).pipe(withSpinner("Reading its models …"))
  return { made, models, provider: chosen.provider }
})

const converse = Effect.gen(function* () {
  const { chosen, password } = yield* askPlan.pipe(
    Effect.tapErrorTag("QuitException", () => stopped),
    Effect.onInterrupt(() => stopped)
  )
  if (password !== null) yield* setPassword(password)
  if (chosen === null) return yield* Output.note("Connect a provider later with 'gateway provider add'.")
  const { made, models, provider } = yield* stored(chosen)
  yield* Output.note(`Connected '${made.name}' (${made.provider}): ${connecting.offerWords(provider, models)}.`)
  yield* connecting.proposeQuestion(Client.here, provider, models, null)
  yield* connecting.tellClientSettings(Client.here)
})

export const setupCommand = Command.make("setup", flags, (given) =>
  Effect.gen(function* () {
    if (Option.isSome(given.what)) {
      const { setUpFound } = yield* loadModule(() => import("../../subjects/tools/commands/several.ts"))
      return yield* setUpFound(given.yes || given.nonInteractive)
    }
    if (given.nonInteractive) return yield* carryOut(yield* planOf(given))
    if (!(yield* canAsk)) {
      return yield* new BadArgument({
        message: "The wizard needs a terminal.",
        hint: "Use --non-interactive with flags; 'gateway setup --help' lists them."
      })
    }
    yield* converse
  })
).pipe(
  Command.withDescription(
    about(
      "Set the admin password and connect a provider, step by step or by flags.",
      "setup",
      "setup --non-interactive --password <secret> --provider openai --api-key <key> --test-provider"
    )
  )
)

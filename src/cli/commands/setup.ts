/** `gateway setup`: admin password and first provider, on this machine's data folder, whether a gateway runs there or not. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { CreateConnection } from "../../api/Groups/Providers.ts"
import { loadRoom } from "../lazy.ts"
import { isGatewayKey } from "../../kernel/GatewayKey.ts"
import * as Client from "../gateway/Client.ts"
import * as connecting from "../asking/connecting.ts"
import * as connections from "../gateway/connections.ts"
import { loadConfig } from "../EnvFile.ts"
import { BadArgument, CommandFailed } from "../Failure.ts"
import { about, body } from "../Flags.ts"
import * as Output from "../output/Output.ts"
import { checkedPassword, passwordOfStdin, putPassword } from "../asking/password.ts"
import { canAsk } from "../asking/terminal.ts"
import { checkedKey } from "../asking/providerKey.ts"
import { withSpinner } from "../output/spinner.ts"
import { askPlan } from "../asking/wizard.ts"

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
  testProvider: onOff("test-provider", "Ask the provider a tiny question afterwards.")
}

/** What setup is to do. */
export interface Plan {
  readonly password: Redacted.Redacted | null
  readonly connection: CreateConnection | null
  readonly test: boolean
}

type Given = Command.Command.ParseConfig<typeof flags>

const flagNames = {
  provider: "--provider",
  name: "--provider-name",
  apiKey: "--api-key",
  baseUrl: "--provider-base-url",
  defaultModel: "--default-model"
}

/** A blank flag means none. */
const keyOf = ({ apiKey }: Given, fromEnvironment: Option.Option<string>) => {
  const flag = Option.map(apiKey, Redacted.value)
  const [text, from] = Option.isSome(flag)
    ? [flag.value, "--api-key"]
    : [Option.getOrElse(fromEnvironment, () => ""), "GATEWAY_API_KEY"]
  return text === "" ? Effect.succeed(undefined) : Effect.map(checkedKey(text, from), Redacted.value)
}

const planOf = Effect.fnUntraced(function* (given: Given) {
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
  const connection = wantsProvider
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
  return { password, connection, test: given.testProvider } satisfies Plan
})

const setPassword = (password: Redacted.Redacted) =>
  Effect.zipRight(putPassword(password), Output.note("The admin password is set."))

const carryOut = Effect.fnUntraced(function* ({ connection, password, test }: Plan) {
  if (password === null && connection === null) return yield* Output.note("There was nothing to do.")
  if (password !== null) yield* setPassword(password)
  if (connection === null) return
  const added = yield* connections.create(Client.here, connection)
  yield* Output.note(`Saved '${added.name}' (${added.provider}) as ${added.id}.`)
  if (!test) return
  const result = yield* connections.test(Client.here, added.id)
  if (result.ok) return yield* Output.note(`It answers (${result.model ?? "-"}, ${Math.round(result.latencyMs)} ms).`)
  return yield* new CommandFailed({
    message: `It does not answer: ${result.error ?? "no result"}`,
    hint: `The connection was kept. Correct it, then try 'gateway provider test ${added.id}'.`
  })
})

const stopped = Output.note("Stopped. Nothing was changed.")

const converse = Effect.gen(function* () {
  const { chosen, password } = yield* askPlan.pipe(
    Effect.tapErrorTag("QuitException", () => stopped),
    Effect.onInterrupt(() => stopped)
  )
  if (password !== null) yield* setPassword(password)
  if (chosen === null) return yield* Output.note("Connect a provider later with 'gateway provider add'.")
  const added = yield* connections.create(Client.here, chosen.connection)
  const models = yield* connections.models(Client.here, added.id).pipe(withSpinner("Reading its models …"))
  yield* Output.note(
    `Connected '${added.name}' (${added.provider}): ${connecting.offerWords(chosen.provider, models)}.`
  )
  yield* connecting.proposeQuestion(Client.here, chosen.provider, models, null)
  yield* connecting.tellClientSettings(Client.here)
})

export const setupCommand = Command.make("setup", flags, (given) =>
  Effect.gen(function* () {
    if (Option.isSome(given.what)) {
      const { setUpFound } = yield* loadRoom(() => import("./tools/several.ts"))
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

/** `gateway setup`: admin password and first provider, on this machine's data folder, without a running gateway. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { CreateConnection } from "../../api/Groups/Providers.ts"
import { isGatewayKey } from "../../kernel/GatewayKey.ts"
import * as Client from "../Client.ts"
import { loadConfig } from "../EnvFile.ts"
import { BadArgument, CommandFailed } from "../Failure.ts"
import { about, body } from "../Flags.ts"
import { addConnection, testConnections } from "../local/connections.ts"
import * as Output from "../output/Output.ts"
import { checkedPassword, putPassword } from "../password.ts"
import { askPlan } from "../wizard.ts"

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)
const secret = (name: string, description: string) =>
  Options.redacted(name).pipe(Options.withDescription(description), Options.optional)
const onOff = (name: string, description: string) => Options.boolean(name).pipe(Options.withDescription(description))

const flags = {
  nonInteractive: onOff("non-interactive", "Ask nothing; do what the flags say."),
  password: secret("password", "Admin password to set."),
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
          apiKey: Option.getOrUndefined(Option.orElse(Option.map(given.apiKey, Redacted.value), () => fromEnvironment)),
          baseUrl: Option.getOrUndefined(given.providerBaseUrl),
          defaultModel: Option.getOrUndefined(given.defaultModel)
        },
        flagNames
      )
    : null
  const password = Option.isSome(given.password) ? yield* checkedPassword(given.password.value) : null
  return { password, connection, test: given.testProvider } satisfies Plan
})

const carryOut = Effect.fnUntraced(function* ({ connection, password, test }: Plan) {
  if (password === null && connection === null) return yield* Output.note("There was nothing to do.")
  if (password !== null) {
    yield* putPassword(password)
    yield* Output.note("The admin password is set.")
  }
  if (connection === null) return
  const added = yield* Client.atPlace(Client.here, {
    gateway: (to) =>
      Effect.flatMap(Client.group(to, "providers"), (providers) =>
        Effect.map(providers.create({ payload: connection }).pipe(Client.orExplain(to)), (answer) => answer.connection)
      ),
    folder: addConnection(connection)
  })
  yield* Output.note(`Saved '${added.name}' (${added.provider}) as ${added.id}.`)
  if (!test) return
  const [result] = yield* testConnections(added.id)
  if (result?.ok === true)
    return yield* Output.note(`It answers (${result.model ?? "-"}, ${Math.round(result.latencyMs)} ms).`)
  return yield* new CommandFailed({
    message: `It does not answer: ${result?.error ?? "no result"}`,
    hint: `The connection was kept. Correct it, then try 'gateway providers test ${added.id}'.`
  })
})

export const setupCommand = Command.make("setup", flags, (given) =>
  Effect.gen(function* () {
    const terminal = yield* Terminal.Terminal
    if (given.nonInteractive) return yield* carryOut(yield* planOf(given))
    if (!(yield* terminal.isTTY)) {
      return yield* new BadArgument({
        message: "The wizard needs a terminal.",
        hint: "Use --non-interactive with flags; 'gateway setup --help' lists them."
      })
    }
    yield* carryOut(yield* askPlan)
    yield* Output.note("Start the gateway with 'gateway serve'.")
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

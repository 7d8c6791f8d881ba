/** `gateway provider login`: signs in at a provider and makes a connection of it. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Prompt from "@effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { SignInAnswer, type SignInInput } from "../../../api/Groups/OAuth.ts"
import { cleanKey } from "../../asking/providerKey.ts"
import { readSecret } from "../../asking/stdin.ts"
import { canAsk } from "../../asking/terminal.ts"
import { BadArgument, CommandFailed } from "../../Failure.ts"
import * as Client from "../../gateway/Client.ts"
import { loadRoom } from "../../lazy.ts"
import * as Output from "../../output/Output.ts"

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)

const flags = {
  provider: Args.text({ name: "provider" }).pipe(
    Args.withDescription("Id of the provider: claude, codex, github, github-models, gemini.")
  ),
  clientId: text(
    "client-id",
    "The OAuth client that acts for you; else GATEWAY_OAUTH_<PROVIDER>_CLIENT_ID of the gateway."
  ),
  name: text("name", "Name of the connection."),
  importStdin: Options.boolean("import-stdin").pipe(
    Options.withDescription(
      'Read an access token, or JSON such as {"accessToken","refreshToken"}, from standard input.'
    )
  ),
  ...Client.connection
}
type Given = Command.Command.ParseConfig<typeof flags>

const Imported = Schema.parseJson(
  Schema.Struct({
    accessToken: Schema.String,
    refreshToken: Schema.optional(Schema.String),
    expiresAt: Schema.optional(Schema.String),
    clientId: Schema.optional(Schema.String),
    clientSecret: Schema.optional(Schema.String)
  })
)

const loadRows = loadRoom(() => import("../../../providers/registry/signIn.ts"))
const loadRegistry = loadRoom(() => import("../../../providers/Registry.ts"))

type Input = NonNullable<SignInInput>

const importedInput = Effect.gen(function* () {
  const given = (yield* readSecret).trim()
  if (!given.startsWith("{")) {
    const token = cleanKey(given)
    return token._tag === "Right"
      ? ({ accessToken: Redacted.make(token.right) } satisfies Input)
      : yield* new BadArgument({ message: `The token ${token.left}.` })
  }
  const { accessToken, clientId, clientSecret, expiresAt, refreshToken } = yield* Effect.mapError(
    Schema.decodeUnknown(Imported)(given),
    () => new BadArgument({ message: 'Standard input holds no JSON with a text "accessToken".' })
  )
  return {
    accessToken: Redacted.make(accessToken),
    ...(refreshToken === undefined ? {} : { refreshToken: Redacted.make(refreshToken) }),
    ...(clientSecret === undefined ? {} : { clientSecret: Redacted.make(clientSecret) }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(clientId === undefined ? {} : { clientId })
  } satisfies Input
})

/** The gateway's route for one provider. */
const stepsOf = Effect.fnUntraced(function* (given: Given, provider: string) {
  const to = yield* Client.target(given)
  const client = yield* Client.group(to, "oauth")
  return (action: string, payload: SignInInput) =>
    client.act({ path: { provider, action }, payload }).pipe(Client.orExplain(to))
})
type Step = Effect.Effect.Success<ReturnType<typeof stepsOf>>

const inBrowser = Effect.fnUntraced(function* (step: Step, begin: Input) {
  if (!(yield* canAsk)) {
    return yield* new BadArgument({
      message: "There is no terminal to paste the code into.",
      hint: "Run the command in a terminal, or give a token with --import-stdin."
    })
  }
  const { authUrl = "", sessionId = "" } = yield* step("authorize", begin)
  yield* Output.note(
    `Open this address, and sign in:\n\n${authUrl}\n\nThe page at the end shows a code, or does not load: then its address holds the code.`
  )
  const pasted = yield* Prompt.text({ message: "The code, or the whole address" })
  return yield* step("exchange", { sessionId, code: Redacted.make(pasted) })
})

const onDevice = Effect.fnUntraced(function* (step: Step, begin: Input) {
  const begun = yield* step("device-code", begin)
  const { sessionId = "", userCode = "", verificationUri = "" } = begun
  yield* Output.note(`Open ${verificationUri} and type the code ${userCode}. Waiting …`)
  let answer: SignInAnswer = begun
  while (answer.status === "pending") {
    yield* Effect.sleep(Math.max(answer.retryAfterMs ?? 0, 500))
    answer = yield* step("poll", { sessionId })
  }
  return answer
})

export const providerLogin = Command.make("login", flags, (given) =>
  Effect.gen(function* () {
    const provider = (yield* loadRegistry).find(given.provider)?.id ?? given.provider
    const row = (yield* loadRows).signInRows.get(provider)
    if (row === undefined) {
      return yield* new BadArgument({
        message: `'${given.provider}' has no sign-in here.`,
        hint: "Add it with its key: 'gateway provider add'."
      })
    }
    const begin: Input = {
      ...Option.match(given.name, { onNone: () => ({}), onSome: (name) => ({ name }) }),
      ...Option.match(given.clientId, { onNone: () => ({}), onSome: (clientId) => ({ clientId }) })
    }
    const step = yield* stepsOf(given, provider)
    const answer = given.importStdin
      ? yield* step("import-token", { ...begin, ...(yield* importedInput) })
      : yield* row.authorize === null ? onDevice(step, begin) : inBrowser(step, begin)
    if (answer.connection === undefined) {
      return yield* new CommandFailed({ message: "The gateway made no connection of the sign-in." })
    }
    const { name } = answer.connection
    yield* Output.result({
      schema: SignInAnswer,
      value: answer,
      text: Output.note(`The connection '${name}' (${provider}) is signed in.`),
      name
    })
  })
)

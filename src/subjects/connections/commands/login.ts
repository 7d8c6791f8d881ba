/** `gateway provider login`: signs in at a provider and makes a connection of it. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Prompt from "@effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { SignInAnswer, type SignInInput } from "../../oauth/routes.ts"
import type { BadRequest } from "../../../contract/Errors.ts"
import { planPrograms } from "../../declared/imports/PlanFiles.ts"
import { canAsk } from "../../../cli/asking/terminal.ts"
import { BadArgument, CommandFailed } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as connections from "../../../cli/gateway/connections.ts"
import { loadModule } from "../../../cli/lazy.ts"
import * as Output from "../../../cli/output/Output.ts"
import { namedProxy, proxyFlag } from "../../../cli/finding/pickProxy.ts"
import { allowSameName } from "../../../cli/sameName.ts"

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)

const flags = {
  provider: Args.text({ name: "provider" }).pipe(
    Args.withDescription("Id of the provider: claude, codex, github, github-models, gemini.")
  ),
  file: Args.text({ name: "file" }).pipe(
    Args.withDescription("With --import: the file, where it is not in its usual place."),
    Args.optional
  ),
  clientId: text(
    "client-id",
    "The OAuth client that acts for you; else GATEWAY_OAUTH_<PROVIDER>_CLIENT_ID of the gateway."
  ),
  name: text("name", "Name of the connection."),
  proxy: proxyFlag,
  import: Options.boolean("import").pipe(
    Options.withDescription(
      "Take the tokens of Claude Code, Codex or Gemini CLI, where you are signed in with it on this machine."
    )
  ),
  importStdin: Options.boolean("import-stdin").pipe(
    Options.withDescription(
      'Read from standard input such a file, an access token, or JSON as {"accessToken","refreshToken"}.'
    )
  ),
  allowSameName,
  ...Client.connection
}
type LoginFlags = Command.Command.ParseConfig<typeof flags>

const loadRows = loadModule(() => import("../../../plane/providers/registry/signIn.ts"))
const loadRegistry = loadModule(() => import("../../../plane/providers/Registry.ts"))
const loadImport = loadModule(() => import("./planImport.ts"))

type Input = NonNullable<SignInInput>

/** `github-models` → `GATEWAY_OAUTH_GITHUB_MODELS_CLIENT_ID`. */
const clientVariable = (provider: string): string =>
  `GATEWAY_OAUTH_${provider.toUpperCase().replaceAll(/\W/g, "_")}_CLIENT_ID`

/** `where`: where a client of one's own is got. */
const noClient = (provider: string, where: string): BadArgument => {
  const program = planPrograms.get(provider)
  const imported =
    program === undefined
      ? ""
      : `\nWhere you are signed in with ${program.name}, its tokens can be taken: 'gateway provider login ${provider} --import'.`
  return new BadArgument({
    message: `A sign-in at ${provider} is done in the name of a program that is registered there, and none is named.`,
    hint: `Name an OAuth client that may act for you: --client-id <id>, or ${clientVariable(provider)} in the gateway's environment (docs/sign-in.md).\n${where}${imported}`
  })
}

/** Beginnings of sentences about a person's input, by the members of the route. */
const subjects: Readonly<Record<string, string>> = {
  code: "The code",
  state: "The code",
  sessionId: "The sign-in",
  accessToken: "The access token",
  refreshToken: "The token it is renewed with",
  expiresAt: "The end of the access token",
  clientSecret: "The secret of the OAuth client",
  name: "The name (--name)"
}

/** Writes the gateway's message about a member of the request, without its name. */
const flagProblem = (provider: string, where: string, { details, message, param }: BadRequest): BadArgument => {
  const field = details?.[0]?.field ?? param
  if (field === "clientId") return noClient(provider, where)
  const subject = field === undefined ? undefined : subjects[field]
  const said = details?.[0]?.message
  if (subject === undefined || said === undefined)
    return new BadArgument({ message: message.replace(/^Invalid request: \w+:? /, "") })
  return new BadArgument({ message: `${subject} ${said.replace(/\.$/, "")}.` })
}

/** The gateway's route for one provider. */
const stepsOf = Effect.fnUntraced(function* (given: LoginFlags, provider: string) {
  const where = (yield* loadRows).whereClientIs(provider)
  const to = yield* Client.target(given)
  const client = yield* Client.group(to, "oauth")
  return (action: string, payload: SignInInput) =>
    client.act({ path: { provider, action }, payload }).pipe(
      Effect.catchTag("BadRequest", (error) => flagProblem(provider, where, error)),
      Client.orExplain(to)
    )
})
type Step = Effect.Effect.Success<ReturnType<typeof stepsOf>>

/** Asks until the sign-in is over. */
const untilOver = Effect.fnUntraced(function* (step: Step, begun: SignInAnswer) {
  const { sessionId = "" } = begun
  let answer: SignInAnswer = begun
  while (answer.status === "pending") {
    yield* Effect.sleep(Math.max(answer.retryAfterMs ?? 0, 500))
    answer = yield* step("poll", { sessionId })
  }
  return answer
})

const inBrowser = Effect.fnUntraced(function* (step: Step, begin: Input) {
  const begun = yield* step("authorize", begin)
  const { authUrl = "", comesBack = false, sessionId = "" } = begun
  if (comesBack) {
    yield* Output.note(
      `Open this address, and sign in:\n\n${authUrl}\n\nThe browser then comes back to the gateway. Waiting …`
    )
    return yield* untilOver(step, begun)
  }
  if (!(yield* canAsk)) {
    yield* step("cancel", { sessionId })
    return yield* new BadArgument({
      message: "There is no terminal to paste the code into.",
      hint: "Run the command in a terminal, or take tokens that are there with --import or --import-stdin."
    })
  }
  yield* Output.note(
    `Open this address, and sign in:\n\n${authUrl}\n\nThe page at the end shows a code, or does not load: then its address holds the code.`
  )
  const pasted = yield* Prompt.text({ message: "The code, or the whole address" })
  return yield* step("exchange", { sessionId, code: Redacted.make(pasted) })
})

const onDevice = Effect.fnUntraced(function* (step: Step, begin: Input) {
  const begun = yield* step("device-code", begin)
  const { userCode = "", verificationUri = "" } = begun
  yield* Output.note(`Open ${verificationUri} and type the code ${userCode}. Waiting …`)
  return yield* untilOver(step, begun)
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
    if (Option.isSome(given.file) && !given.import) {
      return yield* new BadArgument({ message: "A file is taken with --import only." })
    }
    if (given.import || given.importStdin) {
      const { importPlan } = yield* loadImport
      const proxyId = yield* namedProxy(given, given.proxy)
      return yield* importPlan({ ...given, provider, name: Option.getOrUndefined(given.name), proxyId })
    }
    const name = yield* connections.nameFor(
      given,
      { id: provider, name: provider },
      Option.getOrUndefined(given.name),
      given.allowSameName || Option.isNone(given.name)
    )
    const proxyId = yield* namedProxy(given, given.proxy)
    const begin: Input = {
      ...(name === undefined ? {} : { name }),
      ...(proxyId === undefined ? {} : { proxyId }),
      ...Option.match(given.clientId, { onNone: () => ({}), onSome: (clientId) => ({ clientId }) })
    }
    const step = yield* stepsOf(given, provider)
    const answer = yield* row.authorize === null ? onDevice(step, begin) : inBrowser(step, begin)
    if (answer.connection === undefined) {
      return yield* new CommandFailed({ message: "The gateway made no connection of the sign-in." })
    }
    const { name: made } = answer.connection
    yield* Output.result({
      schema: SignInAnswer,
      value: answer,
      text: Output.note(`The connection '${made}' (${provider}) is signed in.`),
      name: made
    })
  })
)

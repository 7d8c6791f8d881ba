/** `gateway login` and `gateway context add`: keeps a key of a gateway elsewhere, so that commands go there. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Prompt from "@effect/cli/Prompt"
import type * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { isGatewayKey } from "../../kernel/secrets/GatewayKey.ts"
import * as Contexts from "../gateway/Contexts.ts"
import * as login from "../gateway/login.ts"
import { loadConfig } from "../flags/EnvFile.ts"
import { BadArgument, type CliFailure } from "../Failure.ts"
import { loadModule } from "../lazy.ts"
import * as Output from "../output/Output.ts"
import { secretly } from "../asking/secretly.ts"
import { canAsk } from "../asking/terminal.ts"
import { withSpinner } from "../output/spinner.ts"
import { readSecret } from "../asking/stdin.ts"

const flags = {
  url: Args.text({ name: "url" }).pipe(Args.withDescription("Address of the gateway.")),
  name: Options.text("name").pipe(
    Options.withDescription("Name of the login; else the host of the address."),
    Options.optional
  ),
  keyStdin: Options.boolean("key-stdin").pipe(
    Options.withDescription("Read a key of the gateway from standard input instead of asking.")
  ),
  sso: Options.boolean("sso").pipe(
    Options.withDescription("Sign in by your directory in the browser, in place of a password or key.")
  ),
  device: Options.boolean("device").pipe(
    Options.withDescription("With --sso: by a code that you type in a browser of any machine.")
  ),
  insecure: Options.boolean("insecure").pipe(
    Options.withDescription("Allow an address beyond this machine that is not encrypted.")
  )
}

const loadSso = loadModule(() => import("../gateway/sso.ts"))

const enter = (url: string, secret: Redacted.Redacted) =>
  isGatewayKey(Redacted.value(secret)) ? login.withKey(url, secret) : login.withPassword(url, secret)

/** Asks until the gateway accepts it. */
const ask = (url: string): Effect.Effect<Contexts.Context, CliFailure | Terminal.QuitException, Terminal.Terminal> =>
  Effect.gen(function* () {
    const secret = yield* Prompt.password({
      message: "Admin password (or a key, gw_…)",
      validate: (text) =>
        text.trim() === "" ? Effect.fail("Type the password, or stop with Ctrl-C.") : Effect.succeed(text.trim())
    })
    const entered = yield* Effect.either(enter(url, secret).pipe(withSpinner(`Asking ${url} …`)))
    if (Either.isRight(entered)) return entered.right
    if (entered.left._tag !== "AuthRefused") return yield* entered.left
    yield* Output.note(`${entered.left.message}\nTry again, or stop with Ctrl-C.`)
    return yield* ask(url)
  })

/** The secret of standard input: one line, without what a shell adds at its end. */
const piped = (url: string, command: string) =>
  Effect.gen(function* () {
    const text = (yield* readSecret).trim()
    if (text === "" || /\s/.test(text)) {
      return yield* new BadArgument({
        message:
          text === ""
            ? "There is no key on standard input."
            : "What is on standard input is no key: it has a space or a line end in it.",
        hint: `Use it as '${command} --key-stdin < file'. Nothing was stored.`
      })
    }
    return yield* login.withKey(url, Redacted.make(text))
  })

interface LoginFlags {
  readonly url: string
  readonly name: Option.Option<string>
  readonly keyStdin: boolean
  readonly insecure: boolean
  readonly sso?: boolean
  readonly device?: boolean
}

/** The credential to keep: of a person by the directory, a key of standard input, or by what is typed. */
const credentialOf = ({ device = false, keyStdin, sso = false }: LoginFlags, url: string, command: string) =>
  Effect.gen(function* () {
    if (sso) {
      const { byBrowser, byDevice } = yield* loadSso
      return yield* device ? byDevice(url) : byBrowser(url)
    }
    if (keyStdin) return yield* piped(url, command)
    if (yield* canAsk) return yield* secretly(ask(url))
    return yield* new BadArgument({
      message: "There is no terminal to ask for the admin password.",
      hint: `Give a key of the gateway: '${command} --key-stdin < file', or sign in by your directory: '${command} --sso'.`
    })
  })

const checkFlags = ({ device = false, keyStdin, sso = false }: LoginFlags): Effect.Effect<void, BadArgument> => {
  if (device && !sso) return new BadArgument({ message: "--device is a way of --sso.", hint: "Give both of them." })
  if (!sso || !keyStdin) return Effect.void
  return new BadArgument({ message: "--sso and --key-stdin are two ways to log in.", hint: "Give one of them." })
}

/** Keeps a login. `command` is what can be typed again; `isUsed`: commands go there from now on. */
const logIn = (given: LoginFlags, command: string, isUsed: boolean) =>
  Effect.gen(function* () {
    yield* checkFlags(given)
    const url = yield* login.loginUrl(given.url, given.insecure)
    const name = Option.getOrElse(given.name, () => login.nameOf(url))
    if (name === Contexts.localName || !/^[\w.:[\]-]{1,100}$/.test(name)) {
      return yield* new BadArgument({
        message: `'${name}' cannot be the name of a login.`,
        hint: "Choose one with --name, of letters, digits, '.', ':', '_' and '-'; 'local' is this machine's gateway."
      })
    }
    const file = Contexts.contextFile((yield* loadConfig).environment)
    // Before a key is made that could not be kept.
    const before = yield* Contexts.read(file)
    const known = Contexts.named(before, name)
    if (known !== null && known.url !== url) {
      return yield* new BadArgument({
        message: `There is a login '${name}' already, for ${known.url}.`,
        hint: `Choose another name with --name, or remove it with 'gateway logout ${name}'.`
      })
    }
    yield* login.reached(url)
    const context = yield* credentialOf(given, url, command)
    yield* Contexts.write(file, {
      current: isUsed ? name : before.current,
      contexts: { ...before.contexts, [name]: context }
    }).pipe(Effect.tapError(() => Effect.ignore(login.revokeKey(context))))
    if (known !== null) yield* Effect.ignore(login.revokeKey(known))
    const rights = yield* login.rightsOf(context)
    yield* Output.note(
      isUsed
        ? `Logged in to ${url} as '${name}'. Commands go there from now on; --local is this machine's gateway, 'gateway logout' ends it.`
        : `Logged in to ${url} as '${name}'. A command goes there with --context ${name}, all of them after 'gateway context use ${name}'.`
    )
    if (rights !== null) yield* Output.note(rights)
  })

export const loginCommand = Command.make("login", flags, (given) => logIn(given, `gateway login ${given.url}`, true))

export const contextAdd = Command.make(
  "add",
  {
    name: Args.text({ name: "name" }).pipe(Args.withDescription("Name of the login.")),
    url: flags.url,
    keyStdin: flags.keyStdin,
    insecure: flags.insecure,
    use: Options.boolean("use").pipe(Options.withDescription("Let commands go there from now on."))
  },
  ({ use, ...given }) =>
    logIn({ ...given, name: Option.some(given.name) }, `gateway context add ${given.name} ${given.url}`, use)
)

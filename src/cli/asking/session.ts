/** Calls of routes that take an admin session: with the owner's token as they are, otherwise within a session of the admin password. */
import * as Options from "@effect/cli/Options"
import * as Prompt from "@effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Client from "../gateway/Client.ts"
import { AuthRefused } from "../Failure.ts"
import { canAsk } from "./terminal.ts"
import { readSecret } from "./stdin.ts"
import type { GatewayFlags } from "../gateway/Target.ts"

export const passwordFlag = {
  passwordStdin: Options.boolean("password-stdin").pipe(
    Options.withDescription("Read the admin password from standard input. This machine's owner needs none.")
  )
}

const askPassword = (to: Client.Target) =>
  Effect.gen(function* () {
    if (!(yield* canAsk)) {
      return yield* Client.failureOf(
        to,
        "sessionNeeded",
        "This needs the admin password; give it with --password-stdin."
      )
    }
    return yield* Prompt.password({ message: "Admin password" })
  })

const passwordOf = (to: Client.Target, fromStdin: boolean) =>
  fromStdin ? Effect.map(readSecret, (text) => Redacted.make(text.replace(/\r?\n$/, ""))) : askPassword(to)

/** The headers of a new session. */
const logIn = Effect.fnUntraced(function* (to: Client.Target, password: Redacted.Redacted) {
  const auth = yield* Client.group({ ...to, apiKey: null }, "auth")
  const [{ csrfToken }, response] = yield* auth.login({ payload: { password }, withResponse: true }).pipe(
    Effect.catchTag("Unauthorized", ({ message }) => new AuthRefused({ message })),
    Client.orExplain(to)
  )
  const cookies = Object.values(response.cookies.cookies).map(({ name, valueEncoded }) => `${name}=${valueEncoded}`)
  return { cookie: cookies.join("; "), "x-csrf-token": csrfToken }
})

/** Does the work within a session of the admin password, which is ended afterwards. `headers` are sent with every call, which has no key. */
export const inSession = <A, E, R>(
  to: Client.Target,
  fromStdin: boolean,
  work: (anonymous: Client.Target, headers: Readonly<Record<string, string>>) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const headers = yield* logIn(to, yield* passwordOf(to, fromStdin))
    const anonymous = { ...to, apiKey: null }
    const logOut = Effect.flatMap(Client.group(anonymous, "auth", headers), (auth) => auth.logout()).pipe(Effect.ignore)
    return yield* Effect.ensuring(work(anonymous, headers), logOut)
  })

/** Does the work with a client of the flags that may do what an administrator may. */
export const withFlags = <A, E, R>(
  given: GatewayFlags & { readonly passwordStdin: boolean },
  work: (
    client: Effect.Effect.Success<ReturnType<typeof Client.group<"flags">>>,
    to: Client.Target
  ) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    // No key suffices here, so that of a variable is no reason to ask for the password.
    const owner = Client.asOwner(to)
    if (owner.namedBy === "owner" && !given.passwordStdin) {
      return yield* work(yield* Client.group(owner, "flags"), owner)
    }
    return yield* inSession(to, given.passwordStdin, (anonymous, headers) =>
      Effect.flatMap(Client.group(anonymous, "flags", headers), (client) => work(client, to))
    )
  })

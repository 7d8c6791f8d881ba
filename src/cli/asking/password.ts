/** Asking for and checking the admin password. */
import * as Prompt from "@effect/cli/Prompt"
import type * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { passwordProblem } from "../../kernel/secrets/SecretRules.ts"
import * as Client from "../gateway/Client.ts"
import { BadArgument } from "../Failure.ts"
import { setPassword } from "../local/recovery.ts"
import * as Output from "../output/Output.ts"
import { secretly } from "./secretly.ts"
import { readSecret } from "./stdin.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

/** Describes the problem of a new password; null when there is none. */
const problemOf = (password: string): string | null => {
  const problem = passwordProblem(password)
  return problem === null ? null : `The password ${asSentence(problem)}`
}

/** The password, when it may be one. */
export const checkedPassword = (password: Redacted.Redacted): Effect.Effect<Redacted.Redacted, BadArgument> => {
  const problem = problemOf(Redacted.value(password))
  return problem === null ? Effect.succeed(password) : Effect.fail(new BadArgument({ message: problem }))
}

const first = Prompt.password({
  message: "New admin password",
  validate: (text) => {
    const problem = problemOf(text)
    return problem === null ? Effect.succeed(text) : Effect.fail(problem)
  }
})

type PasswordPrompt = Effect.Effect<Redacted.Redacted, Terminal.QuitException, Terminal.Terminal>

const askTwice: PasswordPrompt = Effect.gen(function* () {
  const password = yield* first
  const again = yield* Prompt.password({ message: "The same again" })
  if (Redacted.value(again) === Redacted.value(password)) return password
  yield* Output.note("The two passwords differ. Once more:")
  return yield* askTwice
})

/** Asks twice, so that a typo does not lock the administrator out; two that differ are asked for again. */
export const askNewPassword: PasswordPrompt = secretly(askTwice)

/** A password from standard input, without the line end that a shell adds. */
export const passwordOfStdin: Effect.Effect<Redacted.Redacted, BadArgument> = Effect.flatMap(readSecret, (text) =>
  checkedPassword(Redacted.make(text.replace(/\r?\n$/, "")))
)

/** Sets the password of this machine's gateway, whether it runs or not; every session ends. */
export const putPassword = (password: Redacted.Redacted) =>
  Client.atPlace(Client.here, {
    gateway: (to) =>
      Effect.flatMap(Client.group(to, "auth"), (auth) =>
        auth.setPassword({ payload: { password } }).pipe(Client.orExplain(to), Effect.asVoid)
      ),
    folder: setPassword(password)
  })

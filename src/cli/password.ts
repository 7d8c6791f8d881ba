/** Asking for and checking the admin password. */
import * as Prompt from "@effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { BadArgument } from "./Failure.ts"

const leastLength = 8
const mostLength = 200

/** What is wrong with a new password; null when nothing is. */
export const problemOf = (password: string): string | null =>
  password.length < leastLength || password.length > mostLength
    ? `The password must have ${leastLength} to ${mostLength} characters.`
    : null

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

/** Asks twice, so that a slip of the finger locks nobody out. */
export const askNewPassword = Effect.gen(function* () {
  const password = yield* first
  const again = yield* Prompt.password({ message: "The same again" })
  if (Redacted.value(again) !== Redacted.value(password)) {
    return yield* new BadArgument({ message: "The two passwords differ; nothing was changed." })
  }
  return password
})

/** Asking before something is lost. */
import * as Options from "@effect/cli/Options"
import * as Prompt from "@effect/cli/Prompt"
import * as Effect from "effect/Effect"
import { BadArgument, CommandFailed } from "../Failure.ts"
import { canAsk } from "./terminal.ts"

/** The flag of commands that ask before they remove something. */
export const yes = Options.boolean("yes").pipe(Options.withAlias("y"), Options.withDescription("Do not ask."))

const ask = (question: string) =>
  Effect.flatMap(Prompt.confirm({ message: question, initial: false }), (agreed) =>
    agreed ? Effect.void : new CommandFailed({ message: "Nothing was changed." })
  )

/** Asks on a terminal. Without one, `--yes` has to be given. */
export const confirm = (given: { readonly yes: boolean }, question: string) =>
  Effect.gen(function* () {
    if (given.yes) return
    if (!(yield* canAsk)) {
      return yield* new BadArgument({
        message: `${question} There is no terminal to ask on.`,
        hint: "Give --yes to agree."
      })
    }
    yield* ask(question)
  })

/** Asks on a terminal and goes on elsewhere: for commands that scripts call without `--yes`. */
export const confirmOnTerminal = (given: { readonly yes: boolean }, question: string) =>
  Effect.gen(function* () {
    if (!given.yes && (yield* canAsk)) yield* ask(question)
  })

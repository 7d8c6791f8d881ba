/**
 * `gateway reset-password` and `gateway reset-encrypted-columns`: recovery of access, on this machine's data folder.
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { dropCredentials } from "../local/recovery.ts"
import { BadArgument } from "../Failure.ts"
import { canAsk } from "../asking/terminal.ts"
import * as Output from "../output/Output.ts"
import { askNewPassword, checkedPassword, passwordOfStdin, putPassword } from "../asking/password.ts"

const password = Options.redacted("password").pipe(
  Options.withDescription("The new password; without it the command asks."),
  Options.optional
)

const passwordStdin = Options.boolean("password-stdin").pipe(
  Options.withDescription("Read the new password from standard input.")
)

export const resetPassword = Command.make("reset-password", { password, passwordStdin }, (flags) =>
  Effect.gen(function* () {
    if (Option.isNone(flags.password) && !flags.passwordStdin && !(yield* canAsk)) {
      return yield* new BadArgument({
        message: "There is no terminal to ask for the new password on.",
        hint: "Give it with --password-stdin, or run the command in a terminal."
      })
    }
    const chosen = yield* flags.passwordStdin
      ? passwordOfStdin
      : Option.match(flags.password, { onNone: () => askNewPassword, onSome: checkedPassword })
    yield* putPassword(chosen)
    yield* Output.done({ passwordSet: true }, "The admin password is set, and every session has ended.", "")
  })
)

const force = Options.boolean("force").pipe(Options.withDescription("Really drop the credentials."))

export const resetEncryptedColumns = Command.make("reset-encrypted-columns", { force }, (flags) =>
  Effect.gen(function* () {
    if (!flags.force) {
      return yield* Output.done(
        { dropped: 0 },
        "Nothing was changed. With --force every stored key, token and header is dropped for good; connections stay and need new ones.",
        "0"
      )
    }
    const count = yield* dropCredentials
    yield* Output.done(
      { dropped: count },
      `${Output.counted(count, "row")} lost encrypted credentials. The next start works with the master key it finds.`,
      String(count)
    )
  })
)

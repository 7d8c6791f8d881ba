/** The password of a proxy: from standard input or asked for, never from the command line, which other users of the machine can read. */
import * as Options from "@effect/cli/Options"
import * as Prompt from "@effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { secretly } from "../../../cli/asking/secretly.ts"
import { readSecret } from "../../../cli/asking/stdin.ts"
import { canAsk } from "../../../cli/asking/terminal.ts"

export const passwordFlag = Options.boolean("password-stdin").pipe(
  Options.withDescription("Read the password for the proxy from standard input.")
)

const ask = secretly(Prompt.password({ message: "Password for the proxy (empty for none)" }))

/**
 * Reads the password as it is sent; undefined: none is given. It is asked for where there is a user name and a person.
 */
export const readPassword = Effect.fnUntraced(function* (fromStdin: boolean, username: string | null) {
  if (fromStdin) return (yield* readSecret).replace(/\r?\n$/, "")
  if (username === null || !(yield* canAsk)) return undefined
  const password = Redacted.value(yield* ask)
  return password === "" ? undefined : password
})

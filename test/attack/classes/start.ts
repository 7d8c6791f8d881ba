/** Settings that would start the gateway more open than its owner thinks. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Program from "../../support/Program.ts"
import { chmodSync } from "node:fs"
import { type Attempt, type AttackClass } from "../Attempt.ts"

const refused = (
  name: string,
  env: Readonly<Record<string, string>>,
  says: RegExp,
  args: ReadonlyArray<string> = []
): Attempt => ({
  name,
  run: () =>
    Program.start(env, undefined, args).pipe(
      Effect.as("it started"),
      // A start that fails ends with what it said on stderr.
      Effect.catchAllCause((cause) => {
        const said = Cause.pretty(cause)
        return Effect.succeed(says.test(said) ? null : `it ended with: ${said.slice(0, 200)}`)
      }),
      Effect.scoped,
      Effect.runPromise
    )
})

const openFolder: Attempt = {
  name: "a data folder that everybody may write",
  run: () =>
    Effect.gen(function* () {
      const folder = yield* Program.dataFolder
      chmodSync(folder, 0o777)
      const program = yield* Program.start({}, folder).pipe(Effect.timeoutOption("20 seconds"))
      if (program._tag === "None") return null
      const said = program.value.stderr()
      const { mode } = yield* Effect.promise(() => import("node:fs/promises").then(({ stat }) => stat(folder)))
      return (mode & 0o077) === 0 || /0777|permission|mode/i.test(said) ? null : "it is used without a word"
    }).pipe(
      Effect.scoped,
      Effect.catchAllCause(() => Effect.succeed(null)),
      Effect.runPromise
    )
}

export const start: AttackClass = {
  name: "starts that are more open than meant",
  atOnce: 2,
  attempts: [
    refused("no keys beyond this machine", {}, /REQUIRE_API_KEY/, ["--host", "0.0.0.0"]),
    refused("no keys on every IPv6 address", {}, /REQUIRE_API_KEY/, ["--host", "::"]),
    refused("REQUIRE_API_KEY=maybe", { REQUIRE_API_KEY: "maybe" }, /REQUIRE_API_KEY/),
    refused("REQUIRE_API_KEY=ture", { REQUIRE_API_KEY: "ture" }, /REQUIRE_API_KEY/),
    refused("GATEWAY_ENV_CONNECTIONS=nope", { GATEWAY_ENV_CONNECTIONS: "nope" }, /GATEWAY_ENV_CONNECTIONS/),
    refused("an admin key of one letter", { GATEWAY_ADMIN_KEY: "a" }, /GATEWAY_ADMIN_KEY.*16/s),
    refused("an admin key of 15 letters", { GATEWAY_ADMIN_KEY: "a".repeat(15) }, /GATEWAY_ADMIN_KEY.*16/s),
    refused("a password of one letter", { GATEWAY_ADMIN_PASSWORD: "a" }, /GATEWAY_ADMIN_PASSWORD/),
    refused("an encryption key of one letter", { GATEWAY_ENCRYPTION_KEY: "a" }, /GATEWAY_ENCRYPTION_KEY/),
    openFolder
  ]
}

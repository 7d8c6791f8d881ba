/** `gateway keys remove` */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Client from "../../../cli/gateway/Client.ts"
import { confirmOnTerminal, yes } from "../../../cli/asking/confirm.ts"
import * as Output from "../../../cli/output/Output.ts"
import { pickKey } from "../../../cli/pickKey.ts"

const key = Args.text({ name: "key" }).pipe(
  Args.withDescription("Its name, its id or the beginning of it, or what its secret begins with.")
)

export const keysRemove = Command.make("remove", { key, yes, ...Client.connection }, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const client = yield* Client.group(to, "keys")
    const { keys } = yield* client.list().pipe(Client.orExplain(to))
    const found = yield* pickKey(keys, flags.key)
    yield* confirmOnTerminal(flags, `Remove the key '${found.name}' (${found.prefix}…)? Its clients are refused then.`)
    yield* client.remove({ path: { id: found.id } }).pipe(Client.orExplain(to))
    yield* Output.done(
      { removed: found.id, name: found.name },
      `The key '${found.name}' (${found.prefix}…) was removed; its clients are refused from now on.`,
      found.name
    )
  })
)

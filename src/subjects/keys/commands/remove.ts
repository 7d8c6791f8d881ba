/** `gateway keys remove` */
import * as Args from "@effect/cli/Args"
import { confirmOnTerminal, yes } from "../../../cli/asking/confirm.ts"
import * as Output from "../../../cli/output/Output.ts"
import { pickKey } from "../../../cli/finding/pickKey.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const key = Args.text({ name: "key" }).pipe(
  Args.withDescription("Its name, its id or the beginning of it, or what its secret begins with.")
)

export const keysRemove = asking("remove", "keys", { key, yes }, function* (client, flags) {
  const { keys } = yield* client.list()
  const found = yield* pickKey(keys, flags.key)
  yield* confirmOnTerminal(flags, `Remove the key '${found.name}' (${found.prefix}…)? Its clients are refused then.`)
  yield* client.remove({ path: { id: found.id } })
  yield* Output.done(
    { removed: found.id, name: found.name },
    `The key '${found.name}' (${found.prefix}…) was removed; its clients are refused from now on.`,
    found.name
  )
})

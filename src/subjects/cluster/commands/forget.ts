/** `gateway cluster forget`: gives up a gateway that will not come back. */
import * as Args from "@effect/cli/Args"
import { confirmOnTerminal, yes } from "../../../cli/asking/confirm.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"
import { ForgottenView } from "../routes.ts"

const node = Args.text({ name: "node" }).pipe(
  Args.withDescription("Name or id of a gateway that is lost; 'gateway cluster status' shows them.")
)

export const clusterForget = asking("forget", "cluster", { node, yes }, function* (client, given) {
  yield* confirmOnTerminal(
    given,
    `Forget '${given.node}'? What it held of limits is free then, though it may have spent some of it.`
  )
  const forgotten = yield* client.forget({ path: { name: given.node } })
  const { leases, name, work } = forgotten
  const sentence = `'${name}' is forgotten: ${Output.counted(leases, "lease")} and ${Output.counted(work, "piece")} of work were given up.`
  yield* Output.result({ schema: ForgottenView, value: forgotten, text: Output.note(sentence), name })
})

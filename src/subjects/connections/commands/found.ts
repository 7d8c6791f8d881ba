/** Finding the connection or the node that a command is about, by its name, its id or the beginning of it. */
import * as Args from "@effect/cli/Args"
import * as Effect from "effect/Effect"
import type { ConnectionView } from "../routes.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { pick } from "../../../cli/flags/Flags.ts"
import { pickConnection } from "../../../cli/pickConnection.ts"
import { noun } from "../../../cli/verbs/noun.ts"

export const connectionArg = Args.text({ name: "connection" }).pipe(
  Args.withDescription("Its name, its id or the beginning of it, or its provider where that has only one.")
)

export const connections = noun({
  what: "connection",
  group: "providers",
  argument: connectionArg,
  listing: "gateway provider list",
  list: (client) => client.list(),
  rows: (answer) => answer.connections,
  nameOf: ({ name }) => name,
  one: (client, id) => Effect.map(client.get({ path: { id } }), (answer) => answer.connection),
  pick: pickConnection
})

/** Connections of the environment are as their variables say. */
export const changeable = Effect.fnUntraced(function* (connection: ConnectionView) {
  if (connection.source !== "env") return connection
  return yield* new BadArgument({
    message: `'${connection.name}' comes from an environment variable and cannot be changed here.`,
    hint: "Change or unset the variable and restart the gateway; or add a connection with 'gateway provider add'."
  })
})

export const nodeArg = Args.text({ name: "node" }).pipe(
  Args.withDescription("Its prefix, its name, its id or the beginning of it.")
)

export const nodes = noun({
  what: "provider node",
  group: "providerNodes",
  argument: nodeArg,
  listing: "gateway provider nodes list",
  list: (client) => client.list(),
  rows: (answer) => answer.nodes,
  nameOf: ({ prefix }) => prefix,
  one: (client, id) => Effect.map(client.get({ path: { id } }), (answer) => answer.node),
  pick: (all, word) => {
    const byPrefix = all.find(({ prefix }) => prefix === word)
    return byPrefix === undefined
      ? pick("provider node", all, word, "gateway provider nodes list")
      : Effect.succeed(byPrefix)
  }
})

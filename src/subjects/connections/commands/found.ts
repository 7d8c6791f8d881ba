/** Finding the connection or the node that a command is about, by its name, its id or the beginning of it. */
import * as Args from "@effect/cli/Args"
import * as Effect from "effect/Effect"
import type { ConnectionView } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { pick } from "../../../cli/flags/Flags.ts"
import { pickConnection } from "../../../cli/pickConnection.ts"

export const connectionArg = Args.text({ name: "connection" }).pipe(
  Args.withDescription("Its name, its id or the beginning of it, or its provider where that has only one.")
)

/** The connections of a gateway, and the one that is meant. */
export const findConnection = Effect.fnUntraced(function* (to: Client.Target, word: string) {
  const client = yield* Client.group(to, "providers")
  const { connections } = yield* client.list().pipe(Client.orExplain(to))
  return { client, connections, found: yield* pickConnection(connections, word) }
})

/** Connections of the environment are as their variables say. */
export const changeable = Effect.fnUntraced(function* (connection: ConnectionView) {
  if (connection.source !== "env") return connection
  return yield* new BadArgument({
    message: `'${connection.name}' comes from an environment variable and cannot be changed here.`,
    hint: "Change or unset the variable and restart the gateway; or add a connection with 'gateway provider add'."
  })
})

/** The nodes of a gateway, and the one whose prefix, name or id is meant. */
export const findNode = Effect.fnUntraced(function* (to: Client.Target, word: string) {
  const client = yield* Client.group(to, "providerNodes")
  const { nodes } = yield* client.list().pipe(Client.orExplain(to))
  const byPrefix = nodes.find(({ prefix }) => prefix === word)
  return { client, found: byPrefix ?? (yield* pick("provider node", nodes, word, "gateway provider nodes list")) }
})

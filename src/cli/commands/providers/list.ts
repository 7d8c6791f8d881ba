/** `gateway providers list` */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { about, json } from "../../Flags.ts"
import { listConnections } from "../../local/connections.ts"
import { columns, Connections, noConnections } from "../../output/connections.ts"
import * as Output from "../../output/Output.ts"

export const providersList = Command.make("list", { json }, (flags) =>
  Effect.flatMap(listConnections, (connections) =>
    flags.json ? Output.json(Connections, { connections }) : Output.rows(connections, columns, noConnections)
  )
).pipe(
  Command.withDescription(
    about("List the connections of this machine's data folder and environment.", "providers list")
  )
)

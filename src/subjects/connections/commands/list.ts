/** `gateway provider list`: of a gateway, else of this machine's data folder. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Client from "../../../cli/gateway/Client.ts"
import { listConnections } from "../../../cli/local/connections.ts"
import { columns, Connections, noConnections } from "../../../cli/output/connections.ts"
import * as Output from "../../../cli/output/Output.ts"

export const providerList = Command.make("list", Client.connection, (given) =>
  Effect.gen(function* () {
    const connections = yield* Client.atPlace(given, {
      gateway: (to) =>
        Effect.gen(function* () {
          const client = yield* Client.group(to, "providers")
          return (yield* client.list().pipe(Client.orExplain(to))).connections
        }),
      folder: listConnections
    })
    yield* Output.list({
      schema: Connections,
      value: { connections },
      rows: connections,
      columns,
      empty: noConnections
    })
  })
)

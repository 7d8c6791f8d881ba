/** `gateway provider list`: of a gateway, else of this machine's data folder. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { connectionListing, type ConnectionView } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { listConnections } from "../../../cli/local/connections.ts"
import { columns, Connections, noConnections } from "../../../cli/output/connections.ts"
import * as Output from "../../../cli/output/Output.ts"
import { emptyOf, listingFlags, type Picked, picked, queryOf, tellLeftOut } from "../../../cli/verbs/listing.ts"

const textsOf = ({ baseUrl, id, models, name, provider }: ConnectionView) => [name, id, provider, baseUrl, ...models]

const valueOf = (connection: ConnectionView, name: string) =>
  connection[name as (typeof connectionListing)["sorts"][number]]

export const providerList = Command.make(
  "list",
  { ...listingFlags(connectionListing), ...Client.connection },
  ({ limit, search, sort, ...given }) =>
    Effect.gen(function* () {
      const wanted = { limit, search, sort }
      const { items, total } = yield* Client.atPlace(given, {
        gateway: (to) =>
          Effect.gen(function* () {
            const client = yield* Client.group(to, "providers", undefined, queryOf(wanted))
            const answer = yield* client.list().pipe(Client.orExplain(to))
            return { items: answer.connections, total: answer.total } satisfies Picked<ConnectionView>
          }),
        folder: Effect.map(listConnections, (all) => picked(all, wanted, textsOf, valueOf))
      })
      yield* Output.list({
        schema: Connections,
        value: { connections: items },
        rows: items,
        columns,
        empty: emptyOf(wanted, noConnections)
      })
      yield* tellLeftOut(items.length, total)
    })
)

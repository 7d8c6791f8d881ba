/** `gateway provider list` */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Client from "../../Client.ts"
import { about, json } from "../../Flags.ts"
import { columns, Connections, noConnections } from "../../output/connections.ts"
import * as Output from "../../output/Output.ts"

export const providerList = Command.make("list", { ...Client.connection, json }, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const client = yield* Client.group(to, "providers")
    const answer = yield* client.list().pipe(Client.orExplain(to))
    yield* flags.json ? Output.json(Connections, answer) : Output.rows(answer.connections, columns, noConnections)
  })
).pipe(Command.withDescription(about("List the connections of a running gateway.", "provider list --json")))

/** `gateway provider remove`, `enable` and `disable`. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Client from "../../../cli/gateway/Client.ts"
import { confirm, yes } from "../../../cli/asking/confirm.ts"
import { OneConnection } from "../../../cli/output/connections.ts"
import * as Output from "../../../cli/output/Output.ts"
import { changeable, connectionArg, findConnection } from "./found.ts"

export const providerRemove = Command.make(
  "remove",
  { connection: connectionArg, yes, ...Client.connection },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const { client, found } = yield* findConnection(to, given.connection)
      const { id, name, provider } = yield* changeable(found)
      yield* confirm(given, `Remove the connection '${name}' (${provider}) and its key?`)
      yield* client.remove({ path: { id } }).pipe(Client.orExplain(to))
      yield* Output.done({ removed: id, name }, `The connection '${name}' (${provider}) is gone.`, name)
    })
)

const switching = (word: "enable" | "disable") =>
  Command.make(word, { connection: connectionArg, ...Client.connection }, (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const { client, found } = yield* findConnection(to, given.connection)
      const { id, name } = yield* changeable(found)
      const isActive = word === "enable"
      const answer = yield* client.update({ path: { id }, payload: { isActive } }).pipe(Client.orExplain(to))
      const sentence = isActive
        ? `The connection '${name}' is used again.`
        : `The connection '${name}' is not used any more; 'gateway provider enable' brings it back.`
      yield* Output.result({ schema: OneConnection, value: answer, text: Output.note(sentence), name })
    })
  )

export const providerEnable = switching("enable")
export const providerDisable = switching("disable")

/** `gateway provider remove`, `enable` and `disable`. */
import { confirm, yes } from "../../../cli/asking/confirm.ts"
import { OneConnection } from "../../../cli/output/connections.ts"
import * as Output from "../../../cli/output/Output.ts"
import { changeable, connections } from "./found.ts"
import { on, switchesOf } from "../../../cli/verbs/noun.ts"

export const providerRemove = on("remove", connections, { yes }, function* ({ client, found, given }) {
  const { id, name, provider } = yield* changeable(found)
  yield* confirm(given, `Remove the connection '${name}' (${provider}) and its key?`)
  yield* client.remove({ path: { id } })
  yield* Output.done({ removed: id, name }, `The connection '${name}' (${provider}) is gone.`, name)
})

const switches = switchesOf(connections, {
  schema: OneConnection,
  ask: (client, id, isActive) => client.update({ path: { id }, payload: { isActive } }),
  enabled: ({ name }) => `The connection '${name}' is used again.`,
  disabled: ({ name }) => `The connection '${name}' is not used any more; 'gateway provider enable' brings it back.`,
  check: changeable
})

export const providerEnable = switches.enable
export const providerDisable = switches.disable

/** `gateway combo delete` */
import * as Args from "@effect/cli/Args"
import { confirmOnTerminal, yes } from "../../../cli/asking/confirm.ts"
import { pick } from "../../../cli/flags/Flags.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const combo = Args.text({ name: "combo" })

export const comboDelete = asking("delete", "combos", { combo, yes }, function* (client, flags) {
  const { combos } = yield* client.list()
  const found = yield* pick("combo", combos, flags.combo, "gateway combo list")
  yield* confirmOnTerminal(flags, `Delete the combo '${found.name}'?`)
  yield* client.remove({ path: { id: found.id } })
  yield* Output.done({ deleted: found.id, name: found.name }, `The combo '${found.name}' is gone.`, found.name)
})

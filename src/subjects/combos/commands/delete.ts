/** `gateway combo delete` */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Client from "../../../cli/gateway/Client.ts"
import { confirmOnTerminal, yes } from "../../../cli/asking/confirm.ts"
import { pick } from "../../../cli/flags/Flags.ts"
import * as Output from "../../../cli/output/Output.ts"

const combo = Args.text({ name: "combo" })

export const comboDelete = Command.make("delete", { combo, yes, ...Client.connection }, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const client = yield* Client.group(to, "combos")
    const { combos } = yield* client.list().pipe(Client.orExplain(to))
    const found = yield* pick("combo", combos, flags.combo, "gateway combo list")
    yield* confirmOnTerminal(flags, `Delete the combo '${found.name}'?`)
    yield* client.remove({ path: { id: found.id } }).pipe(Client.orExplain(to))
    yield* Output.done({ deleted: found.id, name: found.name }, `The combo '${found.name}' is gone.`, found.name)
  })
)

/** `gateway combo switch`: another target of a combo becomes its first. */
import * as Args from "@effect/cli/Args"
import * as Schema from "effect/Schema"
import { ComboView } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { pick } from "../../../cli/flags/Flags.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const flags = {
  combo: Args.text({ name: "combo" }),
  model: Args.text({ name: "model or label" }),
  ...Client.editing
}

type Targets = ComboView["targets"]

/** The targets with the named one first and the others in their order; null when there is none of that model or label. */
export const withFirst = (targets: Targets, modelOrLabel: string): Targets | null => {
  const byModel = targets.findIndex(({ model }) => model === modelOrLabel)
  const index = byModel === -1 ? targets.findIndex(({ label }) => label === modelOrLabel) : byModel
  const first = targets[index]
  return first === undefined ? null : [first, ...targets.filter((_, at) => at !== index)]
}

export const comboSwitch = asking("switch", "combos", flags, function* (client, given) {
  const { combos } = yield* client.list()
  const { id } = yield* pick("combo", combos, given.combo, "gateway combo list")
  const { combo: found } = yield* client.get({ path: { id } })
  const targets = withFirst(found.targets, given.model)
  if (targets === null) {
    const models = found.targets.map(({ model }) => model).join(", ")
    return yield* new BadArgument({
      message: `The combo '${found.name}' has no target '${given.model}'.`,
      hint: `It has: ${models === "" ? "none" : models}.`
    })
  }
  const answer = yield* client.update({ path: { id: found.id }, payload: { targets } })
  const sentence = `The combo '${found.name}' now tries ${answer.combo.targets[0]?.model ?? given.model} first.`
  const doubt =
    found.strategy === "priority" ? "" : `\nIts strategy is '${found.strategy}', which may choose in another order.`
  yield* Output.result({
    schema: Schema.Struct({ combo: ComboView }),
    value: answer,
    text: Output.note(sentence + doubt),
    name: found.name
  })
})

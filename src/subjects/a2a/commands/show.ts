/** `gateway a2a status` and `card`. */
import * as Schema from "effect/Schema"
import { A2aStatus } from "../routes.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const text = ({ enabled, skills, tasks, url }: A2aStatus): string =>
  fields([
    ["on", Output.yesNo(enabled)],
    ["address", url],
    ["skills", skills.join(", ")],
    ["tasks under way", String(tasks.submitted + tasks.working)],
    ["answered", String(tasks.completed)],
    ["failed or refused", String(tasks.failed + tasks.rejected)],
    ["cancelled", String(tasks.canceled)]
  ])

export const a2aStatus = asking("status", "a2a", {}, function* (client) {
  const value = yield* client.status()
  yield* Output.result({ schema: A2aStatus, value, text: Output.print(text(value)), name: value.url })
  if (!value.enabled) yield* Output.remark("Turn it on with 'gateway settings set a2aEnabled=true'.")
})

const Card = Schema.Record({ key: Schema.String, value: Schema.Unknown })

export const a2aCard = asking("card", "a2a", {}, function* (client, given, to) {
  const value = yield* client.card()
  yield* Output.result({ schema: Card, value, text: Output.print(JSON.stringify(value, null, 2)), name: to.url })
})

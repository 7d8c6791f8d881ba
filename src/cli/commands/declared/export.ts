/** `gateway export` */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { stringify } from "yaml"
import { exported } from "../../../declared/Export.ts"
import * as Client from "../../gateway/Client.ts"
import * as Output from "../../output/Output.ts"
import { presentAt } from "./Gateway.ts"

const unfolded = 0

export const exportFile = Command.make("export", Client.connection, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { document, leftOut, variables } = exported(yield* presentAt(to))
    yield* Effect.forEach(leftOut, (each) => Output.note(`Left out: ${each}.`), { discard: true })
    if (variables.length > 0) yield* Output.note(`Set these before 'gateway apply': ${variables.join(", ")}.`)
    yield* Output.result({
      schema: Schema.Unknown,
      value: document,
      text: Output.print(stringify(document, { lineWidth: unfolded })),
      name: to.url
    })
  })
)

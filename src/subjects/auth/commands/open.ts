/** `gateway open`: the dashboard in the browser of the person. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Client from "../../../cli/gateway/Client.ts"
import { openDashboard, type Opened } from "../../../cli/gateway/dashboard.ts"
import { CommonFlags } from "../../../cli/flags/CommonFlags.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

const OpenedDashboard = Schema.Struct({
  url: Schema.String,
  opened: Schema.Boolean,
  reason: Schema.NullOr(Schema.String),
  expiresAt: Schema.NullOr(Schema.String)
})

const page = ({ expiresAt, opened, reason, url }: Opened) => {
  if (opened) return Output.note(`Opened ${url} in the browser.`)
  const bounds = expiresAt === null ? "" : " It counts once, for a minute, and on this machine only."
  return Effect.zipRight(Output.print(url), Output.note(`Open this address; ${asSentence(reason ?? "")}${bounds}`))
}

export const openCommand = Command.make("open", Client.connection, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const { mayOpen } = yield* CommonFlags
    const value = yield* openDashboard(to, mayOpen)
    yield* Output.result({ schema: OpenedDashboard, value, text: page(value), name: value.url })
  })
)

/** `gateway resilience clear` */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Cleared } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { pick } from "../../../cli/flags/Flags.ts"
import * as Output from "../../../cli/output/Output.ts"

const flags = {
  all: Options.boolean("all").pipe(Options.withDescription("Every connection and every model.")),
  connection: Options.text("connection").pipe(
    Options.withDescription("Id or name of a connection; with --model, only the model there."),
    Options.optional
  ),
  provider: Options.text("provider").pipe(Options.withDescription("Provider of the locked model."), Options.optional),
  model: Options.text("model").pipe(Options.withDescription("The locked model."), Options.optional),
  ...Client.connection
}

const usage = new BadArgument({
  message: "What to clear is not said, or said twice.",
  hint: "Give one of: --all, --connection <id or name>, or --provider <id> --model <id>."
})

const countOf = (cleared: Cleared): number => ("removed" in cleared ? cleared.removed : cleared.clearedAll)

export const resilienceClear = Command.make("clear", flags, (given) =>
  Effect.gen(function* () {
    const connection = Option.getOrNull(given.connection)
    const provider = Option.getOrNull(given.provider)
    const model = Option.getOrNull(given.model)
    const namesModel = provider !== null || model !== null
    if (given.all === (namesModel || connection !== null)) return yield* usage
    if (namesModel && (provider === null || model === null)) return yield* usage

    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "resilience")
    const accounts = (payload: { readonly all: true } | { readonly connectionId: string }) =>
      Effect.map(client.clearCooldowns({ payload }).pipe(Client.orExplain(to)), countOf)
    const models = (payload: Parameters<typeof client.clearModelCooldowns>[0]["payload"]) =>
      Effect.map(client.clearModelCooldowns({ payload }).pipe(Client.orExplain(to)), countOf)

    if (provider !== null && model !== null) {
      const unlocked = yield* models({ provider, model, ...(connection === null ? {} : { connection }) })
      return yield* Output.done(
        { cleared: 0, unlocked },
        `${Output.counted(unlocked, "lock")} removed.`,
        String(unlocked)
      )
    }
    if (connection !== null) {
      const providers = yield* Client.group(to, "providers")
      const { connections } = yield* providers.list().pipe(Client.orExplain(to))
      const { id, name } = yield* pick("connection", connections, connection, "gateway provider list")
      const cleared = yield* accounts({ connectionId: id })
      return yield* Output.done(
        { cleared, unlocked: 0 },
        cleared === 0 ? `The connection '${name}' had nothing to clear.` : `The connection '${name}' is used again.`,
        name
      )
    }
    const cleared = yield* accounts({ all: true })
    const unlocked = yield* models({ all: true })
    yield* Output.done(
      { cleared, unlocked },
      `${Output.counted(cleared, "connection")} cleared, ${Output.counted(unlocked, "lock")} removed.`,
      String(cleared + unlocked)
    )
  })
)

/** `gateway resilience reset` */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"

const provider = Args.text({ name: "provider" }).pipe(Args.optional)

export const resilienceReset = Command.make("reset", { provider, ...Client.connection }, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const client = yield* Client.group(to, "resilience")
    const payload = Option.match(flags.provider, { onNone: () => null, onSome: (id) => ({ provider: id }) })
    const { reset } = yield* client.reset({ payload }).pipe(Client.orExplain(to))
    yield* Output.done(
      { reset },
      reset === 0 ? "There was nothing to reset." : `${Output.counted(reset, "breaker")} reset: closed, no failures.`,
      String(reset)
    )
  })
)

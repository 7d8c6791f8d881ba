/** `gateway resilience reset` */
import * as Args from "@effect/cli/Args"
import * as Option from "effect/Option"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const provider = Args.text({ name: "provider" }).pipe(Args.optional)

export const resilienceReset = asking("reset", "resilience", { provider }, function* (client, flags) {
  const payload = Option.match(flags.provider, { onNone: () => null, onSome: (id) => ({ provider: id }) })
  const { reset } = yield* client.reset({ payload })
  yield* Output.done(
    { reset },
    reset === 0 ? "There was nothing to reset." : `${Output.counted(reset, "breaker")} reset: closed, no failures.`,
    String(reset)
  )
})

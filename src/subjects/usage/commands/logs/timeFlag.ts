/** A time given as a flag, as ISO 8601; undefined when it is not given. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { BadArgument } from "../../../../cli/Failure.ts"
import { timeOf } from "./times.ts"

export const timeFlag = Effect.fnUntraced(function* (flag: string, given: Option.Option<string>) {
  if (Option.isNone(given)) return undefined
  const iso = timeOf(given.value, yield* Clock.currentTimeMillis)
  if (iso !== null) return iso
  return yield* new BadArgument({
    message: `${flag}: '${given.value}' is no time.`,
    hint: "Give 30m, 2h or 7d, a day such as 2026-11-22, or a time such as 2026-11-22T09:30."
  })
})

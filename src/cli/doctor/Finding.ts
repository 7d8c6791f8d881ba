/** Finding of one check of `gateway doctor`. */
import * as Schema from "effect/Schema"

/** `warn` works but deserves a look; `skip` could not be checked because of an earlier finding, or was not wanted. */
export const Finding = Schema.Struct({
  status: Schema.Literal("ok", "warn", "fail", "skip"),
  message: Schema.String,
  /** Advice on what to do about it. */
  hint: Schema.NullOr(Schema.String)
})
export type Finding = typeof Finding.Type

export const ok = (message: string): Finding => ({ status: "ok", message, hint: null })
export const warn = (message: string, hint: string): Finding => ({ status: "warn", message, hint })
export const fail = (message: string, hint: string): Finding => ({ status: "fail", message, hint })
export const skip = (message: string): Finding => ({ status: "skip", message, hint: null })

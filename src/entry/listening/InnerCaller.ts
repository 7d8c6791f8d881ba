/**
 * A call of an endpoint that the gateway makes itself, for a caller whose rights were judged elsewhere. It runs the endpoint's own handler, with
 * the same checks, errors and row of the audit log as a request over HTTP. Only `Management.ask` provides it: nothing of a request can.
 */
import * as Context from "effect/Context"
import type { Principal } from "../../subjects/keys/entity.ts"

export interface Inner {
  readonly principal: Principal
  /** Address for the audit log. */
  readonly ip: string
  /** The value of the body; null where there is none. */
  readonly body: unknown
}

/** Null in requests over HTTP. */
export class InnerCaller extends Context.Reference<InnerCaller>()("gateway/entry/listening/InnerCaller", {
  defaultValue: (): Inner | null => null
}) {}

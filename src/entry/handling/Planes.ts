/** The management plane as its own handlers ask it: this one, and one over a rehearsal. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { StoreError } from "../../store/Errors.ts"
import type { Json } from "../../wire/json/Json.ts"
import type { ManagementKey } from "../../contract/ManagementRoutes.ts"
import type { Inner } from "../listening/InnerCaller.ts"

/** A call of an endpoint from inside the gateway. */
export interface InnerCall {
  readonly key: ManagementKey
  /** Values of the parameters in the path. */
  readonly path: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly caller: Inner
}

export interface InnerAnswer {
  readonly status: number
  /** Null: there is none; the text of one that is no JSON. */
  readonly body: Json
}

export type AskPlane = (call: InnerCall) => Effect.Effect<InnerAnswer>

export class Planes extends Context.Tag("gateway/entry/handling/Planes")<
  Planes,
  {
    /** Asks this plane. */
    readonly ask: AskPlane
    /** Asks a plane over a copy of the configuration, which lives as long as the scope. */
    readonly rehearsal: (options: { readonly withKeys: boolean }) => Effect.Effect<AskPlane, StoreError, Scope.Scope>
  }
>() {}

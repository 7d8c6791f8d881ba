/**
 * Decisions that are only asked for (`POST /api/routing/explain`): nothing is sent, and nothing is remembered: no turn of a
 * rotation, no card of a deck. The same request, seed and state give the same record.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Combo } from "../../../subjects/combos/entity.ts"
import type { DecisionRecord } from "../../../subjects/routing/entity.ts"
import type { InvalidRequest, ModelNotFound, NoTarget } from "../../../contract/domain/Errors.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"

export interface ExplainRequest {
  /** Any id a client can ask for. */
  readonly model: string
  /** Combo that is tried as if it were stored; null: none. */
  readonly combo: Combo | null
  readonly wire: WireName
  /** The request as a client would send it in that wire; whatever is missing is taken for an empty prompt. */
  readonly body: Readonly<Record<string, unknown>>
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** Key whose rules about models and whose allocation of a quota group count; null: a caller without an API key. */
  readonly apiKeyId: string | null
  /** Null: one is drawn, and is in the record. */
  readonly seed: number | null
}

export class Explainer extends Context.Tag("gateway/plane/routing/decide/Explainer")<
  Explainer,
  {
    readonly explain: (
      request: ExplainRequest
    ) => Effect.Effect<DecisionRecord, ModelNotFound | NoTarget | InvalidRequest>
  }
>() {}

/**
 * Connects requests of models with the searches of the gateway. The searches are built over the pipeline, so they attach themselves when they
 * are there.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { AttemptRecord } from "../../subjects/routing/entity.ts"
import type { SearchHit } from "../../wire/canonical/SearchFacts.ts"
import type { Exchange } from "./Exchange.ts"

/** Search that a model wants, within the client's limits. */
export interface AskedSearch {
  readonly query: string
  /** Results. */
  readonly count: number
  /** As the client writes it; null: anywhere. */
  readonly country: string | null
  readonly allowedDomains: ReadonlyArray<string>
  readonly blockedDomains: ReadonlyArray<string>
}

/** A search that can be made. */
export interface SearchAsking {
  readonly exchange: Required<Pick<Exchange, "body" | "codec" | "service">>
  /** Reads the hits; null when the text is no answer of a search. */
  readonly hitsIn: (body: string) => ReadonlyArray<SearchHit> | null
  /** Counts the results of its calls. */
  readonly over: (exchange: Exchange, attempts: ReadonlyArray<AttemptRecord>) => void
}

export interface AttachedSearches {
  /** Hot: checks whether a provider of searches is connected. */
  readonly isReady: () => boolean
  /** Null when no provider can be asked this. */
  readonly ask: (asked: AskedSearch) => SearchAsking | null
}

export class ModelSearches extends Context.Tag("gateway/plane/request/ModelSearches")<
  ModelSearches,
  AttachedSearches & { readonly attach: (searches: AttachedSearches) => void }
>() {}

export const make = (): typeof ModelSearches.Service => {
  let attached: AttachedSearches | null = null
  return ModelSearches.of({
    attach: (searches) => {
      attached = searches
    },
    isReady: () => attached?.isReady() === true,
    ask: (asked) => attached?.ask(asked) ?? null
  })
}

export const layer: Layer.Layer<ModelSearches> = Layer.sync(ModelSearches, make)

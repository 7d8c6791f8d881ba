/** Counts of searches at each provider, by API key and provider. */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { makeStateRows, type StateRows } from "../../store/engine/StateRows.ts"

export class SearchCountsRepo extends Context.Tag("gateway/subjects/usage/SearchCountsRepo")<
  SearchCountsRepo,
  StateRows
>() {}

export const make = makeStateRows("SearchCountsRepo", "search_counts")

export const layer: Layer.Layer<SearchCountsRepo, never, SqlClient.SqlClient> = Layer.effect(SearchCountsRepo, make)

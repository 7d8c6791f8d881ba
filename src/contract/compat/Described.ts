/** Descriptions of the endpoints of `CompatApi`. */
import * as OpenApi from "@effect/platform/OpenApi"
import * as Context from "effect/Context"
import type * as Schema from "effect/Schema"
import { RequestExample } from "../Endpoints.ts"

/** Parameters of the query, for the document: the routes read them by themselves. */
export class DocumentedQuery extends Context.Tag("gateway/contract/compat/DocumentedQuery")<
  DocumentedQuery,
  Schema.Schema.AnyNoContext
>() {}

export const words = (summary: string, description: string) =>
  Context.make(OpenApi.Summary, summary).pipe(Context.add(OpenApi.Description, description))

export const asking = (summary: string, description: string, example: unknown) =>
  Context.add(words(summary, description), RequestExample, example)

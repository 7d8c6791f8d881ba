/** The pages of lists (`limit` and `cursor` of the query), for every endpoint of the contract that is `paged`. */
import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import type { BadRequest } from "../../contract/Errors.ts"
import { PageQuery } from "../../contract/Inputs.ts"
import { type Page, pageOf } from "../../kernel/Page.ts"
import { badField, badInput } from "./Answers.ts"

const query = Effect.catchTag(HttpServerRequest.schemaSearchParams(PageQuery), "ParseError", (error) =>
  Effect.flatMap(HttpApiDecodeError.fromParseError(error), badInput)
)

/** The part of a list that the request asks for; `most` entries where it does not say how many. */
export const paged = <A>(
  all: ReadonlyArray<A>,
  idOf: (entry: A) => string,
  most?: number
): Effect.Effect<Page<A> & { readonly total: number }, BadRequest, HttpServerRequest.ParsedSearchParams> =>
  Effect.flatMap(query, (request) => {
    const page = pageOf(all, idOf, most === undefined ? request : { limit: most, ...request })
    return page === null
      ? badField("cursor", "is not one that this list gave out")
      : Effect.succeed({ ...page, total: all.length })
  })

/** Parts of a list, as `cursor` asks for them. https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination */
import * as Effect from "effect/Effect"
import { pageOf } from "../../kernel/Page.ts"
import { type JsonObject, stringOr } from "../../wire/json/Json.ts"
import { invalidParams } from "./protocol/JsonRpc.ts"

const mostEntries = 200

export const pageAt = <A>(all: ReadonlyArray<A>, idOf: (entry: A) => string, params: JsonObject) => {
  const cursor = stringOr(params["cursor"])
  const page = pageOf(all, idOf, { limit: mostEntries, ...(cursor === null ? {} : { cursor }) })
  return page === null
    ? Effect.fail(invalidParams("'cursor' is not one that this list gave out."))
    : Effect.succeed({ items: page.items, next: page.nextCursor === null ? {} : { nextCursor: page.nextCursor } })
}

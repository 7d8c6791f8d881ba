/** Responses that were made in the background as endpoints, for `CompatApi`. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as Schema from "effect/Schema"
import { exactOptional, field } from "../../kernel/Documented.ts"
import { words } from "./Described.ts"
import * as Responses from "./Responses.ts"

const id = Schema.Struct({
  response: field(Schema.String, "Id of the response.", "resp_68af4030592c81938ec0a5fbab4a3e9f")
})
const page = Schema.Struct({
  stream: field(exactOptional(Schema.Literal("true", "false")), "`true`: the rest of its events, as a stream.", "true"),
  starting_after: field(exactOptional(Schema.NumberFromString), "Number of the last event that the client has.", 42)
})
const itemPage = Schema.Struct({
  limit: field(exactOptional(Schema.NumberFromString), "Most items of a page.", 20),
  after: field(exactOptional(Schema.String), "Id of an item: the page begins behind it.", "msg_1")
})
const Deleted = Schema.Struct({
  id: field(Schema.String, "Id of the response.", "resp_68af4030592c81938ec0a5fbab4a3e9f"),
  object: field(Schema.String, "`response`.", "response"),
  deleted: field(Schema.Boolean, "It is gone.", true)
}).annotations({ identifier: "DeletedResponse" })
const Items = Schema.Struct({
  object: field(Schema.String, "`list`.", "list"),
  data: field(Schema.Array(Schema.Unknown), "Items of the input, in OpenAI's form.", [])
}).annotations({ identifier: "ResponseItems" })

const place = "/v1/responses/:response"

export const response = HttpApiEndpoint.get("response", place)
  .setPath(id)
  .setUrlParams(page)
  .addSuccess(Responses.ResponsesAnswer)
  .annotateContext(
    words(
      "Show a response",
      "One that was asked for with `background: true`, from the connection that makes it, for the key that asked."
    )
  )

export const deleteResponse = HttpApiEndpoint.del("deleteResponse", place)
  .setPath(id)
  .addSuccess(Deleted)
  .annotateContext(words("Delete a response", "At its provider. What it took is on the bill before."))

export const cancelResponse = HttpApiEndpoint.post("cancelResponse", `${place}/cancel`)
  .setPath(id)
  .addSuccess(Responses.ResponsesAnswer)
  .annotateContext(words("Cancel a response", "At its provider, while it is made."))

export const responseItems = HttpApiEndpoint.get("responseItems", `${place}/input_items`)
  .setPath(id)
  .setUrlParams(itemPage)
  .addSuccess(Items)
  .annotateContext(words("List what a response was asked", "The items of its input, from its provider."))

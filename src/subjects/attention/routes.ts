/** One list of what needs a person, over the whole gateway. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { UnavailableAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleTime } from "../../contract/Examples.ts"
import { field } from "../../kernel/Documented.ts"
import { attentionKinds, severities, subjectTypes } from "./entity.ts"

const ActionView = Schema.Struct({
  label: field(Schema.String, "What it does, for a button.", "Use it again"),
  method: field(Schema.Literal("GET", "POST", "PUT", "PATCH", "DELETE"), "Method of the request.", "DELETE"),
  path: field(Schema.String, "Path of this API, with its query.", "/api/resilience/cooldowns"),
  body: field(
    Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
    "Body of the request; null: it has none.",
    { connectionId: exampleId }
  )
}).annotations({ identifier: "AttentionAction" })

export const AttentionView = Schema.Struct({
  id: field(Schema.String, "The same as long as it is the same trouble.", `connectionEnded:${exampleId}`),
  severity: field(Schema.Literal(...severities), "`error`: something does not work; `warning`: soon, or in part."),
  kind: field(Schema.Literal(...attentionKinds), "What it is.", "connectionEnded"),
  subject: field(
    Schema.Struct({
      type: field(Schema.Literal(...subjectTypes), "Kind of the thing.", "connection"),
      id: field(Schema.String, "Its id.", exampleId),
      name: field(Schema.String, "Its name for people.", "work account")
    }),
    "What it is about."
  ),
  since: field(Schema.NullOr(Schema.String), "Since when, ISO 8601; null: not known.", exampleTime),
  changesAt: field(
    Schema.NullOr(Schema.String),
    "When it changes by itself, ISO 8601: what runs out is used up, a sign-in is over, what is used up is renewed, what rests is used again. Null: not known, or never.",
    null
  ),
  text: field(Schema.String, "What is wrong, for people.", "Its credits are used up."),
  actions: field(Schema.Array(ActionView), "Requests that do something about it, or show more.")
}).annotations({ identifier: "AttentionItem" })
export type AttentionView = typeof AttentionView.Type

export const AttentionList = Schema.Struct({
  items: field(Schema.Array(AttentionView), "What needs a person, the worst first."),
  total: field(Schema.Number, "How many there are.", 1)
}).annotations({ identifier: "AttentionList" })

const at = endpointsOf("attention")

export class Attention extends HttpApiGroup.make("attention")
  .annotate(OpenApi.Title, "Attention")
  .annotate(OpenApi.Description, "What needs a person, over the whole gateway.")
  .add(
    at("list", {
      summary: "List what needs a person",
      description:
        "Accounts that ended or rest, open breakers, budgets and quotas that run out, and all else that is wrong or soon will be, each with requests that do something about it. The channel `attention` of the live feed tells when it changes."
    })
      .addSuccess(AttentionList)
      .addError(UnavailableAnswer)
  ) {}

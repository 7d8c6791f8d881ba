/** Audit log of the management API. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { exactOptional, field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { UnavailableAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleRequestId, exampleTime } from "../../contract/Examples.ts"
import { IsoTimeOrDay } from "../../contract/Inputs.ts"

const Status = Schema.Literal("success", "failure")

const AuditChange = Schema.Struct({
  field: field(
    Schema.String,
    "Path of the field, with dots between the levels; entries of a list by their id.",
    "backup.keepLast"
  ),
  before: field(
    Schema.optionalWith(Schema.Unknown, { exact: true }),
    "What it was; absent: it was not there, or is hidden.",
    7
  ),
  after: field(
    Schema.optionalWith(Schema.Unknown, { exact: true }),
    "What it is now; absent: it is not there any more, or is hidden.",
    4
  ),
  hidden: field(
    Schema.optionalWith(Schema.Literal(true), { exact: true }),
    "True: it changed, and its values are not kept: a secret, or a long text.",
    true
  )
}).annotations({ identifier: "AuditChange" })

export const AuditEntry = Schema.Struct({
  id: field(Schema.String, "Id of the row.", exampleRequestId),
  timestamp: field(Schema.String, "When the request was answered, ISO 8601.", exampleTime),
  action: field(
    Schema.String,
    "What was done, or tried: a name of docs/audit.md, else `<group>.<endpoint>`.",
    "provider.credentials.created"
  ),
  actor: field(
    Schema.String,
    "Who did it: `admin-key`, `owner`, `session:<id>`, `apiKey:<id>`, `admin` (by password), or `anonymous`.",
    "admin-key"
  ),
  target: field(Schema.NullOr(Schema.String), "Id or name of what it was done to; null: no single thing.", exampleId),
  resourceType: field(Schema.String, "The kind of thing.", "providers"),
  status: field(Status, "Whether it was done."),
  ip: field(Schema.String, "Address the request came from.", "127.0.0.1"),
  requestId: field(Schema.String, "The answer's `X-Gateway-Request-Id`.", exampleRequestId),
  details: field(
    Schema.Struct({
      httpStatus: field(Schema.Number, "HTTP status of the answer; 499: the client left before it.", 201),
      code: field(Schema.optionalWith(Schema.String, { exact: true }), "Code of the error.", "invalid_password"),
      apiKeyName: field(Schema.optionalWith(Schema.String, { exact: true }), "Name of the API key that asked.", "ci"),
      userId: field(
        Schema.optionalWith(Schema.String, { exact: true }),
        "Id of the person whom that key belongs to; absent: it belongs to no person.",
        exampleId
      ),
      userName: field(Schema.optionalWith(Schema.String, { exact: true }), "Name that the person had.", "Ada"),
      asKey: field(
        Schema.optionalWith(Schema.String, { exact: true }),
        "Id of the API key that an admin session acted with (`X-Gateway-As-Key`).",
        exampleId
      ),
      fields: field(
        Schema.optionalWith(Schema.Array(Schema.String), { exact: true }),
        "Names of the fields that were sent; never their values.",
        ["provider", "apiKey"]
      ),
      changes: field(
        Schema.optionalWith(Schema.Array(AuditChange), { exact: true }),
        "What is different in the object after the change, at most 40 fields; absent: nothing, or no route shows it."
      )
    }),
    "What else is known."
  )
}).annotations({ identifier: "AuditEntry" })
export type AuditEntry = typeof AuditEntry.Type

const Word = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(300))

const whole = (least: number, most: number) =>
  Schema.NumberFromString.pipe(Schema.int(), Schema.between(least, most)).annotations({
    jsonSchema: { type: "integer", minimum: least, maximum: most }
  })

export const AuditQuery = Schema.Struct({
  action: field(exactOptional(Word), "The action; with `*` at its end, all that begin so.", "auth.*"),
  actor: field(exactOptional(Word), "Who; `apiKey:*`: all keys.", "admin-key"),
  target: field(exactOptional(Word), "What it was done to.", exampleId),
  requestId: field(exactOptional(Word), "The request.", exampleRequestId),
  status: field(exactOptional(Status), "Whether it was done.", "failure"),
  from: field(exactOptional(IsoTimeOrDay), "From then on, ISO 8601.", exampleTime),
  to: field(exactOptional(IsoTimeOrDay), "Before then, ISO 8601.", "2035-01-01T00:00:00.000Z"),
  limit: field(exactOptional(whole(1, 500)), "Rows of the page, at most 500; absent: 100.", 100),
  offset: field(exactOptional(whole(0, 1_000_000)), "Rows before the page; absent: 0.", 0)
}).annotations({ parseOptions: { onExcessProperty: "error", errors: "all" } })
export type AuditQuery = typeof AuditQuery.Type

const at = endpointsOf("audit")

export class Audit extends HttpApiGroup.make("audit")
  .annotate(OpenApi.Title, "Audit log")
  .annotate(OpenApi.Description, "Who changed what.")
  .add(
    at("list", {
      summary: "Show who changed what",
      description:
        "One row for each management request that may change something (all but `GET`), refused ones and logins included. Newest first. The headers say how many rows there are."
    })
      .setUrlParams(AuditQuery)
      .addSuccess(Schema.Array(AuditEntry))
      .addError(UnavailableAnswer)
  ) {}

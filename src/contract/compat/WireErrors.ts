/** Error bodies of the wires, as `wire/<name>/Errors` writes them. */
import * as Schema from "effect/Schema"
import type { WireName } from "../domain/Wire.ts"
import { field } from "../../kernel/Documented.ts"
import { exampleRequestId } from "../Examples.ts"
import { RpcErrorBody } from "./McpEndpoints.ts"
import { anyObject, maybe, others } from "./Open.ts"

const message = field(
  Schema.String,
  "What is wrong, and what can be done about it.",
  "The model 'auto/none' is not known: it is no automatic id. Did you mean 'auto'?"
)
const code = field(
  maybe(Schema.NullOr(Schema.String)),
  "What happened, for programs; null: unknown.",
  "model_not_found"
)
const requestId = field(maybe(Schema.String), "The answer's `X-Gateway-Request-Id`.", exampleRequestId)

const details = field(
  maybe(
    Schema.Array(
      Schema.Struct({
        field: field(Schema.String, "Where it is, with dots between the levels.", "model"),
        message: field(Schema.String, "What is wrong with it.", "is missing")
      })
    )
  ),
  "Every field that is wrong.",
  []
)

const attempts = field(
  maybe(
    Schema.Array(
      Schema.Struct({
        provider: field(Schema.String, "Id of the provider.", "openai"),
        model: field(Schema.String, "Id of the model at the provider.", "gpt-4o-mini"),
        status: field(Schema.NullOr(Schema.Number), "HTTP status of the upstream; null: none arrived.", 503),
        reason: field(Schema.String, "What its failure was understood as.", "http_503")
      })
    )
  ),
  "The calls that were made, where there were any.",
  []
)

const OpenAiError = Schema.Struct({
  error: field(
    Schema.Struct(
      {
        message,
        type: field(Schema.NullOr(Schema.String), "The family of the error; null: unknown.", "invalid_request_error"),
        code,
        param: field(maybe(Schema.NullOr(Schema.String)), "The parameter that is wrong; null: none.", "model"),
        details,
        attempts,
        request_id: requestId
      },
      others
    ),
    "Why the request failed."
  )
}).annotations({ identifier: "OpenAiError", description: "The error of the chat and responses wires." })

const MessagesError = Schema.Struct(
  {
    type: field(Schema.Literal("error"), "Always `error`."),
    error: field(
      Schema.Struct(
        { type: field(Schema.String, "The family of the error.", "not_found_error"), message, code, details, attempts },
        others
      ),
      "Why the request failed."
    ),
    request_id: field(Schema.NullOr(Schema.String), "The answer's `X-Gateway-Request-Id`.", exampleRequestId)
  },
  others
).annotations({ identifier: "MessagesError", description: "The error of the messages wire." })

const GeminiError = Schema.Struct({
  error: field(
    Schema.Struct(
      {
        code: field(Schema.Number, "The HTTP status.", 404),
        message,
        status: field(Schema.String, "The status in words.", "NOT_FOUND"),
        details: field(maybe(Schema.Array(anyObject)), "More, each with its `@type`.", []),
        attempts,
        request_id: requestId
      },
      others
    ),
    "Why the request failed."
  )
}).annotations({ identifier: "GeminiError", description: "The error of the gemini wire." })

const LocalRunnerError = Schema.Struct(
  { error: message, code, details, attempts, request_id: requestId },
  others
).annotations({ identifier: "LocalRunnerError", description: "The error of the ollama wire." })

/** Errors of the wires, by the name of its schema in the document. */
export const wireErrors: Readonly<Record<WireName, string>> = {
  chat: "OpenAiError",
  responses: "OpenAiError",
  messages: "MessagesError",
  gemini: "GeminiError",
  ollama: "LocalRunnerError"
}

/** Error of routes that answer in no wire. */
export const mcpError = "McpError"

export const wireErrorSchemas: ReadonlyArray<Schema.Schema.All> = [
  OpenAiError,
  MessagesError,
  GeminiError,
  LocalRunnerError,
  RpcErrorBody
]

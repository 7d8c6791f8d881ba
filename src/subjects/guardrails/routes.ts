/** Rules for content that must not pass, in requests and answers. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { GuardrailSettings, GuardrailSettingsPatch } from "./entity.ts"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { body } from "../../contract/Inputs.ts"

const places = {
  start: ["Index of its first character (UTF-16).", 11],
  end: ["Index behind its last character.", 28]
} as const

const PersonalData = Schema.Struct({
  detector: field(Schema.String, "The detector, or the name of a custom pattern.", "email"),
  start: field(Schema.Number, ...places.start),
  end: field(Schema.Number, ...places.end)
})

const Injection = Schema.Struct({
  group: field(Schema.String, "The kind of attempt to take over the model.", "system-override"),
  severity: field(Schema.Literal("low", "medium", "high"), "In the mode `block`, `high` refuses.", "high"),
  start: field(Schema.Number, ...places.start),
  end: field(Schema.Number, ...places.end)
})

export const GuardrailTest = Schema.Struct({
  personalData: field(Schema.Array(PersonalData), "Personal data and secrets that are found, whatever the flags say."),
  injections: field(Schema.Array(Injection), "Attempts to take over the model, whatever the flags say."),
  redacted: field(Schema.String, "The text without personal data and secrets.", "My address: [EMAIL_REDACTED]"),
  sent: field(
    Schema.NullOr(Schema.String),
    "What is sent of it as the flags are now; null: a request with it is refused.",
    "My address: jane@example.com"
  )
}).annotations({ identifier: "GuardrailTest" })
export type GuardrailTest = typeof GuardrailTest.Type

export const TestText = Schema.Struct({
  text: field(
    Schema.String.pipe(Schema.maxLength(1_048_576)),
    "What a user would write.",
    "My address: jane@example.com"
  )
}).annotations(body("TestText"))

const at = endpointsOf("guardrails")

export class Guardrails extends HttpApiGroup.make("guardrails")
  .annotate(OpenApi.Title, "Guardrails")
  .annotate(OpenApi.Description, "What must not pass, in requests and answers.")
  .add(
    at("get", {
      summary: "Show the settings of guardrails",
      description: "Detectors, patterns, tools and structured answers. Which guardrails act is said by feature flags."
    }).addSuccess(GuardrailSettings)
  )
  .add(
    at("set", {
      summary: "Change the settings of guardrails",
      description: "What is absent or null stays as it is. A pattern that cannot be matched in linear time is refused.",
      example: { disabledDetectors: ["ip"] }
    })
      .setPayload(GuardrailSettingsPatch.annotations(body("ChangeGuardrails")))
      .addSuccess(GuardrailSettings)
  )
  .add(
    at("test", {
      summary: "Show what guardrails find in a text",
      description: "Nothing is sent, counted or kept.",
      example: { text: "My address: jane@example.com" }
    })
      .setPayload(TestText)
      .addSuccess(GuardrailTest)
  ) {}

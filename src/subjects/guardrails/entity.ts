/** Settings of the guardrails (`/api/settings/guardrails`): shape, defaults, and how a change is merged. Which of them act is said by flags. */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import {
  defaultStructuredOutput,
  defaultToolPolicy,
  StructuredOutput,
  ToolPolicy
} from "../../contract/domain/AnswerRules.ts"

const leave = { exact: true, nullable: true } as const
const given = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, leave)

const words = {
  disabledDetectors: [
    "Detectors of personal data that are not asked: `email`, `phone`, `ssn`, `credit-card`, `iban`, `ip`, `api-key`, `cpf`, `cnpj`.",
    ["ip"]
  ],
  customPatterns: [
    "Patterns of your own (RE2 syntax). They act under the flags about personal data. A change replaces all of them.",
    [{ name: "ticket", pattern: "TICKET-[0-9]{6}", replacement: "[TICKET_REDACTED]" }]
  ],
  toolPolicy: "Which tools requests may offer and answers may call. A change replaces all of it.",
  keys: "What is different for requests of single API keys. A change replaces all of it.",
  apiKeyId: ["Id of an API key.", "0198c0de-0000-7000-8000-000000000001"],
  disabledGuardrails: ["Guardrails that do not act on its requests.", ["pii"]],
  ownPolicy: "The policy for its tools; null or absent: that of the gateway.",
  structuredOutput: "What is done about answers to requests with a JSON schema. A change replaces all of it.",
  name: ["What `/metrics` counts its findings under.", "ticket"],
  pattern: [
    "A regular expression in RE2 syntax, without look-around and back-references; matches longer than 256 characters are left.",
    "TICKET-[0-9]{6}"
  ],
  replacement: ["What takes the place of what matches.", "[TICKET_REDACTED]"]
} as const

const maxPatterns = 50
const maxKeys = 500

/** The names by which a guardrail is switched off, for a request or for a key. */
export const guardrailNames = [
  "vision-bridge",
  "sanitizer",
  "injection",
  "pii",
  "pii-response",
  "tools",
  "schema"
] as const
export type GuardrailName = (typeof guardrailNames)[number]

const Detector = Schema.Literal("email", "phone", "ssn", "credit-card", "iban", "ip", "api-key", "cpf", "cnpj")

const CustomPattern = Schema.Struct({
  name: field(Schema.String.pipe(Schema.pattern(/^[a-z\d][a-z\d_-]{0,39}$/)), ...words.name),
  pattern: field(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(500)), ...words.pattern),
  replacement: field(Schema.String.pipe(Schema.maxLength(200)), ...words.replacement)
})
export type CustomPatternSource = typeof CustomPattern.Type

const KeyRules = Schema.Struct({
  apiKeyId: field(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(100)), ...words.apiKeyId),
  disabledGuardrails: field(
    Schema.Array(Schema.Literal(...guardrailNames)).pipe(Schema.maxItems(guardrailNames.length)),
    ...words.disabledGuardrails
  ),
  toolPolicy: field(Schema.optionalWith(Schema.NullOr(ToolPolicy), { exact: true }), words.ownPolicy)
})

export const GuardrailSettings = Schema.Struct({
  disabledDetectors: field(Schema.Array(Detector), ...words.disabledDetectors),
  customPatterns: field(Schema.Array(CustomPattern), ...words.customPatterns),
  toolPolicy: field(ToolPolicy, words.toolPolicy),
  structuredOutput: field(StructuredOutput, words.structuredOutput),
  keys: field(Schema.Array(KeyRules), words.keys)
}).annotations({ identifier: "GuardrailSettings" })
export type GuardrailSettings = typeof GuardrailSettings.Type

/** Any part; null leaves a member as it is. */
export const GuardrailSettingsPatch = Schema.Struct({
  disabledDetectors: field(given(Schema.Array(Detector).pipe(Schema.maxItems(9))), ...words.disabledDetectors),
  customPatterns: field(given(Schema.Array(CustomPattern).pipe(Schema.maxItems(maxPatterns))), ...words.customPatterns),
  toolPolicy: field(given(ToolPolicy), words.toolPolicy),
  structuredOutput: field(given(StructuredOutput), words.structuredOutput),
  keys: field(given(Schema.Array(KeyRules).pipe(Schema.maxItems(maxKeys))), words.keys)
})
export type GuardrailSettingsPatch = typeof GuardrailSettingsPatch.Type

export const defaultGuardrailSettings: GuardrailSettings = {
  disabledDetectors: [],
  customPatterns: [],
  toolPolicy: defaultToolPolicy,
  structuredOutput: defaultStructuredOutput,
  keys: []
}

/** Rules for tools and for structured answers (`toolPolicy` and `structuredOutput` of `/api/settings/guardrails`). */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"

const words = {
  mode: [
    "`allow`: only the tools of the list may be offered and called; `deny`: all but those of the list; `off`: all. It acts under the flag `TOOL_POLICY_MODE`. Where it is not `off`, a tool that the request did not offer may not be called either.",
    "off"
  ],
  tools: [
    "Names of tools, or patterns with `*`. A provider's own tools go by their type (`web_search`, `code_execution`).",
    []
  ],
  action: [
    "What happens to a request that offers a tool which it may not: it is refused (`block`), or goes on without the tool (`strip`). An answer that calls such a tool is always blocked.",
    "block"
  ],
  check: ["Whole answers to requests with a JSON schema are checked against it.", false],
  repair: ["An answer that does not match its schema is asked for once more, on the same bill.", false]
} as const

const Pattern = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(128))
const Patterns = Schema.Array(Pattern).pipe(Schema.maxItems(500))

export const ToolPolicy = Schema.Struct({
  mode: field(Schema.Literal("off", "allow", "deny"), ...words.mode),
  tools: field(Patterns, ...words.tools),
  action: field(Schema.Literal("block", "strip"), ...words.action)
}).annotations({ identifier: "ToolPolicy" })
export type ToolPolicy = typeof ToolPolicy.Type

export const StructuredOutput = Schema.Struct({
  check: field(Schema.Boolean, ...words.check),
  repair: field(Schema.Boolean, ...words.repair)
}).annotations({ identifier: "StructuredOutput" })
export type StructuredOutput = typeof StructuredOutput.Type

export const defaultToolPolicy: ToolPolicy = { mode: "off", tools: [], action: "block" }
export const defaultStructuredOutput: StructuredOutput = { check: false, repair: false }

/** What is written for tools that cannot be run here, against what their makers publish of its form. */
import { providerSettingsWithIdSchema } from "@roo-code/types"
import { Ajv2020 } from "ajv/dist/2020.js"
import { assert, describe, it } from "@effect/vitest"
import { applied } from "../../../src/agents/tools/config/Edits.ts"
import { isUnreadable, valueAt } from "../../../src/agents/tools/config/formats/Format.ts"
import { formats } from "../../../src/agents/tools/config/formats/index.ts"
import { crush } from "../../../src/agents/tools/config/tools/Crush.ts"
import { simpleTools } from "../../../src/agents/tools/config/tools/Rows.ts"
import { type Gateway, placesOf, type ToolModel, type ToolSetup } from "../../../src/agents/tools/config/ToolSetup.ts"
import type { Json } from "../../../src/wire/json/Json.ts"

const bare: ToolModel = {
  id: "auto",
  contextLength: null,
  maxOutputTokens: null,
  vision: null,
  reasoning: null,
  price: null
}
const known: ToolModel = {
  id: "openai/gpt-5",
  contextLength: 400_000,
  maxOutputTokens: 128_000,
  vision: true,
  reasoning: true,
  price: { input: 1.25, output: 10, cacheRead: 0.125 }
}

/** The content of the first file of a tool, made where there was none. */
const written = (tool: ToolSetup, model: ToolModel): Json => {
  const gateway: Gateway = {
    origin: "http://127.0.0.1:20128",
    apiKey: "gw_k",
    models: [bare, known],
    model,
    small: bare
  }
  const [file] = tool.plan(
    placesOf("/people/ada", new Map(), () => false),
    gateway
  ).files
  if (file === undefined) return assert.fail("no file")
  const text = applied(formats[file.format], "", file.edits)
  const root = isUnreadable(text) ? text : formats[file.format].parse(text)
  return isUnreadable(root) ? assert.fail(root.message) : root
}

const strict = <A extends object>(properties: A, required: ReadonlyArray<string>) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false
})
const text = { type: "string" }
const count = { type: "integer" }
const usd = { type: "number" }
const flag = { type: "boolean" }
const model = {
  id: text,
  name: text,
  cost_per_1m_in: usd,
  cost_per_1m_out: usd,
  cost_per_1m_in_cached: usd,
  cost_per_1m_out_cached: usd,
  context_window: count,
  default_max_tokens: count,
  can_reason: flag,
  supports_attachments: flag
}
const selected = strict({ model: text, provider: text }, ["model", "provider"])

/** The members that are written here, as https://charm.land/crush.json has them (2026-11): all of a model are required. */
const crushSchema = strict(
  {
    $schema: text,
    models: strict({ large: selected, small: selected }, []),
    providers: {
      type: "object",
      additionalProperties: strict(
        {
          name: text,
          type: { enum: ["openai", "openai-compat", "anthropic", "google"] },
          base_url: text,
          api_key: text,
          discover_models: flag,
          models: { type: "array", items: strict(model, Object.keys(model)) }
        },
        []
      )
    }
  },
  []
)

describe("files of tools that cannot be run here", () => {
  it("Crush: has the members of its published schema", () => {
    const check = new Ajv2020().compile(crushSchema)
    for (const each of [bare, known]) assert.isTrue(check(written(crush, each)), JSON.stringify(check.errors))
    assert.isFalse(check({ providers: { gateway: { models: [{ id: "x" }] } } }))
  })

  it("Roo Code: has the members of its published types", () => {
    const schema = providerSettingsWithIdSchema.strict()
    for (const each of [bare, known]) {
      const profile = valueAt(written(simpleTools.get("roo") ?? assert.fail("no row for Roo Code"), each), [
        "providerProfiles",
        "apiConfigs",
        "gateway"
      ])
      const checked = schema.safeParse(profile)
      assert.isTrue(checked.success, JSON.stringify(checked.error))
    }
    assert.isFalse(schema.safeParse({ apiProvider: "openai", unknownMember: 1 }).success)
  })
})

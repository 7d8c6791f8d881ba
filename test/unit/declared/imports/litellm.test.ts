/** LiteLLM's configuration as a declared document. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { parse } from "yaml"
import { Declared } from "../../../../src/subjects/declared/Document.ts"
import type { ImportOptions } from "../../../../src/subjects/declared/imports/Imported.ts"
import { readLitellm } from "../../../../src/subjects/declared/imports/Litellm.ts"

const options: ImportOptions = {
  providers: new Map(["openai", "anthropic", "azure-openai", "groq"].map((id) => [id, id])),
  withSecrets: false
}

const config = `
model_list:
  - model_name: gpt
    litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_A, rpm: 30 }
  - model_name: gpt
    litellm_params: { model: azure/gpt-4o-eu, api_key: os.environ/AZURE_KEY, api_base: "https://eu.openai.azure.com/", api_version: "2024-02-01", rpm: 10 }
  - model_name: sonnet
    litellm_params: { model: anthropic/claude-sonnet-4-6, api_key: sk-ant-in-the-file }
  - model_name: fast
    litellm_params: { model: groq/llama, api_key: os.environ/GROQ_KEY }
  - model_name: cellar
    litellm_params: { model: hosted_vllm/qwen, api_base: "http://10.0.0.5:8000/v1" }
  - model_name: "openai/*"
    litellm_params: { model: "openai/*", api_key: os.environ/OPENAI_A }
  - model_name: strange
    litellm_params: { model: sagemaker/x }
  - model_name: claude
litellm_settings:
  drop_params: true
  fallbacks: [{ gpt: [sonnet, nowhere] }, { sonnet: [gpt] }]
router_settings:
  routing_strategy: simple-shuffle
  model_group_alias: { best: gpt, quick: fast, openai: fast }
general_settings:
  master_key: sk-master
`

describe("a configuration of LiteLLM", () => {
  const { document, rows } = readLitellm(parse(config), options)

  it("becomes nodes, connections, combos and aliases", () => {
    assert.deepStrictEqual(document, {
      version: 1,
      nodes: [{ prefix: "local", name: "local", type: "openai-compatible", baseUrl: "http://10.0.0.5:8000/v1" }],
      connections: [
        { provider: "openai", name: "litellm", apiKey: "${OPENAI_A}" },
        {
          provider: "azure-openai",
          name: "litellm",
          apiKey: "${AZURE_KEY}",
          baseUrl: "https://eu.openai.azure.com",
          models: ["gpt-4o-eu"]
        },
        { provider: "anthropic", name: "litellm", apiKey: "${ANTHROPIC_API_KEY}", models: ["claude-sonnet-4-6"] },
        { provider: "groq", name: "litellm", apiKey: "${GROQ_KEY}", models: ["llama"] },
        { provider: "local", name: "litellm", models: ["qwen"] }
      ],
      combos: [
        {
          name: "gpt pool",
          strategy: "weighted",
          targets: [
            { model: "openai/gpt-4o", connection: "openai/litellm", weight: 30 },
            { model: "azure-openai/gpt-4o-eu", connection: "azure-openai/litellm", weight: 10 }
          ]
        },
        {
          name: "gpt",
          strategy: "priority",
          targets: [{ model: "combo:gpt pool" }, { model: "anthropic/claude-sonnet-4-6" }]
        },
        {
          name: "sonnet",
          strategy: "priority",
          targets: [
            { model: "anthropic/claude-sonnet-4-6", connection: "anthropic/litellm" },
            { model: "combo:gpt pool" }
          ]
        },
        { name: "best", strategy: "priority", targets: [{ model: "combo:gpt" }] }
      ],
      aliases: { fast: "groq/llama", cellar: "local/qwen", quick: "groq/llama" }
    })
    Schema.decodeUnknownSync(Declared)(document)
  })

  it("says what was changed and left out, and shows no key of the file", () => {
    const told = rows.filter(({ result }) => result !== "taken").map(({ result, what }) => `${result}: ${what}`)
    assert.sameMembers(told, [
      "changed: model_list.1: gpt",
      "changed: model_list.2: sonnet",
      "changed: model_list.5: openai/*",
      "left out: model_list.6: strange",
      "left out: model_list.7: claude",
      "left out: fallback gpt -> nowhere",
      "left out: model group openai",
      "left out: litellm_settings.drop_params",
      "left out: general_settings.master_key"
    ])
    assert.notInclude(JSON.stringify([document, rows]), "sk-")
  })

  it("is read with its keys where they are asked for", () => {
    const { document: open } = readLitellm(parse(config), { ...options, withSecrets: true })
    assert.include(JSON.stringify(open), "sk-ant-in-the-file")
  })

  it("has prices of its own", () => {
    const { document: priced, rows: told } = readLitellm(
      parse(`
model_list:
  - model_name: a
    litellm_params: { model: openai/a, input_cost_per_token: 1.5e-7, output_cost_per_token: "6e-07" }
    model_info: { input_cost_per_token: 9, cache_read_input_token_cost: 0.000000075 }
  - model_name: a2
    litellm_params: { model: openai/a }
    model_info: { input_cost_per_token: 1, output_cost_per_token: 1 }
  - model_name: half
    litellm_params: { model: openai/half }
    model_info: { input_cost_per_token: 0.000001 }
  - model_name: vectors
    litellm_params: { model: openai/vectors }
    model_info: { mode: embedding, input_cost_per_token: 0.00000002 }
  - model_name: ears
    litellm_params: { model: groq/ears }
    model_info: { mode: audio_transcription, input_cost_per_second: 0.0001 }
  - model_name: machine
    litellm_params: { model: groq/machine }
    model_info: { input_cost_per_second: 0.0001 }
  - model_name: "anthropic/*"
    litellm_params: { model: "anthropic/*", input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 }
`),
      options
    )
    assert.deepStrictEqual(priced["prices"], {
      openai: {
        a: { input: 0.15, output: 0.6, cached: 0.075 },
        vectors: { input: 0.02, output: 0 }
      },
      groq: { ears: { input: 0, output: 0, perSecond: 0.0001 } }
    })
    const why = Object.fromEntries(told.map(({ reason, what }) => [what, reason]))
    assert.match(why["model_list.1: a2"] ?? "", /another one above/)
    assert.match(why["model_list.2: half"] ?? "", /output_cost_per_token is missing/)
    assert.match(why["model_list.6: anthropic/*"] ?? "", /it is of no model/)
    Schema.decodeUnknownSync(Declared)({ prices: priced["prices"] })
  })

  it("has prices by the length of the prompt, by service tier and by kind of token, and names those without a place", () => {
    const { document: priced, rows: told } = readLitellm(
      parse(`
model_list:
  - model_name: long
    litellm_params:
      model: openai/long
      input_cost_per_token: 1.25e-6
      output_cost_per_token: 1.0e-5
      input_cost_per_token_above_200k_tokens: 2.5e-6
      output_cost_per_token_above_200k_tokens: 1.5e-5
      cache_read_input_token_cost: 1.25e-7
      cache_read_input_token_cost_above_200k_tokens: 2.5e-7
      input_cost_per_token_above_272k_tokens_priority: 5.0e-6
      input_cost_per_token_priority: 4.0e-6
      output_cost_per_token_batches: 5.0e-6
      input_cost_per_token_flex: 6.0e-7
      cache_creation_input_token_cost_above_1hr: 2.0e-6
      cache_creation_input_token_cost_above_1hr_above_200k_tokens: 4.0e-6
  - model_name: ears
    litellm_params: { model: openai/ears }
    model_info:
      input_cost_per_token: 1.0e-6
      output_cost_per_token: 2.0e-6
      input_cost_per_audio_token: 3.0e-6
      output_cost_per_audio_token: 2.0e-5
      output_cost_per_image_token: 4.0e-5
      input_cost_per_moon_token: 1
      constructor_cost: 1
      search_context_cost_per_query: { search_context_size_low: 0.03 }
  - model_name: ranges
    litellm_params: { model: groq/ranges }
    model_info:
      tiered_pricing:
        - { range: [0, 32000], input_cost_per_token: 1.0e-6, output_cost_per_token: 5.0e-6 }
        - { range: [32000, 128000], input_cost_per_token: 2.0e-6, output_cost_per_token: 8.0e-6 }
`),
      options
    )
    assert.deepStrictEqual(priced["prices"], {
      openai: {
        long: {
          input: 1.25,
          output: 10,
          cached: 0.125,
          cacheCreation1h: 2,
          tiers: [{ above: 200_000, input: 2.5, output: 15, cached: 0.25, cacheCreation1h: 4 }],
          serviceTiers: {
            priority: { input: 4, tiers: [{ above: 272_000, input: 5 }] },
            batch: { output: 5 },
            flex: { input: 0.6 }
          }
        },
        ears: { input: 1, output: 2, inputAudio: 3, outputAudio: 20, outputImage: 40 }
      },
      groq: { ranges: { input: 1, output: 5, tiers: [{ above: 32_000, input: 2, output: 8 }] } }
    })
    const why = Object.fromEntries(told.map(({ reason, what }) => [what, reason]))
    assert.strictEqual(
      why["model_list.1: ears"],
      "Not taken of its price: input_cost_per_moon_token, constructor_cost, search_context_cost_per_query."
    )
  })

  it("has teams whose budgets become those of API keys, and names every other budget", () => {
    const { document: limited, rows: told } = readLitellm(
      parse(`
litellm_settings:
  max_budget: 100
  budget_duration: 30d
  default_team_settings:
    - { team_id: red, max_budget: 20, budget_duration: 7d }
    - { team_id: forever, max_budget: 20 }
    - { team_id: red, max_budget: 5, budget_duration: 1d }
    - { team_id: free }
router_settings:
  provider_budget_config: { openai: { budget_limit: 1, time_period: 1d } }
teams:
  - { team_alias: "blue \${X}", max_budget: 3, budget_duration: 1mo }
`),
      options
    )
    assert.deepStrictEqual(limited["keys"], [{ name: "red" }, { name: "blue $${X}" }])
    assert.deepStrictEqual(limited["budgets"], [
      { key: "red", weeklyLimitUsd: 20 },
      { key: "blue $${X}", monthlyLimitUsd: 3 }
    ])
    Schema.decodeUnknownSync(Declared)(limited)
    const lines = told.map(({ reason, result, what }) => `${result}: ${what}. ${reason}`).join("\n")
    for (const words of [
      /left out: team forever: max_budget. 20 USD with no budget_duration/,
      /left out: team red: max_budget. There is another team/,
      /left out: litellm_settings.max_budget. .*gateway budget set/,
      /left out: router_settings.provider_budget_config. .*quota/,
      /left out: teams. Of teams only budgets/
    ]) {
      assert.match(lines, words)
    }
  })

  it("may be anything", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), (any, entry) => {
        for (const given of [any, { model_list: [entry] }, { model_list: any, router_settings: entry }]) {
          readLitellm(given as never, options)
        }
      }),
      { seed: 17, numRuns: 300 }
    )
  })
})

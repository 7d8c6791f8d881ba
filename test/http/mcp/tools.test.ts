/** Every tool is called through the official client with a good and a bad input. The client compares answers with the tools' own schemas. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import { tavilyAnswer } from "../../support/Searches.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { call, type Called, connect, type Connected } from "./Client.ts"

interface Given {
  readonly good: Readonly<Record<string, unknown>>
  readonly check: (answer: Called["structured"]) => void
  readonly bad: Readonly<Record<string, unknown>>
  readonly reason: RegExp
}

const given = (good: Given["good"], check: Given["check"], bad: Given["bad"], reason: Given["reason"]): Given => ({
  good,
  check,
  bad,
  reason
})

const unknownInput = { nonsense: 1 }
const noInput = /'nonsense' is not an input of this tool/
const unknownMember = /nonsense: is not a known field/

const tables = (requestId: string, connectionId: string, keyId: string): Readonly<Record<string, Given>> => ({
  get_health: given({}, ({ status }) => assert.strictEqual(status, "ok"), unknownInput, noInput),
  get_provider_metrics: given(
    { windowMs: 60_000 },
    ({ windowMs }) => assert.strictEqual(windowMs, 60_000),
    { windowMs: 1 },
    /windowMs/
  ),
  explain_route: given(
    { requestId },
    ({ decision }) => assert.strictEqual(decision.requestId, requestId),
    {},
    /Give 'requestId', or 'model'/
  ),
  simulate_route: given(
    { model: "fast", requests: 10, seed: 1 },
    ({ simulation }) => assert.isObject(simulation),
    { model: "fast", requests: -1 },
    /requests/
  ),
  best_combo_for_task: given(
    { task: "Write a poem" },
    ({ best, combos }) => {
      assert.strictEqual(best.combo, "fast")
      assert.strictEqual(best.first, "up/m")
      assert.lengthOf(combos, 1)
    },
    { task: 5 },
    /task/
  ),
  list_combos: given({}, ({ combos }) => assert.strictEqual(combos[0].id, "fast"), { limit: 0 }, /limit/),
  get_combo_metrics: given(
    { combo: "fast" },
    (metrics) => assert.deepInclude(metrics, { requests: 1, completed: 1, failed: 0 }),
    { combo: "slow" },
    /There is no combo 'slow'/
  ),
  switch_combo: given(
    { id: "fast", isActive: true },
    ({ combo }) => assert.isTrue(combo.isActive),
    { id: "fast" },
    /'isActive' is missing/
  ),
  set_routing_strategy: given(
    { id: "fast", strategy: "round-robin" },
    ({ combo }) => assert.strictEqual(combo.strategy, "round-robin"),
    { id: "fast", strategy: "best" },
    /strategy/
  ),
  set_resilience_profile: given(
    { retry: { maxRetries: 1 } },
    ({ retry }) => assert.strictEqual(retry.maxRetries, 1),
    { retry: { maxRetries: "many" } },
    /retry.maxRetries/
  ),
  check_quota: given(
    { connectionId },
    ({ connections }) => assert.strictEqual(connections[0].provider, "up"),
    { provider: "none" },
    /There is no connection of 'none'/
  ),
  cost_report: given({}, (report) => assert.isArray(report.byProvider), { range: "always" }, /range/),
  get_session_snapshot: given({}, ({ sessions }) => assert.isArray(sessions), unknownInput, noInput),
  list_models_catalog: given(
    { query: "UP m", limit: 5 },
    ({ models }) => assert.strictEqual(models[0].id, "up/m"),
    { cursor: "nothing" },
    /'cursor' is not one/
  ),
  route_request: given(
    { model: "up/m", prompt: "Hello" },
    (answer) => {
      assert.strictEqual(answer.content, "Hello.")
      assert.strictEqual(answer.usage.outputTokens, 3)
    },
    { model: "none/at-all", prompt: "Hello" },
    /none\/at-all/
  ),
  test_combo: given(
    { combo: "fast" },
    ({ targets }) => assert.deepInclude(targets[0], { target: "up/m", ok: true, error: null }),
    { combo: "slow" },
    /There is no combo 'slow'/
  ),
  web_search: given(
    { query: "gateway", max_results: 1 },
    ({ results }) => assert.strictEqual(results[0].url, "https://example.com/gateways"),
    { query: "gateway", max_results: 1_000 },
    /max_results/
  ),
  set_budget_guard: given(
    { apiKeyId: keyId, dailyLimitUsd: 5 },
    (answer) => assert.include(JSON.stringify(answer), keyId),
    { apiKeyId: keyId, dailyLimitUsd: -5 },
    /dailyLimitUsd/
  ),
  cache_stats: given({}, ({ semanticCache }) => assert.isFalse(semanticCache.enabled), unknownInput, noInput),
  cache_flush: given({}, ({ cleared }) => assert.isNumber(cleared), unknownInput, noInput),
  compression_status: given({}, ({ enabled }) => assert.isFalse(enabled), unknownInput, noInput),
  list_compression_combos: given({}, (answer) => assert.isArray(answer.combos), unknownInput, noInput),
  compression_combo_stats: given({ days: 7 }, ({ days }) => assert.strictEqual(days, 7), { days: 0 }, /days/),
  compression_configure: given(
    { enabled: true, engine: "rtk" },
    ({ engine }) => assert.strictEqual(engine, "rtk"),
    { engine: "magic" },
    /engine/
  ),
  set_compression_engine: given(
    { engine: "caveman" },
    (settings) => assert.deepInclude(settings, { engine: "caveman", enabled: true }),
    { engine: "magic" },
    /engine/
  ),
  memory_add: given(
    { content: "I use Helix.", key: "preference:editor" },
    ({ memory }) => assert.strictEqual(memory.key, "preference:editor"),
    { content: "" },
    /content/
  ),
  memory_search: given(
    { q: "Helix" },
    ({ memories }) => assert.strictEqual(memories[0].content, "I use Helix."),
    { type: "odd" },
    /type/
  ),
  memory_clear: given(
    { apiKeyId: "none" },
    ({ removed }) => assert.strictEqual(removed, 1),
    {},
    /'apiKeyId' is missing/
  ),
  agent_skills_list: given(
    { category: "cli" },
    ({ skills }) => assert.lengthOf(skills, 20),
    { category: "both" },
    /category/
  ),
  agent_skills_get: given(
    { id: "gw-providers" },
    ({ page, skill }) => {
      assert.strictEqual(skill.id, "gw-providers")
      assert.include(page, "POST /api/providers")
    },
    { id: "gw-provider" },
    /Did you mean 'gw-providers'/
  ),
  agent_skills_coverage: given({}, ({ totalSkills }) => assert.strictEqual(totalSkills, 42), unknownInput, noInput),
  tool_search: given(
    { query: "quota left" },
    ({ tools }) => assert.strictEqual(tools[0].name, "gateway_check_quota"),
    unknownInput,
    unknownMember
  )
})

const room = (run: (gateway: TestGateway.TestGateway, upstream: Fake.FakeUpstream) => Promise<void>) =>
  Effect.gen(function* () {
    const upstream = yield* Fake.start
    upstream.always(Fake.json(Fake.chatCompletion({ text: "Hello." })))
    const gateway = yield* TestGateway.start()
    yield* Effect.promise(() => run(gateway, upstream))
  })

describe("the tools", () => {
  it.scopedLive("each take a good input and name what is wrong with a bad one", () =>
    Effect.gen(function* () {
      const tavily = yield* Fake.start
      tavily.always(Fake.json(tavilyAnswer))
      yield* room(async (gateway, upstream) => {
        const { id: connectionId } = await gateway.connect("up", upstream, "chat")
        await gateway.manage("POST", "/api/providers", {
          provider: "tavily",
          name: "tavily",
          apiKey: "tavily-key",
          baseUrl: tavily.origin
        })
        await gateway.manage("POST", "/api/combos", {
          id: "fast",
          name: "fast",
          strategy: "priority",
          targets: [{ model: "up/m" }]
        })
        const { key } = await gateway.manage("POST", "/api/keys", { name: "one" })
        const asked = await gateway.post("/v1/chat/completions", {
          model: "fast",
          messages: [{ role: "user", content: "Hi" }]
        })
        const requestId = asked.headers.get("x-gateway-request-id") ?? ""
        await gateway.usageRow(requestId)
        // With the output schemas, against which the client checks every answer.
        const connected = await connect(gateway.url, TestGateway.adminKey, "/mcp?schemas=full")
        const { tools } = await connected.client.listTools()
        assert.isDefined(tools.find(({ name }) => name === "gateway_list_combos")?.outputSchema)
        const table = tables(requestId, connectionId, key.id)
        const others = ["ccr_retrieve", "skills_execute"]
        assert.sameMembers(
          tools.map(({ name }) => name),
          [...Object.keys(table), ...others].map((name) => `gateway_${name}`)
        )
        for (const [name, { bad, check, good, reason }] of Object.entries(table)) {
          const answer = await call(connected, name, good)
          assert.isFalse(answer.isError, `${name}: ${answer.text}`)
          check(answer.structured)
          const refused = await call(connected, name, bad)
          assert.isTrue(refused.isError, name)
          assert.match(refused.text, reason, name)
          // Some inputs are right in form and name what is not there.
          if (!/There is no|not found|unknown|does not exist|No combo/i.test(refused.text)) {
            assert.include(refused.text, `gateway://tools/gateway_${name}`)
          }
          assert.isBelow(refused.text.length, 1_100, name)
        }
        const none = await call(connected, "ccr_retrieve", { id: "0".repeat(16) })
        assert.isTrue(none.isError)
        assert.notMatch(none.text, /The gateway failed/)
      })
    })
  )

  it.scopedLive("show and change a key's own memories only", () =>
    room(async ({ manage, url }) => {
      const scopes = ["read:memory", "write:memory"]
      const one = await manage("POST", "/api/keys", { name: "one", scopes })
      const two = await manage("POST", "/api/keys", { name: "two", scopes })
      const connectedAs = async (secret: string): Promise<Connected> => connect(url, secret)
      const first = await connectedAs(one.secret)
      const second = await connectedAs(two.secret)
      const added = await call(first, "memory_add", { content: "I use Helix." })
      assert.strictEqual(added.structured.memory.apiKeyId, one.key.id)
      assert.lengthOf((await call(first, "memory_search")).structured.memories, 1)
      assert.lengthOf((await call(second, "memory_search")).structured.memories, 0)
      const theirs = await call(second, "memory_search", { apiKeyId: one.key.id })
      assert.match(theirs.text, /its own memories only/)
      assert.match((await call(second, "memory_clear", { apiKeyId: one.key.id })).text, /its own memories only/)
      assert.strictEqual((await call(second, "memory_clear")).structured.removed, 0)
      assert.strictEqual((await call(first, "memory_clear")).structured.removed, 1)
    })
  )

  it.scopedLive("say which of them read, and which remove", () =>
    room(async ({ url }) => {
      const { client } = await connect(url)
      const { tools } = await client.listTools()
      const named = (hint: "readOnlyHint" | "destructiveHint") =>
        tools.filter(({ annotations }) => annotations?.[hint] === true).map(({ name }) => name)
      assert.sameMembers(named("destructiveHint"), [
        "gateway_cache_flush",
        "gateway_memory_clear",
        "gateway_skills_execute"
      ])
      assert.notIncludeMembers(named("readOnlyHint"), [
        "gateway_switch_combo",
        "gateway_set_budget_guard",
        "gateway_route_request",
        "gateway_memory_add"
      ])
      for (const { description, inputSchema, name } of tools) {
        assert.isNotEmpty(description, name)
        assert.strictEqual(inputSchema.type, "object", name)
      }
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { agents } from "../../../src/agents/bridge/agents/Agents.ts"
import { type AgentRequest, decide, isAnswerable, mappingOf, readMapping } from "../../../src/agents/bridge/Decide.ts"
import { problemInMappings } from "../../../src/agents/bridge/Bridge.ts"

const mappings = [
  readMapping({ sourceModel: "claude-*", targetModel: "any" }),
  readMapping({ sourceModel: "claude-haiku", targetModel: "small" })
]

const asked: AgentRequest = {
  host: "api.anthropic.com",
  method: "POST",
  path: "/v1/messages?beta=true",
  model: "claude-opus"
}

const decided = (over: Partial<AgentRequest>) => {
  const decision = decide({ ...asked, ...over }, (id) => (id === "claude-code" ? mappings : []))
  switch (decision._tag) {
    case "Target":
      return `${decision.agent.id}: ${decision.sourceModel} > ${decision.targetModel}`
    case "Passthrough":
      return decision.reason
  }
}

describe("what is done with a request of an agent", () => {
  it("is answered by the model that is mapped", () => {
    assert.strictEqual(decided({}), "claude-code: claude-opus > any")
    assert.strictEqual(decided({ host: "API.Anthropic.com" }), "claude-code: claude-opus > any")
    assert.strictEqual(decided({ path: "/v1/messages/count_tokens" }), "claude-code: claude-opus > any")
  })

  it("prefers a name to a pattern, and the first of several patterns", () => {
    assert.strictEqual(mappingOf(mappings, "claude-haiku")?.targetModel, "small")
    const two = ["a*", "*"].map((sourceModel) => readMapping({ sourceModel, targetModel: sourceModel }))
    assert.strictEqual(mappingOf(two, "ab")?.targetModel, "a*")
    assert.strictEqual(mappingOf(two, "b")?.targetModel, "*")
  })

  it("goes on where no mapping, no endpoint or no agent is for it", () => {
    assert.strictEqual(decided({ model: "gpt-5" }), "not_mapped")
    assert.strictEqual(decided({ model: null }), "not_mapped")
    assert.strictEqual(decided({ path: "/v1/organizations" }), "no_endpoint")
    assert.strictEqual(decided({ method: "GET" }), "no_endpoint")
    assert.strictEqual(decided({ host: "api2.cursor.sh" }), "no_endpoint")
    assert.strictEqual(decided({ host: "example.org" }), "no_agent")
    assert.strictEqual(decided({ host: "opencode.ai", path: "/zen/v1/messages" }), "not_mapped")
  })
})

describe("the nine agents", () => {
  it("have the ids of the API, and hosts of their own", () => {
    const ids = ["antigravity", "kiro", "copilot", "codex", "cursor", "zed", "claude-code", "open-code", "trae"]
    assert.deepStrictEqual(
      agents.map(({ id }) => id),
      ids
    )
    const hosts = agents.flatMap((agent) => agent.hosts)
    assert.strictEqual(new Set(hosts).size, hosts.length)
    for (const host of hosts) assert.match(host, /^[a-z0-9.-]+$/)
  })

  it("can be answered where their wire is known, whether or not that was seen", () => {
    for (const agent of agents) {
      const { endpointPatterns, id, riskNotice, setup, viability, wire } = agent
      const path = endpointPatterns[0]?.replaceAll("*", "x") ?? "/"
      assert.strictEqual(isAnswerable(agent, "POST", path), wire !== null, id)
      assert.strictEqual(wire === null, viability === "investigating", id)
      assert.isAbove(riskNotice.length, 20)
      assert.isAbove(setup.steps.length, 2)
    }
    assert.isTrue(agents.some(({ viability, wire }) => wire !== null && viability === "recorded"))
  })
})

describe("settings of the bridge", () => {
  it("are refused with the field that is wrong", () => {
    const mapping = { sourceModel: "a", targetModel: "b" }
    assert.isNull(problemInMappings([mapping]))
    assert.strictEqual(problemInMappings([mapping, mapping])?.field, "mappings[1].sourceModel")
    assert.strictEqual(problemInMappings([{ ...mapping, sourceModel: "" }])?.field, "mappings[0].sourceModel")
    assert.strictEqual(problemInMappings([{ ...mapping, targetModel: " " }])?.field, "mappings[0].targetModel")
    const many = Array.from({ length: 201 }, (_, at) => ({ sourceModel: `m${at}`, targetModel: "t" }))
    assert.strictEqual(problemInMappings(many)?.field, "mappings")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { agents } from "../../../src/bridge/agents/Agents.ts"
import {
  type AgentRequest,
  bypassing,
  decide,
  defaultBypass,
  mappingOf,
  readMapping
} from "../../../src/bridge/Decide.ts"
import { globOf } from "../../../src/bridge/Globs.ts"
import { problemInMappings, problemInPatterns } from "../../../src/bridge/Bridge.ts"

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

const decided = (over: Partial<AgentRequest>, bypass: ReadonlyArray<string> = []) => {
  const decision = decide({ ...asked, ...over }, bypass.map(globOf), (id) => (id === "claude-code" ? mappings : []))
  switch (decision._tag) {
    case "Bypass":
      return decision.pattern
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

  it("is not even looked at where its host is bypassed", () => {
    assert.strictEqual(decided({}, ["*.anthropic.com"]), "*.anthropic.com")
    assert.strictEqual(decided({ host: "example.org" }, ["*.org"]), "*.org")
  })

  it("never decrypts banks, governments and who signs people in", () => {
    const globs = defaultBypass.map(globOf)
    for (const host of [
      "login.bank.example",
      "x.bank",
      "irs.gov",
      "service.gov.uk",
      "okta.com",
      "a.okta.com",
      "b.auth0.com"
    ])
      assert.isNotNull(bypassing(globs, host), host)
    for (const host of ["bankofx.com", "governor.com", "notokta.com", ...agents.flatMap(({ hosts }) => hosts)])
      assert.isNull(bypassing(globs, host), host)
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

  it("are routed only where their wire stands alone", () => {
    for (const { endpointPatterns, id, riskNotice, setup, viability, wire, wrapper } of agents) {
      if (viability === "routed") assert.isTrue(wire !== null && wrapper === null && endpointPatterns.length > 0, id)
      assert.strictEqual(wire === null, viability === "investigating", id)
      assert.isAbove(riskNotice.length, 20)
      assert.isAbove(setup.steps.length, 2)
    }
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
    assert.isNull(problemInPatterns(["*.example.org"]))
    assert.strictEqual(problemInPatterns(["a", "*********"])?.field, "patterns[1]")
    assert.strictEqual(problemInPatterns(Array.from({ length: 501 }, () => "a"))?.field, "patterns")
  })
})

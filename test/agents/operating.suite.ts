/**
 * Agents that operate the gateway: Claude Code and Codex call its tools over MCP, and Claude Code follows the gateway's skills. The scripted
 * model uses what it has read, so a skill that is wrong fails here.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Fake from "../support/FakeUpstream.ts"
import { type Agent, agents } from "./Agents.ts"
import { ensure } from "./Cache.ts"
import { chosen } from "./Chosen.ts"
import * as Conversation from "./Conversation.ts"
import * as Gateway from "./Gateway.ts"
import * as Place from "./Place.ts"
import { wires } from "./upstream/All.ts"

const limitMs = 120_000
const bin = fileURLToPath(new URL("../../bin/gateway", import.meta.url))

const scope = Effect.runSync(Scope.make())
const started = <A>(effect: Effect.Effect<A, never, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Scope.extend(effect, scope))
let gateway: Gateway.Gateway
let upstream: Fake.FakeUpstream
const models = new Map<string, string>()

beforeAll(async () => {
  gateway = await started(Gateway.start)
  upstream = await started(Fake.start)
  for (const wire of wires.filter(({ label }) => label === "messages" || label === "chat"))
    models.set(wire.label, await gateway.addUpstream(wire, upstream.origin, `up-${wire.label}`))
})

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const agentOf = (name: string): Agent => agents.find((each) => each.name === name) ?? assert.fail(name)
const wireOf = (label: string) => wires.find((each) => each.label === label) ?? assert.fail(label)
const last = (results: ReadonlyArray<string>): string => results.at(-1) ?? ""

const managed = async (path: string): Promise<Record<string, unknown>> => {
  const response = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${Gateway.adminKey}` } })
  assert.strictEqual(response.status, 200, path)
  return (await response.json()) as Record<string, unknown>
}

/** The agent with the gateway as its MCP server `gateway`. */
const overMcp = (agent: Agent, transport: "http" | "stdio"): Agent => {
  const url = () => `${gateway.url}/mcp`
  const args = () => ["--mcp", "--url", gateway.url]
  const env = () => ({ GATEWAY_API_KEY: Gateway.adminKey })
  if (agent.name === "claude") {
    const server = () =>
      transport === "http"
        ? { type: "http", url: url(), headers: { Authorization: `Bearer ${Gateway.adminKey}` } }
        : { type: "stdio", command: bin, args: args(), env: env() }
    return {
      ...agent,
      launch: (setting) => {
        const launch = agent.launch(setting)
        const config = JSON.stringify({ mcpServers: { gateway: server() } })
        return { ...launch, args: [...launch.args, "--mcp-config", config, "--strict-mcp-config"] }
      }
    }
  }
  return {
    ...agent,
    launch: (setting) => {
      const launch = agent.launch(setting)
      const file = "codex/config.toml"
      const lines =
        transport === "http"
          ? [`url = ${JSON.stringify(url())}`, 'bearer_token_env_var = "GATEWAY_ADMIN"']
          : [
              `command = ${JSON.stringify(bin)}`,
              `args = ${JSON.stringify(args())}`,
              `env = { GATEWAY_API_KEY = ${JSON.stringify(Gateway.adminKey)} }`
            ]
      const config = [launch.files?.[file] ?? "", "[mcp_servers.gateway]", ...lines].join("\n")
      return {
        ...launch,
        env: { ...launch.env, GATEWAY_ADMIN: Gateway.adminKey },
        files: { ...launch.files, [file]: config }
      }
    }
  }
}

const tool = (name: string): string => `mcp__gateway__gateway_${name}`

for (const name of ["claude", "codex"].filter(chosen("AGENTS_ONLY"))) {
  describe(`${name} with the gateway as MCP server`, () => {
    beforeAll(() => void ensure(agentOf(name).package), 600_000)

    it.each(["http", "stdio"] as const)("asks it what there is and why (%s)", async (transport) => {
      const agent = overMcp(agentOf(name), transport)
      const label = name === "claude" ? "messages" : "chat"
      const model = models.get(label) ?? ""
      const place = Place.make(`mcp-${name}-${transport}`)
      const nonce = `m${process.pid}${name}${transport}`
      const lastWords = `Done with ${nonce}.`
      const conversation = Conversation.steps(wireOf(label), nonce, [
        () => ({ text: "I ask for the models.", use: { tool: tool("list_models_catalog"), args: {} } }),
        () => ({ text: "Now the way of one.", use: { tool: tool("explain_route"), args: { model } } }),
        () => ({ text: "And a wrong question.", use: { tool: tool("explain_route"), args: { model: 5 } } }),
        () => ({ text: lastWords, use: null })
      ])
      upstream.always(conversation.answer)
      const setting = {
        root: gateway.url,
        apiKey: gateway.apiKey,
        model,
        prompt: `Which models are there, and where does ${model} go? ${nonce}`,
        retries: false
      }
      const ran = await place.run(agent, setting, limitMs)
      const results = conversation.main.at(-1)?.results ?? []
      const said = `${ran.code} ${ran.stdout.slice(-2_500)} ${ran.stderr.slice(-1_500)} ${conversation.problems.join("; ")} asides ${conversation.asides()}\n${gateway.log().slice(-1_500)}`
      assert.strictEqual(ran.code, 0, said)
      assert.lengthOf(results, 3, said)
      assert.include(results[0], model, said)
      assert.include(results[1], label, said)
      assert.match(results[2] ?? "", /model/, said)
      assert.include(ran.stdout, lastWords, said)
      place.leave(() => ({ ran, conversation }))
    })
  })
}

/** The first example below the heading of an endpoint. */
const example = (skill: string, endpoint: string): string => {
  const [, section = ""] = skill.split(`### ${endpoint}\n`)
  return /```sh\n(.*?)\n```/s.exec(section)?.[1] ?? `echo 'no example of ${endpoint}'; false`
}

/** The example with fields of its body changed, as a reader does. */
const filled = (command: string, fields: Readonly<Record<string, unknown>>): string =>
  command.replace(/-d '(\{.*\})'/s, (_, body: string) => {
    const kept = JSON.parse(body) as Record<string, unknown>
    return `-d '${JSON.stringify({ ...kept, ...fields })}'`
  })

const rawUrl = (list: string, id: string): string =>
  new RegExp(`"id":"${id}"[^}]*"rawUrl":"([^"]+)"`).exec(list)?.[1] ?? `no address of ${id}`

/** Reads the section of an endpoint: Claude Code shows no more than 30,000 characters of what a command prints. */
const part = (url: string, endpoint: string): string =>
  `curl -sS '${url}' | awk '/^##/ { shown = $0 == "### ${endpoint}" } shown'`

describe.runIf(chosen("AGENTS_ONLY")("claude"))("claude with the gateway's skills", () => {
  beforeAll(() => void ensure(agentOf("claude").package), 600_000)

  it("adds a provider, makes a combo and asks it", async () => {
    const place = Place.make("skills-claude")
    const nonce = `s${process.pid}`
    const wire = wireOf("messages")
    const other = await started(Fake.start)
    other.always(Fake.json(Fake.chatCompletion({ text: `The answer of ${nonce}.` })))
    const run = (command: string) => ({
      tool: "Bash",
      args: {
        command: `export GATEWAY_URL=${gateway.url} GATEWAY_ADMIN_KEY=${Gateway.adminKey} GATEWAY_API_KEY=${gateway.apiKey}\n${command}`
      }
    })
    const conversation = Conversation.steps(wire, nonce, [
      () => ({ text: "What can the gateway do?", use: run(`curl -sS "$GATEWAY_URL/api/agent-skills"`) }),
      (results) => ({ text: "I read.", use: run(`curl -sS '${rawUrl(last(results), "gw-providers")}'`) }),
      (results) => ({
        text: "A node first.",
        use: run(
          filled(example(last(results), "POST /api/provider-nodes"), {
            name: nonce,
            prefix: nonce,
            baseUrl: `${other.origin}/v1`
          })
        )
      }),
      (results) => ({
        text: "Then a connection.",
        use: run(
          filled(example(results[1] ?? "", "POST /api/providers"), {
            provider: nonce,
            name: "made by an agent",
            models: ["small"]
          })
        )
      }),
      (results) => ({
        text: "I read about combos.",
        use: run(part(rawUrl(results[0] ?? "", "gw-combos-routing"), "POST /api/combos"))
      }),
      (results) => ({
        text: "I make one.",
        use: run(
          filled(example(last(results), "POST /api/combos"), {
            id: nonce,
            name: `combo-${nonce}`,
            strategy: "priority",
            targets: [{ model: `${nonce}/small` }]
          })
        )
      }),
      (results) => ({
        text: "How do I ask?",
        use: run(part(rawUrl(results[0] ?? "", "gw-inference"), "POST /v1/chat/completions"))
      }),
      (results) => ({
        text: "I ask.",
        use: run(filled(example(last(results), "POST /v1/chat/completions"), { model: `combo-${nonce}` }))
      }),
      () => ({ text: `Done with ${nonce}.`, use: null })
    ])
    upstream.always(conversation.answer)
    const setting = {
      root: gateway.url,
      apiKey: gateway.apiKey,
      model: models.get("messages") ?? "",
      prompt: `Add the server at ${other.origin} to the gateway at ${gateway.url}, make a combo with it, and ask it. ${nonce}`,
      retries: false
    }
    const ran = await place.run(agentOf("claude"), setting, limitMs)
    const results = conversation.main.at(-1)?.results ?? []
    const said = `${ran.code} ${ran.stdout.slice(-1_500)} ${ran.stderr.slice(-1_500)} ${conversation.problems.join("; ")}\n${results.map((each) => each.slice(0, 600)).join("\n--\n")}`
    assert.strictEqual(ran.code, 0, said)
    assert.include(last(results), `The answer of ${nonce}.`, said)
    assert.lengthOf(other.requests, 1, said)
    const { combos } = await managed("/api/combos")
    assert.include(JSON.stringify(combos), `combo-${nonce}`)
    place.leave(() => ({ ran, results }))
  })
})

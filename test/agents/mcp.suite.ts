/**
 * The commands of docs/mcp.md by which Claude Code and Codex are given the gateway as an MCP server, run as they are printed: over HTTP and over stdio, without
 * a key, with an ordinary key and with an admin key. Each client then says that it is connected, and calls a tool.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Fake from "../support/FakeUpstream.ts"
import * as Program from "../support/Program.ts"
import * as TestGateway from "../support/TestGateway.ts"
import { type Agent, agents } from "./Agents.ts"
import { ensure } from "./Cache.ts"
import { chosen } from "./Chosen.ts"
import * as Conversation from "./Conversation.ts"
import { wires } from "./upstream/All.ts"

const limitMs = 120_000
const root = fileURLToPath(new URL("../..", import.meta.url))
const scope = Effect.runSync(Scope.make())
const started = <A>(effect: Effect.Effect<A, never, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Scope.extend(effect, scope))

let gateway: Program.Program
let upstream: Fake.FakeUpstream
let folder = ""
const keys = new Map<"no" | "ordinary" | "admin", string | null>([["no", null]])

const agentOf = (name: string): Agent => agents.find((each) => each.name === name) ?? assert.fail(name)
const wireOf = (label: string) => wires.find((each) => each.label === label) ?? assert.fail(label)

const manage = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  assert.isTrue(response.ok, path)
  return (await response.json()) as Record<string, unknown>
}

/** What each asks for, as soon as it is known. */
const model = { claude: "up-messages/", codex: "up-chat/" }

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gateway-agent-mcp-"))
  upstream = await started(Fake.start)
  // No key is required, so that there are all three callers.
  gateway = await started(Program.start({ GATEWAY_ADMIN_KEY: TestGateway.adminKey }))
  for (const label of ["messages", "chat"] as const) {
    const wire = wireOf(label)
    const prefix = `up-${label}`
    await manage("/api/provider-nodes", { name: prefix, prefix, ...wire.node(upstream.origin) })
    await manage("/api/providers", { provider: prefix, name: prefix, apiKey: "upstream-key", models: [wire.model] })
    model[label === "messages" ? "claude" : "codex"] = `${prefix}/${wire.model}`
  }
  keys.set("ordinary", String((await manage("/api/keys", { name: "ordinary" }))["secret"]))
  keys.set("admin", String((await manage("/api/keys", { name: "admin", scopes: ["manage"] }))["secret"]))
  // `gateway` as it is after an installation.
  mkdirSync(join(folder, "bin"))
  // Codex hands few variables on to the programs that it starts: the data folder of an installation is found without one.
  const script = `#!/bin/sh\nDATA_DIR='${gateway.dataDir}' exec '${join(root, "bin/gateway")}' "$@"\n`
  writeFileSync(join(folder, "bin/gateway"), script, { mode: 0o755 })
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})

/** The line of the page that begins like this; the address is that of the gateway of the test. */
const printed = (begin: string): string => {
  const page = readFileSync(join(root, "docs/mcp.md"), "utf8")
  const line = page.split("\n").find((each) => each.startsWith(begin))
  return (line ?? assert.fail(begin)).replace("http://127.0.0.1:20128", gateway.url)
}

/** What a reader runs in each case. */
const commandOf = (name: string, transport: "http" | "stdio", who: "no" | "ordinary" | "admin"): string => {
  if (transport === "stdio") return printed(`${name} mcp add ${who === "no" ? "gateway-local" : "gateway-key"}`)
  const line = printed(name === "claude" ? "claude mcp add --transport http" : "codex mcp add gateway --url")
  return who === "no" ? line.replace(/ (?:--header|--bearer-token-env-var) .*$/, "") : line
}

interface Home {
  readonly env: Readonly<Record<string, string>>
  readonly run: (command: string) => Promise<string>
}

/** Claude Code begins without a server that has not started within five seconds, which a busy machine needs for a program. */
const patience = { MCP_TIMEOUT: "60000", MCP_CONNECT_TIMEOUT_MS: "60000", MCP_CONNECTION_NONBLOCKING: "false" }

const homeFor = (agent: Agent, key: string | null): Home => {
  const home = mkdtempSync(join(folder, "home-"))
  const setting = {
    root: gateway.url,
    apiKey: "none",
    model: model[agent.name as "claude"],
    home,
    prompt: "",
    retries: false
  }
  const { env: own, files = {} } = agent.launch(setting)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  const env = {
    PATH: [join(folder, "bin"), dirname(ensure(agent.package)), process.env["PATH"] ?? ""].join(":"),
    HOME: home,
    DATA_DIR: gateway.dataDir,
    LANG: "C.UTF-8",
    TERM: "dumb",
    NO_COLOR: "1",
    NO_PROXY: "*",
    ...patience,
    ...own,
    ...(key === null ? {} : { GATEWAY_API_KEY: key })
  }
  const run = (command: string): Promise<string> =>
    new Promise((resolve) => {
      execFile("sh", ["-c", `${command} 2>&1`], { cwd: home, env, timeout: limitMs }, (error, stdout) =>
        resolve(error === null ? stdout : `${stdout}\nended with ${String(error.code)}`)
      ).stdin?.end()
    })
  return { env, run }
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const cases = (["http", "stdio"] as const).flatMap((transport) =>
  (["no", "ordinary", "admin"] as const).map((who) => [transport, who] as const)
)

for (const name of ["claude", "codex"].filter(chosen("AGENTS_ONLY"))) {
  describe(`${name} is given the gateway by the page's commands`, () => {
    beforeAll(() => void ensure(agentOf(name).package), 600_000)

    it.each(cases)("over %s with %s key", async (transport, who) => {
      const agent = agentOf(name)
      const home = homeFor(agent, keys.get(who) ?? null)
      const command = commandOf(name, transport, who)
      assert.notMatch(await home.run(command), /ended with/, command)
      const shown = await home.run(`${name} mcp list`)
      assert.match(shown, name === "claude" ? /gateway.*Connected/ : /gateway.*enabled/, shown)
      const server = command.includes("gateway-local")
        ? "gateway-local"
        : transport === "stdio"
          ? "gateway-key"
          : "gateway"
      const prefix = `mcp__${name === "claude" ? server : server.replaceAll("-", "_")}__gateway_`
      const nonce = `p${process.pid}${transport}${who}`
      const conversation = Conversation.steps(wireOf(name === "claude" ? "messages" : "chat"), nonce, [
        () => ({ text: "The models.", use: { tool: `${prefix}list_models_catalog`, args: {} } }),
        () => ({ text: "The health.", use: { tool: `${prefix}get_health`, args: {} } }),
        () => ({ text: `Done with ${nonce}.`, use: null })
      ])
      upstream.always(conversation.answer)
      const prompt = quoted(`Which models are there? ${nonce}`)
      const options = {
        claude: `-p ${prompt} --output-format json --model ${model.claude} --dangerously-skip-permissions`,
        // The same for Codex, which begins without a server that is not required.
        codex: `exec --skip-git-repo-check --json -c mcp_servers.${server}.required=true -c mcp_servers.${server}.startup_timeout_sec=60 ${prompt}`
      }
      const said = await home.run(`${name} ${options[name as "claude"]}`)
      const results = conversation.main.at(-1)?.results ?? []
      const all = `${said.slice(-2_500)}\n${conversation.problems.join("; ")}\nOn offer: ${conversation.offered().join(" ")}\n${results.join("\n").slice(0, 1_500)}`
      assert.include(said, `Done with ${nonce}.`, all)
      assert.lengthOf(results, 2, all)
      assert.include(results[0], model[name as "claude"], all)
      // Over stdio without a key it is the gateway's owner who asks.
      const isManager = who === "admin" || (who === "no" && transport === "stdio")
      if (isManager) assert.match(results[1] ?? "", /uptime|status/i, all)
      else assert.match(results[1] ?? "", /lacks the scope 'read:health'|unsupported|No such tool|not found/i, all)
    })
  })
}

/** What the examples of the commands speak of: the names they use stand for things that are there, on a gateway of the test's own. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { eventually } from "../support/eventually.ts"

export const models = [
  "gpt-4o",
  "gpt-4o-mini",
  "gpt-5",
  "gpt-4o-transcribe",
  "gpt-4o-mini-tts",
  "gpt-image-1",
  "text-embedding-3-small"
]

const dayMs = 86_400_000
const yesterdayMs = Math.floor(Date.now() / dayMs - 1) * dayMs

const texts: Readonly<Record<string, string>> = {
  "secret.txt": "secret-of-the-client-0123456789\n",
  "lines.jsonl": `${JSON.stringify({
    custom_id: "one",
    method: "POST",
    url: "/v1/chat/completions",
    body: { model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "Hello" }] }
  })}\n`,
  "vectors.jsonl": `${JSON.stringify({
    custom_id: "one",
    method: "POST",
    url: "/v1/embeddings",
    body: { model: "openai/text-embedding-3-small", input: "Hello" }
  })}\n`,
  "report.pdf": "%PDF-1.4",
  "main.ts": "const a = 1\n",
  "question.txt": "What is a lighthouse?\n",
  "notes.txt": "A note.\n",
  "lines.txt": "one\ntwo\n",
  "meeting.mp3": "ID3",
  "talk.mp3": "ID3",
  "pw.txt": "a-password-1234\n",
  "headers.txt": "Authorization: Bearer one\n",
  "config.yaml":
    "model_list:\n  - model_name: small\n    litellm_params: { model: openai/gpt-4o-mini, api_key: os.environ/OPENAI_API_KEY }\n",
  "browser.har": JSON.stringify({ log: { version: "1.2", creator: { name: "browser", version: "1" }, entries: [] } }),
  "gateway.yaml": "version: 1\ncombos:\n  - { name: declared, targets: [{ model: openai/gpt-4o-mini }] }\n",
  ".env": "MISTRAL_API_KEY=mistral-key\n",
  "cheaper.json": JSON.stringify({
    name: "cheaper",
    strategy: "priority",
    targets: [{ model: "openai/gpt-4o-mini" }]
  }),
  "mine.json": JSON.stringify({
    name: "Mine",
    cases: [
      {
        name: "hello",
        input: { messages: [{ role: "user", content: "Say hello" }] },
        expected: { strategy: "contains", value: "Hello" }
      }
    ]
  }),
  "costs.json": JSON.stringify({
    object: "page",
    data: [
      {
        object: "bucket",
        start_time: yesterdayMs / 1_000,
        results: [{ amount: { value: 0.5, currency: "usd" }, line_item: "gpt-4o-mini, input" }]
      }
    ],
    has_more: false
  }),
  "claude_api_cost_2035_01.csv": `usage_date_utc,model,workspace,cost_usd\n${new Date(yesterdayMs).toISOString().slice(0, 10)},claude-sonnet-4,Default,0.50\n`,
  "export.json": JSON.stringify({
    providerConnections: [{ id: "c", provider: "openai", authType: "apikey", name: "one", apiKey: "sk-of-the-export" }],
    combos: []
  })
}

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

/** Puts the files of the examples into the folder where the commands are typed. */
export const writeFiles = (folder: string): void => {
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text)
  for (const name of ["screen.png", "house.png", "wall.png"]) writeFileSync(join(folder, name), png)
  mkdirSync(join(folder, ".local/share/bash-completion/completions"), { recursive: true })
  for (const name of ["claude", "codex"]) {
    const program = join(folder, "bin", name)
    mkdirSync(dirname(program), { recursive: true })
    writeFileSync(program, "#!/bin/sh\necho started\n", { mode: 0o755 })
  }
}

/** Asks the gateway as its owner; the answer's body, or an error with it. */
// eslint-disable-next-line typescript/no-explicit-any -- answers of any route
export type Manage = (method: string, path: string, body?: unknown) => Promise<any>

export const managing =
  (url: string, adminKey: string): Manage =>
  async (method, path, body) => {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text === "" ? null : JSON.parse(text)
  }

interface Thing {
  readonly id: string
  readonly name: string
  readonly isActive: boolean
}

interface Account extends Thing {
  readonly provider: string
}

/** Leaves one of each wanted name, switched on: others are removed, missing ones are made. */
const only = async (
  manage: Manage,
  change: "PATCH" | "PUT",
  path: string,
  have: ReadonlyArray<Thing>,
  wanted: ReadonlyMap<string, Readonly<Record<string, unknown>>>
): Promise<void> => {
  const kept = new Set<string>()
  for (const { id, isActive, name } of have) {
    if (!wanted.has(name) || kept.has(name)) await manage("DELETE", `${path}/${id}`)
    else {
      kept.add(name)
      if (!isActive) await manage(change, `${path}/${id}`, { isActive: true })
    }
  }
  for (const [name, body] of wanted) if (!kept.has(name)) await manage("POST", path, { name, ...body })
}

const targets = [{ model: "openai/gpt-4o-mini" }, { model: "groq/llama-3.3-70b-versatile" }]
const combo = { strategy: "priority", targets }

/** Brings the things with the names of the examples into the state they have before each of them. `upstream`: address of the one provider. */
export const furnish = async (manage: Manage, upstream: string): Promise<void> => {
  await furnishProxies(manage)
  const { nodes } = await manage("GET", "/api/provider-nodes")
  if (!nodes.some(({ prefix }: { readonly prefix: string }) => prefix === "cellar")) {
    const node = { name: "cellar", prefix: "cellar", type: "openai-compatible", baseUrl: `${upstream}/v1` }
    await manage("POST", "/api/provider-nodes", node)
  }
  const { connections } = await manage("GET", "/api/providers")
  const account = { apiKey: "k", baseUrl: upstream }
  const wantedAccounts = new Map<string, Record<string, unknown>>([
    ["work", { ...account, provider: "openai", models, wires: ["chat"] }],
    ["spare", { ...account, provider: "groq", models: ["llama-3.3-70b-versatile"] }],
    ["cellar", { provider: "cellar", models: ["small"] }],
    ["web", { ...account, provider: "brave" }]
  ])
  // An example may have made one of the same name with another provider.
  const isWanted = ({ name, provider }: Account): boolean => wantedAccounts.get(name)?.["provider"] === provider
  for (const { id } of connections.filter((each: Account) => !isWanted(each))) {
    await manage("DELETE", `/api/providers/${id}`)
  }
  await only(manage, "PUT", "/api/providers", connections.filter(isWanted), wantedAccounts)
  const { keys } = await manage("GET", "/api/keys")
  const wantedKeys = new Map([
    ["laptop", {}],
    ["ops", {}],
    ["ci", {}]
  ])
  // The tools that are set up have keys of other names.
  const sameName = keys.filter(({ name }: Thing) => wantedKeys.has(name))
  await only(manage, "PATCH", "/api/keys", sameName, wantedKeys)
  const { combos } = await manage("GET", "/api/combos")
  await only(
    manage,
    "PUT",
    "/api/combos",
    combos,
    new Map([
      ["fast", combo],
      ["my-combo", combo],
      ["cheaper", combo]
    ])
  )
}

/** The plugins of the examples are installed and called, where a line speaks of plugins. One that a line installs is not there. */
export const furnishPlugins = async (manage: Manage, line: string): Promise<void> => {
  if (!/^gateway plugins? /.test(line)) return
  const { plugins } = await manage("GET", "/api/plugins")
  const have = new Set(plugins.map(({ name }: { readonly name: string }) => name))
  for (const name of ["rate-limiter", "request-logger"]) {
    const path = `/api/plugins/${name}`
    if (line.includes(`install ${name}`)) {
      if (have.has(name)) await manage("DELETE", path)
      continue
    }
    if (!have.has(name)) await manage("POST", `/api/plugins/marketplace/${name}/install`)
    const isToActivate = line.startsWith(`gateway plugin activate ${name}`)
    await manage("POST", `${path}/${isToActivate ? "deactivate" : "activate"}`, {})
  }
}

const proxyPath = "/api/v1/management/proxies"

/** The proxies of the examples are there, switched on, and assigned to nothing. None of them can be reached. */
const furnishProxies = async (manage: Manage): Promise<void> => {
  const { assignments } = await manage("GET", `${proxyPath}/assignments`)
  for (const { scope, scopeId } of assignments)
    await manage("PUT", `${proxyPath}/assignments`, { scope, scopeId, proxyId: null })
  const { proxies } = await manage("GET", proxyPath)
  for (const name of ["berlin", "office"]) {
    const found = proxies.find((each: Thing) => each.name === name)
    if (found === undefined) await manage("POST", proxyPath, { name, type: "http", host: "localhost", port: 9 })
    else if (!found.isActive) await manage("PATCH", proxyPath, { id: found.id, isActive: true })
  }
}

/** Takes away what an example makes under a name that is there. */
export const clear = async (manage: Manage, line: string): Promise<void> => {
  if (line.startsWith("gateway proxy add")) {
    const { proxies } = await manage("GET", proxyPath)
    for (const { id } of proxies) await manage("DELETE", `${proxyPath}?id=${id}`)
  }
  for (const name of readdirSync("."))
    if (/^(?:out.*|lighthouse)\.png$/.test(name) && line.includes(`-o ${name.replace(/-\d+/, "")}`)) rmSync(name)
  if (line.startsWith("gateway files get lines.jsonl")) rmSync("lines.jsonl", { force: true })
  if (line.includes(" lines.jsonl")) {
    const { data } = await manage("GET", "/v1/files")
    const same = data.filter(({ filename }: { readonly filename: string }) => filename === "lines.jsonl")
    for (const { id } of same.slice(1)) await manage("DELETE", `/v1/files/${id}`)
  }
  const [, newKey] = /^gateway keys? add (\S+)/.exec(line) ?? []
  if (newKey !== undefined) {
    const { keys } = await manage("GET", "/api/keys")
    for (const { id, name } of keys) if (name === newKey) await manage("DELETE", `/api/keys/${id}`)
  }
  if (/^gateway webhooks? add /.test(line)) {
    const { webhooks } = await manage("GET", "/api/webhooks")
    for (const { id, url } of webhooks) if (line.includes(url)) await manage("DELETE", `/api/webhooks/${id}`)
  }
  const [, newConnection] = /^gateway providers? (?:add|login) .*--name (\S+)/.exec(line) ?? []
  if (newConnection !== undefined) {
    const { connections } = await manage("GET", "/api/providers")
    for (const { id, name } of connections) if (name === newConnection) await manage("DELETE", `/api/providers/${id}`)
  }
  if (line.startsWith("gateway mcp add docs")) {
    const { servers } = await manage("GET", "/api/mcp/servers")
    for (const { id } of servers) await manage("DELETE", `/api/mcp/servers/${id}`)
  }
  if (line.startsWith("gateway combo create fast")) {
    const { combos } = await manage("GET", "/api/combos")
    for (const { id, name } of combos) if (name === "fast") await manage("DELETE", `/api/combos/${id}`)
  }
  if (line.includes("provider add custom --name cellar")) {
    const { nodes } = await manage("GET", "/api/provider-nodes")
    for (const { id, prefix } of nodes) if (prefix === "cellar") await manage("DELETE", `/api/provider-nodes/${id}`)
  }
}

const inspectorPath = "/api/tools/traffic-inspector"
const hostsPath = `${inspectorPath}/hosts`

interface Captured {
  readonly id: string
  readonly status: unknown
}

/** Lines that name what was captured. */
export const isOfCaptured = (line: string): boolean =>
  line.startsWith("gateway inspect") || line.includes(" --from-request ")

/** What the examples of `capture` and `inspect` speak of: two requests that were captured, a session, and a host that was added or was not. */
export const furnishCaptures = async (manage: Manage, line: string): Promise<void> => {
  if (/^gateway capture hosts (?:add|remove)/.test(line)) {
    const { hosts } = await manage("GET", hostsPath)
    for (const { host } of hosts) await manage("DELETE", `${hostsPath}/${host}`)
    if (line.includes("remove")) await manage("POST", hostsPath, { host: "api.example.com" })
  }
  if (!isOfCaptured(line)) return
  for (const name of ["requests.har", "session.har"]) rmSync(name, { force: true })
  const { sessions } = await manage("GET", `${inspectorPath}/sessions`)
  const begun = sessions.find(({ state }: { readonly state: string }) => state === "recording")
  const stop = (id: string) => manage("PATCH", `${inspectorPath}/sessions/${id}`, { action: "stop" })
  if (begun !== undefined && !line.includes("sessions stop")) await stop(begun.id)
  if (begun === undefined && line.includes("sessions stop")) await manage("POST", `${inspectorPath}/sessions`, {})
  else if (sessions.length === 0) await stop((await manage("POST", `${inspectorPath}/sessions`, {})).session.id)
  await manage("POST", `${inspectorPath}/capture-modes/gateway`, { enabled: true })
  for (const content of ["Hello", "Hello again"]) {
    await manage("POST", "/v1/chat/completions", {
      model: "openai/gpt-4o-mini",
      messages: [{ role: "user", content }]
    })
  }
  await eventually(
    "two captured requests",
    async (): Promise<ReadonlyArray<Captured>> => (await manage("GET", `${inspectorPath}/requests?limit=2`)).requests,
    (requests) => requests.length === 2 && requests.every(({ status }) => status === 200)
  )
}

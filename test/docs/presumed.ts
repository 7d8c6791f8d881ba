/**
 * What the blocks of each page presume: things that are there, variables, and what a person types. A block is named by how its text begins. The
 * block itself is run as it is printed; what cannot be run at all is marked with its reason.
 */
import * as Effect from "effect/Effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { codeBlocks } from "../../src/agents/skills/CodeBlocks.ts"
import { running } from "../cli/omniRouteData.ts"
import { eventually } from "../support/eventually.ts"
import { blocksOf } from "./Pages.ts"
import { addClone, type Step, type World } from "./World.ts"

export interface Presumed {
  /** How the block begins. */
  readonly begins: string
  /** Why it is not run. */
  readonly marked?: string
  readonly before?: (world: World) => Promise<unknown>
  /** What is typed on a terminal. */
  readonly types?: ReadonlyArray<Step>
  /** What commands end with, where that is not 0, by how they begin. */
  readonly ends?: Readonly<Record<string, number | ReadonlyArray<number>>>
  /** Programs beside those that the tests need anyway; where one is missing the block is not run. */
  readonly needs?: ReadonlyArray<string>
  /** What it prints. */
  readonly shows?: RegExp
  /** What of the output differs from run to run, beside times, ids and ports. */
  readonly varies?: ReadonlyArray<RegExp>
}

export interface PresumedOfPage {
  /** Variables of the gateway's start. */
  readonly environment?: Readonly<Record<string, string>>
  readonly before?: (world: World) => Promise<unknown>
  readonly blocks: ReadonlyArray<Presumed>
}

/** Most blocks that may be marked. */
export const mostMarked = 20

const file = (name: string, text: string) => async (world: World) => writeFileSync(join(world.folder, name), text)

const inTurn =
  (...steps: ReadonlyArray<(world: World) => Promise<unknown>>) =>
  async (world: World): Promise<void> => {
    for (const step of steps) await step(world)
  }

/** Captured requests, with the ids of the last two as variables. */
const captured = async (world: World): Promise<void> => {
  await world.manage("POST", "/api/tools/traffic-inspector/capture-modes/gateway", { enabled: true })
  await world.ask("openai/gpt-4o-mini")
  await world.ask("openai/gpt-4o-mini")
  const { requests } = await eventually(
    "two captured requests",
    () => world.manage("GET", "/api/tools/traffic-inspector/requests?limit=2"),
    (answer) =>
      answer.requests.length === 2 &&
      answer.requests.every(({ status }: { readonly status: unknown }) => status === 200)
  )
  world.variables["ID"] = requests[0].id
  world.variables["OTHER"] = requests[1].id
}

/** A block that the owner wrote into a skill's page, with its number as a variable. */
const writtenBlock = async ({ folder, url, variables }: World): Promise<void> => {
  const fence = "```"
  const page = join(folder, ".gateway/skills/gw-providers")
  mkdirSync(page, { recursive: true })
  writeFileSync(
    join(page, "SKILL.md"),
    `<!-- skill:custom-start -->\n${fence}js\nreturn 6 * 7\n${fence}\n<!-- skill:custom-end -->\n`
  )
  const served = await (await fetch(`${url}/skills/gw-providers/SKILL.md`)).text()
  variables["BLOCK"] = String(codeBlocks(served).length)
}

const asked = async (world: World): Promise<void> => {
  world.variables["REQUEST_ID"] = await world.ask("fast")
}

const password = "a-password-of-the-pages-01"

const interrupt = "\u0003"

const confirmed: Step = [/\(y\/N\)[^\n]*$/, "y"]

/** The provider answers as many questions as its breaker takes with an error. */
const breakerOpen = (world: World): Promise<void> =>
  world.whileDown(async () => {
    for (let count = 0; count < 14; count += 1) await world.ask("openai/gpt-4o")
  })

/** The plugin with a strategy that the page of plugins shows is active. */
const strategyPlugin = async (world: World): Promise<void> => {
  const code = blocksOf("docs/plugins.md").find(({ text }) => text.includes('"cheap-and-fast": {'))?.text ?? ""
  const name = "cheapest-that-is-fast"
  const plugin = {
    manifest: { name, version: "1.0.0", main: "index.js", hooks: {} },
    files: { "index.js": `import { definePlugin } from "gateway/plugin"\n${code}\n` }
  }
  // A machine that is busy does not always load it in the time there is.
  await eventually(
    `the plugin ${name}`,
    () => world.manage("POST", "/api/plugins", plugin).then(() => true, String),
    (answer) => answer === true,
    { withinMs: 90_000 }
  )
  await Effect.runPromise(world.run(`gateway plugin activate ${name} --yes`, []))
}

/** Requests of an ordinary day. */
const traffic = async (world: World): Promise<void> => {
  for (let count = 0; count < 8; count += 1) await world.ask("openai/gpt-4o")
}

export const presumed: Readonly<Record<string, PresumedOfPage>> = {
  "README.md": {
    environment: { GATEWAY_ADMIN_PASSWORD: password },
    before: async (world) => {
      addClone(world)
      // The gateway elsewhere is this one.
      await world.manage("PATCH", "/api/settings", { allowedHosts: ["gateway.example"] })
    },
    blocks: [
      {
        begins: "npm ci && npm start      #",
        marked: "installs packages from the registry and runs all tests; .ci/run does it on a clean clone"
      },
      {
        begins: "npm ci && npm start              #",
        marked: "installs packages from the registry; .ci/run does it on a clean clone"
      },
      {
        begins: "bin/gateway provider add",
        types: [
          [/type to search$/, "anthropic"],
          [/❯ Anthropic/, "\r"],
          [/Key of Anthropic[^\n]*$/, "sk-ant-0123456789abcdef\r"]
        ],
        shows: /Connected/
      },
      {
        begins: "gateway provider add anthropic",
        before: inTurn(file("key.txt", "sk-ant-0123456789abcdef\n")),
        types: [
          [/ASKED FOR, SERVED BY\n[^\n]* 200 /, interrupt],
          [/Admin password[^\n]*›[^\n]*$/, `${password}\r`]
        ],
        ends: { "gateway logs --follow": 130 }
      },
      { begins: "gateway combo create turns", before: asked }
    ]
  },
  "docs/api-document.md": {
    blocks: [
      {
        begins: "TAG=$(curl",
        before: async (world) => {
          const { combo } = await world.manage("POST", "/api/combos", {
            name: "tagged",
            strategy: "priority",
            targets: [{ model: "openai/gpt-4o-mini" }]
          })
          world.variables["COMBO_ID"] = combo.id
        }
      },
      {
        begins: 'curl -s "$GATEWAY_URL/api/keys',
        before: async (world) => {
          const { nextCursor } = await world.manage("GET", "/api/keys?limit=1")
          world.variables["NEXT_CURSOR"] = nextCursor
        }
      },
      {
        begins: 'curl -s "$GATEWAY_URL/openapi.json"',
        marked: "takes half a minute of a processor; test/http/document runs the same commands"
      }
    ]
  },
  "docs/apply.md": {
    before: async ({ variables }) => {
      for (const name of ["OPENAI_WORK_API_KEY", "GROQ_SPARE_API_KEY", "BRAVE_WEB_API_KEY"]) variables[name] = "k"
    },
    blocks: []
  },
  "docs/command-line.md": {
    blocks: [
      {
        begins: "git diff --staged",
        before: (world) => Effect.runPromise(world.run("git init -q . && git add notes.txt", [])),
        needs: ["git", "jq"]
      }
    ]
  },
  "docs/costs.md": {
    blocks: [
      {
        begins: "$ gateway cost reconcile",
        before: async (world) => {
          await world.manage("PATCH", "/api/pricing", { openai: { "gpt-4o-mini": { input: 0.15, output: 0.6 } } })
          for (const model of ["gpt-4o-mini", "gpt-4o-mini", "gpt-4o-mini", "a-new-model", "a-new-model"])
            await world.ask(`openai/${model}`)
          const startMs = Math.floor(Date.now() / 86_400_000) * 86_400_000
          const results = [
            { amount: { value: 0.000_008_55, currency: "usd" }, line_item: "gpt-4o-mini-2024-07-18, input" },
            { amount: { value: 0.5, currency: "usd" }, line_item: "a-new-model, input" },
            { amount: { value: 0.01, currency: "usd" }, line_item: "web search tool calls" }
          ]
          const data = [{ object: "bucket", start_time: startMs / 1_000, results }]
          writeFileSync(join(world.folder, "costs.json"), JSON.stringify({ object: "page", data, has_more: false }))
        }
      }
    ]
  },
  "docs/inspector.md": {
    before: captured,
    blocks: [
      {
        begins: "gateway inspect tail",
        types: [[/[^\n]/, interrupt]],
        ends: { "gateway inspect tail": 130 }
      },
      { begins: "gateway inspect   #", types: [[/gpt-4o-mini/, "q"]] }
    ]
  },
  "docs/skills.md": {
    blocks: [{ begins: "gateway mcp call gateway_skills_execute", before: writtenBlock, shows: /"value":42/ }]
  },
  "docs/playground.md": { before: captured, blocks: [] },
  "docs/keys.md": {
    before: async ({ variables }) => void (variables["GITHUB_TOKEN"] = "github_pat_0123456789"),
    blocks: []
  },
  "docs/resilience.md": {
    blocks: [{ begins: "$ gateway resilience status", before: breakerOpen }]
  },
  "docs/routing.md": {
    blocks: [
      { begins: "$ gateway route explain best", before: inTurn(traffic, breakerOpen), varies: [/^Seed .*$/gm] },
      {
        begins: "$ gateway route decision",
        before: async (world) => void (world.variables["REQUEST_ID"] = await world.ask("best")),
        varies: [/^Seed .*$/gm, /\d+(?=\s+ok$)/gm]
      }
    ]
  },
  "docs/evals.md": {
    blocks: [
      { begins: "gateway eval list", ends: { "gateway eval run golden-set auto": 1 } },
      {
        begins: "gateway eval suite show"
      }
    ]
  },
  "docs/import.md": {
    before: async ({ variables }) => void (variables["OPENAI_API_KEY"] = "k"),
    blocks: [
      { begins: "gateway import litellm", types: [confirmed] },
      {
        begins: "gateway import omniroute",
        before: (world) =>
          Effect.runPromise(
            Effect.scoped(
              Effect.flatMap(
                Effect.sync(() => mkdirSync(join(world.folder, ".omniroute"))),
                () => running(join(world.folder, ".omniroute"), world.upstream.origin)
              )
            )
          ),
        types: [confirmed]
      },
      { begins: "gateway import ollama", types: [confirmed] }
    ]
  },
  "docs/media.md": {
    before: async (world) => {
      for (const provider of ["gemini", "deepgram"])
        await world.manage("POST", "/api/providers", { provider, name: provider, apiKey: "k" })
    },
    blocks: []
  },
  "docs/conformance.md": {
    blocks: [
      {
        begins: "gateway conformance",
        // The model of these pages says the same to everything, and nothing listens at the address.
        ends: { "gateway conformance": 1 },
        shows: /chat\.answer\s+pass/
      }
    ]
  },
  "docs/cluster.md": {
    blocks: [
      {
        begins: "export GATEWAY_DATABASE_URL",
        marked: "needs a server of Postgres; test/cli/postgres starts the program over one"
      },
      { begins: "gateway store migrate", marked: "needs a server of Postgres; test/cli/storeMigrate types it over one" }
    ]
  },
  "docs/operations.md": {
    before: async (world) => {
      const elsewhere = join(world.folder, "elsewhere")
      mkdirSync(elsewhere)
      world.variables["SAFE"] = elsewhere
    },
    blocks: [
      // The database is in use here: GNU tar ends with 1 where a file changed while it was read.
      { begins: "tar --create", ends: { tar: 1 } },
      { begins: "sqlite3", needs: ["sqlite3"] }
    ]
  },
  "docs/plugins.md": {
    blocks: [
      {
        begins: 'gateway chat "Hello"',
        types: [[/onRequest [^\n]+/, interrupt]],
        ends: { "gateway plugin logs": 130 }
      },
      { begins: "gateway plugin config my-plugin", ends: { 'gateway chat "a secret word"': [1, 4] } },
      { begins: 'curl "$GATEWAY_URL/api/combos"', before: strategyPlugin },
      {
        begins: "gateway plugin config rate-limiter",
        before: (world) => Effect.runPromise(world.run("gateway plugin install rate-limiter --activate --yes", []))
      }
    ]
  },
  "docs/proxies.md": {
    before: async (world) => {
      const path = "/api/v1/management/proxies"
      const { proxies } = await world.manage("GET", path)
      for (const { id } of proxies) await world.manage("DELETE", `${path}?id=${id}`)
    },
    blocks: [
      {
        begins: "gateway proxy add",
        types: [[/[Pp]assword[^\n]*$/, "a-password\r"]],
        shows: /'berlin' works, \d+ ms\. It leaves by 203\.0\.113\.7\./
      }
    ]
  },
  "docs/releasing.md": {
    before: async (world) => {
      addClone(world)
      world.variables["BEFORE"] = world.folder
    },
    blocks: [
      { begins: "export DATA_DIR=", shows: /openai/ },
      {
        begins: "npm run release",
        marked:
          "builds a clone of the commit, which takes a minute; test/install/release runs it, without writing into the checkout"
      }
    ]
  },
  "docs/search.md": {
    blocks: [{ begins: "gateway provider add tavily", types: [[/Key of Tavily[^\n]*$/, "tvly-0123456789abcdef\r"]] }]
  },
  "docs/web-search.md": {
    blocks: [{ begins: "gateway provider add tavily", types: [[/Key of Tavily[^\n]*$/, "tvly-0123456789abcdef\r"]] }]
  },
  "docs/sign-in.md": {
    blocks: [
      { begins: "gateway provider login", marked: "asks a provider on the internet for a sign-in (test/cli/login)" }
    ]
  },
  "docs/sso.md": {
    blocks: [
      {
        begins: "gateway login https://gateway.example --sso",
        marked: "a person allows it in a browser, at a gateway with a directory (test/cli/sso)"
      }
    ]
  },
  "docs/tools.md": {
    blocks: [
      {
        begins: "gateway launch claude",
        before: (world) => Effect.runPromise(world.run("gateway setup-claude", []))
      }
    ]
  },
  "docs/tunnels.md": {
    blocks: [
      {
        begins: "gateway flags set REQUIRE_API_KEY",
        types: [[/quick: running/, interrupt]],
        ends: { "gateway tunnel status": 130 }
      }
    ]
  }
}

/**
 * What the blocks of each page presume: things that are there, variables, and what a person types. A block is named by how its text begins. The
 * block itself is run as it is printed; what cannot be run at all is marked with its reason.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { eventually } from "../support/eventually.ts"
import * as FakeUpstream from "../support/FakeUpstream.ts"
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
  readonly ends?: Readonly<Record<string, number>>
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

const asked = async (world: World): Promise<void> => {
  world.variables["REQUEST_ID"] = await world.ask("openai/gpt-4o")
}

const interrupt = "\u0003"

/** The provider answers as many questions as its breaker takes with an error. */
const breakerOpen = async (world: World): Promise<void> => {
  for (let count = 0; count < 14; count += 1) {
    world.upstream.enqueue(FakeUpstream.json({ error: { message: "down" } }, { status: 503 }))
    await world.ask("openai/gpt-4o").catch(() => "")
  }
}

export const presumed: Readonly<Record<string, PresumedOfPage>> = {
  "README.md": {
    before: async (world) => addClone(world),
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
          [/Provider/, "anthropic\r"],
          [/Key of Anthropic/, "sk-ant-0123456789abcdef\r"]
        ],
        shows: /Connected/
      },
      {
        begins: "gateway provider add anthropic",
        before: inTurn(file("key.txt", "sk-ant-0123456789abcdef\n")),
        types: [
          [/TIME.*\n.*gpt/, interrupt],
          [/Key/i, "admin-key-of-the-pages-0001\r"]
        ]
      },
      { begins: "gateway combo create turns", before: asked }
    ]
  },
  "docs/api-document.md": {
    blocks: [
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
    blocks: [{ begins: "gateway export", types: [[/\?/, "y\r"]] }]
  },
  "docs/batches.md": { blocks: [] },
  "docs/costs.md": {
    blocks: [
      {
        begins: "$ gateway cost reconcile",
        before: async (world) => {
          await world.manage("PATCH", "/api/pricing", { openai: { "gpt-4o-mini": { input: 0.15, output: 0.6 } } })
          await world.ask("openai/gpt-4o-mini")
          await world.ask("openai/gpt-4o-mini")
          const startMs = Math.floor(Date.now() / 86_400_000) * 86_400_000
          const results = [
            { amount: { value: 0.000_005_7, currency: "usd" }, line_item: "gpt-4o-mini-2024-07-18, input" },
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
    blocks: [{ begins: "gateway inspect tail", types: [[/tail|GET|POST|TIME/, interrupt]] }]
  },
  "docs/playground.md": { before: captured, blocks: [] },
  "docs/resilience.md": {
    blocks: [{ begins: "$ gateway resilience status", before: breakerOpen }]
  },
  "docs/routing.md": {
    blocks: [
      { begins: "$ gateway route explain best", before: breakerOpen, varies: [/^Seed .*$/gm] },
      { begins: "$ gateway route decision", before: asked }
    ]
  },
  "docs/tunnels.md": {
    blocks: [{ begins: "gateway flags set REQUIRE_API_KEY", types: [[/running/, interrupt]] }]
  }
}
